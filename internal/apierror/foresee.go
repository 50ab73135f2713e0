package apierror

import (
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// Foreseen says in the plan of a creation what the apply would meet. That the service refuses the provider is an error. An
// object of the name is a warning, for something else in the run may remove or rename it before.
func Foreseen(object string, err error, options ...Option) diag.Diagnostics {
	var exists *client.ExistsError
	if !errors.As(err, &exists) {
		if err == nil {
			return nil
		}
		return For("plan", object, err, options...)
	}
	f := newFailure("plan", object, err, options)
	detail := sentences(err) + " Unless it is removed or renamed before, the apply stops and creates nothing.\n\n" +
		f.adopt(append([]client.ExistsError{*exists}, exists.Others...))
	// The CLIs show one of several warnings with the same summary.
	summary := fmt.Sprintf("Name %q Is Taken", exists.Name)
	if at, ok := f.fields["name"]; ok {
		return diag.Diagnostics{diag.NewAttributeWarningDiagnostic(at, summary, detail)}
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic(summary, detail)}
}
