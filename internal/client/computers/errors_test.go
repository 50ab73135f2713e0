package computers

import (
	"errors"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Errors name objects by their IDs, and by their creation times if the service returns them.
func TestErrors_nameWhatIsThere(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	one, two := wire.Ref{Object: "computer", Name: "a", ID: "c1"}, wire.Ref{ID: "c2", CreatedAt: at}
	broken := errors.New("broken")
	for want, err := range map[string]error{
		`the computer "a" (c1, created at 2026-03-01T00:00:00Z) already exists`:                                                               &create.ExistsError{Found: []wire.Ref{{Object: "computer", Name: "a", ID: "c1", CreatedAt: at}}},
		`the computer "a" (c1) already exists, and so do others: c2 (created at 2026-03-01T00:00:00Z)`:                                        &create.ExistsError{Found: []wire.Ref{one, two}},
		`the request to create the computer "a" has an unknown outcome, and no such computer was found: broken`:                               &create.LostError{Object: "computer", Name: "a", Err: broken},
		`the request to create the computer "a" has an unknown outcome, and it may have created "a" (c1): broken; again`:                      &create.LostError{Object: "computer", Name: "a", Found: []wire.Ref{one}, Err: errors.Join(broken, errors.New("again"))},
		`the request to create the session on the computer 7 has an unknown outcome, and no such session on the computer 7 was found: broken`: &create.LostError{Object: "session on the computer 7", Err: broken},
		`the request to create the session has an unknown outcome, and it may have created "a" (c1): the response has another object`:         create.AnotherObject("session", "", one),
		`the object does not exist: broken`: &collection.MissingError{Err: broken},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
