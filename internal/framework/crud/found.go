package crud

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

const (
	foundByCreation = "The response to a creation was lost or unusable. Found and added to this state: %s %s. " +
		"If another run created this, two states have it, and destroying it in one destroys it for both: remove it from one of them with terraform state rm."
	foundByOperation = "The response to the request was lost or unusable. Found and taken for its result: %s %s. " +
		"If another run sent the same request at that time, this may be that run's result, and the request of this run may have had none: check whether both results are there."
)

// WithFound returns a context for creations, and a function that returns a warning about what they found after lost responses. Nothing
// proves that another run, which the name or the time fits too, did not create it.
func WithFound(ctx context.Context) (context.Context, func() diag.Diagnostics) {
	return withFound(ctx, foundByCreation)
}

func withFound(ctx context.Context, text string) (context.Context, func() diag.Diagnostics) {
	ctx, found := create.WithFound(ctx)
	return ctx, func() (diags diag.Diagnostics) {
		var adopted []wire.Ref
		var lines []string
		for _, f := range *found {
			if f.Revoked == "" {
				adopted = append(adopted, f.Ref)
				continue
			}
			lines = append(lines, fmt.Sprintf("The response to a request for a new API key was lost or unusable. The provider revoked the API key %s with the fingerprint %s, which appeared since: its value is lost here. "+
				"If another run created that key, it does not work there any more: replace it.", f.Ref, f.Revoked))
		}
		if len(adopted) > 0 {
			lines = append(lines, fmt.Sprintf(text, adopted[0].Object, create.List(adopted)))
		}
		if len(lines) > 0 {
			diags.AddWarning("Found after a lost response", strings.Join(lines, "\n"))
		}
		return diags
	}
}
