package computer

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// notYetActive is one summary for computers and fleets, because Terraform groups warnings by it.
const notYetActive = "Computers are not active yet"

// warnOfFailure warns of a failed computer. If the plan keeps it, the warning says how to replace it.
func (m *computerModel) warnOfFailure(found *computers.Computer, isSetUpFailed bool) diag.Diagnostics {
	if !hasFailed(found.Status) {
		return nil
	}
	remedy := "To replace it, run terraform apply -replace=ADDRESS."
	switch {
	case m.DeletionProtection.ValueBool():
		remedy = "To replace it, set deletion_protection = false and apply. Then run terraform apply -replace=ADDRESS."
	case isSetUpFailed && m.ReplaceFailed.ValueBool():
		remedy = "" // The plan says that it replaces the computer.
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic("Computer failed",
		phrase.Join(fmt.Sprintf("Computer %q (%s) has the status %q: %s.", found.Name, found.ID, found.Status, whyFailed(found)), remedy))}
}

// notActive says why a wait ended too early. Only an error of a creation taints the computer. An interrupted run gets a warning, because
// after an error the next apply would replace the computer.
func (m *computerModel) notActive(last *computers.Computer, err error, isNew bool) (diags diag.Diagnostics) {
	if err == nil {
		return nil
	}
	_, isFailed := errors.AsType[*wait.FailedError](err)
	_, isLate := errors.AsType[*wait.TimeoutError](err)
	which, next := fmt.Sprintf("Computer %q (%s)", m.Name.ValueString(), m.ID.ValueString()), "The next apply waits again."
	switch {
	case isNew:
		which += " was created, but"
		next = "The computer is kept in the state as tainted, so the next apply replaces it. "
		if isFailed {
			next += "To keep it, set replace_failed = false and run terraform untaint ADDRESS."
		} else {
			next += "To keep it, run terraform untaint ADDRESS. The next apply then waits for it."
		}
	case isFailed:
		next = "The next apply replaces it if it failed before dependencies were installed, unless replace_failed = false or deletion_protection = true."
	}
	notActive := fmt.Sprintf("%s is not active: %s.", which, whyNotActive(last, err))
	switch {
	case isFailed:
		diags.AddError("Computer failed to provision", notActive+"\n\n"+next)
	case isLate:
		diags.AddError("Timed out waiting for the computer", notActive+"\n\n"+next+" To allow more time, raise create in the timeouts block.")
	case errors.Is(err, context.Canceled):
		diags.AddWarning("Interrupted before the computer was active", notActive+" It is kept in the state. The next apply waits for it.")
	default:
		diags = apierror.For("wait for", "computer", err)
		diags.AddWarning("Computer status unknown", fmt.Sprintf("%s may not be active. %s", which, next))
	}
	return diags
}
