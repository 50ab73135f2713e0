package apierror

import (
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

// Recovered returns one warning about what a call did after lost responses; nothing if there were none.
func Recovered(all []create.Recovery) diag.Diagnostics {
	if len(all) == 0 {
		return nil
	}
	lines := []string{"The provider got no usable response to a request, so its outcome was unknown."}
	for _, r := range all {
		names := make([]string, len(r.Objects))
		for i, e := range r.Objects {
			names[i] = identified(e)
		}
		found := phrase.Names(names, phrase.MaxNamed)
		if r.AreRevoked {
			lines = append(lines, "It found and revoked "+found+", because the value was lost with the response. If another run or member created it, their key no longer works.")
		} else {
			lines = append(lines, "It found and uses "+found+". If another run or member created it, both use it now.")
		}
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic("Recovered After a Lost Response", strings.Join(lines, "\n"))}
}

// identified describes an object: computer "ci" (c1, created at 2026-03-01T12:00:00Z).
func identified(e wire.Ref) string {
	text := e.Object
	if e.Name != "" {
		text += fmt.Sprintf(" %q", e.Name)
	}
	text += " (" + e.ID
	if !e.CreatedAt.IsZero() {
		text += ", created at " + e.CreatedAt.UTC().Format(time.RFC3339)
	}
	return text + ")"
}
