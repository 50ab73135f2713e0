package computer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

// options say what the refusals of a creation mean, and what to do about other computers with the fleet's names.
func (m *fleetModel) options(inState bool) apierror.Options {
	return apierror.Options{fleetFields, unknownAccount(m.ServiceAccountID), apierror.Existing(func(*client.ExistsError) string {
		advice := fmt.Sprintf("The import takes all computers named \"%s-<number>\". Raise quantity to their number before you apply: an apply deletes those beyond quantity.\n", m.NamePrefix.ValueString())
		if inState {
			return "Before the import, run terraform state rm ADDRESS. " + advice + "Otherwise, create the additional computers in another fleet, with another name_prefix."
		}
		return advice + "Otherwise, choose another name_prefix."
	})}
}

// shortfall says how many computers are missing, and why.
func (m *fleetModel) shortfall(wanted, present int, err error) (summary, detail string) {
	summary = "Fleet Is Short of Computers"
	detail = fmt.Sprintf("%d of %d computers of the fleet %q are missing: %s.", wanted-present, wanted, m.NamePrefix.ValueString(), strings.TrimSuffix(err.Error(), "."))
	for _, d := range apierror.For("create", "computers", err, m.options(true)) {
		// The translation repeats the error and adds a remedy.
		if _, remedy, found := strings.Cut(d.Detail(), "\n\n"); found {
			detail += "\n\n" + remedy
		}
	}
	var others *client.OthersError
	if errors.As(err, &others) {
		return summary, detail
	}
	return summary, detail + "\n\nThe next apply creates the missing computers."
}

// unplannedNames is an error if the service named a new computer differently than the plan.
func (m *fleetModel) unplannedNames(planned []string, made []client.Computer) diag.Diagnostics {
	var unplanned []client.Computer
	unused := slices.Clone(planned)
	for _, c := range made {
		if i := slices.Index(unused, c.Name); i >= 0 {
			unused = slices.Delete(unused, i, i+1)
		} else {
			unplanned = append(unplanned, c)
		}
	}
	if len(unplanned) == 0 {
		return nil
	}
	lines := make([]string, len(unplanned))
	for i, c := range unplanned {
		lines[i] = fmt.Sprintf("- %s was planned, but the service created %s (%s).", unused[i], c.Name, c.ID)
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("computers"), "Unexpected Computer Name",
		fmt.Sprintf("The service named new computers of the fleet %q differently than the plan:\n%s\n\nThe state contains the computers that exist. Plan and apply again.", m.NamePrefix.ValueString(), strings.Join(lines, "\n")))}
}

// missingOrFailed is the summary of every warning about computers that a refresh found missing or failed.
const missingOrFailed = "Fleet Computers Missing or Failed"

// missingFrom warns about computers that no longer exist.
func (m *fleetModel) missingFrom(total int, lost []fleetMember) diag.Diagnostics {
	if len(lost) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(missingOrFailed, fmt.Sprintf("%d of %d computers of the fleet %q no longer %s: %s.",
		len(lost), total, m.NamePrefix.ValueString(), phrase.Verb(len(lost), "exists", "exist"), phrase.Names(memberNames(lost), phrase.MaxNamed)))}
}

// failedComputers warns about computers with the status "error".
func (m *fleetModel) failedComputers(found []client.Computer) diag.Diagnostics {
	var lines []string
	for i := range found {
		if c := &found[i]; c.Status == client.ComputerError {
			lines = append(lines, fmt.Sprintf("- %s (%s): %s", c.Name, c.ID, whyFailed(c)))
		}
	}
	count := len(lines)
	if count == 0 {
		return nil
	}
	if count > phrase.MaxNamed {
		lines = append(lines[:phrase.MaxNamed], fmt.Sprintf("- and %d more", count-phrase.MaxNamed))
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(missingOrFailed, fmt.Sprintf("%d of %d computers of the fleet %q %s the status %q:\n%s",
		count, len(found), m.NamePrefix.ValueString(), phrase.Verb(count, "has", "have"), client.ComputerError, strings.Join(lines, "\n")))}
}

// stillFailed reads failed computers again before they are deleted, because the plan may be old.
func (r *fleetResource) stillFailed(ctx context.Context, failed []fleetMember, m *fleetModel) diag.Diagnostics {
	if len(failed) == 0 {
		return nil
	}
	now, err := r.Client.ComputersByIDNow(ctx, m.ServiceAccountID.ValueString(), memberIDs(failed))
	if err != nil {
		return apierror.For("read", "computer fleet", err, fleetFields)
	}
	for _, c := range now {
		if c.Status != client.ComputerError {
			return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("computers"), "Plan Is Out of Date",
				fmt.Sprintf("Computer %s (%s) of the fleet %q was to be replaced because it had failed, but its status is now %q. Nothing was changed. Plan again.", c.Name, c.ID, m.NamePrefix.ValueString(), c.Status))}
		}
	}
	return nil
}
