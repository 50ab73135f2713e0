package trials

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// TestAll_rules checks that what the trials judge are rules of the contract: of all else, answers show by themselves whether it holds.
func TestAll_rules(t *testing.T) {
	t.Parallel()
	doc, err := contract.Load()
	check.Must(t, err)
	rules := map[string]bool{}
	for _, a := range doc.Assumptions() {
		rules[a.ID] = a.Rule
	}
	for _, trial := range All() {
		for _, rule := range trial.Rules {
			if !rules[rule] {
				t.Errorf("%s: the contract has no rule %q", trial.Name, rule)
			}
		}
	}
}

// verdicts are what the trials of a test showed, by rule.
type verdicts map[string]verdict

type verdict struct {
	result   evidence.Result
	observed string
}

// try makes trials with a key of a role against a server that deviates as wrap says. It returns the verdicts and the number of
// requests.
func try(t *testing.T, trials []Trial, role string, wrap func(http.Handler) http.Handler) (verdicts, int) {
	t.Helper()
	var requests, names atomic.Int64
	clk := clock.NewAhead(clock.System, -5*time.Hour) // What follows needs time to pass.
	server, err := emulator.Start(t.Context(), emulator.Options{
		Clock:      clk,
		BuildPhase: time.Minute, Provisioning: emulator.Provisioning{Step: time.Millisecond}, SessionDelay: -1, SessionListDelay: -1, MessageDelay: -1,
		Wrap: func(next http.Handler) http.Handler {
			if wrap != nil {
				next = wrap(next)
			}
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				requests.Add(1)
				next.ServeHTTP(w, r)
			})
		},
	})
	check.Must(t, err)
	t.Cleanup(func() { _ = server.Close() })
	host := fill(t, server, clk)
	runKey := keyWith(t, server, role)
	requests.Store(0)
	found := verdicts{}
	rank := map[evidence.Result]int{evidence.NotSeen: 1, evidence.Confirmed: 2, evidence.Refuted: 3}
	lab := Lab{
		Connect: func(key string) (*client.Client, error) {
			if key == "" {
				key = runKey
			}
			return client.New(transport.Config{BaseURL: server.URL(), APIKey: key})
		},
		NewName: func(what string) string { return fmt.Sprintf(NamePrefix+"%s-%d", what, names.Add(1)) },
		Judge: func(rule string, result evidence.Result, observed string) {
			if rank[result] > rank[found[rule].result] {
				found[rule] = verdict{result, observed}
			}
		},
		Restore: func(_ string, undo func(context.Context, *client.Client) error) func() error {
			return func() error {
				c, err := client.New(transport.Config{BaseURL: server.URL(), APIKey: server.BootstrapKey()})
				return errors.Join(err, undo(context.Background(), c))
			}
		},
		Computer: host, MayCreateSessions: true, Repository: "https://code.example/acme/api", Address: "tf-acc-invited@example.com",
	}
	for _, trial := range trials {
		if err := trial.Run(context.Background(), lab); err != nil {
			t.Errorf("%s: %v", trial.Name, err)
		}
	}
	sent := int(requests.Load())
	if wrap == nil {
		checkNothingLeft(t, server)
	}
	return found, sent
}

// The roles of keys.
const (
	manager = "manager"
	user    = "user"
	robot   = "service account"
)

// keyWith returns a key of a role.
func keyWith(t *testing.T, server *emulator.Emulator, role string) string {
	t.Helper()
	switch role {
	case user:
		_, key, err := server.AddHuman(emulator.Human{Email: "user@example.com", Role: emulator.RoleUser})
		check.Must(t, err)
		return key
	case robot:
		c, err := client.New(transport.Config{BaseURL: server.URL(), APIKey: server.BootstrapKey()})
		check.Must(t, err)
		x := caller{context.Background(), c.Conn}
		id := x.post(accounts, object{"name": "robot"}).record().Text("id")
		return x.post(keys, object{"name": "robot"}, id).record().Text("value")
	}
	return server.BootstrapKey()
}

// checkNothingLeft checks that trials deleted what they created.
func checkNothingLeft(t *testing.T, server *emulator.Emulator) {
	t.Helper()
	c, err := client.New(transport.Config{BaseURL: server.URL(), APIKey: server.BootstrapKey()})
	check.Must(t, err)
	x := &exam{caller: caller{context.Background(), c.Conn}}
	for _, list := range []struct{ route, field, name string }{
		{accounts, "serviceAccounts", "name"},
		{computers + "?includeUnlisted=true", "computers", "name"},
		{environments, "environments", "name"},
		{wiki, "wikiRuns", "branch"},
		{members, "users", "email"},
	} {
		a := x.get(list.route)
		for _, row := range a.rows(list.field) {
			if strings.Contains(row.Text(list.name), "tf-acc-") {
				t.Errorf("%s has %s", list.route, row.Text(list.name))
			}
		}
		if !a.ok() {
			t.Errorf("%s was %s", list.route, a.said())
		}
	}
	check.Is(t, "sessions", len(x.get(sessions).rows("sessions")), 2)
}

// fill gives the organization what trials only read: members, a default environment, sessions, and runs of wikis. It returns the ID
// of the sessions' computer.
func fill(t *testing.T, server *emulator.Emulator, clk *clock.Ahead) (host string) {
	t.Helper()
	c, err := client.New(transport.Config{BaseURL: server.URL(), APIKey: server.BootstrapKey()})
	check.Must(t, err)
	x := &exam{caller: caller{context.Background(), c.Conn}}
	host = x.post(computers, object{"name": "host", "provider": "byom", "remoteUser": "agent"}).record().Text("id")
	x.post("/environments/default", nil)
	x.post(environments, object{"name": "built", "repositories": []object{{"url": "https://code.example/acme/web", "script": "true"}}})
	for n := range 2 {
		id := x.post(sessions, object{"computerId": host}).record().Text("sessionId")
		for range 2 {
			x.post("/sessions/{id}/messages", object{"text": "Say hello."}, id)
			clk.Advance(time.Hour)
		}
		page := object{"path": "a.md", "title": "The first", "content": "the"}
		x.post(wiki, object{"repoUrl": "https://code.example/acme/web", "pages": []object{page, {"path": "b.md", "title": "B", "content": "the the"}}})
		if _, _, err := server.AddHuman(emulator.Human{Email: fmt.Sprintf("member%d@example.com", n)}); err != nil {
			t.Fatal(err)
		}
	}
	return host
}

// TestAll_emulator checks that what keeps to the contract refutes nothing, and that nothing is left.
func TestAll_emulator(t *testing.T) {
	t.Parallel()
	found, _ := try(t, All(), manager, nil)
	for rule, v := range found {
		if v.result != evidence.Confirmed {
			t.Errorf("%s is %s: %s", rule, v.result, v.observed)
		}
	}
}

// TestAll_requests checks that the trials that need no variable stay cheap.
func TestAll_requests(t *testing.T) {
	t.Parallel()
	free := slices.DeleteFunc(All(), func(trial Trial) bool { return trial.Variable != "" })
	if _, requests := try(t, free, manager, nil); requests > 120 {
		t.Errorf("%d requests, want at most 120", requests)
	}
}

// TestAll_roles checks that a key that may do less refutes nothing and leaves nothing.
func TestAll_roles(t *testing.T) {
	t.Parallel()
	for _, role := range []string{user, robot} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			found, _ := try(t, All(), role, nil)
			for rule, v := range found {
				if v.result == evidence.Refuted {
					t.Errorf("%s is refuted: %s", rule, v.observed)
				}
			}
		})
	}
}

// TestAll_uniform checks that a server that answers everything the same way confirms nothing: no verdict may follow from a refusal
// whose cause is another one. What may be a missing permission, or a failure, refutes nothing either.
func TestAll_uniform(t *testing.T) {
	t.Parallel()
	for _, status := range []int{400, 403, 404, 409, 500} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			t.Parallel()
			found, _ := try(t, All(), manager, func(http.Handler) http.Handler { return refusal(status) })
			for rule, v := range found {
				isDenied := status == 403 || status == 500
				if v.result == evidence.Confirmed || v.result == evidence.Refuted && isDenied {
					t.Errorf("%s is %s: %s", rule, v.result, v.observed)
				}
			}
		})
	}
}

// refusal answers each request with one status.
func refusal(status int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"title":"No","detail":"No.","status":%d}`, status)
	})
}
