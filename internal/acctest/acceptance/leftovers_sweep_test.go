package acceptance

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// odd is a service whose records have little more than names, IDs, and ages, and wrong types elsewhere. It remembers what was deleted.
type odd struct {
	lists map[string]any // By path.

	mu      sync.Mutex
	deleted []string
}

func (o *odd) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	if r.Method != http.MethodGet {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.deleted = append(o.deleted, r.Method+" "+strings.TrimPrefix(r.URL.EscapedPath(), "/api/v0"))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	list, ok := o.lists[strings.TrimPrefix(r.URL.EscapedPath(), "/api/v0")+r.URL.Query().Get("cursor")]
	if !ok {
		_, _ = io.WriteString(w, `{"computers":null,"sessions":5}`)
		return
	}
	_ = json.NewEncoder(w).Encode(list)
}

// swept sweeps everything at a service, and returns what was deleted and printed.
func (o *odd) swept(t *testing.T, service http.Handler) (deleted []string, printed string, err error) {
	t.Helper()
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	c, err := client.New(transport.Config{BaseURL: server.URL, APIKey: "key"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	err = (&sweep{client: c, out: &out, isWanted: func(leftover) bool { return true }}).all(t.Context())
	slices.Sort(o.deleted)
	return o.deleted, out.String(), err
}

type row = map[string]any

// A sweep gets by with names, IDs, and ages.
func TestSweep_deviatingLists(t *testing.T) {
	t.Setenv(envWiki, "")
	t.Setenv(envInvitation, "")
	name, other := namePrefix+newRunID(time.Now())+"-x1", row{"id": 7, "name": row{}, "createdAt": "soon", "ownerPrincipalKind": 3}
	o := &odd{lists: map[string]any{
		"/computers":                   row{"data": row{"computers": []any{other, nil, row{"id": "c", "name": name, "status": 5}}}},
		"/sessions":                    row{"sessions": []any{other}, "pagination": row{"nextCursor": "2", "hasMore": "yes"}},
		"/sessions2":                   row{"sessions": []any{row{"sessionId": "s1", "computerId": "c", "status": "asleep"}, row{"sessionId": "s2", "settings": row{"tags": []any{1, row{"name": name}}}}}, "pagination": row{"nextCursor": "2"}},
		"/service-accounts":            []any{other, row{"id": "a", "name": name}},
		"/service-accounts/a/api-keys": row{"apiKeys": []any{row{"id": "k1", "isRevoked": true}, row{"id": "k2"}}},
		"/environments":                row{"environments": []any{other, row{"id": "e", "name": name, "scope": 1}}},
		"/wiki":                        row{"wikiRuns": []any{other, row{"wikiRunId": "w", "branch": name, "repoUrl": "r"}}},
	}}
	deleted, printed, err := o.swept(t, o)
	want := []string{
		"DELETE /computers/c", "DELETE /environments/e", "DELETE /service-accounts/a", "DELETE /sessions/s1", "DELETE /sessions/s2", "DELETE /wiki/w",
		"POST /service-accounts/a/api-keys/k2/revoke",
	}
	if err != nil || !slices.Equal(deleted, want) {
		t.Errorf("got %v and %q, want %q\n%s", err, deleted, want, printed)
	}
}

// A list that cannot be read does not stop the others.
func TestSweep_brokenList(t *testing.T) {
	t.Setenv(envWiki, "")
	o := &odd{lists: map[string]any{"/environments": row{"environments": []any{row{"id": "e", "name": namePrefix + newRunID(time.Now()) + "-x1"}}}}}
	broken := http.NewServeMux()
	broken.HandleFunc("/api/v0/computers", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") })
	broken.Handle("/", o)
	deleted, _, err := o.swept(t, broken)
	if err == nil || !strings.Contains(err.Error(), "agentyard_computer: list of computers") || !slices.Equal(deleted, []string{"DELETE /environments/e"}) {
		t.Errorf("got %v and %q", err, deleted)
	}
}

// A run may stand behind a newer one of somebody else.
func TestSweep_olderWikiRun(t *testing.T) {
	theirs, ours := row{"wikiRunId": "theirs", "branch": "main", "repoUrl": "r"}, row{"wikiRunId": "ours", "branch": namePrefix + newRunID(time.Now()) + "-x1", "repoUrl": "r"}
	o := &odd{lists: map[string]any{"/wiki": row{"wikiRuns": []any{theirs}}, "/wiki/history/r": row{"wikiRuns": []any{theirs, ours}}}}
	t.Setenv(envWiki, "1")
	if deleted, printed, err := o.swept(t, o); err != nil || !slices.Equal(deleted, []string{"DELETE /wiki/ours"}) {
		t.Errorf("got %v and %q\n%s", err, deleted, printed)
	}
}
