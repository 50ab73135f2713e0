package apierror

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
)

func TestRecovered(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	computer, session := create.ExistsError{Object: "computer", Name: "ci", ID: "c1", CreatedAt: at}, create.ExistsError{Object: "session", ID: "s1"}
	key := create.ExistsError{Object: "API key", Name: "k", ID: "k1", CreatedAt: at}
	found := Recovered([]create.Recovery{{Objects: []create.ExistsError{computer, session}}, {Objects: []create.ExistsError{key}, AreRevoked: true}})
	want := `The response to a request was lost.
The provider found and uses computer "ci" (c1, created at 2026-03-01T12:00:00Z), session (s1).
The provider found and revoked API key "k" (k1, created at 2026-03-01T12:00:00Z), because the value was lost with the response.
Check that no other run, and no person, created the same at that time.`
	if len(found) != 1 || found[0].Detail() != want {
		t.Errorf("got %v", found)
	}
	if none := Recovered(nil); len(none) > 0 {
		t.Errorf("got %v", none)
	}
}
