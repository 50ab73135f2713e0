package computers

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest/areatest"
)

var area areatest.New[*Client] = func(conn *transport.Conn) *Client { return New(conn, serviceaccounts.New(conn)) }

// registry is a service with computers by name, and with configurable failures.
type registry struct {
	mu       sync.Mutex
	byName   map[string]string
	creating func(w http.ResponseWriter, commit func() string)
	late     int           // How many listings after a creation lack the new computer.
	age      time.Duration // How long after the time in the service's responses a computer was created.
}

func (s *registry) handle(w http.ResponseWriter, r *http.Request, _ int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPost {
		s.creating(w, func() string {
			s.byName["mine"] = "new-id"
			return "new-id"
		})
		return
	}
	id, ok := s.byName["mine"]
	if ok && id == "new-id" && s.late > 0 {
		s.late--
		ok = false
	}
	listed := ""
	if ok {
		listed = fmt.Sprintf(`{"id":%q,"name":"mine","providerType":"byom","createdAt":%d}`, id, clienttest.Start.Add(s.age).UnixMilli())
	}
	clienttest.RespondJSON(w, 200, `{"computers":[`+listed+`]}`)
}

func created(w http.ResponseWriter, id string) {
	clienttest.RespondJSON(w, 201, fmt.Sprintf(`{"id":%q,"name":"mine","providerType":"byom"}`, id))
}

func TestCreateComputer_reconcilesALostAnswer(t *testing.T) {
	t.Parallel()
	status := func(w http.ResponseWriter, code int) {
		clienttest.RespondJSON(w, code, `{"detail":"x","status":1,"title":"x"}`)
	}
	for name, tc := range map[string]struct {
		older    string // The ID of an older computer with the same name.
		creating func(w http.ResponseWriter, commit func() string)
		late     int
		age      time.Duration
		posts    int
		wantID   string
		wantErr  any
	}{
		"answered":                {creating: func(w http.ResponseWriter, commit func() string) { created(w, commit()) }, posts: 1, wantID: "new-id"},
		"dropped after commit":    {creating: func(w http.ResponseWriter, commit func() string) { commit(); clienttest.Drop(w) }, posts: 1, wantID: "new-id"},
		"dropped before commit":   {creating: func(w http.ResponseWriter, _ func() string) { clienttest.Drop(w) }, posts: 1, wantErr: new(*create.LostError)},
		"500 after commit":        {creating: func(w http.ResponseWriter, commit func() string) { commit(); status(w, 500) }, posts: 1, wantID: "new-id"},
		"500 before commit":       {creating: func(w http.ResponseWriter, _ func() string) { status(w, 500) }, posts: 1, wantErr: new(*create.LostError)},
		"truncated":               {creating: func(w http.ResponseWriter, commit func() string) { commit(); clienttest.Cut(w, 201) }, posts: 1, wantID: "new-id"},
		"HTML":                    {creating: func(w http.ResponseWriter, commit func() string) { commit(); clienttest.RespondJSON(w, 201, "<html>") }, posts: 1, wantID: "new-id"},
		"another shape":           {creating: func(w http.ResponseWriter, commit func() string) { commit(); clienttest.RespondJSON(w, 201, "[]") }, posts: 1, wantID: "new-id"},
		"no ID in the answer":     {creating: func(w http.ResponseWriter, commit func() string) { commit(); clienttest.RespondJSON(w, 201, "{}") }, posts: 1, wantID: "new-id"},
		"shown late":              {creating: func(w http.ResponseWriter, commit func() string) { commit(); clienttest.Drop(w) }, late: 3, posts: 1, wantID: "new-id"},
		"made before the request": {creating: func(w http.ResponseWriter, commit func() string) { commit(); clienttest.Drop(w) }, age: -time.Minute, posts: 1, wantErr: new(*create.LostError)},
		"another name": {creating: func(w http.ResponseWriter, _ func() string) {
			clienttest.RespondJSON(w, 201, `{"id":"x","name":"theirs","providerType":"byom"}`)
		}, posts: 1, wantErr: new(*create.LostError)},
		"refused":                 {creating: func(w http.ResponseWriter, _ func() string) { status(w, 400) }, posts: 1, wantErr: new(*transport.APIError)},
		"not implemented":         {creating: func(w http.ResponseWriter, _ func() string) { status(w, 501) }, posts: 1, wantErr: new(*transport.APIError)},
		"an older one exists":     {older: "old-id", creating: func(w http.ResponseWriter, commit func() string) { created(w, commit()) }, posts: 0, wantErr: new(*create.ExistsError)},
		"somebody was quicker":    {creating: func(w http.ResponseWriter, commit func() string) { commit(); status(w, 409) }, posts: 1, wantErr: new(*create.ExistsError)},
		"conflict about the host": {creating: func(w http.ResponseWriter, _ func() string) { status(w, 409) }, posts: 1, wantErr: new(*transport.APIError)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &registry{byName: map[string]string{}, creating: tc.creating, late: tc.late, age: tc.age}
			if tc.older != "" {
				s.byName["mine"] = tc.older
			}
			c, rec, _ := area.Serve(t, s.handle)
			got, err := c.Create(t.Context(), CreateRequest{Name: "mine"})
			if tc.wantErr == nil && (err != nil || got.ID != tc.wantID) {
				t.Errorf("got %+v, %v, want %s", got, err, tc.wantID)
			}
			if tc.wantErr != nil && !errors.As(err, tc.wantErr) {
				t.Errorf("got %#v, want a %T", err, tc.wantErr)
			}
			rec.WantCount(t, http.MethodPost, tc.posts)
			var exists *create.ExistsError
			if errors.As(err, &exists) && (exists.Found[0].ID == "" || !strings.Contains(err.Error(), "2026-03-01T00:00:00Z")) {
				t.Errorf("the error does not describe what exists: %v", err)
			}
		})
	}
}

// A new computer may be visible late, so the search is repeated with growing pauses.
func TestCreateComputer_looksForAWhileForWhatIsLost(t *testing.T) {
	t.Parallel()
	c, _, clk := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Method == http.MethodPost {
			clienttest.Drop(w)
		}
		clienttest.RespondJSON(w, 200, `{"computers":[]}`)
	})
	_, err := c.Create(t.Context(), CreateRequest{Name: "mine"})
	var lost *create.LostError
	if want := []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}; !errors.As(err, &lost) || !slices.Equal(clk.Sleeps(), want) {
		t.Errorf("%v after pauses of %v, want %v", err, clk.Sleeps(), want)
	}
}

// The service returns the computer that it created earlier for a software draft.
func TestCreateComputer_withAUsedDraft(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Method == http.MethodGet {
			clienttest.RespondJSON(w, 200, `{"computers":[{"id":"used","name":"mine too","providerType":"byom"}]}`)
			return
		}
		created(w, "used")
	})
	_, err := c.Create(t.Context(), CreateRequest{Name: "mine", Source: &CreateSource{Kind: "template", SoftwareDraft: &SoftwareDraft{}}})
	var lost *create.LostError
	if !errors.As(err, &lost) || lost.Found[0].ID != "used" || rec.Count(http.MethodPost) != 1 {
		t.Errorf("got %v after %d POSTs", err, rec.Count(http.MethodPost))
	}
}

func TestUpdateComputer_aConflictWithItselfIsSuccess(t *testing.T) {
	t.Parallel()
	host := "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
	for present, wantOK := range map[string]bool{host: true, "another": false} {
		c, _, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
			if r.Method == http.MethodPatch {
				clienttest.RespondJSON(w, 409, `{"detail":"hostId is assigned","status":409,"title":"Conflict"}`)
				return
			}
			clienttest.RespondJSON(w, 200, fmt.Sprintf(`{"id":"c1","name":"a","providerType":"byom","hostId":%q}`, present))
		})
		_, err := c.Update(t.Context(), "c1", "", UpdateRequest{HostID: &host})
		if (err == nil) != wantOK || !wantOK && !transport.IsConflict(err) {
			t.Errorf("%s: got %v", present, err)
		}
	}
}

func TestComputer_SetUpFailed(t *testing.T) {
	t.Parallel()
	failed := ProvisioningStep{ID: "create-computer", Status: StepFailed, Error: "no disk"}
	install := ProvisioningStep{ID: stepInstall, Status: StepFailed, Error: "no lock file"}
	for name, tc := range map[string]struct {
		computer Computer
		want     bool
	}{
		"a step of the set-up":     {Computer{Status: StatusError, ProvisioningSteps: []ProvisioningStep{failed}}, true},
		"active since":             {Computer{Status: StatusActive, ProvisioningSteps: []ProvisioningStep{failed}}, false},
		"an installation":          {Computer{Status: StatusError, ProvisioningSteps: []ProvisioningStep{{ID: "create-computer", Status: StepCompleted}, install}}, false},
		"no step is told":          {Computer{Status: StatusError}, false},
		"another word for a state": {Computer{Status: StatusError, ProvisioningSteps: []ProvisioningStep{{ID: "create-computer", Status: "skipped"}}}, false},
	} {
		if got := tc.computer.SetUpFailed(); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// A gateway's page after the service acted is like a lost response.
func TestCreateComputer_isFoundAfterAPageOfAnotherServer(t *testing.T) {
	t.Parallel()
	for _, status := range []int{200, 302, 403, 404, 407, 413} {
		s := &registry{byName: map[string]string{}, creating: func(w http.ResponseWriter, commit func() string) {
			commit()
			clienttest.RespondJSON(w, status, "<html>")
		}}
		c, rec, _ := area.Serve(t, s.handle)
		got, err := c.Create(t.Context(), CreateRequest{Name: "mine"})
		if err != nil || got.ID != "new-id" || rec.Count(http.MethodPost) != 1 {
			t.Errorf("%d: got %+v, %v", status, got, err)
		}
	}
}

func TestCreateFleet_refusesAComputerThatIsListedTwice(t *testing.T) {
	t.Parallel()
	one := Computer{ID: "c1", Name: "f-1", ProviderType: "managed-a", Status: StatusActive}
	result := &BulkCreateResult{Computers: []Computer{one, one}, RequestedQuantity: 2}
	c, _, _ := area.Serve(t, (&registry{byName: map[string]string{}}).handle)
	snapshot, err := c.listings.Snapshot(t.Context(), "", inFleet("f"))
	clienttest.Must(t, err)
	if got := batchProblem(result, BulkCreateRequest{Quantity: 2, NamePrefix: "f"}, snapshot); got != "it contains computer c1 twice" {
		t.Errorf("got %q", got)
	}
}
