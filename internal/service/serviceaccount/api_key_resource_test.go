package serviceaccount_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// newAccountEnv returns an emulator with one service account.
func newAccountEnv(t *testing.T) (*acctest.Env, string) {
	t.Helper()
	e := acctest.New(t)
	return e, newAccount(e, "robots")
}

// keyConfig is a configuration for tests that run a CLI.
func keyConfig(account, arguments string) string {
	return fmt.Sprintf("resource \"agentyard_api_key\" \"test\" {\n  service_account_id = %q\n%s\n}\n", account, arguments)
}

// The plan shows that the key never expires, so that a policy can check it.
func TestAPIKey_withoutAnExpiry(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	i := e.NewInstance(t, keyType)
	if planned := acctest.Plain(t, e.Plan(t, i, keyOf(account, nil)).Planned).(map[string]any); planned["expires_at"] != nil {
		t.Errorf("the expiry is planned as %v", planned["expires_at"])
	}
	e.MustApply(t, i, keyOf(account, nil))
	mustWork(t, e, i)
}

// keyOf returns a configuration of the key "ci" with more arguments.
func keyOf(account string, more acctest.Values) acctest.Values {
	config := acctest.Values{"service_account_id": account, "name": "ci"}
	maps.Copy(config, more)
	return config
}

// mustWork fails the test unless the key in the state authenticates, and is the only live key except for a previous key in the state.
func mustWork(t *testing.T, e *acctest.Env, i *acctest.Instance) {
	t.Helper()
	check.Is(t, "the key in the state works", authenticates(e, i.Attribute("key")), true)
	for _, id := range liveKeys(e) {
		if id != i.ID() && id != i.Attribute("previous_key_id") {
			t.Errorf("the live key %s is not in the state", id)
		}
	}
}

func deleteAccount(e *acctest.Env, account string) {
	e.API(http.MethodDelete, "/api/v0/service-accounts/"+account, nil, nil)
}

func TestAPIKey_accountDeletedElsewhereRemovesTheKey(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	_, i := e.Created(t, keyType, keyOf(account, nil))
	deleteAccount(e, account)
	e.Plan(t, i, keyOf(account, nil)).MustDo(t, acctest.ActionCreate)
}

var keyValues = regexp.MustCompile(`fk-[A-Za-z0-9_-]{20,}`)

// A rotation needs no warning, because it happens as configured. A warning says why a key no longer works.
func TestAPIKey_onlyDeadKeysAreWarnedAbout(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	i := e.NewInstance(t, keyType)
	step := func(v string, want ...string) {
		t.Helper()
		id := i.ID()
		out := e.Apply(t, i, acctest.Values{"service_account_id": account, "name": "ci", "expires_in": "30d", "rotation": map[string]any{"triggers": triggers(v), "interval": "10d", "grace_period_minutes": 10}})
		if text := out.WarningText(); len(out.Errors) > 0 || i.ID() == id || (len(want) == 0) != (text == "") {
			t.Errorf("%s: %s", id, out)
		} else if len(want) > 0 {
			check.Says(t, text, append(want, id)...)
		}
	}
	step("1")
	e.Clock.Advance(10*day + time.Hour)
	step("1")
	e.Clock.Advance(time.Minute)
	step("2")
	e.Clock.Advance(20 * time.Minute)
	revokeKey(e, account, i.ID())
	step("2", "API key will be replaced", "it was revoked or deleted. The apply creates a new key")
	e.Clock.Advance(31 * day)
	step("2", "API key will be replaced", "it expired on 2026-04-10T13:21:00Z")
}

// rotateByHand rotates a key outside Terraform.
func rotateByHand(e *acctest.Env, account, id string, grace int) mintedJSON {
	var answer struct{ APIKey mintedJSON }
	e.API("POST", "/api/v0/service-accounts/"+account+"/api-keys/"+id+"/rotate", map[string]any{"gracePeriodMinutes": grace}, &answer)
	return answer.APIKey
}

// A key that was rotated by hand is in use, so no apply revokes it. The error names it and the ways out, which work.
func TestAPIKey_rotatedByHand(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		remedy func(e *acctest.Env, i *acctest.Instance, config acctest.Values, theirs string)
		live   int
	}{
		"import": {func(e *acctest.Env, i *acctest.Instance, config acctest.Values, theirs string) {
			*i = *e.NewInstance(t, keyType)
			acctest.NewProcess(t, e, nil).Import(i, config["service_account_id"].(string)+"/"+theirs).MustSucceed(t)
		}, 1},
		"revoke": {func(e *acctest.Env, _ *acctest.Instance, config acctest.Values, theirs string) {
			revokeKey(e, config["service_account_id"].(string), theirs)
		}, 1},
		"new name": {func(_ *acctest.Env, _ *acctest.Instance, config acctest.Values, _ string) { config["name"] = "ci-2" }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			config := keyOf(account, acctest.Values{"expires_in": "30d"})
			_, i := e.Created(t, keyType, config)
			theirs := rotateByHand(e, account, i.ID(), 0)
			e.Apply(t, i, config).MustFail(t, "name", theirs.ID, "Before an import, run terraform state rm ADDRESS", "terraform import ADDRESS "+account+"/"+theirs.ID, "agentyard_api_key_revoke", "change name")
			if !authenticates(e, theirs.Value) {
				t.Fatal("a key in use was revoked")
			}
			tc.remedy(e, i, config, theirs.ID)
			e.MustApply(t, i, config)
			e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
			check.Is(t, "live", len(liveKeys(e)), tc.live)
		})
	}
}

func TestAPIKey_destroyWarnsOfTheKeyThatReplacedIt(t *testing.T) {
	t.Parallel()
	for name, destroy := range map[string]func(*acctest.Process, *acctest.Instance) acctest.Outcome{
		"refresh":    func(p *acctest.Process, i *acctest.Instance) acctest.Outcome { return p.Apply(i, nil) },
		"no refresh": (*acctest.Process).Destroy,
	} {
		e, account := newAccountEnv(t)
		_, i := e.Created(t, keyType, keyOf(account, nil))
		theirs := rotateByHand(e, account, i.ID(), 0)
		out := destroy(acctest.NewProcess(t, e, nil), i)
		check.Says(t, out.WarningText(), "Another live API key of the same name", theirs.ID)
		check.Is(t, name+": the key in use works", authenticates(e, theirs.Value), true)
	}
}

// A run that was killed after a rotation has lost the new key, also while the old one is in its grace period.
func TestAPIKey_destroyInTheGracePeriodWarnsOfTheNewKey(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := keyOf(account, acctest.Values{"rotation": map[string]any{"triggers": triggers("1"), "grace_period_minutes": 10}})
	_, i := e.Created(t, keyType, config)
	lost := rotateByHand(e, account, i.ID(), 10)
	out := acctest.NewProcess(t, e, nil).Destroy(i)
	out.MustSucceed(t)
	check.Says(t, out.WarningText(), "Another live API key of the same name", lost.ID)

	newKey(e, account, "older")
	e.Clock.Advance(time.Minute)
	i = e.NewInstance(t, keyType)
	acctest.NewProcess(t, e, nil).Import(i, account+"/"+newKey(e, account, "older").ID).MustSucceed(t)
	check.Is(t, "the newest key warns", acctest.NewProcess(t, e, nil).Destroy(i).WarningText(), "")
}

// A destroy lists the keys only to warn, so it revokes the key although the listing fails.
func TestAPIKey_destroyNeedsNoListing(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	_, i := e.Created(t, keyType, keyOf(account, nil))
	e.Faults().Add(emulator.Fault{Operation: "listApiKeys", Kind: emulator.FaultStatusBeforeCommit, Status: 500, Times: -1})
	acctest.NewProcess(t, e, patient).Destroy(i).MustSucceed(t)
	e.Faults().Clear()
	noLiveKey(t, e)
}

// Each live key with the name of a dead key prevents its replacement, and the error names all of them.
func TestAPIKey_errorNamesTheKeysThatPreventAReplacement(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(e *acctest.Env, account, id string){
		"revoked": revokeKey,
		"expired": func(e *acctest.Env, _, _ string) { e.Clock.Advance(2 * day) },
	} {
		e, account := newAccountEnv(t)
		config := acctest.Values{"service_account_id": account, "name": "ci", "expires_in": "1d"}
		_, i := e.Created(t, keyType, config)
		end(e, account, i.ID())
		others := []string{newKey(e, account, "ci").ID, newKey(e, account, "ci").ID}
		newKey(e, account, "other")
		out := e.Plan(t, i, config)
		check.Says(t, out.WarningText(), "API key will be replaced", "unless another live key")
		e.Apply(t, i, config).MustFail(t, "name", append(others, "already exist", "terraform state rm ADDRESS")...)
		for _, id := range others {
			revokeKey(e, account, id)
		}
		if out := e.Apply(t, i, config); len(out.Errors) > 0 {
			t.Errorf("%s: %s", name, out)
		}
	}
}
