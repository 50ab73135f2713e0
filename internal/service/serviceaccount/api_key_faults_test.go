package serviceaccount_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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

	check.Says(t, e.Apply(t, i, config("2")).Text(), lost.ID, "was already rotated", "agentyard_api_key_revoke")
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
			check.Says(t, out.Text(), live[0], operation, "revokeApiKey", "agentyard_api_key_revoke")
			check.Lacks(t, out.Text(), "Nothing was created")
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
		// While the key is new, a listing may not show it yet.
		e.Faults().Add(emulator.Fault{Operation: "listApiKeys", Kind: emulator.FaultOtherResponse, Times: -1, Body: body})
		e.Apply(t, i, keyOf(account, nil)).MustDo(t, acctest.ActionNone)
		e.Faults().Clear()
		e.Clock.Advance(5 * time.Minute)
		e.Faults().Add(emulator.Fault{Operation: "listApiKeys", Kind: emulator.FaultOtherResponse, Times: 1, Body: body})
		e.Apply(t, i, keyOf(account, nil)).MustFail(t, "", id, "works", "Nothing was changed. Plan again")
		e.Plan(t, i, keyOf(account, nil)).MustDo(t, acctest.ActionNone)
		if live := liveKeys(e); i.ID() != id || len(live) != 1 || live[0] != id {
			t.Errorf("live are %v, the state has %s, was %s", live, i.ID(), id)
		}
	}
}

// A log at any level contains no key: neither the created key, nor its replacement, nor the provider's own key. The plan
// output contains none either.
func TestAccAPIKey_logHoldsNoKey(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	account := newAccount(e, "robots")
	config := func(v string) string {
		return keyConfig(account, fmt.Sprintf("name = \"ci\"\nrotation = {\n  triggers = { v = %q }\n  grace_period_minutes = 5\n}", v))
	}
	cli := acctest.NewCLI(t, e, config("1"))
	log := filepath.Join(cli.Dir, "trace.log")
	cli.Setenv("TF_LOG", "TRACE")
	cli.Setenv("TF_LOG_PATH", log)
	value := regexp.MustCompile(`"key": "(fk-[^"]+)"`)
	var values, shown []string
	run := func(args ...string) {
		shown = append(shown, cli.MustRun(args...).Output)
		state, err := os.ReadFile(filepath.Join(cli.Dir, "terraform.tfstate"))
		check.Must(t, err)
		for _, found := range value.FindAllStringSubmatch(string(state), -1) {
			values = append(values, found[1])
		}
	}
	run("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", config("2"))
	// The second value is lost with its response, and a third key is created.
	e.Faults().Add(emulator.Fault{Operation: "rotateApiKey", Kind: emulator.FaultTruncatedBody})
	run("apply", "-auto-approve", "-input=false")
	run("plan", "-input=false")
	run("destroy", "-auto-approve", "-input=false")
	trace, err := os.ReadFile(log)
	check.Must(t, err)
	if len(values) < 2 || len(trace) < 10_000 || !strings.Contains(string(trace), "rotateApiKey") {
		t.Fatalf("%d values and a log of %d bytes prove nothing", len(values), len(trace))
	}
	for _, secret := range append(values, e.BootstrapKey()) {
		if strings.Contains(string(trace), secret) || strings.Contains(strings.Join(shown, ""), secret) {
			t.Error("a key is in the log or in the output")
		}
	}
	if found := keyValues.FindAll(trace, -1); len(found) > 0 {
		t.Errorf("the log holds %d texts that look like keys", len(found))
	}
}

// A killed create leaves a key whose value is lost. The next apply fails and names it, with two remedies that work.
func TestAccAPIKey_killedCreation(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	var running *acctest.Running
	ready := make(chan struct{})
	e := acctest.NewRealTime(t, acctest.Intercept("createApiKey", true, func() { <-ready; running.Kill() }))
	account := newAccount(e, "robots")
	cli := acctest.NewCLI(t, e, keyConfig(account, `name = "ci"`)+fmt.Sprintf(`
action "agentyard_api_key_revoke" "newer" {
  config {
    service_account_id = %q
    key_id             = var.key_id
  }
}
variable "key_id" {
  default = "none"
}
`, account))
	running = cli.Start("apply", "-auto-approve", "-input=false")
	close(ready)
	if r := running.Wait(); r.ExitCode == 0 {
		t.Fatalf("the apply was not killed: %s", r.Output)
	}
	left := listKeys(e, account)
	if len(left) != 1 || left[0].IsRevoked {
		t.Fatalf("the emulator holds %+v", left)
	}
	r := cli.Run("apply", "-auto-approve", "-input=false", "-lock=false")
	if text := acctest.OneLine(r.Output); r.ExitCode == 0 || !strings.Contains(text, "terraform import ADDRESS "+account+"/"+left[0].ID) || !strings.Contains(text, "key_id = \""+left[0].ID+"\"") {
		t.Fatalf("exit code %d\n%s", r.ExitCode, r.Output)
	}
	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false", "-var=key_id="+left[0].ID, "-invoke=action.agentyard_api_key_revoke.newer")
	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
	check.Is(t, "the live keys", len(liveKeys(e)), 1)
	cli.MustPlanEmpty()
}

// Nothing proves that a key without an expiry is this run's. The milliseconds of an expiry that was computed do.
func TestAPIKey_revokedAfterALostResponseIsAWarning(t *testing.T) {
	t.Parallel()
	for expiry, warns := range map[string]bool{"": true, "expires_at": true, "expires_in": false} {
		e, account := newAccountEnv(t)
		config := keyOf(account, nil)
		switch expiry {
		case "expires_at":
			config[expiry] = "2030-01-01T00:00:00Z"
		case "expires_in":
			config[expiry] = "30d"
		}
		e.Faults().Add(emulator.Fault{Operation: "createApiKey", Kind: emulator.FaultDropAfterCommit})
		i := e.NewInstance(t, keyType)
		out := acctest.NewProcess(t, e, patient).Apply(i, config)
		out.MustSucceed(t)
		keys := listKeys(e, account)
		lost := keys[slices.IndexFunc(keys, func(k keyJSON) bool { return k.IsRevoked })]
		if text := out.WarningText(); !warns && text != "" {
			t.Errorf("with %q, it warns: %s", expiry, text)
		} else if warns {
			check.Says(t, text, "Found after a lost response", lost.ID, lost.Fingerprint, "If another run created that key")
		}
	}
}

// keyJSON contains the fields of a key that the tests check in a list response.
type keyJSON struct {
	ID, Name, Fingerprint string
	IsRevoked             bool
	CreatedAt             int64
	ExpiresAt, RevokedAt  *int64
}

func listKeys(e *acctest.Env, account string) []keyJSON {
	return acctest.Rows[keyJSON](e, "/api/v0/service-accounts/"+account+"/api-keys", "apiKeys")
}

// liveKeys returns the IDs of the keys of all accounts that authenticate, including keys in their grace period.
func liveKeys(e *acctest.Env) []string {
	var live []string
	now := e.Now().UnixMilli()
	for _, a := range listAccounts(e) {
		for _, k := range listKeys(e, a.ID) {
			if !k.IsRevoked && (k.ExpiresAt == nil || *k.ExpiresAt > now) {
				live = append(live, k.ID)
			}
		}
	}
	return live
}

// authenticates reports whether a key's value is accepted. It lists computers, because a service account may list its own.
func authenticates(e *acctest.Env, value string) bool {
	status, _ := e.TryWithKey(value, http.MethodGet, "/api/v0/computers", nil)
	return status == http.StatusOK
}

// keyMatrix runs a matrix of faults. Every configuration gets the account's ID.
func keyMatrix(t *testing.T, configs ...acctest.Values) {
	t.Helper()
	e, account := newAccountEnv(t)
	var steps []acctest.Values
	for _, config := range configs {
		steps = append(steps, keyOf(account, config))
	}
	acctest.Matrix{
		Type:  keyType,
		Env:   e,
		Steps: steps,
		Live:  liveKeys,
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			t.Helper()
			check.Is(t, "the key in the state works", authenticates(e, i.Attribute("key")), true)
		},
		// A value that was lost with a killed process cannot be recovered, so the test uses the error's other remedy. A key in its
		// grace period cannot be rotated again.
		Adopt: func(t *testing.T, e *acctest.Env, text, id string) {
			t.Helper()
			check.Says(t, text, id, "agentyard_api_key_revoke")
			revokeKey(e, listAccounts(e)[0].ID, id)
			e.Clock.Advance(10 * time.Minute)
		},
	}.Run(t)
}

func triggers(v string) map[string]any { return map[string]any{"v": v} }

func TestAPIKey_faultMatrix(t *testing.T) {
	t.Parallel()
	keyMatrix(t,
		acctest.Values{"rotation": map[string]any{"triggers": triggers("1")}},
		acctest.Values{"rotation": map[string]any{"triggers": triggers("2")}},
		acctest.Values{"rotation": map[string]any{"triggers": triggers("3")}, "expires_in": "30d"},
		acctest.Values{"name": "deploy", "expires_in": "30d"},
	)
}

func TestAPIKey_faultMatrixWithGrace(t *testing.T) {
	t.Parallel()
	keyMatrix(t,
		acctest.Values{"expires_in": "30d", "rotation": map[string]any{"triggers": triggers("1"), "grace_period_minutes": 10}},
		acctest.Values{"expires_in": "30d", "rotation": map[string]any{"triggers": triggers("2"), "grace_period_minutes": 10}},
	)
}
