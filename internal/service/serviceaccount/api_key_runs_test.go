package serviceaccount_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

var keyValues = regexp.MustCompile(`fk-[A-Za-z0-9_-]{20,}`)

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
		acctest.Must(t, err)
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
	acctest.Must(t, err)
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
	live := 0
	for _, k := range listKeys(e, account) {
		if !k.IsRevoked {
			live++
		}
	}
	if live != 1 {
		t.Errorf("%d live keys", live)
	}
	cli.MustPlanEmpty()
}

// A rotation needs no warning, because it happens as configured. A warning says why a key no longer works.
func TestAPIKey_onlyDeadKeysAreWarnedAbout(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	i := acctest.NewProcess(t, e, nil).NewInstance(keyType)
	step := func(v string, want ...string) {
		t.Helper()
		id := i.ID()
		out := acctest.NewProcess(t, e, nil).Apply(i, acctest.Values{"service_account_id": account, "name": "ci", "expires_in": "30d", "rotation": map[string]any{"triggers": triggers(v), "interval": "10d", "grace_period_minutes": 10}})
		if text := out.WarningText(); len(out.Errors) > 0 || i.ID() == id || (len(want) == 0) != (text == "") {
			t.Errorf("%s: %s", id, out)
		} else if len(want) > 0 {
			acctest.Says(t, text, append(want, id)...)
		}
	}
	step("1")
	e.Clock.Advance(10*day + time.Hour)
	step("1")
	e.Clock.Advance(time.Minute)
	step("2")
	e.Clock.Advance(20 * time.Minute)
	revokeKey(e, account, i.ID())
	step("2", "API Key Will Be Replaced", "it was revoked or deleted. The apply creates a new key")
	e.Clock.Advance(31 * day)
	step("2", "API Key Will Be Replaced", "it expired on 2026-04-10T13:21:00Z")
}

// A key that was rotated by hand is in use, so no apply and no destroy revokes it. The error names it and the ways out, which work as
// they are printed. A destroy warns about it, also without a refresh.
func TestAccAPIKey_rotatedByHand(t *testing.T) {
	t.Parallel()
	commands := regexp.MustCompile(`terraform (state rm|import) ADDRESS( [a-z]+_\w+/[a-z]+_\w+)?`)
	for name, tc := range map[string]struct {
		remedy func(e *acctest.Env, cli *acctest.CLI, account, theirs, printed string)
		live   int
	}{
		"import": {func(_ *acctest.Env, cli *acctest.CLI, _, _, printed string) {
			found := commands.FindAllString(printed, -1)
			slices.Sort(found) // The removal comes first, as the text says.
			slices.Reverse(found)
			for _, command := range found {
				cli.MustRun(strings.Fields(strings.Replace(command, "ADDRESS", keyAddress, 1))[1:]...)
			}
		}, 1},
		"revoke": {func(e *acctest.Env, _ *acctest.CLI, account, theirs, _ string) { revokeKey(e, account, theirs) }, 1},
		"new name": {func(_ *acctest.Env, cli *acctest.CLI, account, _, _ string) {
			cli.Write("main.tf", keyConfig(account, "name = \"ci-2\"\nexpires_in = \"30d\""))
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			account := newAccount(e, "robots")
			cli := acctest.NewCLI(t, e, keyConfig(account, "name = \"ci\"\nexpires_in = \"30d\""))
			cli.MustRun("apply", "-auto-approve", "-input=false")
			var theirs struct{ APIKey mintedJSON }
			e.API("POST", "/api/v0/service-accounts/"+account+"/api-keys/"+listKeys(e, account)[0].ID+"/rotate", map[string]any{}, &theirs)
			r := cli.Run("apply", "-auto-approve", "-input=false")
			text := acctest.OneLine(r.Output)
			acctest.Says(t, text, theirs.APIKey.ID, "Before an import, run terraform state rm ADDRESS", "agentyard_api_key_revoke", "change name")
			if r.ExitCode == 0 || !authenticates(e, theirs.APIKey.Value) {
				t.Fatalf("exit code %d: %s", r.ExitCode, text)
			}
			tc.remedy(e, cli, account, theirs.APIKey.ID, text)
			cli.MustRun("apply", "-auto-approve", "-input=false")
			cli.MustPlanEmpty()
			if live := slices.DeleteFunc(listKeys(e, account), func(k keyJSON) bool { return k.IsRevoked }); len(live) != tc.live {
				t.Errorf("live: %+v", live)
			}
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
		i := acctest.NewProcess(t, e, nil).NewInstance(keyType)
		e.MustApply(t, i, acctest.Values{"service_account_id": account, "name": "ci"})
		var theirs struct{ APIKey mintedJSON }
		e.API("POST", "/api/v0/service-accounts/"+account+"/api-keys/"+i.ID()+"/rotate", map[string]any{}, &theirs)
		out := destroy(acctest.NewProcess(t, e, nil), i)
		acctest.Says(t, out.WarningText(), "Another Live API Key of the Same Name", theirs.APIKey.ID)
		if !authenticates(e, theirs.APIKey.Value) {
			t.Errorf("%s: a key in use was revoked", name)
		}
	}
}

// A destroy lists the keys only to warn, so it revokes the key although the listing fails.
func TestAPIKey_destroyNeedsNoListing(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	i := acctest.NewProcess(t, e, nil).NewInstance(keyType)
	e.MustApply(t, i, acctest.Values{"service_account_id": account, "name": "ci"})
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
		i := acctest.NewProcess(t, e, nil).NewInstance(keyType)
		e.MustApply(t, i, config)
		end(e, account, i.ID())
		others := []string{newKey(e, account, "ci").ID, newKey(e, account, "ci").ID}
		newKey(e, account, "other")
		out := acctest.NewProcess(t, e, nil).Plan(i, config)
		acctest.Says(t, out.WarningText(), "API Key Will Be Replaced", "unless another live key")
		acctest.NewProcess(t, e, nil).Apply(i, config).MustFail(t, "name", append(others, "already exist", "terraform state rm ADDRESS")...)
		for _, id := range others {
			revokeKey(e, account, id)
		}
		if out := acctest.NewProcess(t, e, nil).Apply(i, config); len(out.Errors) > 0 {
			t.Errorf("%s: %s", name, out)
		}
	}
}

// A new key needs no other request: a missing creation time is the time of the response.
func TestAPIKey_mintNeedsNoOtherRequest(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(v string) acctest.Values {
		return acctest.Values{"service_account_id": account, "name": "ci", "rotation": map[string]any{"triggers": triggers(v), "interval": "10d"}}
	}
	i := acctest.NewProcess(t, e, nil).NewInstance(keyType)
	for n, v := range []string{"1", "2"} {
		before := n + 1 // The list requests that succeed: one for the names in use and, in the second apply, one for the refresh.
		e.Faults().Add(emulator.Fault{Operation: "listApiKeys", Kind: emulator.FaultStatusBeforeCommit, Status: 500, After: before, Times: -1})
		out := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0}).Apply(i, config(v))
		e.Faults().Clear()
		if len(out.Errors) > 0 || len(out.Warnings) > 0 || i.Tainted || !authenticates(e, i.Attribute("key")) {
			t.Fatalf("tainted %v: %s", i.Tainted, out)
		}
		if i.Attribute("created_at") != "2026-03-01T12:00:00Z" || i.Attribute("next_rotation_at") != "2026-03-11T12:00:00Z" {
			t.Errorf("created_at %q, next_rotation_at %q", i.Attribute("created_at"), i.Attribute("next_rotation_at"))
		}
		acctest.NewProcess(t, e, nil).Plan(i, config(v)).MustDo(t, acctest.ActionNone)
	}
}
