package computers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// bulkService creates computers named "web-<n>", and fails the nth creation, counted from 1, as configured.
type bulkService struct {
	mu       sync.Mutex
	names    []string // The ID of a computer is "id-" and its name.
	requests []BulkCreateRequest
	answer   func(w http.ResponseWriter, n int, commit func(quantity int) string)
	late     int // How many listings after a creation lack the new computers.
	hidden   []string
	listed   int
	looks    int // How many listings succeed; 0 means all.
	// listing is called before the nth listing, counted from 1; it may be nil.
	listing func(n int)
}

func (s *bulkService) handle(w http.ResponseWriter, r *http.Request, body string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodGet {
		if s.listed++; s.listing != nil {
			s.listing(s.listed)
		}
		if s.looks > 0 && s.listed > s.looks {
			clienttest.RespondJSON(w, 403, `{"detail":"no"}`)
			return
		}
		visible := s.names
		if s.late > 0 && len(s.hidden) > 0 {
			s.late--
			visible = slices.DeleteFunc(slices.Clone(s.names), func(name string) bool { return slices.Contains(s.hidden, name) })
		}
		clienttest.RespondJSON(w, 200, `{"computers":[`+computersJSON(visible)+`]}`)
		return
	}
	var request BulkCreateRequest
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		clienttest.RespondJSON(w, 400, `{"detail":"no JSON"}`)
		return
	}
	s.requests = append(s.requests, request)
	if len(s.requests) > 10 {
		clienttest.RespondJSON(w, 400, `{"detail":"the creation does not end"}`)
		return
	}
	commit := func(quantity int) string {
		var made []string
		for n := 1; len(made) < quantity; n++ {
			if name := fmt.Sprint("web-", n); !slices.Contains(s.names, name) {
				s.names, made = append(s.names, name), append(made, name)
			}
		}
		s.hidden = made
		return computersJSON(made)
	}
	if s.answer == nil {
		s.answer = func(w http.ResponseWriter, _ int, commit func(int) string) { bulkMade(w, commit(request.Quantity)) }
	}
	s.answer(w, len(s.requests), commit)
}

func computersJSON(names []string) string {
	var items []string
	for _, name := range names {
		items = append(items, fmt.Sprintf(`{"id":"id-%s","name":%q,"providerType":"managed-a","createdAt":1772323200000}`, name, name))
	}
	return strings.Join(items, ",")
}

func bulkMade(w http.ResponseWriter, computers string) {
	clienttest.RespondJSON(w, 201, `{"requestedQuantity":1,"computers":[`+computers+`]}`)
}

func serveBulk(t *testing.T, s *bulkService) *Client {
	t.Helper()
	var rec *clienttest.Recorder
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, n int) {
		rec.Mu.Lock()
		body := rec.Bodies[n-1]
		rec.Mu.Unlock()
		s.handle(w, r, body)
	})
	return c
}

func TestCreateFleet_reconcilesALostAnswer(t *testing.T) {
	t.Parallel()
	type answer = func(w http.ResponseWriter, n int, commit func(int) string)
	status := func(w http.ResponseWriter, code int) {
		clienttest.RespondJSON(w, code, `{"detail":"x","status":1,"title":"x"}`)
	}
	// The failures affect the second of two requests: 20 computers, then 5.
	second := func(fault func(w http.ResponseWriter, commit func(int) string)) answer {
		return func(w http.ResponseWriter, n int, commit func(int) string) {
			if n == 1 {
				bulkMade(w, commit(20))
				return
			}
			fault(w, commit)
		}
	}
	for name, tc := range map[string]struct {
		older   []string
		known   []string
		answer  answer
		late    int
		looks   int
		posts   int
		made    int
		wantErr any
		text    string
	}{
		"dropped after commit":  {answer: second(func(w http.ResponseWriter, commit func(int) string) { commit(5); clienttest.Drop(w) }), posts: 2, made: 25},
		"dropped before commit": {answer: second(func(w http.ResponseWriter, _ func(int) string) { clienttest.Drop(w) }), posts: 2, made: 20, wantErr: new(*create.LostError), text: "bulkCreateComputers"},
		"500 in the middle":     {answer: second(func(w http.ResponseWriter, commit func(int) string) { commit(3); status(w, 500) }), posts: 2, made: 23, wantErr: new(*transport.APIError), text: "3 of the 5 requested computers were found"},
		"the last look fails":   {answer: second(func(w http.ResponseWriter, commit func(int) string) { commit(3); clienttest.Drop(w) }), looks: 2, posts: 2, made: 20, wantErr: new(*create.LostError), text: "it may have created \"web-21\""},
		"no computers in it":    {answer: second(func(w http.ResponseWriter, commit func(int) string) { commit(5); clienttest.RespondJSON(w, 201, "{}") }), posts: 2, made: 25},
		"fewer, unexplained":    {answer: second(func(w http.ResponseWriter, commit func(int) string) { bulkMade(w, commit(2)) }), posts: 2, made: 22, wantErr: new(*transport.TransportError), text: "2 of the 5 requested computers were found"},
		"shown late":            {answer: second(func(w http.ResponseWriter, commit func(int) string) { commit(5); clienttest.Drop(w) }), late: 3, posts: 2, made: 25},
		"fewer, explained": {answer: second(func(w http.ResponseWriter, commit func(int) string) {
			clienttest.RespondJSON(w, 201, `{"computers":[`+commit(2)+`],"requestedQuantity":5,"error":{"message":"no capacity"}}`)
		}), posts: 2, made: 22, wantErr: new(error), text: "created 2 of 5 computers and stopped: no capacity"},
		"more than asked for":   {answer: second(func(w http.ResponseWriter, commit func(int) string) { commit(7); clienttest.Drop(w) }), posts: 2, made: 20, wantErr: new(*create.LostError), text: "it may have created \"web-"},
		"an unknown one exists": {older: []string{"web-3"}, posts: 0, wantErr: new(*create.ExistsError), text: "\"web-3\" (id-web-3, created at 2026-03-01T00:00:00Z)"},
		"a known one exists":    {older: []string{"web-3"}, known: []string{"id-web-3"}, answer: second(func(w http.ResponseWriter, commit func(int) string) { commit(5); clienttest.Drop(w) }), posts: 2, made: 25},
		"one of another name":   {older: []string{"web", "web-", "web-1a", "web-1-1", "webs-1", "web--1"}, answer: second(func(w http.ResponseWriter, commit func(int) string) { bulkMade(w, commit(5)) }), posts: 2, made: 25},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &bulkService{names: tc.older, answer: tc.answer, late: tc.late, looks: tc.looks}
			c := serveBulk(t, s)
			made, err := c.CreateFleet(t.Context(), BulkCreateRequest{Quantity: 25, NamePrefix: "web"}, tc.known)
			if tc.wantErr == nil && err != nil || tc.wantErr != nil && !errors.As(err, tc.wantErr) || err != nil && !strings.Contains(err.Error(), tc.text) {
				t.Errorf("got %T %v, want %T %q", err, err, tc.wantErr, tc.text)
			}
			ids := map[string]bool{}
			for _, computer := range made {
				ids[computer.ID] = true
			}
			if len(made) != tc.made || len(ids) != tc.made || slices.ContainsFunc(tc.known, func(id string) bool { return ids[id] }) {
				t.Errorf("made %d computers, %d of them different, want %d: %v", len(made), len(ids), tc.made, made)
			}
			check.Is(t, "creations were sent", len(s.requests), tc.posts)
		})
	}
}

func TestComputersByID_asksAloneForWhatTheListingLacks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		account string
		listing int // The status of the listing.
		wantErr bool
		members string
	}{
		"not permitted": {listing: 403, members: "hidden"},
		"not found":     {listing: 404, members: "hidden"},
		// A key whose role is too low gets a 404 for each computer of an account.
		"an account's":                       {account: "sa", listing: 200, members: "id-web-1 hidden"},
		"an account's, and not permitted":    {account: "sa", listing: 403, wantErr: true},
		"an account's, and both are missing": {account: "sa", listing: 404, members: "hidden"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				switch {
				case r.URL.Path == "/api/v0/computers" && tc.listing != 200:
					clienttest.RespondJSON(w, tc.listing, `{"detail":"no"}`)
				case r.URL.Path == "/api/v0/computers":
					clienttest.RespondJSON(w, 200, `{"computers":[`+computersJSON([]string{"web-1", "web-2", "other"})+`]}`)
				case r.URL.Path == "/api/v0/computers/hidden":
					clienttest.RespondJSON(w, 200, `{"id":"hidden","name":"web-7","providerType":"managed-a"}`)
				default:
					clienttest.RespondJSON(w, 404, `{"detail":"no such computer"}`)
				}
			})
			found, err := c.GetMany(t.Context(), tc.account, []string{"id-web-1", "hidden", "gone"})
			if tc.wantErr {
				check.Fails(t, err)
				return
			}
			check.Must(t, err)
			var members []string
			for _, member := range found {
				members = append(members, member.ID)
			}
			check.Is(t, "found", strings.Join(members, " "), tc.members)
		})
	}
}

// A creation ends when all computers are made, or when the run is stopped; then the error says how many are missing. A search goes on until
// all of them must be listed.
func TestCreateFleet_ends(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		quantity, made, listed int
		answer                 func(w http.ResponseWriter, commit func(int) string, interrupt func())
		want                   string // A part of the error of a stopped run.
	}{
		"stopped, and the response is lost": {40, 20, 5, func(w http.ResponseWriter, commit func(int) string, interrupt func()) {
			commit(20)
			interrupt()
			clienttest.Drop(w)
		}, "remaining 20 computers"},
		"all, with an explanation": {2, 2, 1, func(w http.ResponseWriter, commit func(int) string, _ func()) {
			clienttest.RespondJSON(w, 201, `{"computers":[`+commit(2)+`],"requestedQuantity":2,"error":{"message":"no capacity for more"}}`)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, interrupt := context.WithCancel(t.Context())
			defer interrupt()
			s := &bulkService{answer: func(w http.ResponseWriter, _ int, commit func(int) string) { tc.answer(w, commit, interrupt) }}
			made, err := serveBulk(t, s).CreateFleet(ctx, BulkCreateRequest{Quantity: tc.quantity, NamePrefix: "web"}, nil)
			if len(made) != tc.made || s.listed != tc.listed || len(s.requests) != 1 {
				t.Errorf("made %d by %d requests, after %d listings", len(made), len(s.requests), s.listed)
			}
			if tc.want == "" && err != nil || tc.want != "" && (!errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestBatchProblem(t *testing.T) {
	t.Parallel()
	whole := func(n int) Computer {
		return Computer{ID: fmt.Sprint("id-", n), Name: fmt.Sprint("web-", n), ProviderType: "x"}
	}
	failed := &struct {
		Message string `json:"message"`
	}{"no capacity"}
	for name, tc := range map[string]struct {
		result BulkCreateResult
		want   string
	}{
		"all":               {BulkCreateResult{Computers: []Computer{whole(1), whole(2)}}, ""},
		"all, and an error": {BulkCreateResult{Computers: []Computer{whole(1), whole(2)}, Error: failed}, ""},
		"fewer, explained":  {BulkCreateResult{Computers: []Computer{whole(1)}, Error: failed}, ""},
		"fewer":             {BulkCreateResult{Computers: []Computer{whole(1)}}, "does not name the computers"},
		"one twice":         {BulkCreateResult{Computers: []Computer{whole(1), whole(1)}}, "it contains computer id-1 twice"},
		"more":              {BulkCreateResult{Computers: []Computer{whole(1), whole(2), whole(3)}}, "it contains 3 computers instead of 2"},
		"no computer":       {BulkCreateResult{Computers: []Computer{whole(1), {}}}, "its computer 2 is invalid: the field name is missing"},
		"of another name":   {BulkCreateResult{Computers: []Computer{{ID: "id", Name: "db-1", ProviderType: "x"}}}, "db-1 (id), which existed before or does not belong"},
		"there before":      {BulkCreateResult{Computers: []Computer{whole(7)}}, "web-7 (id-7), which existed before or does not belong to the fleet"},
	} {
		c := serveBulk(t, &bulkService{})
		old := whole(7)
		c.ledger.Wrote("", &old)
		known, err := c.ledger.View(t.Context(), "")
		check.Must(t, err)
		if got := batchProblem(&tc.result, BulkCreateRequest{Quantity: 2, NamePrefix: "web"}, known); got == "" != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
