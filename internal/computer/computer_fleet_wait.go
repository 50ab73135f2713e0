package computer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/wait"
)

// problem is why computers that exist are not active.
type problem struct {
	summary, detail string
	// interrupted says that nothing went wrong but the run was told to stop.
	interrupted bool
}

// keptInactive ends the texts of problems.
func keptInactive(m *fleetModel) string {
	next := "Those whose provisioning failed are replaced by the next apply. "
	if !m.ReplaceFailed.ValueBool() {
		next = "As replace_failed is false, none is replaced: to have the fleet make another in the place of one, delete that at the service and apply again. "
	}
	return "They are kept in the state and count as computers of the fleet. " + next + "To allow more time, raise create or update in the timeouts block."
}

// waitForActive follows all computers at once, with shared looks, and returns them as last seen.
func (r *fleetResource) waitForActive(ctx context.Context, made []client.Computer, m *fleetModel, timeout time.Duration) ([]client.Computer, *problem) {
	last, errs := append([]client.Computer(nil), made...), make([]error, len(made))
	var running sync.WaitGroup
	for i := range made {
		if made[i].Status == client.ComputerActive {
			continue
		}
		watch := r.Client.WatchComputer(made[i].ID, m.ServiceAccountID.ValueString())
		running.Go(func() {
			defer watch.Close()
			seen, err := wait.For(ctx, r.Client.Clock(), timeout, wait.Object[client.Computer]{
				Start:  &made[i],
				Next:   watch.Next,
				Status: func(c *client.Computer) string { return c.Status },
				States: computerStates,
			})
			if seen != nil {
				last[i] = *seen
			}
			errs[i] = err
		})
	}
	running.Wait()
	last = r.withSteps(ctx, last, m)
	return last, notAllActive(last, errs, m)
}

// withSteps completes records that came from an answer without steps, with one listing for all. Without that listing
// they stay as they are: right, if not whole.
func (r *fleetResource) withSteps(ctx context.Context, computers []client.Computer, m *fleetModel) []client.Computer {
	for i := range computers {
		if computers[i].ProvisioningSteps != nil || computers[i].WithoutSteps || ctx.Err() != nil {
			continue
		}
		found, err := r.Client.ListedComputer(ctx, computers[i].ID, m.ServiceAccountID.ValueString())
		if err != nil {
			return computers
		}
		if found != nil {
			computers[i] = *found
		}
	}
	return computers
}

// notAllActive explains which computers are not active, and why; nil if all are.
func notAllActive(last []client.Computer, errs []error, m *fleetModel) *problem {
	var lines []string
	var interrupted, broken bool
	for i, err := range errs {
		if err == nil {
			continue
		}
		c := &last[i]
		var failed *wait.FailedError
		var late *wait.TimeoutError
		reason := err.Error()
		switch {
		case errors.As(err, &failed):
			reason = whyBroken(c)
		case errors.As(err, &late):
			reason += "; provisioning goes on at the service"
		case errors.Is(err, context.Canceled):
			reason, interrupted = "the run was interrupted; provisioning goes on at the service", true
			lines = append(lines, fmt.Sprintf("- %s (%s): %s.", c.Name, c.ID, reason))
			continue
		}
		broken = true
		lines = append(lines, fmt.Sprintf("- %s (%s): %s.", c.Name, c.ID, reason))
	}
	if len(lines) == 0 {
		return nil
	}
	p := &problem{
		summary:     fmt.Sprintf("Computers of the Fleet %q Are Not Active", m.NamePrefix.ValueString()),
		detail:      fmt.Sprintf("Of %s, %d %s not active:\n%s\n\n", phrase.Count(len(last), "new computer"), len(lines), phrase.Verb(len(lines), "is", "are"), strings.Join(lines, "\n")),
		interrupted: interrupted && !broken,
	}
	if p.interrupted {
		p.summary = "Interrupted Before the Fleet Was Active"
	}
	return p
}

// stillFailed looks once more before computers are deleted because they failed: the plan may be old. It stops, too, where
// nothing could be made in their place.
func (r *fleetResource) stillFailed(ctx context.Context, change fleetChange, present []computerRecord, m *fleetModel) diag.Diagnostics {
	now, err := r.Client.FleetNow(ctx, m.NamePrefix.ValueString(), ownerOf(present, m.ServiceAccountID), recordIDs(present))
	if err != nil {
		return apierror.For("read", "computer fleet", err, fleetFields)
	}
	failed := recordIDs(change.failed)
	for i := range now.Members {
		c := &now.Members[i]
		if slices.Contains(failed, c.ID) && c.Status != client.ComputerError {
			return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("computers"), "Plan Is Out of Date",
				fmt.Sprintf("Computer %s (%s) of the fleet %q was to be deleted because it had failed, but its status is %q now. Nothing was changed. Plan again.", c.Name, c.ID, m.NamePrefix.ValueString(), c.Status))}
		}
	}
	if change.missing > 0 && len(now.Others) > 0 {
		return fleetError("update", &client.OthersError{Prefix: m.NamePrefix.ValueString(), Found: now.Others}, m, true)
	}
	return nil
}

// shortfall says how many computers are missing, and why.
func shortfall(wanted, present int, err error, m *fleetModel) (summary, detail string) {
	detail = fmt.Sprintf("%d of %d computers of the fleet %q are missing: %s.", wanted-present, wanted, m.NamePrefix.ValueString(), strings.TrimSuffix(err.Error(), "."))
	var others *client.OthersError
	if errors.As(err, &others) {
		return "Fleet Is Short of Computers", detail + "\n\n" + adoptOthers(m, true)
	}
	for _, d := range apierror.For("create", "computers", err, fleetFields) {
		// The translator repeats the error and adds what to do about it.
		if _, remedy, found := strings.Cut(d.Detail(), "\n\n"); found {
			detail += " " + remedy
		}
	}
	return "Fleet Is Short of Computers", detail + "\n\nThe computers that exist are kept in the state. The next apply makes up those that are missing."
}

// fleetError explains why nothing was made.
func fleetError(verb string, err error, m *fleetModel, managed bool) diag.Diagnostics {
	var others *client.OthersError
	if errors.As(err, &others) {
		return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("name_prefix"), "Cannot "+verb+" computer fleet",
			capital(others.Error())+". None of them is taken over.\n\n"+adoptOthers(m, managed))}
	}
	return apierror.For(verb, "computer fleet", err, fleetFields, unknownAccount(m.ServiceAccountID))
}

// outsideOfFleet warns of them while nothing is to be created: somebody pays for them.
func outsideOfFleet(others *client.OthersError, m *fleetModel) diag.Diagnostic {
	return diag.NewAttributeWarningDiagnostic(path.Root("name_prefix"), fmt.Sprintf("Computers Outside of the Fleet %q Bear Its Names", m.NamePrefix.ValueString()), capital(others.Error())+".\n\n"+adoptOthers(m, true))
}

// goneFromFleet tells which computers are gone: the plan that makes up for them shows only new ones.
func goneFromFleet(fleet *client.Fleet, prior []computerRecord, m *fleetModel) diag.Diagnostic {
	present := map[string]bool{}
	for i := range fleet.Members {
		present[fleet.Members[i].ID] = true
	}
	missing := slices.DeleteFunc(slices.Clone(prior), func(r computerRecord) bool { return present[r.ID.ValueString()] })
	detail := fmt.Sprintf("%d of %d computers of the fleet %q do not exist at the service any more: %s. They are removed from the state; the next apply makes up for them.",
		len(missing), len(prior), m.NamePrefix.ValueString(), phrase.Names(namesOf(missing), maxNamed))
	return diag.NewAttributeWarningDiagnostic(path.Root("quantity"), fmt.Sprintf("Computers of the Fleet %q Are Gone", m.NamePrefix.ValueString()), detail)
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// adoptOthers says what to do about computers of the fleet's names that are not in it.
func adoptOthers(m *fleetModel, managed bool) string {
	const reason = "An interrupted run may have left them. To take every computer of these names into the fleet, import it: "
	if managed {
		return reason + "terraform state rm ADDRESS, then terraform import ADDRESS " + m.importID() + "\nOr delete them at the service."
	}
	return reason + "terraform import ADDRESS " + m.importID() + "\nOr delete them at the service, or choose another name_prefix."
}
