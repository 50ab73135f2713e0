package apierror

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

func TestRecovered(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	computer, session := wire.Ref{Object: "computer", Name: "ci", ID: "c1", CreatedAt: at}, wire.Ref{Object: "session", ID: "s1"}
	key := wire.Ref{Object: "API key", Name: "k", ID: "k1", CreatedAt: at}
	found := Recovered([]create.Recovery{{Objects: []wire.Ref{computer, session}}, {Objects: []wire.Ref{key}, AreRevoked: true}})
	want := `The provider got no usable response to a request, so its outcome was unknown.
It found and uses computer "ci" (c1, created at 2026-03-01T12:00:00Z), session (s1). If another run or member created it, both use it now.
It found and revoked API key "k" (k1, created at 2026-03-01T12:00:00Z), because the value was lost with the response. If another run or member created it, their key no longer works.`
	if len(found) != 1 || found[0].Detail() != want {
		t.Errorf("got %v", found)
	}
	if none := Recovered(nil); len(none) > 0 {
		t.Errorf("got %v", none)
	}
}
