package apierror

import (
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// HeldElsewhere is what comes before the advice to import what exists: a second resource for it would destroy it.
const HeldElsewhere = "What a resource in the state holds, such as one whose address or for_each key was changed, stays with a moved block, or goes first with depends_on: do not import it. Otherwise nothing is created in its place, and the apply ends with an error."

// Foreseen says in the plan of a creation what the apply would meet. That the service refuses the provider is an error. An
// object of the name is a warning, for something else in the run may hold it, and remove or rename it before; so is an
// owner that does not exist. What an interrupted run may have left is an error, unless the state may hold it: then nothing
// tells whether this is a plan or an apply, which makes another one.
func Foreseen(c *client.Client, object string, err error, options ...Option) diag.Diagnostics {
	var exists *client.ExistsError
	var leftover *client.LeftoverError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &leftover) && leftover.MayBeHeld:
		return diag.Diagnostics{diag.NewWarningDiagnostic("An Interrupted Run May Have Left This", fmt.Sprintf(
			"If a resource in the state holds it, nothing is to be done, nor if another configuration or a person has made it: %v. "+
				"Where there is a state, terraform state list -id=ID names the resource that holds it.\n\n"+
				"Otherwise, before applying, import it at this address, so that no other one is made: %s\n"+
				"If another one has been made already, import it at an address of its own, or delete the one that nobody needs.",
			leftover, importCommands(leftover.Found)))}
	case errors.As(err, &leftover):
		return For("create", object, err, options...)
	case errors.As(err, &exists):
		f := newFailure("plan", object, err, options)
		detail := Sentences(err) + " " + HeldElsewhere + "\n\n" + f.adopt(append([]client.ExistsError{*exists}, exists.Others...))
		// The CLIs show one of several warnings with the same summary.
		summary := "Names Are Taken"
		if c.Few(summary, 10) {
			summary = fmt.Sprintf("Name %q Is Taken", exists.Name)
		}
		if at, ok := f.fields["name"]; ok {
			return diag.Diagnostics{diag.NewAttributeWarningDiagnostic(at, summary, detail)}
		}
		return diag.Diagnostics{diag.NewWarningDiagnostic(summary, detail)}
	case client.IsNotFound(err):
		// A destruction plans what is gone anew before it plans the rest, and must not fail because of it.
		var diags diag.Diagnostics
		for _, d := range For("create", object, err, options...) {
			if at, ok := d.(diag.DiagnosticWithPath); ok {
				diags.AddAttributeWarning(at.Path(), d.Summary(), d.Detail())
			} else {
				diags.AddWarning(d.Summary(), d.Detail())
			}
		}
		return diags
	case client.IsDialFault(err):
		err = errors.Join(err, errors.New("a server that this very apply makes must be applied first, with -target"))
	}
	return For("plan", object, errors.Join(err, fmt.Errorf("this is said once, and concerns every new %s of the run", object)), options...)
}
