package serviceaccount_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// After an interrupt during a create or a rotation, the key's value is in the state.
func TestAccAPIKey_interruptedInFlight(t *testing.T) {
	t.Parallel()
	config := func(account, v string) string {
		return keyConfig(account, fmt.Sprintf("name = \"ci\"\nrotation = { triggers = { v = %q } }", v))
	}
	for operation, before := range map[string][]string{"createApiKey": nil, "rotateApiKey": {"1"}} {
		t.Run(operation, func(t *testing.T) {
			t.Parallel()
			running := make(chan *acctest.Running, 1)
			e := acctest.NewRealTime(t, acctest.InterruptInFlight(operation, running))
			account := newAccount(e, "robots")
			cli := acctest.NewCLI(t, e, "")
			for _, v := range before {
				cli.Write("main.tf", config(account, v))
				cli.MustRun("apply", "-auto-approve", "-input=false")
			}
			cli.Write("main.tf", config(account, "2"))
			run := cli.Start("apply", "-auto-approve", "-input=false")
			running <- run
			run.Wait()
			live := liveKeys(e)
			if len(live) != 1 {
				t.Fatalf("the live keys are %v", live)
			}
			state := cli.MustRun("state", "pull")
			if !strings.Contains(state.Output, live[0]) || strings.Contains(state.Output, `"status": "tainted"`) || !authenticates(e, keyValues.FindString(state.Output)) {
				t.Errorf("the live key %s is not in the state with its value", live[0])
			}
			cli.MustRun("apply", "-auto-approve", "-input=false")
			if again := liveKeys(e); len(again) != 1 || again[0] != live[0] {
				t.Errorf("the live keys are %v", again)
			}
			cli.MustPlanEmpty()
		})
	}
}

// patient sends every request once, so that no retry hides a fault.
var patient = acctest.Values{"max_retries": 0}

// After a killed rotation with a grace period, nothing proves which run created the new key. The error names it, during the grace
// period and after it.
func TestAPIKey_killedRotationNamesTheNewKey(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(v string) acctest.Values {
		return acctest.Values{"service_account_id": account, "name": "ci", "rotation": map[string]any{"triggers": triggers(v), "grace_period_minutes": 10}}
	}
	p := acctest.NewProcess(t, e, patient)
	i := p.NewInstance(keyType)
	p.Apply(i, config("1")).MustSucceed(t)
	var lost struct{ APIKey mintedJSON }
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account+"/api-keys/"+i.ID()+"/rotate", map[string]any{"gracePeriodMinutes": 10}, &lost)

	out := acctest.NewProcess(t, e, nil).Apply(i, config("2"))
	for _, part := range []string{lost.APIKey.ID, "was already rotated", "agentyard_api_key_revoke"} {
		acctest.Says(t, out.Text(), part)
	}
	e.Clock.Advance(11 * 60e9)
	acctest.NewProcess(t, e, nil).Apply(i, config("2")).MustFail(t, "name", lost.APIKey.ID, "agentyard_api_key_revoke")
	revokeKey(e, account, lost.APIKey.ID)
	acctest.NewProcess(t, e, nil).Apply(i, config("2")).MustSucceed(t)
	if live := liveKeys(e); len(live) != 1 || live[0] != i.ID() || !authenticates(e, i.Attribute("key")) {
		t.Errorf("the live keys are %v, the state holds %s", live, i.ID())
	}
}

// If a key cannot be revoked after a lost response, the error names the key and contains every error.
func TestAPIKey_lostKeyThatCannotBeRevoked(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"mint": "", "rotation": "1"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			config := func(v string) acctest.Values {
				return acctest.Values{"service_account_id": account, "name": "ci", "rotation": map[string]any{"triggers": triggers(v)}}
			}
			p := acctest.NewProcess(t, e, patient)
			i := p.NewInstance(keyType)
			if before != "" {
				p.Apply(i, config(before)).MustSucceed(t)
			}
			operation := map[string]string{"mint": "createApiKey", "rotation": "rotateApiKey"}[name]
			e.Faults().Add(
				emulator.Fault{Operation: operation, Kind: emulator.FaultDropAfterCommit},
				emulator.Fault{Operation: "revokeApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 500, Times: -1},
			)
			out := p.Apply(i, config("2"))
			e.Faults().Clear()
			live := liveKeys(e)
			if len(live) != 1 {
				t.Fatalf("the live keys are %v", live)
			}
			for _, part := range []string{live[0], operation, "revokeApiKey", "agentyard_api_key_revoke"} {
				acctest.Says(t, out.Text(), part)
			}
			if strings.Contains(out.Text(), "Nothing was created") {
				t.Errorf("the error says that nothing was created: %s", out)
			}
		})
	}
}

// One listing that lacks a live key, or shows no keys at all, neither rotates it nor mints another one.
func TestAPIKey_listingThatLacksIt(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`{"apiKeys":[]}`, `{"apiKeys":null}`} {
		e, account := newAccountEnv(t)
		_, i := e.Created(t, keyType, keyOf(account, nil))
		id := i.ID()
		e.Faults().Add(emulator.Fault{Operation: "listApiKeys", Kind: emulator.FaultOtherResponse, Times: 1, Body: body})
		e.Apply(t, i, keyOf(account, nil)).MustFail(t, "", id, "works", "Nothing was changed. Plan again")
		e.Plan(t, i, keyOf(account, nil)).MustDo(t, acctest.ActionNone)
		if live := liveKeys(e); i.ID() != id || len(live) != 1 || live[0] != id {
			t.Errorf("live are %v, the state has %s, was %s", live, i.ID(), id)
		}
	}
}
