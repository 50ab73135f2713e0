package computer

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// remember keeps the mark "never active" for the computers that are new, or were marked before, and are not active yet. All others lose it.
func remember(ctx context.Context, s privatestate.State, seen []computers.Computer, isNew func(id string) bool) diag.Diagnostics {
	marked := privatestate.NeverActive(ctx, s)
	var ids []string
	for _, c := range seen {
		if c.Status != computers.StatusActive && (isNew(c.ID) || marked[c.ID]) {
			ids = append(ids, c.ID)
		}
	}
	return privatestate.SetNeverActive(ctx, s, ids)
}

// all and none say which of the computers that remember gets are new.
func all(string) bool  { return true }
func none(string) bool { return false }

// failedSetUp reports whether the steps of a computer that was never seen active show that it failed before it could be used.
func failedSetUp(ctx context.Context, c *client.Client, id, account string) bool {
	listed, err := c.Computers.GetListed(ctx, id, account) // Only listings have the steps.
	return err == nil && listed != nil && listed.SetUpFailed()
}

// warnOfFailure warns of a failed computer. If the plan keeps it, the warning says how to replace it.
func (r *computerResource) warnOfFailure(ctx context.Context, m *computerModel, found *computers.Computer, s privatestate.Reader) diag.Diagnostics {
	if !hasFailed(found.Status) {
		return nil
	}
	now := withSteps(ctx, r.Client, *found, m.ServiceAccountID.ValueString())
	mayReplace := m.ReplaceFailed.ValueBool() && !m.DeletionProtection.ValueBool()
	remedy := ""
	isFailedSetUp := now.SetUpFailed() && privatestate.NeverActive(ctx, s)[now.ID]
	if !isFailedSetUp || !mayReplace { // Otherwise, the plan says that it replaces the computer.
		remedy = "To replace it, run terraform apply -replace=ADDRESS."
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic("Computer failed", phrase.Join(fmt.Sprintf("Computer %q (%s) has the status %q: %s.", now.Name, now.ID, now.Status, whyFailed(&now)), remedy))}
}

// planReplacement replaces a computer that failed before it was ever active: nobody has used it.
func (r *computerResource) planReplacement(ctx context.Context, plan, state *computerModel, resp *resource.ModifyPlanResponse) {
	// The final plan must not add a replacement, so an unknown value counts as true.
	mayReplace := value.MayBeTrue(plan.ReplaceFailed) && !state.DeletionProtection.ValueBool() && !plan.DeletionProtection.ValueBool()
	if !mayReplace || !failedSetUp(ctx, r.Client, state.ID.ValueString(), state.ServiceAccountID.ValueString()) {
		return
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("status"), types.StringUnknown())...)
	resp.RequiresReplace.Append(path.Root("status"))
	resp.Diagnostics.AddAttributeWarning(path.Root("replace_failed"), "Computer will be replaced",
		fmt.Sprintf("Computer %q (%s) failed to provision and was never active, so the plan replaces it. Unless another change replaces it, replace_failed = false keeps it.", state.Name.ValueString(), state.ID.ValueString()))
}

// planWait makes the status unknown, and the results that the service has not set yet. With other changes, the plan may be a replacement,
// so there is no warning. Nothing shows it one with -replace.
func (m *computerModel) planWait(ctx context.Context, isOnlyChange bool, resp *resource.ModifyPlanResponse) {
	if !value.MayBeTrue(m.WaitForActive) {
		return
	}
	if isOnlyChange {
		resp.Diagnostics.AddWarning(notYetActive, fmt.Sprintf("Computer %q (%s) is not active yet, and an earlier apply did not wait until it was. An apply that keeps it waits until it is.", m.Name.ValueString(), m.ID.ValueString()))
	}
	m.Status = types.StringUnknown()
	for _, result := range []*types.String{&m.Hostname, &m.HostID, &m.RelayClientURL, &m.RelayAgentURL, &m.InstallSessionID} {
		if result.IsNull() {
			*result = types.StringUnknown()
		}
	}
	if m.ClonedRepoDirectories.IsNull() {
		m.ClonedRepoDirectories = types.ListUnknown(types.StringType)
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, m)...)
}

// notYetActive is one summary for computers and fleets, because Terraform groups warnings by it.
const notYetActive = "Computers are not active yet"

// notActive says why a wait ended too early. Only an error of a creation taints the computer. An interrupted run gets a warning, because
// after an error the next apply would replace the computer.
func (r *computerResource) notActive(ctx context.Context, m *computerModel, last *computers.Computer, err error, isNew bool) diag.Diagnostics {
	if err == nil {
		return nil
	}
	which, kept, waits := fmt.Sprintf("Computer %q (%s)", m.Name.ValueString(), m.ID.ValueString()), "", "The next apply waits again."
	if isNew {
		which += " was created, but"
		kept = "The computer is kept in the state as tainted, so the next apply replaces it. To keep it, set replace_failed = false and run terraform untaint ADDRESS"
		waits = kept + ": the next apply then waits for it."
	}
	if failed, ok := errors.AsType[*wait.FailedError](err); ok {
		now := withSteps(ctx, r.Client, *last, m.ServiceAccountID.ValueString())
		next := "The next apply replaces it if it failed before dependencies were installed, unless replace_failed = false or deletion_protection = true."
		if isNew {
			next = kept + "."
		}
		return diag.Diagnostics{diag.NewErrorDiagnostic("Computer failed to provision", fmt.Sprintf("%s has the status %q: %s.\n\n%s", which, failed.Status, whyFailed(&now), next))}
	}
	if late, ok := errors.AsType[*wait.TimeoutError](err); ok {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Timed out waiting for the computer",
			fmt.Sprintf("%s is not active: %s. Provisioning continues at the service.\n\n%s To allow more time, raise create in the timeouts block.", which, late, waits))}
	}
	if errors.Is(err, context.Canceled) {
		return diag.Diagnostics{diag.NewWarningDiagnostic("Interrupted before the computer was active",
			fmt.Sprintf("%s is not active yet. It is kept in the state, and provisioning continues at the service. The next apply waits for it.", which))}
	}
	diags := apierror.For("wait for", "computer", err)
	diags.AddWarning("Computer status unknown", fmt.Sprintf("%s may not be active. %s", which, waits))
	return diags
}
