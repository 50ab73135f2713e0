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

// maxNamed bounds how many computers a message names.
const maxNamed = 20

// createError explains why no computer was created. Remedy says what to do about other computers with the fleet's names.
func (m *fleetModel) createError(verb string, err error, remedy string) diag.Diagnostics {
	var others *client.OthersError
	if errors.As(err, &others) {
		return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("name_prefix"), "Cannot "+verb+" computer fleet", sentence(others)+"\n\n"+remedy)}
	}
	return apierror.For(verb, "computer fleet", err, fleetFields, unknownAccount(m.ServiceAccountID))
}

func sentence(err error) string {
	text := err.Error()
	return strings.ToUpper(text[:1]) + text[1:] + "."
}

// importRemedy is for a fleet that is not in the state.
func (m *fleetModel) importRemedy() string {
	return "If you renamed the resource, add a moved block. If it is replaced with create_before_destroy, change name_prefix too. " +
		"Otherwise, choose another name_prefix, or import the computers: terraform import ADDRESS " + m.importID()
}

// reimportRemedy is for a fleet that is in the state.
func (m *fleetModel) reimportRemedy() string {
	return "An interrupted run may have created them. To add them to the fleet, import it again: terraform state rm ADDRESS, then terraform import ADDRESS " + m.importID() +
		"\nOtherwise, rename them."
}

// shortfall says how many computers are missing, and why.
func (m *fleetModel) shortfall(wanted, present int, err error) (summary, detail string) {
	summary = "Fleet Is Short of Computers"
	detail = fmt.Sprintf("%d of %d computers of the fleet %q are missing: %s.", wanted-present, wanted, m.NamePrefix.ValueString(), strings.TrimSuffix(err.Error(), "."))
	var others *client.OthersError
	if errors.As(err, &others) {
		return summary, detail + "\n\n" + m.reimportRemedy()
	}
	for _, d := range apierror.For("create", "computers", err, fleetFields) {
		// The translation repeats the error and adds a remedy.
		if _, remedy, found := strings.Cut(d.Detail(), "\n\n"); found {
			detail += " " + remedy
		}
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

// missingFrom warns about computers that no longer exist.
func (m *fleetModel) missingFrom(total int, lost []fleetMember) diag.Diagnostics {
	if len(lost) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic("Fleet Computers Not Found",
		fmt.Sprintf("%d of %d computers of the fleet %q no longer %s: %s. The next apply replaces %s.", len(lost), total, m.NamePrefix.ValueString(),
			phrase.Verb(len(lost), "exists", "exist"), phrase.Names(memberNames(lost), maxNamed), phrase.Verb(len(lost), "it", "them")))}
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
	if count > maxNamed {
		lines = append(lines[:maxNamed], fmt.Sprintf("- and %d more", count-maxNamed))
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic("Fleet Computers Failed",
		fmt.Sprintf("%d of %d computers of the fleet %q had the status %q when they were read:\n%s\n\nThe plan shows those that are replaced. To replace another one, delete it at the service and apply again.",
			count, len(found), m.NamePrefix.ValueString(), client.ComputerError, strings.Join(lines, "\n")))}
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
