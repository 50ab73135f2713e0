package computer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// createOptions apply while the fleet is not in the state.
func (m *fleetModel) createOptions() apierror.Options {
	return m.options(m.importAdvice())
}

// scaleUpOptions apply while the fleet is in the state, which an import does not overwrite.
func (m *fleetModel) scaleUpOptions() apierror.Options {
	return m.options("Before the import, run terraform state rm ADDRESS. " + m.importAdvice() + "\nOtherwise, create the additional computers in another fleet, with another name_prefix.")
}

func (m *fleetModel) options(existing string) apierror.Options {
	return apierror.Options{fleetFields, unknownAccount(m.ServiceAccountID), apierror.Existing(func(wire.Ref) string { return existing })}
}

func (m *fleetModel) importAdvice() string {
	return fmt.Sprintf("The import includes all computers named \"%s-<number>\". Raise quantity to their number before you apply: an apply deletes those beyond quantity.", m.NamePrefix.ValueString())
}

func (m *fleetModel) shortfall(wanted, present int, err error) (summary, detail string) {
	summary = "Fleet Is Short of Computers"
	detail = fmt.Sprintf("%d of %d computers of the fleet %q are missing: %s.", wanted-present, wanted, m.NamePrefix.ValueString(), strings.TrimSuffix(err.Error(), "."))
	if remedy := apierror.Remedy("create", "computers", err, m.scaleUpOptions()); remedy != "" {
		detail += "\n\n" + remedy
	}
	var others *computers.ForeignComputersError
	if errors.As(err, &others) {
		return summary, detail
	}
	return summary, detail + "\n\nThe next apply creates the missing computers."
}

// deviation is one summary for all warnings of a refresh, because Terraform groups warnings by it.
const deviation = "Fleet Computers Missing or Changed"

func (m *fleetModel) missingFrom(total int, lost []fleetMember, caution string) diag.Diagnostics {
	if len(lost) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(deviation, phrase.Join(fmt.Sprintf("%d of %d computers of the fleet %q no longer %s: %s.",
		len(lost), total, m.NamePrefix.ValueString(), phrase.Verb(len(lost), "exists", "exist"), phrase.Names(memberNames(lost), phrase.MaxNamed)), caution))}
}

func (m *fleetModel) failedComputers(found []computers.Computer, created newComputers) diag.Diagnostics {
	var lines []string
	remedy := ""
	for i := range found {
		if c := &found[i]; c.Status == computers.StatusError {
			lines = append(lines, fmt.Sprintf("- %s (%s): %s", c.Name, c.ID, whyFailed(c)))
			if !created[c.ID] || !m.ReplaceFailed.ValueBool() {
				remedy = "\n\nTo replace a computer that the plan keeps, delete it at the service, then apply."
			}
		}
	}
	count := len(lines)
	if count == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(deviation, fmt.Sprintf("%d of %d computers of the fleet %q %s the status %q:\n%s%s",
		count, len(found), m.NamePrefix.ValueString(), phrase.Verb(count, "has", "have"), computers.StatusError, firstLines(lines), remedy))}
}

func (m *fleetModel) renamedComputers(members []fleetMember, others otherNames) diag.Diagnostics {
	var lines []string
	for _, member := range members {
		if other := others.of(member); other != "" {
			lines = append(lines, fmt.Sprintf("- %s (%s) is named %q", member.name, member.ID.ValueString(), other))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(deviation, fmt.Sprintf("%d of %d computers of the fleet %q %s at the service:\n%s\n\nThe next apply restores the names of computers that stay in the fleet.",
		len(lines), len(members), m.NamePrefix.ValueString(), phrase.Verb(len(lines), "has another name", "have other names"), firstLines(lines)))}
}

// firstLines joins lines, at most phrase.MaxNamed of them.
func firstLines(lines []string) string {
	if more := len(lines) - phrase.MaxNamed; more > 0 {
		lines = append(lines[:phrase.MaxNamed], fmt.Sprintf("- and %d more", more))
	}
	return strings.Join(lines, "\n")
}

// takenNames explains why members cannot get their names back.
func (m *fleetModel) takenNames(stay []fleetMember, notes otherNames, others []computers.Computer) diag.Diagnostics {
	var diags diag.Diagnostics
	for _, member := range stay {
		i := slices.IndexFunc(others, func(c computers.Computer) bool { return c.Name == member.name })
		if other := notes.of(member); other != "" && i >= 0 {
			diags.AddAttributeError(path.Root("computers"), "Name of a Fleet Computer Is Taken",
				fmt.Sprintf("Computer %s (%s) of the fleet %q is named %q at the service. It cannot be renamed, because another computer (%s) is now named %q. Rename that computer at the service, then plan again.",
					member.name, member.ID.ValueString(), m.NamePrefix.ValueString(), other, others[i].ID, member.name))
		}
	}
	return diags
}

// stillFailed reads failed computers again before they are deleted, because a saved plan may be old.
func (r *fleetResource) stillFailed(ctx context.Context, failed []fleetMember, m *fleetModel) diag.Diagnostics {
	if len(failed) == 0 {
		return nil
	}
	now, err := r.Client.Computers.GetManyNow(ctx, m.ServiceAccountID.ValueString(), memberIDs(failed))
	if err != nil {
		return apierror.For("read", "computer fleet", err, fleetFields)
	}
	for _, c := range now {
		if c.Status != computers.StatusError {
			return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("computers"), "Plan Is Out of Date",
				fmt.Sprintf("The plan replaces computer %s (%s) of the fleet %q because it had failed, but its status is now %q. Nothing was changed. Plan again.", c.Name, c.ID, m.NamePrefix.ValueString(), c.Status))}
		}
	}
	return nil
}
