package computers

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Only a failed set-up proves that a computer was never active.
func TestComputer_setUpFailed(t *testing.T) {
	t.Parallel()
	clone, failed, installed := ProvisioningStep{ID: "clone", Status: StepCompleted}, ProvisioningStep{ID: "x", Status: StepFailed}, ProvisioningStep{ID: stepInstall, Status: StepFailed}
	for name, tc := range map[string]struct {
		status string
		steps  []ProvisioningStep
		failed string
		want   bool
	}{
		"failed":               {StatusError, []ProvisioningStep{clone, failed}, "x", true},
		"an error text":        {StatusError, []ProvisioningStep{clone, {ID: "y", Status: "in_progress", Error: "disk full"}}, "y", true},
		"error":                {StatusError, []ProvisioningStep{{ID: "y", Status: "error"}}, "y", true},
		"no step failed":       {StatusError, []ProvisioningStep{clone, {ID: "y", Status: "pending"}}, "", false},
		"no steps":             {StatusError, nil, "", false},
		"active":               {StatusActive, []ProvisioningStep{failed}, "x", false},
		"the installation":     {StatusError, []ProvisioningStep{clone, installed}, stepInstall, false},
		"a later step is done": {StatusError, []ProvisioningStep{failed, clone}, "x", false},
	} {
		c := &Computer{Status: tc.status, ProvisioningSteps: tc.steps}
		at := c.FailedStep()
		if c.SetUpFailed() != tc.want || (at < 0) != (tc.failed == "") || at >= 0 && tc.steps[at].ID != tc.failed {
			t.Errorf("%s: %t, the failed step is %d", name, c.SetUpFailed(), at)
		}
	}
}

func TestOwnComputer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		found    Computer
		callers  bool
		requests int
	}{
		"a human's":            {Computer{ID: "x", OwnerPrincipalKind: "human", OwnerID: "user"}, true, 0},
		"of the key's account": {Computer{ID: "c1", OwnerPrincipalKind: ownerService, OwnerID: "sa_1"}, true, 1},
		"of another account":   {Computer{ID: "c2", OwnerPrincipalKind: ownerService, OwnerID: "sa_2"}, false, 1},
	} {
		c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
			clienttest.RespondJSON(w, 200, `{"computers":[{"id":"c1","name":"a","providerType":"byom"}]}`)
		})
		if err := c.CompleteOwner(t.Context(), &tc.found); err != nil || tc.found.IsCallers != tc.callers || rec.Count(http.MethodGet) != tc.requests {
			t.Errorf("%s: the caller's is %t, %v, after %d requests", name, tc.found.IsCallers, err, rec.Count(http.MethodGet))
		}
	}
}

// A computer that a lost request may have created must match the request in all returned fields.
func TestCreateComputerRequest_isWanted(t *testing.T) {
	t.Parallel()
	full := CreateRequest{
		Name: "a", Provider: "managed-a", HostID: "host-1", RemoteUser: "dev", ServiceAccountID: "sa_1",
		Source: &CreateSource{Kind: "template", TemplateID: "tpl", SourceComputerID: "src"},
	}
	made := Computer{
		Name: "a", ProviderType: "managed-a", HostID: "HOST-1", RemoteUser: "dev", OwnerID: "sa_1",
		Source: &Source{Kind: "template", TemplateID: "tpl", ComputerID: "src"},
	}
	source := func(s Source) func(*Computer) { return func(c *Computer) { c.Source = &s } }
	for name, tc := range map[string]struct {
		body   CreateRequest
		change func(*Computer)
		want   bool
	}{
		"all as asked for":          {full, func(*Computer) {}, true},
		"another name":              {full, func(c *Computer) { c.Name = "b" }, false},
		"another provider":          {full, func(c *Computer) { c.ProviderType = "managed-b" }, false},
		"another host":              {full, func(c *Computer) { c.HostID = "host-2" }, false},
		"another user":              {full, func(c *Computer) { c.RemoteUser = "root" }, false},
		"another owner":             {full, func(c *Computer) { c.OwnerID = "sa_2" }, false},
		"an owner nobody tells":     {full, func(c *Computer) { c.OwnerID = "" }, true},
		"a source nobody tells":     {full, func(c *Computer) { c.Source = nil }, true},
		"a source of another kind":  {full, source(Source{Kind: "x", TemplateID: "tpl", ComputerID: "src"}), false},
		"a source of another model": {full, source(Source{Kind: "template", TemplateID: "x", ComputerID: "src"}), false},
		"another source computer":   {full, source(Source{Kind: "template", TemplateID: "tpl", ComputerID: "x"}), false},
		"only the name was asked":   {CreateRequest{Name: "a"}, func(c *Computer) { c.Source = nil }, true},
		"a source nobody asked for": {CreateRequest{Name: "a"}, func(*Computer) {}, false},
	} {
		c := made
		tc.change(&c)
		if got := tc.body.isWanted(&c); got != tc.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestUpdateComputerRequest_matches(t *testing.T) {
	t.Parallel()
	name, host, user, other := "a", "HOST-1", "dev", "x"
	present := &Computer{Name: name, HostID: "host-1", RemoteUser: user}
	for what, tc := range map[string]struct {
		body UpdateRequest
		want bool
	}{
		"nothing":        {UpdateRequest{}, true},
		"all":            {UpdateRequest{Name: &name, HostID: &host, RemoteUser: &user}, true},
		"another name":   {UpdateRequest{Name: &other, HostID: &host, RemoteUser: &user}, false},
		"another host":   {UpdateRequest{Name: &name, HostID: &other, RemoteUser: &user}, false},
		"another user":   {UpdateRequest{Name: &name, HostID: &host, RemoteUser: &other}, false},
		"only the user":  {UpdateRequest{RemoteUser: &user}, true},
		"only the name":  {UpdateRequest{Name: &name}, true},
		"a changed user": {UpdateRequest{RemoteUser: &other}, false},
	} {
		if got := tc.body.matches(present); got != tc.want {
			t.Errorf("%s: %t", what, got)
		}
	}
}

// Calls return the operation's response, and an error if the service rejects the request.
func TestComputerOperations(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		call   func(context.Context, *Client) (any, error)
		answer string
		want   any
	}{
		"RecordComputerActivity": {func(ctx context.Context, c *Client) (any, error) { return c.RecordActivity(ctx, "c1") }, `{"lastActiveAt":1772366400000}`, at},
		"RestartComputer":        {func(ctx context.Context, c *Client) (any, error) { return c.Restart(ctx, "c1") }, `{"wasRestarted":true}`, true},
		"ComputerProviders": {func(ctx context.Context, c *Client) (any, error) {
			all, err := c.conn.Providers(ctx)
			return strings.Join(all, " "), err
		}, `{"providers":["a","b"]}`, "a b"},
		"ComputerMetrics": {func(ctx context.Context, c *Client) (any, error) {
			all, err := c.Metrics(ctx, "c1", at)
			return len(all), err
		}, `[{"cpuCount":2}]`, 1},
		"RefreshComputer": {func(ctx context.Context, c *Client) (any, error) {
			got, err := c.Refresh(ctx, "c1")
			return fmt.Sprint(got), err
		}, `{"configured":2,"secretsConfigured":1}`, "&{2 1}"},
		"InstallComputerDeps": {func(ctx context.Context, c *Client) (any, error) {
			got, err := c.InstallDeps(ctx, "c1")
			if err != nil {
				return nil, err
			}
			return got.InstallSessionID, nil
		}, `{"computer":{"id":"c1","name":"a","providerType":"x","installSessionId":"s"}}`, "s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, 200, tc.answer) })
			if got, err := tc.call(t.Context(), c); err != nil || got != tc.want {
				t.Errorf("got %v, %v, want %v", got, err, tc.want)
			}
			refusing, _, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.Say(w, `403 {"detail":"no"}`) })
			if got, err := tc.call(t.Context(), refusing); transport.StatusOf(err) != 403 {
				t.Errorf("refused: got %v, %v", got, err)
			}
		})
	}
}

// The creation of an account proves access to its objects.
func TestCheckAccess_ofANewAccount(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		if r.Method == http.MethodPost {
			clienttest.RespondJSON(w, http.StatusCreated, `{"id":"sa_1","name":"robots"}`)
			return
		}
		clienttest.RespondJSON(w, http.StatusOK, `{"serviceAccounts":[]}`)
	})
	if _, err := c.accounts.Create(t.Context(), serviceaccounts.CreateRequest{Name: "robots"}); err != nil {
		t.Fatal(err)
	}
	sent := rec.Count(http.MethodGet)
	if err := errors.Join(c.accounts.CheckAccess(t.Context()), c.CheckAccess(t.Context(), "sa_1")); err != nil || rec.Count(http.MethodGet) != sent {
		t.Errorf("the checks: %v, %d requests", err, rec.Count(http.MethodGet)-sent)
	}
}

func TestWatchComputer_readsAfterAWaitAreNotOlderThanItsEnd(t *testing.T) {
	t.Parallel()
	status := "provisioning"
	c, _, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		computer := fmt.Sprintf(`{"id":"a","name":"a","providerType":"managed-a","status":%q,"provisioningSteps":[]}`, status)
		if strings.HasSuffix(r.URL.Path, "/computers") {
			computer = `{"computers":[` + computer + `]}`
		}
		clienttest.RespondJSON(w, http.StatusOK, computer)
	})
	read := func() string {
		t.Helper()
		got, err := c.Get(t.Context(), "a", "")
		clienttest.Must(t, err)
		return got.Status
	}
	read()
	read()
	status = "active"
	watch := c.Watch("a", "")
	if got, err := watch.Next(t.Context(), 500*time.Millisecond); err != nil || got.Status != "active" {
		t.Fatalf("got %+v, %v", got, err)
	}
	watch.Close()
	for range 2 {
		if got := read(); got != "active" {
			t.Errorf("a read after the wait says %q", got)
		}
	}
}

// Lists have the same order, whatever the service's is.
func TestLists_order(t *testing.T) {
	t.Parallel()
	c, _, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		answer := `{"providers":["b","a"]}`
		if !strings.HasSuffix(r.URL.Path, "/providers") {
			answer = `[{"id":"c2","name":"b","providerType":"x","createdAt":1},{"id":"c1","name":"a","providerType":"x","createdAt":1},{"id":"c3","name":"c","providerType":"x","createdAt":2}]`
		}
		clienttest.RespondJSON(w, 200, answer)
	})
	found, err := c.List(t.Context(), Filter{})
	if err != nil || len(found) != 3 || found[0].ID+found[1].ID+found[2].ID != "c3c1c2" {
		t.Errorf("got %+v, %v", found, err)
	}
	if providers, err := c.conn.Providers(t.Context()); err != nil || !slices.Equal(providers, []string{"a", "b"}) {
		t.Errorf("got %v, %v", providers, err)
	}
}

// A response without a list of providers does not say that there are none.
func TestProviders_missing(t *testing.T) {
	t.Parallel()
	c, _, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, 200, `{}`) })
	if _, err := c.conn.Providers(t.Context()); err == nil || !strings.Contains(err.Error(), "the field providers is missing") {
		t.Errorf("got %v", err)
	}
}
