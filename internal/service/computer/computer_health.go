package computer

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
)

// importedKey is set by an import and never removed: what was imported may have been used, so its failure replaces nothing.
const importedKey = "was_imported"

func setImported(ctx context.Context, private privatestate.State) diag.Diagnostics {
	return private.SetKey(ctx, importedKey, []byte("true"))
}

func wasImported(ctx context.Context, private privatestate.State) bool {
	stored, _ := private.GetKey(ctx, importedKey)
	return len(stored) > 0
}

// checkHealth warns of a failed computer.
func (r *computerResource) checkHealth(ctx context.Context, m *computerModel, found *computers.Computer, private privatestate.State) diag.Diagnostics {
	if found.Status != computers.StatusError {
		return nil
	}
	now := withSteps(ctx, r.Client, *found, m.ServiceAccountID.ValueString())
	remedy := ""
	if !now.SetUpFailed() || wasImported(ctx, private) || !m.ReplaceFailed.ValueBool() { // Otherwise, the plan says that it replaces the computer.
		remedy = "To replace it, run terraform apply -replace=ADDRESS."
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic("Computer failed", phrase.Join(fmt.Sprintf("Computer %q (%s) has the status %q: %s.", now.Name, now.ID, now.Status, whyFailed(&now)), remedy))}
}

// replaceFailed plans the replacement of a computer that failed to provision: nobody has used it.
func (r *computerResource) replaceFailed(ctx context.Context, plan *computerModel, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state computerModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	isKept := !plan.ReplaceFailed.IsUnknown() && !plan.ReplaceFailed.ValueBool() // The final plan must not add a replacement.
	isKept = isKept || state.DeletionProtection.ValueBool() || state.Status.ValueString() != computers.StatusError || wasImported(ctx, req.Private)
	if isKept {
		return
	}
	listed, err := r.Client.Computers.GetListed(ctx, state.ID.ValueString(), state.ServiceAccountID.ValueString()) // Only listings have the steps.
	if err != nil || listed == nil || !listed.SetUpFailed() {
		return
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("status"), types.StringUnknown())...)
	resp.RequiresReplace.Append(path.Root("status"))
	resp.Diagnostics.AddAttributeWarning(path.Root("replace_failed"), "Computer will be replaced",
		fmt.Sprintf("Computer %q (%s) failed to provision and was never active, so the plan replaces it. To keep it, set replace_failed = false.", state.Name.ValueString(), state.ID.ValueString()))
}
