package sessions

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// desk is a service with sessions. It shares its clock with the client.
type desk struct {
	client *Client
	clk    *clock.Fake
	// tellsNoTime omits the Date header.
	tellsNoTime bool
	// ahead is how far the Date of GET responses is ahead of the clock of creation times.
	ahead time.Duration
	// lag is how long a new session is in no listing.
	lag time.Duration
	// together is how many creations must arrive before any of them continues; meanwhile is called then.
	together  int
	meanwhile func()
	// listing returns the status of the nth listing, counted from 1; nil means 200.
	listing func(n int) int

	mu       sync.Mutex
	sessions []deskSession
	// fates are the outcomes of future creations, by their bodies.
	fates                map[string][]string
	posts, lists, isHere int
	// came has an entry for each creation that has arrived; all is closed when all of them have.
	came, all chan struct{}
}

type deskSession struct {
	id, computer, parent, title, body string
	settings                          *Settings
	at                                time.Time
	// isOurs says that the client under test created the session.
	isOurs bool
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{clk: clock.NewFake(clienttest.Start), fates: map[string][]string{}, came: make(chan struct{}, 100), all: make(chan struct{})}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	d.client = area.Connected(t, transport.Config{BaseURL: server.URL, APIKey: clienttest.Key, Clock: d.clk})
	return d
}

func (d *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := d.clk.Now()
	if r.Method == http.MethodGet {
		now = now.Add(d.ahead)
	}
	w.Header()["Date"] = []string{now.UTC().Format(http.TimeFormat)}
	if d.tellsNoTime {
		w.Header()["Date"] = nil
	}
	body, _ := io.ReadAll(r.Body)
	switch r.Method + " " + r.URL.Path {
	case "GET /api/v0/sessions":
		clienttest.Say(w, d.list(r.URL.Query().Get("computerId")))
	case "GET /api/v0/computers/providers":
		clienttest.Say(w, `200 {"providers":[]}`)
	case "POST /api/v0/sessions":
		clienttest.Say(w, d.create(string(body)))
	default:
		clienttest.Say(w, "nobody asks for "+r.URL.Path)
	}
}

func (d *desk) list(computer string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lists++
	if d.listing != nil && d.listing(d.lists) != http.StatusOK {
		return fmt.Sprintf(`%d {"detail":"no"}`, d.listing(d.lists))
	}
	var shown []string
	for _, s := range slices.Backward(d.sessions) {
		if s.computer == computer && d.clk.Now().Sub(s.at) >= d.lag {
			shown = append(shown, s.record())
		}
	}
	return clienttest.PageOf("sessions", "", shown)
}

func (s deskSession) record() string {
	settings, _ := json.Marshal(s.settings)
	return fmt.Sprintf(`{"sessionId":%q,"parent_session_id":%q,"title":%q,"status":"idle","messageCount":0,"createdAt":%d,"computerId":%q,"sessionSettings":%s}`,
		s.id, s.parent, s.title, s.at.UnixMilli(), s.computer, settings)
}

// create handles a creation by its fate: it creates the session unless the fate is "before", and responds unless the response
// is lost.
func (d *desk) create(body string) string {
	d.mu.Lock()
	d.posts++
	fate := ""
	if fates := d.fates[body]; len(fates) > 0 {
		fate, d.fates[body] = fates[0], fates[1:]
	}
	d.mu.Unlock()
	made := deskSession{}
	switch {
	case strings.HasPrefix(fate, "answered as "):
		made.id, made.computer = strings.TrimPrefix(fate, "answered as "), "7"
	case fate != "before":
		made = d.add(deskSession{body: body, isOurs: true}, fate == "capped")
	}
	d.meet()
	switch fate {
	case "before", "after", "capped":
		return "drop"
	case "500":
		return `500 {"detail":"no"}`
	}
	return "201 " + made.record()
}

func (d *desk) add(s deskSession, isCapped bool) deskSession {
	var asked struct {
		ComputerID string   `json:"computerId"`
		Settings   Settings `json:"sessionSettings"`
	}
	_ = json.Unmarshal([]byte(s.body), &asked)
	s.computer, s.settings = asked.ComputerID, &asked.Settings
	if isCapped {
		s.settings.AutonomyLevel = new("low")
	}
	if s.at.IsZero() {
		s.at = d.clk.Now()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s.id = fmt.Sprint("s", len(d.sessions)+1)
	d.sessions = append(d.sessions, s)
	return s
}

// meet waits until all creations are in flight.
func (d *desk) meet() {
	d.mu.Lock()
	d.isHere++
	isLast := d.isHere == d.together
	d.mu.Unlock()
	d.came <- struct{}{}
	switch {
	case isLast:
		if d.meanwhile != nil {
			d.meanwhile()
		}
		close(d.all)
	case d.together > 0:
		<-d.all
	}
}

// told is the outcome of one creation.
type told struct {
	wish CreateRequest
	made *Session
	err  error
}

// createAll creates sessions concurrently.
func (d *desk) createAll(ctx context.Context, wishes ...CreateRequest) []told {
	outcomes := make([]told, len(wishes))
	var callers sync.WaitGroup
	for i, wish := range wishes {
		callers.Go(func() {
			made, err := d.client.Create(ctx, wish)
			outcomes[i] = told{wish, made, err}
		})
	}
	callers.Wait()
	return outcomes
}

// check verifies what must be true of all outcomes: nothing is requested twice, no session is returned to two callers or to a
// caller that did not request it, and each created session is returned or named in an error.
func (d *desk) check(t *testing.T, outcomes []told) {
	t.Helper()
	given, named := map[string]bool{}, map[string]bool{}
	for _, o := range outcomes {
		for _, e := range namedIn(o.err) {
			named[e] = true
		}
	}
	for _, o := range outcomes {
		if o.err != nil {
			continue
		}
		i := slices.IndexFunc(d.sessions, func(s deskSession) bool { return s.id == o.made.ID })
		switch {
		case i < 0 || !d.sessions[i].isOurs:
			t.Errorf("%s is taken over", o.made.ID)
		case given[o.made.ID]:
			t.Errorf("%s is given to two callers", o.made.ID)
		case untoldOf(d.sessions[i].body) != untoldOf(bodyOf(o.wish)) || !o.wish.Settings.HoldsIn(d.sessions[i].settings):
			t.Errorf("who asked for %s is given what %s made", bodyOf(o.wish), d.sessions[i].body)
		}
		given[o.made.ID] = true
	}
	for _, s := range d.sessions {
		if s.isOurs && !given[s.id] && !named[s.id] {
			t.Errorf("nobody is told of %s", s.id)
		}
		if s.parent != "" && named[s.id] {
			t.Errorf("the subagent's %s is named", s.id)
		}
	}
	if d.posts != len(outcomes) {
		t.Errorf("%d creations were sent for %d callers", d.posts, len(outcomes))
	}
}

func namedIn(err error) []string {
	var lost *create.LostError
	if !errors.As(err, &lost) {
		return nil
	}
	ids := make([]string, len(lost.Found))
	for i, e := range lost.Found {
		ids[i] = e.ID
	}
	return ids
}

func bodyOf(wish CreateRequest) string {
	body, _ := json.Marshal(wish)
	return string(body)
}

// untoldOf returns the part of a body that responses do not have.
func untoldOf(body string) string {
	var parts map[string]json.RawMessage
	_ = json.Unmarshal([]byte(body), &parts)
	return string(parts["cwd"]) + string(parts["systemPrompt"])
}

// wishes are create requests by name.
var wishes = map[string]CreateRequest{
	"plain":     {ComputerID: "7"},
	"elsewhere": {ComputerID: "8"},
	"model":     {ComputerID: "7", Settings: &Settings{Model: new("m")}},
	"tagged":    {ComputerID: "7", Settings: &Settings{Tags: []Tag{{Name: "ci"}}}},
	"free":      {ComputerID: "7", Settings: &Settings{AutonomyLevel: new("high")}},
}

// ask parses "wish: fate, fate; …", returns the wishes, and passes their fates to the service.
func (d *desk) ask(text string) []CreateRequest {
	var asked []CreateRequest
	for part := range strings.SplitSeq(text, "; ") {
		name, fates, _ := strings.Cut(part, ": ")
		for fate := range strings.SplitSeq(fates, ", ") {
			asked = append(asked, wishes[name])
			d.fates[bodyOf(wishes[name])] = append(d.fates[bodyOf(wishes[name])], fate)
		}
	}
	return asked
}

// served counts the wishes that got a session, by name.
func served(outcomes []told) map[string]int {
	counts := map[string]int{}
	for _, o := range outcomes {
		for name, wish := range wishes {
			if o.err == nil && bodyOf(wish) == bodyOf(o.wish) {
				counts[name]++
			}
		}
	}
	return counts
}

// If there are no more matching new sessions than lost responses, they are returned. Otherwise, the error names them.
func TestCreateOnce(t *testing.T) {
	t.Parallel()
	other := bodyOf(CreateRequest{ComputerID: "8"})
	for name, tc := range map[string]struct {
		asked  string
		others []deskSession // Sessions of the same owner that others create meanwhile.
		want   map[string]int
	}{
		"all are answered":               {asked: "plain: ok, ok; model: ok", want: map[string]int{"plain": 2, "model": 1}},
		"one is lost":                    {asked: "plain: after", want: map[string]int{"plain": 1}},
		"two are lost":                   {asked: "free: after, ok; model: after", want: map[string]int{"free": 2, "model": 1}},
		"all are lost":                   {asked: "plain: after, after, after", want: map[string]int{"plain": 3}},
		"two are lost, on two computers": {asked: "plain: after; elsewhere: after", want: map[string]int{"plain": 1, "elsewhere": 1}},
		"lost before":                    {asked: "plain: before"},
		"another's is alike":             {asked: "plain: after", others: []deskSession{{}}},
		"another's is older":             {asked: "plain: after", others: []deskSession{{at: clienttest.Start.Add(-time.Second)}}, want: map[string]int{"plain": 1}},
		"another's has other settings":   {asked: "model: after", others: []deskSession{{}}, want: map[string]int{"model": 1}},
		"another's was used":             {asked: "plain: after", others: []deskSession{{title: "Hello"}}, want: map[string]int{"plain": 1}},
		"another's is on another one":    {asked: "plain: after", others: []deskSession{{body: other}}, want: map[string]int{"plain": 1}},
		"another's is a subagent's":      {asked: "plain: after", others: []deskSession{{parent: "s0"}}, want: map[string]int{"plain": 1}},
		"made otherwise than asked":      {asked: "free: capped"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			asked := d.ask(tc.asked)
			d.lag, d.together = 5*time.Second, len(asked)
			d.meanwhile = func() {
				for _, s := range tc.others {
					if s.body == "" {
						s.body = bodyOf(wishes["plain"])
					}
					d.add(s, false)
				}
			}
			d.hear(t)
			outcomes := d.createAll(t.Context(), asked...)
			d.check(t, outcomes)
			if waited := d.clk.Now().Sub(clienttest.Start); waited > 14*time.Second { // One search on each computer.
				t.Errorf("the searches took %v", waited)
			}
			if got := served(outcomes); !maps.Equal(got, tc.want) {
				t.Errorf("%v got a session, want %v", got, tc.want)
			}
			for _, o := range outcomes {
				if o.err != nil && !clienttest.Is[*create.LostError](o.err) {
					t.Errorf("got %v", o.err)
				}
			}
		})
	}
}

// hear sends a request, so that the client knows the service's time, like the check during a plan.
func (d *desk) hear(t *testing.T) {
	t.Helper()
	clienttest.Must(t, d.client.conn.CheckAccess(t.Context()))
}

// Without proof, sessions are only named: if the service's time is unknown, or if the last listing fails.
func TestCreateOnce_noProof(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(d *desk){
		"the service tells no time": func(d *desk) { d.tellsNoTime = true },
		"the last look fails": func(d *desk) {
			d.listing = func(n int) int { return map[bool]int{true: 403, false: 200}[n > 1] }
		},
		"the session is older by far": func(d *desk) { d.ahead = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			prepare(d)
			d.hear(t)
			d.ask("plain: after")
			_, err := d.client.Create(t.Context(), wishes["plain"])
			if !clienttest.Is[*create.LostError](err) || d.posts != 1 || d.ahead == 0 && !slices.Equal(namedIn(err), []string{"s1"}) {
				t.Errorf("after %d creations: %v", d.posts, err)
			}
		})
	}
}
