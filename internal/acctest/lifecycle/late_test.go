package lifecycle

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A timeout is not only a response that was lost after the commit: the service may commit afterwards. What it makes then is found, and
// made once; the value of a key that nobody has is replaced.
func TestResource_commitsLate(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	var computer struct{ ID string }
	e.API("POST", "/api/v0/computers", map[string]any{"name": "host", "provider": "byom"}, &computer)
	key := func(trigger string) acctest.Values {
		return acctest.Values{"service_account_id": account, "name": "late", "rotation": map[string]any{"triggers": map[string]any{"v": trigger}}}
	}
	count := func(path, list string) (n int) {
		var answer map[string]json.RawMessage
		status, body := e.Try("GET", path, nil)
		var rows []map[string]any
		if err := errors.Join(json.Unmarshal(body, &answer), json.Unmarshal(answer[list], &rows)); err != nil || status != 200 {
			t.Fatal(status, err)
		}
		for _, o := range rows {
			if isRevoked, _ := o["isRevoked"].(bool); !isRevoked && o["name"] != "ci" && o["name"] != "robots" {
				n++
			}
		}
		return n
	}
	p := acctest.NewProcess(t, e, nil)
	for _, tc := range []struct {
		operation, resource string
		config              acctest.Values
		path, list          string
		before              acctest.Values
	}{
		{"createServiceAccount", "agentyard_service_account", acctest.Values{"name": "late"}, "/api/v0/service-accounts", "serviceAccounts", nil},
		{"createSession", "agentyard_session", acctest.Values{"computer_id": computer.ID}, "/api/v0/sessions", "sessions", nil},
		{"createApiKey", "agentyard_api_key", key("1"), "/api/v0/service-accounts/" + account + "/api-keys", "apiKeys", nil},
		{"rotateApiKey", "agentyard_api_key", key("2"), "/api/v0/service-accounts/" + account + "/api-keys", "apiKeys", key("1")},
	} {
		i := p.NewInstance(tc.resource)
		if tc.before != nil {
			p.Apply(i, tc.before).MustSucceed(t)
		}
		e.Faults().Add(emulator.Fault{Operation: tc.operation, Kind: emulator.FaultCommitsLate, Delay: time.Second})
		out := p.Apply(i, tc.config)
		if len(out.Errors) > 0 || i.ID() == "" {
			t.Errorf("%s: %s", tc.operation, out)
		}
		if n := count(tc.path, tc.list); n != 1 {
			t.Errorf("%s: %d are there", tc.operation, n)
		}
		p.Destroy(i).MustSucceed(t)
	}
}

// What an apply found after a lost response may be another run's, so it is a warning, which an ordinary apply never shows.
func TestResource_foundAfterALostResponse(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	var computer struct{ ID string }
	e.API("POST", "/api/v0/computers", map[string]any{"name": "host", "provider": "byom"}, &computer)
	for _, tc := range []struct {
		operation, resource string
		config              acctest.Values
		isNamed             string // The argument that distinguishes the objects.
	}{
		{"createServiceAccount", "agentyard_service_account", nil, "name"},
		{"createComputer", "agentyard_computer", acctest.Values{"provider_type": "byom"}, "name"},
		{"bulkCreateComputers", "agentyard_computer_fleet", acctest.Values{"quantity": 2}, "name_prefix"},
		{"createEnvironment", "agentyard_environment", acctest.Values{"scope": "user", "repositories": []any{}, "wait_for_build": false}, "name"},
		{"createSession", "agentyard_session", acctest.Values{"computer_id": computer.ID}, ""},
		{"createWikiRun", "agentyard_wiki_run", acctest.Values{"repo_url": "https://code.example/acme/api"}, ""},
		{"createApiKey", "agentyard_api_key", acctest.Values{"service_account_id": account}, "name"},
	} {
		for _, isLost := range []bool{true, false} {
			config := maps.Clone(tc.config)
			if tc.isNamed != "" {
				config = acctest.Values{tc.isNamed: fmt.Sprint("lost-", isLost)}
				maps.Copy(config, tc.config)
			}
			if isLost {
				e.Faults().Add(emulator.Fault{Operation: tc.operation, Kind: emulator.FaultDropAfterCommit})
			}
			p := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0})
			i := p.NewInstance(tc.resource)
			out := p.Apply(i, config)
			out.MustSucceed(t)
			text := out.WarningText()
			if isFound := strings.Contains(text, "Found after a lost response"); isFound != isLost {
				t.Errorf("%s, lost %t: %q", tc.operation, isLost, text)
			}
			if named := strings.Contains(text, i.ID()); isLost && !named && tc.resource != "agentyard_computer_fleet" && tc.resource != "agentyard_api_key" {
				t.Errorf("%s: %q lacks %s", tc.operation, text, i.ID())
			}
		}
	}
}
