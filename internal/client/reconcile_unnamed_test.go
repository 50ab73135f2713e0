package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// desk is a service of sessions. Its clock is the client's.
type desk struct {
	client *Client
	clk    *clock.Fake
	// tellsNoTime keeps the service's time from its answers.
	tellsNoTime bool
	// ahead is how far the clock of what answers reads is ahead of that of what makes sessions.
	ahead time.Duration
	// lag is how long after it was made a session is in no listing.
	lag time.Duration
	// together is how many creations must have arrived before any of them goes on, and meanwhile is done then.
	together  int
	meanwhile func()
	// listing is the status of the nth listing, from 1; nil is 200.
	listing func(n int) int

	mu       sync.Mutex
	sessions []deskSession
	// fates are those of the creations to come, by their bodies.
	fates                map[string][]string
	posts, lists, isHere int
	// came has an entry for each creation that has arrived; all is closed when all have.
	came, all chan struct{}
}

type deskSession struct {
	id, computer, parent, title, body string
	settings                          *SessionSettings
	at                                time.Time
	// isOurs says that the client under test asked for it.
	isOurs bool
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{clk: clock.NewFake(testStart), fates: map[string][]string{}, came: make(chan struct{}, 100), all: make(chan struct{})}
	server := httptest.NewServer(d)
	t.Cleanup(server.Close)
	var err error
	if d.client, err = New(Config{BaseURL: server.URL, APIKey: testKey, Clock: d.clk}); err != nil {
		t.Fatal(err)
	}
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
		say(w, d.list(r.URL.Query().Get("computerId")))
	case "POST /api/v0/sessions":
		say(w, d.create(string(body)))
	default:
		say(w, "nobody asks for "+r.URL.Path)
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
	return pageOf("sessions", "", shown)
}

func (s deskSession) record() string {
	settings, _ := json.Marshal(s.settings)
	return fmt.Sprintf(`{"sessionId":%q,"parent_session_id":%q,"title":%q,"status":"idle","messageCount":0,"createdAt":%d,"computerId":%q,"sessionSettings":%s}`,
		s.id, s.parent, s.title, s.at.UnixMilli(), s.computer, settings)
}

// create answers a creation by its fate: the session is made unless it is "before", and the answer comes unless it is lost.
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
		ComputerID string          `json:"computerId"`
		Settings   SessionSettings `json:"sessionSettings"`
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

// meet waits until all creations are under way.
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

// told is what a creation came to.
type told struct {
	wish CreateSessionRequest
	made *Session
	err  error
}

// create asks for sessions at the same time.
func (d *desk) createAll(ctx context.Context, wishes ...CreateSessionRequest) []told {
	outcomes := make([]told, len(wishes))
	var callers sync.WaitGroup
	for i, wish := range wishes {
		callers.Go(func() {
			made, err := d.client.CreateSession(ctx, wish)
			outcomes[i] = told{wish, made, err}
		})
	}
	callers.Wait()
	return outcomes
}

// check holds outcomes against what must hold of them all: nothing is asked for twice, no session is given to two callers or
// to one who asked for another or did not ask, and each that was made is given to somebody or named to somebody.
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
		case named[o.made.ID]:
			t.Errorf("%s is given to one caller and named to another", o.made.ID)
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
	var lost *LostError
	if !errors.As(err, &lost) {
		return nil
	}
	ids := make([]string, len(lost.Found))
	for i, e := range lost.Found {
		ids[i] = e.ID
	}
	return ids
}

func bodyOf(wish CreateSessionRequest) string {
	body, _ := json.Marshal(wish)
	return string(body)
}

// untoldOf is what no record tells of what a body asks for.
func untoldOf(body string) string {
	var parts map[string]json.RawMessage
	_ = json.Unmarshal([]byte(body), &parts)
	return string(parts["cwd"]) + string(parts["systemPrompt"])
}

// wishes are creations by short names.
var wishes = map[string]CreateSessionRequest{
	"plain":    {ComputerID: "7"},
	"model":    {ComputerID: "7", Settings: &SessionSettings{Model: new("m")}},
	"effort":   {ComputerID: "7", Settings: &SessionSettings{ReasoningEffort: new("high")}},
	"both":     {ComputerID: "7", Settings: &SessionSettings{Model: new("m"), ReasoningEffort: new("high")}},
	"free":     {ComputerID: "7", Settings: &SessionSettings{AutonomyLevel: new("high")}},
	"in a":     {ComputerID: "7", Cwd: "/a"},
	"in b":     {ComputerID: "7", Cwd: "/b"},
	"m in b":   {ComputerID: "7", Cwd: "/b", Settings: &SessionSettings{Model: new("m")}},
	"e in a":   {ComputerID: "7", Cwd: "/a", Settings: &SessionSettings{ReasoningEffort: new("high")}},
	"prompted": {ComputerID: "7", SystemPrompt: &SystemPrompt{Append: new("be brief")}},
}

// ask takes "wish: fate, fate; …" and returns the wishes, whose fates the service knows then.
func (d *desk) ask(text string) []CreateSessionRequest {
	var asked []CreateSessionRequest
	for part := range strings.SplitSeq(text, "; ") {
		name, fates, _ := strings.Cut(part, ": ")
		for fate := range strings.SplitSeq(fates, ", ") {
			asked = append(asked, wishes[name])
			d.fates[bodyOf(wishes[name])] = append(d.fates[bodyOf(wishes[name])], fate)
		}
	}
	return asked
}

// served counts who got a session, by the wishes' names.
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

// Creations that are under way at the same time lose their answers, before or after the service has acted.
func TestCreateUnnamed_handsOutWhatIsProven(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		asked  string
		others []deskSession // Sessions of the same owner, which others make meanwhile.
		want   map[string]int
	}{
		"all are answered":                     {asked: "plain: ok, ok; model: ok", want: map[string]int{"plain": 2, "model": 1}},
		"one is lost":                          {asked: "plain: ok, after", want: map[string]int{"plain": 2}},
		"all are lost":                         {asked: "plain: after, after, 500", want: map[string]int{"plain": 3}},
		"all are lost before":                  {asked: "plain: before, before"},
		"some before":                          {asked: "plain: before, after, ok, before, after", want: map[string]int{"plain": 3}},
		"with a prompt":                        {asked: "prompted: after, after", want: map[string]int{"prompted": 2}},
		"another's is alike":                   {asked: "plain: after", others: []deskSession{{}}},
		"another's is alike, one was answered": {asked: "plain: after, ok", others: []deskSession{{}}, want: map[string]int{"plain": 1}},
		"others' are alike":                    {asked: "plain: before", others: []deskSession{{}, {}}},
		"another's is older":                   {asked: "plain: after", others: []deskSession{{at: testStart.Add(-time.Second)}}, want: map[string]int{"plain": 1}},
		"another's has other settings":         {asked: "model: after", others: []deskSession{{}}, want: map[string]int{"model": 1}},
		"another's was used":                   {asked: "plain: after", others: []deskSession{{title: "Hello"}}, want: map[string]int{"plain": 1}},
		"a subagent's, and none was made":      {asked: "plain: before", others: []deskSession{{parent: "s0"}}},
		"another's is a subagent's":            {asked: "plain: after", others: []deskSession{{parent: "s0"}}, want: map[string]int{"plain": 1}},
		"a part, all made":                     {asked: "plain: after; both: after; model: after", want: map[string]int{"plain": 1, "both": 1, "model": 1}},
		"a part, the whole is made":            {asked: "plain: before; model: after", want: map[string]int{"model": 1}},
		"a part, the part is made":             {asked: "plain: after; model: before", want: map[string]int{"plain": 1}},
		"a part, another's fits both":          {asked: "plain: after; model: after", others: []deskSession{{body: bodyOf(wishes["both"])}}},
		"a part, another's fits one":           {asked: "plain: after; model: after", others: []deskSession{{}}},
		"parts that overlap":                   {asked: "model: after; effort: after; both: after", want: map[string]int{"model": 1, "effort": 1, "both": 1}},
		"another's concerns one":               {asked: "model: after; effort: after", others: []deskSession{{body: bodyOf(wishes["model"])}}, want: map[string]int{"effort": 1}},
		"other directories":                    {asked: "in a: after; in b: after"},
		"other directories, one before":        {asked: "in a: after; in b: before"},
		"other directories, one answered":      {asked: "in a: after; in b: ok", want: map[string]int{"in a": 1, "in b": 1}},
		"other directories and settings":       {asked: "e in a: after; m in b: after", want: map[string]int{"e in a": 1, "m in b": 1}},
		"another directory for a part":         {asked: "in a: after; m in b: after"},
		"a prompt or none":                     {asked: "plain: after; prompted: after"},
		"made otherwise than asked":            {asked: "free: capped"},
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
			outcomes := d.createAll(t.Context(), asked...)
			d.check(t, outcomes)
			if got := served(outcomes); !maps.Equal(got, tc.want) {
				t.Errorf("%v got a session, want %v", got, tc.want)
			}
			for _, o := range outcomes {
				if o.err != nil && !is[*LostError](o.err) {
					t.Errorf("got %v", o.err)
				}
			}
		})
	}
}

// Several lost creations are told apart by what they asked for. Letters stand for what is asked for and for what objects have,
// and what follows a slash shows in no object. Of an object with a 0 the service does not tell when it was made. After an @ is
// the owner; x is known to be another one.
func TestCreationGate_settle(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		lost, found []string
		// want is for each creation the number of its object, from 1, or those that its error names, after a "?".
		want []string
	}{
		"none":                                  {lost: []string{"m"}, want: []string{"?"}},
		"one":                                   {lost: []string{"m"}, found: []string{"m"}, want: []string{"1"}},
		"another":                               {lost: []string{"m"}, found: []string{"e"}, want: []string{"?1"}},
		"one and another":                       {lost: []string{"m", "m"}, found: []string{"e", "m"}, want: []string{"2", "?1"}},
		"more than one":                         {lost: []string{"m"}, found: []string{"m", "e", "m"}, want: []string{"?1 3"}},
		"who asks for most comes first":         {lost: []string{"m", "me"}, found: []string{"me"}, want: []string{"?", "1"}},
		"what few can have made comes first":    {lost: []string{"l", "me"}, found: []string{"lme", "me"}, want: []string{"1", "2"}},
		"one wish among others":                 {lost: []string{"m", "l"}, found: []string{"m", "m", "l"}, want: []string{"?1 2", "3"}},
		"what shows in no object":               {lost: []string{"m/a", "m/b"}, found: []string{"m"}, want: []string{"?1", "?1"}},
		"what shows in no object, the same":     {lost: []string{"m/a", "m/a"}, found: []string{"m"}, want: []string{"1", "?"}},
		"what shows in no object, told apart":   {lost: []string{"m/a", "e/b"}, found: []string{"e", "m"}, want: []string{"2", "1"}},
		"through a third one":                   {lost: []string{"m/a", "l/a", "e/b"}, found: []string{"ml", "le"}, want: []string{"?1", "?1 2", "?2"}},
		"through a third one, and one aside":    {lost: []string{"m/a", "x/a", "l/a", "e/b"}, found: []string{"ml", "le", "x"}, want: []string{"?1", "3", "?1 2", "?2"}},
		"through a third one, in another order": {lost: []string{"e/b", "l/a", "m/a"}, found: []string{"ml", "le"}, want: []string{"?2", "?1 2", "?1"}},
		"nobody knows when it was made":         {lost: []string{"m"}, found: []string{"m0"}, want: []string{"?1"}},
		"nobody knows of one of two":            {lost: []string{"m", "m"}, found: []string{"m", "m0"}, want: []string{"?1 2", "?1 2"}},
		"nobody knows of another":               {lost: []string{"m"}, found: []string{"m", "e0"}, want: []string{"1"}},
		"another's":                             {lost: []string{"m"}, found: []string{"m@x"}, want: []string{"?1"}},
		"another's beside one":                  {lost: []string{"m", "l"}, found: []string{"m@x", "m@a", "l@a"}, want: []string{"2", "3"}},
		"one owner":                             {lost: []string{"m", "l"}, found: []string{"m@a", "l@a"}, want: []string{"1", "2"}},
		"one owner, and one that is not told":   {lost: []string{"m", "l"}, found: []string{"m@a", "l"}, want: []string{"1", "2"}},
		"two owners":                            {lost: []string{"m", "m"}, found: []string{"m@a", "m@b"}, want: []string{"?1 2", "?1 2"}},
		"two owners of what was asked for":      {lost: []string{"m", "l"}, found: []string{"m@a", "l@b"}, want: []string{"?1", "?2"}},
		"two owners, one of something else":     {lost: []string{"m", "l"}, found: []string{"m@a", "e@b"}, want: []string{"1", "?2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := clock.NewFake(testStart)
			sh, gate := newSource(0).shared(clk), &creationGate[thing]{}
			var found []thing
			for i, has := range tc.found {
				found = append(found, thing{fmt.Sprint(i + 1), has})
			}
			known := mustKnow(t, sh, "", clk.Now())
			for _, text := range tc.lost {
				wish, untold, _ := strings.Cut(text, "/")
				gate.lost = append(gate.lost, &loss[thing]{err: io.EOF, before: known, since: testStart, unnamed: unnamed[thing]{
					object: "thing", untold: untold, asks: len(wish), known: sh,
					find: func(context.Context) ([]thing, error) { return found, nil },
					createdAt: func(object *thing) Millis {
						if strings.Contains(object.state, "0") {
							return 0
						}
						return Millis(testStart.UnixMilli())
					},
					isWanted: func(object *thing) bool {
						return !strings.ContainsFunc(wish, func(asked rune) bool { return !strings.ContainsRune(object.state, asked) })
					},
					ownerOf: func(object *thing) string {
						_, owner, _ := strings.Cut(object.state, "@")
						return owner
					},
					isAnothers: func(object *thing) bool { return strings.HasSuffix(object.state, "@x") },
					existing:   func(object *thing) ExistsError { return ExistsError{ID: object.id} },
				}})
			}
			all := slices.Clone(gate.lost)
			gate.settle(t.Context(), &Client{clock: clk})
			got := make([]string, len(all))
			for i, l := range all {
				if got[i] = "?" + strings.Join(namedIn(l.err), " "); l.made != nil {
					got[i] = l.made.id
				}
				if !l.isSettled || (l.made == nil) != is[*LostError](l.err) || l.made != nil && !l.before.knows(l.made.id) {
					t.Errorf("%s: %+v", tc.lost[i], l)
				}
			}
			if !slices.Equal(got, tc.want) || len(gate.lost) > 0 {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// A run that is being stopped may have no time for the last looks: what was seen until then is named.
func TestCreationGate_settle_interrupted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sh := newSource(0).shared(clock.System)
		l := &loss[thing]{err: io.EOF, before: mustKnow(t, sh, "", time.Now()), since: time.Now(), unnamed: unnamed[thing]{
			object: "thing", known: sh,
			find: func(ctx context.Context) ([]thing, error) {
				return []thing{{"1", "m"}}, clock.System.Sleep(ctx, afterStop/2-time.Second)
			},
			createdAt: func(*thing) Millis { return Millis(time.Now().UnixMilli()) },
			isWanted:  func(*thing) bool { return true },
			existing:  func(object *thing) ExistsError { return ExistsError{ID: object.id} },
		}}
		ended, end := context.WithCancel(t.Context())
		end()
		(&creationGate[thing]{lost: []*loss[thing]{l}}).settle(ended, &Client{clock: clock.System})
		if l.made != nil || !errors.Is(l.err, context.Canceled) || !slices.Equal(namedIn(l.err), []string{"1"}) {
			t.Errorf("got %v, %v", l.made, l.err)
		}
	})
}

// What was read before a creation was lost is not told any more, even before it is settled.
func TestCreateUnnamed_aLossOutdatesWhatWasRead(t *testing.T) {
	t.Parallel()
	s := newSource(1)
	clk := clock.NewFake(testStart)
	sh := s.shared(clk)
	look := func(ctx context.Context) ([]thing, error) {
		if found, err := sh.all(ctx, ""); err != nil || s.lists.Load() != 2 {
			t.Errorf("%v, %v after %d listings", found, err, s.lists.Load())
		}
		return nil, nil
	}
	_, err := createUnnamed(t.Context(), &Client{clock: clk}, &gates[thing]{}, unnamed[thing]{
		object: "thing", known: sh, find: look, isAmong: func(*thing) bool { return false },
		send: func(context.Context) (*thing, error) { return nil, &TransportError{Changes: true, Err: io.EOF} },
	})
	if !is[*LostError](err) {
		t.Errorf("got %v", err)
	}
}

// Whatever happens to many at once, those that were made are handed out, if there is nobody else.
func TestCreateUnnamed_many(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 0))
			d := newDesk(t)
			var asked []CreateSessionRequest
			for range 50 {
				name := []string{"plain", "model", "both"}[random.IntN(3)]
				asked = append(asked, d.ask(name+": "+[]string{"ok", "after", "before", "500"}[random.IntN(4)])...)
			}
			d.together, d.lag = 50, 3*time.Second
			outcomes := d.createAll(t.Context(), asked...)
			d.check(t, outcomes)
			got := 0
			for _, n := range served(outcomes) {
				got += n
			}
			if got != len(d.sessions) {
				t.Errorf("%d of %d sessions were handed out", got, len(d.sessions))
			}
		})
	}
}

// They need not begin together: who comes while others wait for their turn waits, too, and is sent after that.
func TestCreateUnnamed_manyOneAfterAnother(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.lag = 5 * time.Second
	asked := d.ask("plain: after, ok, before, after, ok, before, ok, ok, after, ok, 500, ok, before, ok, ok, after; model: ok, after, before, ok, 500, ok; in a: after, ok, before")
	outcomes := d.createAll(t.Context(), asked...)
	d.check(t, outcomes)
}

func TestCreateUnnamed_oneAnswerForAll(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	asked := d.ask("plain: " + strings.Join(slices.Repeat([]string{"answered as s9"}, 50), ", "))
	d.together = len(asked)
	n := 0
	for _, o := range d.createAll(t.Context(), asked...) {
		var stranger *StrangerError
		switch {
		case o.err == nil:
			n++
		case !errors.As(o.err, &stranger) || stranger.Found.ID != "s9":
			t.Errorf("got %v", o.err)
		}
	}
	if n != 1 || d.posts != 50 {
		t.Errorf("%d callers were given the same session, %d creations were sent", n, d.posts)
	}
}

func TestCreateUnnamed_theAnswerIsAnotherSession(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	older := d.add(deskSession{at: testStart.Add(-time.Hour), body: bodyOf(wishes["plain"])}, false)
	o := d.createAll(t.Context(), d.ask("plain: answered as "+older.id)...)[0]
	var stranger *StrangerError
	if !errors.As(o.err, &stranger) || stranger.Found.ID != older.id || stranger.Found.ImportID != older.id || !strings.Contains(o.err.Error(), "existed before") {
		t.Errorf("got %v, %v", o.made, o.err)
	}
	const elsewhere = `201 {"sessionId":"s1","status":"idle","computerId":"8"}`
	c, rec, _ := serveShort(t, func(call string) string {
		if strings.HasPrefix(call, "POST") {
			return elsewhere
		}
		return pageOf("sessions", "", nil)
	})
	if made, err := c.CreateSession(t.Context(), wishes["plain"]); !errors.As(err, &stranger) || made != nil || stranger.Found.ID != "s1" || !strings.Contains(err.Error(), "is not on the computer 7") {
		t.Errorf("got %v, %v", made, err)
	}
	if rec.count(http.MethodPost) != 1 {
		t.Errorf("asked %v", rec.calls())
	}
}

func TestCreateUnnamed_looks(t *testing.T) {
	t.Parallel()
	down := func(from, to int) func(int) int {
		return func(n int) int {
			if n >= from && n <= to {
				return http.StatusNotImplemented
			}
			return http.StatusOK
		}
	}
	for name, tc := range map[string]struct {
		lag     time.Duration
		listing func(int) int
		isGiven bool
		want    string // In the error.
	}{
		"at once":                   {isGiven: true},
		"late":                      {lag: 7 * time.Second, isGiven: true},
		"too late":                  {lag: 8 * time.Second, want: "and no such session on the computer 7 is found"},
		"the first looks fail":      {listing: down(2, 4), isGiven: true},
		"the last look fails":       {listing: down(5, 5), want: "nothing proves that it made what is found now, s1 (created at"},
		"no look succeeds":          {listing: down(2, 5), want: "EOF; listSessions (GET /api/v0/sessions) answered 501"},
		"late, and a look fails":    {lag: 7 * time.Second, listing: down(3, 3), isGiven: true},
		"late, and the last fails":  {lag: 7 * time.Second, listing: down(5, 5), want: "answered 501"},
		"none exists and none fail": {lag: time.Hour, want: "was lost"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.lag, d.listing = tc.lag, tc.listing
			o := d.createAll(t.Context(), d.ask("plain: after")...)[0]
			switch {
			case tc.isGiven != (o.err == nil):
				t.Errorf("got %v, %v", o.made, o.err)
			case !tc.isGiven && (!is[*LostError](o.err) || !strings.Contains(o.err.Error(), tc.want)):
				t.Errorf("got %v, want %q", o.err, tc.want)
			}
			if d.posts != 1 || d.lists != 5 {
				t.Errorf("%d creations, %d listings: want one before and four after", d.posts, d.lists)
			}
		})
	}
}

// A listing may show another's session before it shows the one that was made. Where the last look is cut off, what was seen
// until then is named.
func TestCreateUnnamed_anothersShowsFirst(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fails int // The listing.
		want  []string
	}{
		"all looks succeed":   {want: []string{"s2", "s1"}},
		"the last look fails": {fails: 5, want: []string{"s2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.lag, d.together = 3*time.Second, 1
			d.meanwhile = func() {
				d.add(deskSession{body: bodyOf(wishes["plain"]), at: testStart}, false)
				d.mu.Lock()
				defer d.mu.Unlock()
				d.sessions[0].at = testStart.Add(3 * time.Second)
			}
			d.listing = func(n int) int {
				if n == tc.fails {
					return http.StatusNotImplemented
				}
				return http.StatusOK
			}
			o := d.createAll(t.Context(), d.ask("plain: after")...)[0]
			if o.err == nil || !slices.Equal(namedIn(o.err), tc.want) {
				t.Errorf("got %v, %v, want %v", o.made, o.err, tc.want)
			}
		})
	}
}

// What was made before a creation was sent is not given to it, even if that of another lost one beside it could be.
func TestCreateUnnamed_eachSinceItWasSent(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		isListed, isAlone bool // The first one's session is listed before the second one is sent; nobody else makes one.
		fate              string
		first, second     []string // What each is told; nil is a session.
	}{
		"another's is not listed":         {fate: "before", first: []string{"s2", "s1"}, second: []string{"s2", "s1"}},
		"another's is listed":             {isListed: true, fate: "before", first: []string{"s2", "s1"}, second: []string{}},
		"another's, and both made one":    {fate: "after", first: []string{"s3", "s2", "s1"}, second: []string{"s3", "s2", "s1"}},
		"both made one":                   {isListed: true, isAlone: true, fate: "after"},
		"only the first made one":         {isListed: true, isAlone: true, fate: "before", second: []string{}},
		"only the first, and it was late": {isAlone: true, fate: "before", second: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.lag, d.together = time.Hour, 2
			if tc.isListed {
				d.lag = 0
			}
			d.meanwhile = func() {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.lag = 0
			}
			asked := d.ask("plain: after, " + tc.fate)
			var first told
			var caller sync.WaitGroup
			caller.Go(func() { first = d.createAll(t.Context(), asked[0])[0] })
			<-d.came
			d.clk.Advance(time.Minute)
			if !tc.isAlone {
				d.add(deskSession{body: bodyOf(wishes["plain"])}, false)
			}
			d.clk.Advance(time.Minute)
			second := d.createAll(t.Context(), asked[1])[0]
			caller.Wait()
			d.check(t, []told{first, second})
			for _, o := range []struct {
				told
				want []string
			}{{first, tc.first}, {second, tc.second}} {
				if (o.want == nil) != (o.err == nil) || !slices.Equal(namedIn(o.err), o.want) {
					t.Errorf("got %v, %v, want %v", o.made, o.err, o.want)
				}
			}
		})
	}
}

// A service that tells no time of its own, and shows late what was made: what a caller got stays theirs.
func TestCreateUnnamed_whatWasGivenStaysGiven(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.lag, d.tellsNoTime = time.Minute, true
	asked := d.ask("plain: ok, ok, before")
	var outcomes []told
	for i, wish := range asked {
		// When the last one begins, the first one's session is not listed yet, and then it is.
		d.clk.Advance([]time.Duration{0, 20 * time.Second, 39 * time.Second}[i])
		outcomes = append(outcomes, d.createAll(t.Context(), wish)...)
	}
	d.check(t, outcomes)
	if outcomes[2].err == nil || len(namedIn(outcomes[2].err)) > 0 {
		t.Errorf("the last one: %v, %v", outcomes[2].made, outcomes[2].err)
	}
}

// Where the service tells no time of its own, nothing proves that an object is new.
func TestCreateUnnamed_theServiceTellsNoTime(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.tellsNoTime = true
	outcomes := d.createAll(t.Context(), d.ask("plain: after")...)
	d.check(t, outcomes)
	if !slices.Equal(namedIn(outcomes[0].err), []string{"s1"}) {
		t.Errorf("got %v, %v", outcomes[0].made, outcomes[0].err)
	}
}

// What a service's clocks make older than the request is not handed out, but named: it was not there before.
func TestCreateUnnamed_namesWhatIsNotProven(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fate   string
		ahead  time.Duration
		known  []time.Duration // How old those are that are listed before the creation.
		others []time.Duration // How old those are that are not.
		want   []string
	}{
		"the clocks differ":               {fate: "after", ahead: 4 * time.Second, want: []string{"s1"}},
		"the clocks differ much":          {fate: "after", ahead: 5 * time.Minute, want: []string{"s1"}},
		"made otherwise, too":             {fate: "capped", ahead: 4 * time.Second, want: []string{"s1"}},
		"one that is known is newer":      {fate: "after", known: []time.Duration{-4 * time.Second}, want: []string{"s2"}},
		"older ones that were not listed": {fate: "before", others: []time.Duration{time.Second, 5 * time.Minute, 5*time.Minute + 1, time.Hour}, want: []string{"s2", "s1"}},
		"older ones that were":            {fate: "before", known: []time.Duration{time.Second, time.Minute}, want: []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.ahead, d.together, d.lag = tc.ahead, 1, -time.Minute
			add := func(ages []time.Duration) {
				for _, age := range ages {
					d.add(deskSession{body: bodyOf(wishes["free"]), at: testStart.Add(-age)}, false)
				}
			}
			add(tc.known)
			d.meanwhile = func() { add(tc.others) }
			o := d.createAll(t.Context(), d.ask("free: "+tc.fate)...)[0]
			if o.err == nil || !slices.Equal(namedIn(o.err), tc.want) {
				t.Errorf("got %v, %v, want %v", o.made, o.err, tc.want)
			}
		})
	}
}

// A run that is being stopped still finds out what it has made. What was not sent by then is not sent.
func TestCreateUnnamed_interrupted(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.lag, d.together = 5*time.Second, 3
	ctx, interrupt := context.WithCancel(t.Context())
	d.meanwhile = interrupt
	var late []told
	var waits sync.WaitGroup
	d.listing = func(n int) int {
		if n == 2 { // The first look for what was lost.
			waits.Go(func() { late = d.createAll(ctx, wishes["plain"]) })
		}
		return http.StatusOK
	}
	outcomes := d.createAll(ctx, d.ask("plain: after, before, after")...)
	waits.Wait()
	d.check(t, outcomes)
	if got := served(outcomes)["plain"]; got != 2 {
		t.Errorf("%d got a session", got)
	}
	if len(late) != 1 || !errors.Is(late[0].err, context.Canceled) || is[*LostError](late[0].err) {
		t.Errorf("who came later: %v", late)
	}
}

// Creations on other computers do not wait.
func TestCreateUnnamed_computersAreApart(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	var elsewhere []told
	d.listing = func(n int) int {
		if n == 2 { // The look for what was lost waits for what is asked for here.
			d.mu.Unlock()
			elsewhere = d.createAll(t.Context(), CreateSessionRequest{ComputerID: "8"})
			if d.mu.Lock(); d.lists != 3 {
				t.Errorf("%d listings, as if one had waited for the other", d.lists)
			}
		}
		return http.StatusOK
	}
	outcomes := d.createAll(t.Context(), d.ask("plain: after")...)
	d.check(t, append(outcomes, elsewhere...))
	for _, o := range append(outcomes, elsewhere...) {
		if o.err != nil || o.made.ComputerID != o.wish.ComputerID {
			t.Errorf("got %v, %v", o.made, o.err)
		}
	}
}
