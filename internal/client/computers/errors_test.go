package computers

import (
	"errors"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// What stands in the way or was lost is named by its ID, and by the time of its creation where the service tells it.
func TestErrors_nameWhatIsThere(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	one, two := create.ExistsError{Object: "computer", Name: "a", ID: "c1"}, create.ExistsError{ID: "c2", CreatedAt: at}
	broken := errors.New("broken")
	failed := &transport.APIError{Operation: "createComputer", Method: "POST", Route: "/computers", Status: 500, Detail: "down"}
	for want, err := range map[string]error{
		`a computer named "a" exists already, with ID c1`:                                                                                 &one,
		`a computer named "a" exists already, with ID c1, created at 2026-03-01T00:00:00Z`:                                                &create.ExistsError{Object: "computer", Name: "a", ID: "c1", CreatedAt: at},
		`a computer named "a" exists already, with ID c1; so does c2 (created at 2026-03-01T00:00:00Z)`:                                   &create.ExistsError{Object: "computer", Name: "a", ID: "c1", Others: []create.ExistsError{two}},
		`the answer to creating the computer "a" was lost, and no such computer is found: broken`:                                         &create.LostError{Object: "computer", Name: "a", Err: broken},
		`the answer to creating the computer "a" was lost, and nothing proves that it made what is found now, c1: broken; again`:          &create.LostError{Object: "computer", Name: "a", Found: []create.ExistsError{one}, Err: errors.Join(broken, errors.New("again"))},
		`it is not certain whether the computer "a" was created, and no such computer is found: ` + failed.Error():                        &create.LostError{Object: "computer", Name: "a", Err: failed},
		`computers named "web-<number>" exist that do not belong to this fleet: web-1 (c1)`:                                               &ForeignComputersError{Prefix: "web", Found: []Computer{{ID: "c1", Name: "web-1"}}},
		`creating the computer "a" was answered with the computer c1, which is not taken over: broken`:                                    &create.WrongObjectError{Object: "computer", Name: "a", Found: one, Err: broken},
		`API key k1 cannot be rotated, and a newer valid API key with the same name exists, c2 (created at 2026-03-01T00:00:00Z): broken`: &serviceaccounts.RotatedError{KeyID: "k1", Found: []create.ExistsError{two}, Err: broken},
		`the response with the value of a new API key was lost, and revoking the key failed, so API key c1 is still valid: broken`:        &serviceaccounts.UnrevokedError{Found: []create.ExistsError{one}, Err: broken},
		`the answer to creating the session on the computer 7 was lost, and no such session on the computer 7 is found: broken`:           &create.LostError{Object: "session on the computer 7", Err: broken},
		`the answer to creating the session was lost, and nothing proves that it made what is found now, c1: broken`:                      &create.LostError{Object: "session", Found: []create.ExistsError{one}, Err: broken},
		`it is not certain whether the session was created, and no such session is found: ` + failed.Error():                              &create.LostError{Object: "session", Err: failed},
		`creating the session was answered with the session c1, which is not taken over: broken`:                                          &create.WrongObjectError{Object: "session", Found: one, Err: broken},
		`it does not exist: broken`: &collection.GoneError{Err: broken},
		`broken; whether it is gone is not certain, because the listing that would show it failed: ` + failed.Error(): &collection.UnprovenGoneError{Err: broken, Listing: failed},
	} {
		if got := err.Error(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
