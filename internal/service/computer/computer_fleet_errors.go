package computer

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// prefixRule is what the service should accept as a name prefix. Only the service decides, so a plan does not check it.
const prefixRule = "1–58 lowercase letters, digits, and hyphens, from a letter to a letter or digit"

var usualPrefix = regexp.MustCompile(`^[a-z]([a-z0-9-]{0,56}[a-z0-9])?$`)

// fromState is how to import a fleet that is in the state: an import does not overwrite it.
const fromState = "Before the import, run terraform state rm ADDRESS. "

// options are for errors of a creation. First is what precedes an import.
func (m *fleetModel) options(first string) apierror.Options {
	existing := first + fmt.Sprintf("The import includes all computers named \"%s-<number>\". Raise quantity to their number before you apply: an apply deletes those beyond quantity.", m.NamePrefix.ValueString())
	if first != "" {
		existing += "\nOtherwise, create the additional computers in another fleet, with another name_prefix."
	}
	options := apierror.Options{unknownAccount(m.ServiceAccountID), apierror.Existing(func(wire.Ref) string { return existing })}
	if !usualPrefix.MatchString(m.NamePrefix.ValueString()) {
		options = append(options, apierror.Advice{http.StatusBadRequest: "Correct name_prefix: it should be " + prefixRule + "."}, apierror.AtStatus{http.StatusBadRequest: path.Root("name_prefix")})
	}
	return options
}

func (m *fleetModel) shortfall(wanted, present int, err error) (summary, detail string) {
	summary = "Fleet is short of computers"
	detail = fmt.Sprintf("%d of %d computers of the fleet %q are missing: %s.", wanted-present, wanted, m.NamePrefix.ValueString(), strings.TrimSuffix(err.Error(), "."))
	if remedy := apierror.Remedy("create", "computers", err, m.options(fromState)); remedy != "" {
		detail += "\n\n" + remedy
	}
	var others *create.ExistsError
	if errors.As(err, &others) || transport.IsAmbiguous(err) { // What is missing may appear later.
		return summary, detail
	}
	return summary, detail + "\n\nThe next apply creates the missing computers."
}

// deviation is one summary for all warnings of a refresh, because Terraform groups warnings by it.
const deviation = "Fleet computers missing or changed"

func (m *fleetModel) missingFrom(total int, lost []fleetMember, caution string) diag.Diagnostics {
	if len(lost) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(deviation, phrase.Join(fmt.Sprintf("%d of %d computers of the fleet %q no longer %s: %s.",
		len(lost), total, m.NamePrefix.ValueString(), phrase.Verb(len(lost), "exists", "exist"), phrase.Names(memberNames(lost), phrase.MaxNamed)), caution))}
}

const replaceKept = "To replace another failed computer, save its files, delete it at the service, then apply."

// failedComputers warns of failed computers. Members are the same ones, in the same order.
func (m *fleetModel) failedComputers(found []computers.Computer, members []fleetMember) diag.Diagnostics {
	var lines []string
	remedy := ""
	for i := range found {
		if c := &found[i]; c.HasFailed() {
			lines = append(lines, fmt.Sprintf("- %s (%s): the status is %q: %s", c.Name, c.ID, c.Status, whyFailed(c)))
			if !m.replaces(&members[i]) {
				remedy = "\n\n" + replaceKept
			}
		}
	}
	count := len(lines)
	if count == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(deviation, fmt.Sprintf("%d of %d computers of the fleet %q failed:\n%s%s",
		count, len(found), m.NamePrefix.ValueString(), firstLines(lines), remedy))}
}

// firstLines joins lines, at most phrase.MaxNamed of them.
func firstLines(lines []string) string {
	if more := len(lines) - phrase.MaxNamed; more > 0 {
		lines = append(lines[:phrase.MaxNamed], fmt.Sprintf("- and %d more", more))
	}
	return strings.Join(lines, "\n")
}
