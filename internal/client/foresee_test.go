package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

const (
	twoTaken  = `{"computers":[{"id":"1","name":"a","providerType":"byom"},{"id":"2","name":"web-7","providerType":"byom"}]}`
	oneKey    = `{"apiKeys":[{"id":"k1","name":"live"},{"id":"k2","name":"revoked","isRevoked":true},{"id":"k3","name":"live"}]}`
	twoScopes = `{"environments":[{"id":"e1","name":"ci","repositories":[],"scope":"user"},{"id":"e2","name":"both","repositories":[],"scope":"user"},{"id":"e3","name":"both","repositories":[],"scope":"organization"}]}`
	twoRobots = `{"serviceAccounts":[{"id":"s1","name":"robot"},{"id":"s2","name":"robot"}]}`
)

// listings serves the listings by their paths and counts requests.
type listings struct {
	mu       sync.Mutex
	requests []string
	status   int
}

func (l *listings) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.requests = append(l.requests, r.Method+" "+r.URL.Path)
	w.Header().Set("Content-Type", "application/json")
	if l.status != 0 {
		w.WriteHeader(l.status)
		_, _ = w.Write([]byte(`{"detail":"no","status":401,"title":"Unauthorized"}`))
		return
	}
	body := twoTaken
	switch {
	case strings.HasSuffix(r.URL.Path, "/api-keys"):
		body = oneKey
	case strings.HasSuffix(r.URL.Path, "/service-accounts"):
		body = twoRobots
	case strings.HasSuffix(r.URL.Path, "/environments"):
		body = twoScopes
	case strings.HasSuffix(r.URL.Path, "/computers/1"):
		body = `{"id":"1","name":"a","providerType":"byom"}`
	case strings.HasSuffix(r.URL.Path, "/computers/2"):
		body = `{"id":"2","name":"web-7","providerType":"byom"}`
	}
	_, _ = w.Write([]byte(body))
}

func foreseeing(t *testing.T, l *listings) *Client {
	t.Helper()
	server := httptest.NewServer(l)
	t.Cleanup(server.Close)
	c, err := New(Config{BaseURL: server.URL, APIKey: "fk-test", Clock: clock.NewFake(time.Now()), RequestTimeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestForesee_tellsWhatStandsInTheWay(t *testing.T) {
	t.Parallel()
	l := &listings{}
	c := foreseeing(t, l)
	ctx := t.Context()
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"a computer":                {c.ForeseeComputer(ctx, "", "a"), `a computer named "a" exists already, with ID 1`},
		"no computer":               {c.ForeseeComputer(ctx, "", "free"), ""},
		"a computer of a fleet":     {c.ForeseeFleet(ctx, "", "web"), "web-7 (2)"},
		"another fleet":             {c.ForeseeFleet(ctx, "", "we"), ""},
		"two accounts":              {c.ForeseeServiceAccount(ctx, "robot"), "so does s"},
		"no account":                {c.ForeseeServiceAccount(ctx, "free"), ""},
		"an environment":            {c.ForeseeEnvironment(ctx, "user", "ci"), `an environment named "ci" exists already, with ID e1`},
		"one in another scope":      {c.ForeseeEnvironment(ctx, "organization", "ci"), ""},
		"one in whatever scope":     {c.ForeseeEnvironment(ctx, "", "ci"), "with ID e1"},
		"one in each scope":         {c.ForeseeEnvironment(ctx, "organization", "both"), `"both" exists already, with ID e3`},
		"two in whatever scope":     {c.ForeseeEnvironment(ctx, "", "both"), "so does e"},
		"no environment":            {c.ForeseeEnvironment(ctx, "user", "free"), ""},
		"live keys":                 {c.ForeseeAPIKey(ctx, "acc", "live"), "so does k"},
		"a revoked key is no other": {c.ForeseeAPIKey(ctx, "acc", "revoked"), ""},
	} {
		if tc.want == "" && tc.err != nil || tc.want != "" && (tc.err == nil || !strings.Contains(tc.err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", name, tc.err, tc.want)
		}
	}
	if len(l.requests) != 4 {
		t.Errorf("the requests were %v, want one listing of each collection", l.requests)
	}
}

// A resource that has read an object may be about to replace or rename it.
func TestForesee_whatWasReadIsKnown(t *testing.T) {
	t.Parallel()
	c := foreseeing(t, &listings{})
	if _, err := c.Computer(t.Context(), "1", ComputerOwner{}); err != nil {
		t.Fatal(err)
	}
	if err := c.ForeseeComputer(t.Context(), "", "a"); err != nil {
		t.Errorf("the computer that was read: %v", err)
	}
	// A fleet is told of what another resource holds, and not of its own.
	if _, err := c.Computer(t.Context(), "2", ComputerOwner{}); err != nil {
		t.Fatal(err)
	}
	if err := c.ForeseeFleet(t.Context(), "", "web"); err == nil {
		t.Error("the fleet is not told of a computer that is none of its own")
	}
	c.HoldFleet("web", []string{"2"})
	if err := c.ForeseeFleet(t.Context(), "", "web"); err != nil {
		t.Errorf("the fleet's own computer: %v", err)
	}
}

func TestForesee_anEnvironmentThatIsHeld(t *testing.T) {
	t.Parallel()
	l := &listings{}
	c := foreseeing(t, l)
	c.HoldEnvironment("e2")
	if err := c.ForeseeEnvironment(t.Context(), "user", "both"); err != nil {
		t.Errorf("the one that is held: %v", err)
	}
	if err := c.ForeseeEnvironment(t.Context(), "", "both"); err == nil || !strings.Contains(err.Error(), "with ID e3") || strings.Contains(err.Error(), "e2") {
		t.Errorf("the other one: %v", err)
	}
	l.status = http.StatusUnauthorized
	c.environments.discard(organization)
	if err := c.ForeseeEnvironment(t.Context(), "user", "ci"); StatusOf(err) != http.StatusUnauthorized {
		t.Errorf("refused: %v", err)
	}
}

// A wrong key refuses every listing alike: a hundred plans ask once and say so once.
func TestForesee_aRefusalIsToldOnce(t *testing.T) {
	t.Parallel()
	l := &listings{status: http.StatusUnauthorized}
	c := foreseeing(t, l)
	if err := c.ForeseeComputer(t.Context(), "", "a"); StatusOf(err) != http.StatusUnauthorized {
		t.Errorf("the first: %v", err)
	}
	for range 3 {
		if err := c.ForeseeComputer(t.Context(), "", "b"); err != nil {
			t.Errorf("another one: %v", err)
		}
	}
	if err := c.ForeseeComputer(t.Context(), "acc", "a"); StatusOf(err) != http.StatusUnauthorized {
		t.Errorf("another collection: %v", err)
	}
	if len(l.requests) != 2 {
		t.Errorf("the requests were %v", l.requests)
	}
}

// In an apply the first creation has listed what exists, and each write outdates what plans share.
func TestForesee_costsNothingAfterTheFirstCreation(t *testing.T) {
	t.Parallel()
	s := newSource(2)
	clk := clock.NewFake(time.Now())
	sh := s.shared(clk)
	if _, err := sh.known(t.Context(), "", "x", clk.Now()); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		sh.wrote("", &thing{id: "new"})
		if found, err := foresee(t.Context(), &Client{}, sh, "", "new"); err != nil || found != nil {
			t.Errorf("found %v, %v", found, err)
		}
	}
	if s.lists.Load() != 1 {
		t.Errorf("%d listings, want the creation's alone", s.lists.Load())
	}
}

// aged are things by how old they are, such as "29m"; one whose age starts with "!" is not alike.
func aged(ages ...string) *source {
	s := &source{}
	for i, age := range ages {
		s.things = append(s.things, thing{fmt.Sprint(i + 1), age})
	}
	return s
}

// leftoversIn is what the plan of a creation is told, by a service whose clock shows testStart.
func leftoversIn(ctx context.Context, c *Client, sh *shared[thing]) error {
	return leftoversOf(ctx, c, sh, "7", func(t *thing) bool { return t.state[0] != '!' })
}

func leftoversOf(ctx context.Context, c *Client, sh *shared[thing], kin string, isAlike func(*thing) bool) error {
	createdAt := func(t *thing) Millis {
		age, err := time.ParseDuration(strings.TrimPrefix(t.state, "!"))
		if err != nil {
			return 0
		}
		return Millis(testStart.Add(-age).UnixMilli())
	}
	return leftovers(ctx, c, sh, "", kin, createdAt, isAlike, func(t *thing) ExistsError {
		return ExistsError{Object: "session", ID: t.id, ImportID: t.id}
	})
}

// leftIn are the IDs that an error names.
func leftIn(err error) string {
	var left *LeftoverError
	if !errors.As(err, &left) {
		return ""
	}
	ids := make([]string, len(left.Found))
	for i, e := range left.Found {
		ids[i] = e.ID
	}
	return strings.Join(ids, " ")
}

// clientAt is a client that has heard the service's time.
func clientAt(at time.Time) *Client {
	c := &Client{clock: clock.System, holdsArrive: defaultHoldsArrive}
	c.service.note(http.Header{"Date": {at.Format(http.TimeFormat)}}, at)
	return c
}

func TestLeftovers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		ages []string
		held string
		// meanwhile is held from within the pause on.
		meanwhile string
		want      string
		// kin says of what else is held whether it is kin.
		kin       string
		mayBeHeld bool
		// refresh is when a resource is read, if not before: from within the pause on, or never.
		refresh string
		// noTime keeps the service's time away.
		noTime bool
	}{
		"nothing":                      {},
		"one":                          {ages: []string{"1m"}, want: "1"},
		"all that are young and alike": {ages: []string{"29m59s", "30m", "0s", "!1m", "31m", "-1m"}, want: "1 3 6"},
		"of unknown age":               {ages: []string{"-"}},
		"held":                         {ages: []string{"1m", "2m"}, held: "1", want: "2"},
		"all held":                     {ages: []string{"1m"}, held: "1"},
		"held a moment later":          {ages: []string{"1m", "2m"}, meanwhile: "2", want: "1"},
		"all held a moment later":      {ages: []string{"1m"}, meanwhile: "1"},
		"no word of the time":          {ages: []string{"1m"}, noTime: true},
		"kin is held":                  {ages: []string{"1m"}, kin: "7", want: "1", mayBeHeld: true},
		"no kin is held":               {ages: []string{"1m"}, kin: "8", want: "1"},
		"nothing is read":              {ages: []string{"1m"}, refresh: "never", want: "1", mayBeHeld: true},
		"read a moment later":          {ages: []string{"1m"}, refresh: "late", want: "1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				c, sh := clientAt(testStart), aged(tc.ages...).shared(clock.System)
				if tc.noTime {
					c = &Client{clock: clock.System}
				}
				if tc.refresh == "" {
					c.NoteRefresh()
				}
				sh.hold("", tc.held)
				gone := sh.holdKin("7")
				time.AfterFunc(defaultHoldsArrive-1, func() {
					if tc.refresh == "late" {
						c.NoteRefresh()
					}
					sh.hold("", tc.meanwhile)
					sh.holdKin(tc.kin)
					gone()
				})
				err := leftoversIn(t.Context(), c, sh)
				if leftIn(err) != tc.want || (err == nil) != (tc.want == "") {
					t.Errorf("got %v, want %q", err, tc.want)
				}
				var left *LeftoverError
				if errors.As(err, &left) && left.MayBeHeld != tc.mayBeHeld {
					t.Errorf("may be held: %v", left.MayBeHeld)
				}
			})
		})
	}
}

// Of plans that run beside each other one of each collection makes a pause and tells of its objects, and the others go on at once.
func TestLeftovers_manyPlans(t *testing.T) {
	t.Parallel()
	for _, isRefreshed := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			c := clientAt(testStart)
			here, there := aged("1m", "2m").shared(clock.System), aged("!1m", "!1m", "1m").shared(clock.System)
			if isRefreshed {
				c.NoteRefresh()
			}
			began := time.Now()
			var mu sync.Mutex
			told, paused := map[string]int{}, 0
			var plans sync.WaitGroup
			for n := range 20 {
				plans.Go(func() {
					err := leftoversIn(t.Context(), c, []*shared[thing]{here, there}[n%2])
					mu.Lock()
					defer mu.Unlock()
					var left *LeftoverError
					if told[leftIn(err)]++; errors.As(err, &left) && left.MayBeHeld == isRefreshed {
						t.Errorf("refreshed %v: may be held %v", isRefreshed, left.MayBeHeld)
					}
					if time.Since(began) > 0 {
						paused++
					}
				})
			}
			plans.Wait()
			if paused != 2 || told["1 2"] != 1 || told["3"] != 1 {
				t.Errorf("refreshed %v: %d paused, told %v", isRefreshed, paused, told)
			}
		})
	}
}

// What is told of one kin does not depend on another's turn: few are in the pause at the same time, and who is not gives a warning.
func TestLeftovers_kinsAreApart(t *testing.T) {
	t.Parallel()
	for kins, want := range map[int]string{2: "1 error, 1 warning", 4: "3 errors, 1 warning", 6: "3 errors, 3 warnings"} {
		synctest.Test(t, func(t *testing.T) {
			c, sh := clientAt(testStart), aged(slices.Repeat([]string{"1m"}, kins)...).shared(clock.System)
			c.NoteRefresh()
			sh.holdKin("1")
			began := time.Now()
			var mu sync.Mutex
			told, counts := map[string]bool{}, map[bool]int{}
			plan := func(kin string) {
				err := leftoversOf(t.Context(), c, sh, kin, func(t *thing) bool { return t.id == kin })
				mu.Lock()
				defer mu.Unlock()
				var left *LeftoverError
				if errors.As(err, &left) {
					told[leftIn(err)] = true
					counts[left.MayBeHeld]++
					if left.MayBeHeld != (kin == "1" || time.Since(began) == 0) {
						t.Errorf("%s: %v after %v", kin, left.MayBeHeld, time.Since(began))
					}
				}
			}
			var plans sync.WaitGroup
			for n := range kins * 3 {
				if n == 3 {
					synctest.Wait() // The held kin has its turn first.
				}
				plans.Go(func() { plan(fmt.Sprint(n/3 + 1)) })
			}
			plans.Wait()
			if got := phrase.Count(counts[false], "error") + ", " + phrase.Count(counts[true], "warning"); got != want || len(told) != kins {
				t.Errorf("%d kins: %s, told %v, want %s", kins, got, told, want)
			}
		})
	}
}

// What creations of one kin find that ask for different things, one of them tells of, and each of it has had its pause.
func TestLeftovers_unlikeKin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, sh := clientAt(testStart), aged("1m", "2m", "3m").shared(clock.System)
		c.NoteRefresh()
		began := time.Now()
		var plans sync.WaitGroup
		for n, id := range []string{"1", "2", "3"} {
			plans.Go(func() {
				time.Sleep(time.Duration(n) * defaultHoldsArrive * 3 / 4)
				err := leftoversOf(t.Context(), c, sh, "7", func(t *thing) bool { return t.id == id })
				if want := map[string]string{"1": "1 3"}[id]; leftIn(err) != want {
					t.Errorf("%s: got %v", id, err)
				}
				if err != nil && (!strings.Contains(err.Error(), "as this one or one beside it shall be") || time.Since(began) != 3*defaultHoldsArrive) {
					t.Errorf("got %v after %v", err, time.Since(began))
				}
			})
		}
		time.Sleep(3*defaultHoldsArrive - 1)
		sh.hold("", "2")
		plans.Wait()
	})
}

// The plan after one that made a pause makes one too.
func TestLeftovers_oneAfterTheOther(t *testing.T) {
	t.Parallel()
	c := clientAt(testStart)
	c.holdsArrive = 0
	c.NoteRefresh()
	for _, id := range []string{"1", "2"} {
		s := &source{things: []thing{{id, "1m"}}}
		if err := leftoversIn(t.Context(), c, s.shared(clock.System)); leftIn(err) != id {
			t.Errorf("got %v, want %s", err, id)
		}
	}
}

func TestLeftovers_tellsNothing(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	end()
	reading := clientAt(testStart)
	reading.NoteRefresh()
	if err := leftoversIn(ended, reading, aged("1m").shared(clock.System)); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	unset := Unconfigured("base_url", clock.System)
	if err := leftoversIn(t.Context(), unset, aged("1m").shared(clock.System)); err != nil {
		t.Errorf("unknown settings: %v", err)
	}
	creating := aged("1m").shared(clock.System)
	mustKnow(t, creating, "", time.Now())
	if err := leftoversIn(t.Context(), clientAt(testStart), creating); err != nil {
		t.Errorf("a creation has begun: %v", err)
	}
	refused := aged("1m")
	refused.err = &APIError{Status: http.StatusForbidden}
	sh := refused.shared(clock.System)
	for n, want := range []int{http.StatusForbidden, 0, 0} {
		if err := leftoversIn(t.Context(), clientAt(testStart), sh); StatusOf(err) != want {
			t.Errorf("plan %d of a listing that is refused: %v", n, err)
		}
	}
	if refused.lists.Load() != 1 {
		t.Errorf("%d listings", refused.lists.Load())
	}
}

func TestForesee_unknownSettingsTellNothing(t *testing.T) {
	t.Parallel()
	c := Unconfigured("base_url", clock.NewFake(time.Now()))
	if err := c.ForeseeComputer(t.Context(), "", "a"); err != nil {
		t.Errorf("got %v", err)
	}
	// The first read still says why it does nothing.
	_, err := c.Computer(t.Context(), "1", ComputerOwner{})
	var missing *UnconfiguredError
	if !errors.As(err, &missing) || !missing.First {
		t.Errorf("got %v", err)
	}
}

func TestFew(t *testing.T) {
	t.Parallel()
	c := &Client{}
	var got []bool
	for range 4 {
		got = append(got, c.Few("a", 2))
	}
	if !slices.Equal(got, []bool{true, true, false, false}) || !c.Few("b", 1) || c.Few("b", 1) {
		t.Errorf("of four warnings %v are given, or another subject's are not counted apart", got)
	}
}

func TestComputer_SetUpFailed(t *testing.T) {
	t.Parallel()
	failed := ProvisioningStep{ID: "create-computer", Status: StepFailed, Error: "no disk"}
	install := ProvisioningStep{ID: StepInstall, Status: StepFailed, Error: "no lock file"}
	for name, tc := range map[string]struct {
		computer Computer
		want     bool
	}{
		"a step of the set-up":     {Computer{Status: ComputerError, ProvisioningSteps: []ProvisioningStep{failed}}, true},
		"active since":             {Computer{Status: ComputerActive, ProvisioningSteps: []ProvisioningStep{failed}}, false},
		"an installation":          {Computer{Status: ComputerError, ProvisioningSteps: []ProvisioningStep{{ID: "create-computer", Status: StepCompleted}, install}}, false},
		"no step is told":          {Computer{Status: ComputerError}, false},
		"another word for a state": {Computer{Status: ComputerError, ProvisioningSteps: []ProvisioningStep{{ID: "create-computer", Status: "skipped"}}}, false},
	} {
		if got := tc.computer.SetUpFailed(); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
