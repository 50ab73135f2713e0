package organization

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
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

func TestEnterpriseControlHistory_readsEveryField(t *testing.T) {
	t.Parallel()
	c, _, _ := area.ServeShort(t, func(string) string {
		return changesPage("",
			`{"revision":12345678901,"settings":{"b": 1, "a":{"unknown":[]}},"user":{"id":"u1","email":"ada@acme.example","name":"Ada Adams","role":"owner"},"updatedAt":"2026-03-01T02:00:00+02:00","new":1}`,
			`{"revision":2,"settings":null,"user":{"id":"u2","email":null,"name":null},"updatedAt":null}`,
			`{"revision":1,"settings":{}}`)
	})
	found, err := c.ControlHistory(t.Context(), 0)
	if err != nil || len(found) != 3 {
		t.Fatalf("got %+v, %v", found, err)
	}
	one := found[0]
	if *one.Revision != 12345678901 || string(one.Settings) != `{"b": 1, "a":{"unknown":[]}}` || *one.User != (ControlUser{"u1", "ada@acme.example", "Ada Adams"}) || !one.UpdatedAt.Equal(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)) {
		t.Errorf("got %+v", one)
	}
	if two := found[1]; *two.User != (ControlUser{ID: "u2"}) || !two.UpdatedAt.IsZero() || string(two.Settings) != "null" {
		t.Errorf("got %+v", two)
	}
	if three := found[2]; three.User != nil {
		t.Errorf("got %+v", three)
	}
}

// The newest change is first in any order of the service, and each change is there once.
func TestEnterpriseControlHistory_order(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{
		"GET " + controlsRoute + "?limit=100":          changesPage("a", change(7), change(9), change(8)),
		"GET " + controlsRoute + "?cursor=a&limit=100": changesPage("", change(7), change(10), change(6)),
	}))
	for range 2 {
		if found, err := c.ControlHistory(t.Context(), 0); err != nil || revisions(found) != "10 9 8 7 6 " {
			t.Errorf("got %s, %v", revisions(found), err)
		}
	}
	rec.WantCount(t, http.MethodGet, 2)
}

func TestEnterpriseControlHistory_most(t *testing.T) {
	t.Parallel()
	for most, tc := range map[int]struct {
		want     string
		requests int
	}{
		1: {"9 ", 1}, 2: {"9 8 ", 1}, 3: {"9 8 7 ", 2}, 4: {"9 8 7 6 ", 2}, 5: {"9 8 7 6 5 ", 3}, 0: {"9 8 7 6 5 ", 3}, 200: {"9 8 7 6 5 ", 3},
	} {
		t.Run(strconv.Itoa(most), func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if got := r.URL.Query().Get("limit"); got != collection.PageSize(most) {
					t.Errorf("pages of %s, want %s", got, collection.PageSize(most))
				}
				clienttest.Say(w, map[string]string{
					"": changesPage("a", change(9), change(8)), "a": changesPage("b", change(7), change(6)), "b": changesPage("", change(5)),
				}[r.URL.Query().Get("cursor")])
			})
			if found, err := c.ControlHistory(t.Context(), most); err != nil || revisions(found) != tc.want || rec.Count(http.MethodGet) != tc.requests {
				t.Errorf("got %s in %d requests, %v", revisions(found), rec.Count(http.MethodGet), err)
			}
		})
	}
}

func TestEnterpriseControlHistory_failures(t *testing.T) {
	t.Parallel()
	const secret = "no-secret-api-key"
	for name, tc := range map[string]struct{ answer, want string }{
		"refused":     {`403 {"detail":"no"}`, "returned 403: no"},
		"no changes":  {`200 {"pagination":{}}`, "the field changes is missing"},
		"no revision": {changesPage("", `{"settings":{"apiKey":"`+secret+`"}}`), "has no ID"},
		"no settings": {changesPage("", `{"revision":1}`), "the field settings is missing"},
		"odd types":   {changesPage("", `{"revision":"`+secret+`","settings":{"apiKey":"`+secret+`"}}`), "unexpected response"},
		"a circle":    {changesPage("a", change(1)), "leads back"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := area.ServeShort(t, func(string) string { return tc.answer })
			found, err := c.ControlHistory(t.Context(), 0)
			if err == nil || found != nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "listEnterpriseControlHistory") {
				t.Fatalf("got %v, %v", found, err)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error shows the settings: %v", err)
			}
		})
	}
}
