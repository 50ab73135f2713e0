package serviceaccount_test

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// After an interrupt during a create or a rotation, the key's value is in the state.
func TestAPIKey_interruptedInFlight(t *testing.T) {
	t.Parallel()
	for operation, before := range map[string][]string{"createApiKey": nil, "rotateApiKey": {"1"}} {
		var p *acctest.Process
		e := acctest.New(t, acctest.Hold(operation, func(<-chan struct{}) { p.Stop() }))
		account := newAccount(e, "robots")
		i := e.NewInstance(t, keyType)
		for _, v := range append(before, "2") {
			p = acctest.NewProcess(t, e, nil)
			p.Apply(i, keyOf(account, acctest.Values{"rotation": map[string]any{"triggers": triggers(v)}}))
		}
		if live := liveKeys(e); len(live) != 1 || live[0] != i.ID() || i.Tainted {
			t.Errorf("%s: the live keys are %v, the state is %s", operation, live, i.State)
		}
		mustWork(t, e, i)
		e.Plan(t, i, keyOf(account, acctest.Values{"rotation": map[string]any{"triggers": triggers("2")}})).MustDo(t, acctest.ActionNone)
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
	lost := rotateByHand(e, account, i.ID(), 10)

	acctest.Says(t, e.Apply(t, i, config("2")).Text(), lost.ID, "was already rotated", "agentyard_api_key_revoke")
	e.Clock.Advance(11 * 60e9)
	e.Apply(t, i, config("2")).MustFail(t, "name", lost.ID, "agentyard_api_key_revoke")
	revokeKey(e, account, lost.ID)
	e.Apply(t, i, config("2")).MustSucceed(t)
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
			acctest.Says(t, out.Text(), live[0], operation, "revokeApiKey", "agentyard_api_key_revoke")
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
