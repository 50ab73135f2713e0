package client

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
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
