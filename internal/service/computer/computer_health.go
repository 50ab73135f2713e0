package computer

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// markNew marks a managed computer that was created and is not active yet, as the fleet does with its computers.
func markNew(ctx context.Context, made *computers.Computer, private modifier.PrivateState) diag.Diagnostics {
	created := newComputers{}
	if made.ProviderType != computers.ProviderBYOM {
		created.add([]computers.Computer{*made})
	}
	return storeNotes(ctx, private, newComputersKey, created, []string{made.ID})
}

// checkHealth warns of a failed computer, and remembers whether a new computer was active or failed to provision.
func (r *computerResource) checkHealth(ctx context.Context, m *computerModel, found *computers.Computer, private modifier.PrivateState) diag.Diagnostics {
	created, diags := getNotes[bool](ctx, private, newComputersKey)
	now, account := *found, m.ServiceAccountID.ValueString()
	if now.Status == computers.StatusError {
		// Only listings have the steps, which say why it failed.
		if listed, err := r.Client.Computers.GetListed(ctx, now.ID, account); now.ProvisioningSteps == nil && err == nil && listed != nil {
			now.ProvisioningSteps = listed.ProvisioningSteps
		}
	}
	if len(created) > 0 {
		newComputers(created).update([]computers.Computer{now})
		diags.Append(storeNotes(ctx, private, newComputersKey, created, []string{now.ID})...)
	}
	if now.Status == computers.StatusError {
		remedy := ""
		if !created[now.ID] || !m.ReplaceFailed.ValueBool() { // Otherwise, the plan says that it replaces the computer.
			remedy = "To replace it, run terraform apply -replace=ADDRESS."
		}
		diags.AddWarning("Computer Failed", phrase.Join(fmt.Sprintf("Computer %q (%s) has the status %q: %s.", now.Name, now.ID, now.Status, whyFailed(&now)), remedy))
	}
	return diags
}

// replaceFailed plans the replacement of a computer that failed to provision: nobody has used it.
func replaceFailed(ctx context.Context, plan *computerModel, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	var state computerModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	created, diags := getNotes[bool](ctx, req.Private, newComputersKey)
	resp.Diagnostics.Append(diags...)
	isKept := !plan.ReplaceFailed.IsUnknown() && !plan.ReplaceFailed.ValueBool() // The final plan must not add a replacement.
	isKept = isKept || state.DeletionProtection.ValueBool()
	if isKept || state.Status.ValueString() != computers.StatusError || !created[state.ID.ValueString()] {
		return
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("status"), types.StringUnknown())...)
	resp.RequiresReplace.Append(path.Root("status"))
	resp.Diagnostics.AddAttributeWarning(path.Root("replace_failed"), "Computer Will Be Replaced",
		fmt.Sprintf("Computer %q (%s) failed to provision and was never active, so the plan replaces it. To keep it, set replace_failed = false.", state.Name.ValueString(), state.ID.ValueString()))
}
