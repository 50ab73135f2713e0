package lifecycle

import (
	"encoding/json"
	"errors"
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
