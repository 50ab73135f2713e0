package organization

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
)

const controlsRoute = "/api/v0/organization/enterprise-controls/history"

// change is the JSON of a change of the settings.
func change(revision int) string {
	return fmt.Sprintf(`{"revision":%d,"settings":{"sessionRetentionDays":%d},"user":{"id":"u1","email":"ada@acme.example","name":"Ada"},"updatedAt":"2026-03-01T00:00:00Z"}`, revision, revision)
}

func changesPage(next string, changes ...string) string {
	return clienttest.PageOf("changes", next, changes)
}

func revisions(changes []ControlChange) string {
	text := ""
	for _, c := range changes {
		text += fmt.Sprint(*c.Revision, " ")
	}
	return text
}

// The newest change is first in any order of the service, and each change is there once.
func TestEnterpriseControlHistory_order(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{
		"GET " + controlsRoute + "?limit=100":          changesPage("a", change(7), change(9), change(8)),
		"GET " + controlsRoute + "?cursor=a&limit=100": changesPage("", change(7), change(10), change(6)),
		"GET " + controlsRoute + "?limit=1":            changesPage("", change(7), change(9)), // More than requested.
	}))
	for range 2 {
		if found, err := c.ControlHistory(t.Context(), 0, nil); err != nil || revisions(found) != "10 9 8 7 6 " {
			t.Errorf("got %s, %v", revisions(found), err)
		}
	}
	rec.WantCount(t, http.MethodGet, 2)
	if found, err := c.ControlHistory(t.Context(), 1, nil); err != nil || revisions(found) != "9 " {
		t.Errorf("the newest is %s, %v", revisions(found), err)
	}
}
