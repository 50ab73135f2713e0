package computer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// notYetActive is one summary for computers and fleets, because Terraform groups warnings by it.
const notYetActive = "Computers are not active yet"

// warnOfFailure warns of a failed computer. If the plan keeps it, the warning says how to replace it.
func (m *computerModel) warnOfFailure(found *computers.Computer, failedBeforeUse bool) diag.Diagnostics {
	if !found.HasFailed() {
		return nil
	}
	remedy := "To replace it, run terraform apply -replace=ADDRESS."
	switch {
	case m.DeletionProtection.ValueBool():
		remedy = "To replace it, set deletion_protection = false and apply. Then run terraform apply -replace=ADDRESS."
	case failedBeforeUse && m.ReplaceFailed.ValueBool():
		remedy = "" // The plan says that it replaces the computer.
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic("Computer failed",
		phrase.Join(fmt.Sprintf("Computer %q (%s) has the status %q: %s.", found.Name, found.ID, found.Status, whyFailed(found)), remedy))}
}

// newNotActive says why the wait for a new computer ended too early. An error taints the computer.
func (m *computerModel) newNotActive(last *computers.Computer, err error) diag.Diagnostics {
	keep := phrase.Join("To keep it, run terraform untaint ADDRESS.", ifWaitResumes(last, "The next apply then waits for it."))
	if wait.IsFailed(err) {
		keep = "To keep it, set replace_failed = false and run terraform untaint ADDRESS."
	}
	return notActive(m.named()+" was created, but", last, err, "The computer is kept in the state as tainted, so the next apply replaces it. "+keep)
}

// stillNotActive says why the wait for a computer of an earlier apply ended too early.
func (m *computerModel) stillNotActive(last *computers.Computer, err error) diag.Diagnostics {
	afterError := ifWaitResumes(last, "The next apply waits again.")
	if wait.IsFailed(err) {
		afterError = "The next apply replaces it if it " + failedBeforeUseText + ", unless replace_failed = false or deletion_protection = true."
	}
	return notActive(m.named(), last, err, afterError)
}

// ifWaitResumes returns a text that holds only if the next apply waits for a computer that was last seen so.
func ifWaitResumes(last *computers.Computer, sentence string) string {
	if (life{neverActive: true}).isUnfinished(last.Status) {
		return sentence
	}
	return ""
}

// notActive says why a wait ended too early. AfterError is what the next apply does after an error; an interruption has its own sentence.
// That is only a warning, because an error would taint a new computer.
func notActive(which string, last *computers.Computer, err error, afterError string) (diags diag.Diagnostics) {
	why := fmt.Sprintf("%s is not active: %s.", which, whyNotActive(last, err))
	switch {
	case wait.IsFailed(err):
		diags.AddError("Computer failed to provision", why+"\n\n"+afterError)
	case wait.IsTimeout(err):
		if afterError != "" {
			afterError = "\n\n" + afterError + " To allow more time, raise create in the timeouts block."
		}
		diags.AddError("Timed out waiting for the computer", why+afterError)
	case errors.Is(err, context.Canceled):
		diags.AddWarning("Interrupted before the computer was active", phrase.Join(why, "It is kept in the state.", ifWaitResumes(last, "The next apply waits for it.")))
	default:
		diags = apierror.For("wait for", "computer", err)
		diags.AddWarning("Computer status unknown", phrase.Join(which+" may not be active.", afterError))
	}
	return diags
}

func (m *computerModel) named() string {
	return fmt.Sprintf("Computer %q (%s)", m.Name.ValueString(), m.ID.ValueString())
}

// goesOn is said of a computer that is still provisioning.
const goesOn = "; provisioning continues at the service"

// whyNotActive says within a sentence why a wait for a computer ended.
func whyNotActive(last *computers.Computer, err error) string {
	switch {
	case wait.IsFailed(err):
		return fmt.Sprintf("the status is %q: %s", last.Status, whyFailed(last))
	case wait.IsTimeout(err):
		return err.Error() + ifWaitResumes(last, goesOn)
	case errors.Is(err, context.Canceled):
		return "the run was interrupted" + ifWaitResumes(last, goesOn)
	}
	return err.Error()
}

func whyFailed(c *computers.Computer) string {
	if at := c.FailedStep(); at >= 0 {
		step := c.ProvisioningSteps[at]
		return fmt.Sprintf("step %q failed: %s", step.Name, strings.TrimSuffix(step.Error, "."))
	}
	if c.ProvisioningSteps == nil {
		return "its provisioning steps could not be read"
	}
	return "the service gives no reason"
}

// createOptions says which argument is at fault if a creation is refused.
func (m *computerModel) createOptions(body computers.CreateRequest) (options apierror.Options) {
	if m.Source.IsNull() { // Otherwise, the service may not have found the source.
		options = append(options, unknownAccount(m.ServiceAccountID))
	}
	if body.HostID != "" {
		options = append(options, hostTaken)
	}
	if body.Provider == computers.ProviderBYOM { // Mostly, the service refuses what only a managed computer can have.
		options = append(options, apierror.AtStatus{http.StatusBadRequest: path.Root("provider_type")})
	}
	return options
}

// updateOptions says what a 409 for an update means. Without a host ID, any one is blamed on the name.
func updateOptions(body computers.UpdateRequest) apierror.Options {
	switch {
	case body.IsRename():
		return apierror.NameTaken("computer")
	case body.HostID != nil:
		return hostTaken
	}
	return nil
}

// hostTaken is for a conflict if a host ID was sent.
var hostTaken = apierror.Options{
	apierror.AtStatus{http.StatusConflict: path.Root("host_id")},
	apierror.Advice{http.StatusConflict: "Another computer may have this host_id. To find it, use the data source agentyard_computers with host_id. If it is another machine, correct host_id."},
}

// unknownAccount puts a 404 of a create on the configured account.
func unknownAccount(account types.String) apierror.AtStatus {
	if account.IsNull() {
		return nil
	}
	return apierror.AtAccount
}
