package serviceaccount_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func noLiveKey(t *testing.T, e *acctest.Env) {
	t.Helper()
	check.None(t, "live keys", liveKeys(e))
}

// Every run creates its own key, and revokes it at its end.
func TestAPIKeyEphemeral(t *testing.T) {
	t.Parallel()
	for expiry, expiresAt := range map[any]string{nil: "2026-03-01T13:00:00Z", "30m": "2026-03-01T12:30:00Z"} {
		e, account := newAccountEnv(t)
		o := openKey(t, e, account, acctest.Values{"expires_in": expiry})
		if o.out.MustSucceed(t); !o.isNew || !keyValues.MatchString(o.key) || o.expiresAt != expiresAt {
			t.Errorf("the key is new: %t, and expires at %s, want %s", o.isNew, o.expiresAt, expiresAt)
		}
		noLiveKey(t, e)
		e.WantRequests(t, "createApiKey", 1)
	}
}

// A lost response leaves no key behind.
func TestAPIKeyEphemeral_lostAnswers(t *testing.T) {
	t.Parallel()
	for _, fault := range []emulator.Fault{
		{Operation: "createApiKey", Kind: emulator.FaultDropAfterCommit},
		{Operation: "createApiKey", Kind: emulator.FaultTruncatedBody},
		{Operation: "revokeApiKey", Kind: emulator.FaultDropAfterCommit},
		{Operation: "revokeApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 503},
	} {
		e, account := newAccountEnv(t)
		older := newKey(e, account, "deploy-v1")
		e.Faults().Add(fault)
		openKey(t, e, account, nil).out.MustSucceed(t)
		if live := liveKeys(e); len(live) != 1 || live[0] != older.ID {
			t.Errorf("%s of %s: the live keys are %v, want %s alone", fault.Kind, fault.Operation, live, older.ID)
		}
	}
}

func TestAPIKeyEphemeral_errors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arguments acctest.Values
		fault     emulator.Fault
		at        string
		want      []string
	}{
		"name of 129 characters": {acctest.Values{"name": strings.Repeat("n", 129)}, emulator.Fault{}, "name", []string{"128"}},
		"no duration":            {acctest.Values{"expires_in": "soon"}, emulator.Fault{}, "expires_in", []string{"Invalid duration", "30d"}},
		"403":                    {nil, emulator.Fault{Operation: "createApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 403}, "", []string{"Cannot open API key", "Manager role"}},
		"400 about the expiry":   {acctest.Values{"expires_in": "2s"}, emulator.Fault{Operation: "createApiKey", Kind: emulator.FaultRateLimited, RetryAfter: "10"}, "", []string{"Cannot open API key", "expiresAt", "Correct"}},
		"close fails":            {nil, emulator.Fault{Operation: "revokeApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 503, Times: -1}, "", []string{"Cannot revoke API key", "was not revoked and works until it expires"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			if tc.fault.Kind != "" {
				e.Faults().Add(tc.fault)
			}
			openKey(t, e, account, tc.arguments).out.MustFail(t, tc.at, tc.want...)
		})
	}
}

// opened is what a run gets that opens the ephemeral resource and closes it.
type opened struct {
	id, key, expiresAt string
	isNew              bool
	out                acctest.Outcome
}

// openKey opens and closes the ephemeral resource in a new run.
func openKey(t *testing.T, e *acctest.Env, account string, more acctest.Values) (o opened) {
	t.Helper()
	config := acctest.Values{"service_account_id": account, "name": "deploy-v1"}
	maps.Copy(config, more)
	var attributes map[string]tftypes.Value
	attributes, o.out = acctest.NewProcess(t, e, nil).Open(keyType, config)
	if len(o.out.Errors) > 0 {
		return o
	}
	got := acctest.Plainly(t, attributes)
	o.isNew = got["is_new"].(bool)
	o.id, _ = got["id"].(string)
	o.key, _ = got["key"].(string)
	o.expiresAt, _ = got["expires_at"].(string)
	if o.isNew == (o.key == "") || o.isNew == (o.id == "") {
		t.Errorf("is_new is %t, but the ID is %q", o.isNew, o.id)
	}
	return o
}

// A kept key is created once, outlives the run, and is created again only after it has ended.
func TestAPIKeyEphemeral_keep(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	run := func(config acctest.Values) opened {
		t.Helper()
		o := openKey(t, e, account, config)
		o.out.MustSucceed(t)
		return o
	}
	plan, apply := acctest.Values{"keep": false}, acctest.Values{"keep": true}
	for _, name := range []string{"deploy-v0", "deploy-v10", "DEPLOY-V1"} {
		newKey(e, account, name)
	}
	others := len(liveKeys(e))
	if run(plan).isNew || e.Journal().Count("createApiKey") != others {
		t.Error("a plan creates a key")
	}

	first := run(apply)
	if !first.isNew || first.expiresAt != "" || !authenticates(e, first.key) {
		t.Errorf("the kept key expires at %q, and authenticates: %t", first.expiresAt, authenticates(e, first.key))
	}
	for range 2 {
		if run(apply).isNew || run(plan).isNew {
			t.Error("a repeated run creates a key")
		}
	}
	if n := e.Journal().Count("createApiKey"); n != others+1 || e.Journal().Count("revokeApiKey") > 0 {
		t.Errorf("%d keys created for one version, %d revoked", n-others, e.Journal().Count("revokeApiKey"))
	}

	revokeKey(e, account, first.id)
	apply["expires_in"] = "30d"
	second := run(apply)
	if at := acctest.Start.AddDate(0, 0, 30).Format(time.RFC3339); !second.isNew || second.expiresAt != at {
		t.Errorf("after a revocation, the new key expires at %q, want %s", second.expiresAt, at)
	}
	e.Clock.Advance(30*24*time.Hour - time.Minute)
	check.Is(t, "a key is new before the old one expired", run(apply).isNew, false)
	e.Clock.Advance(2 * time.Minute)
	if run(apply).id == second.id || e.Journal().Count("createApiKey") != others+3 {
		t.Error("no key was created after the old one expired")
	}
}

// A kept key whose value is lost, and that cannot be revoked, is named. A plan, which only reads, reports that the provider's key has no
// access.
func TestAPIKeyEphemeral_keepErrors(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	e.Faults().Add(
		emulator.Fault{Operation: "createApiKey", Kind: emulator.FaultDropAfterCommit},
		emulator.Fault{Operation: "revokeApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 500, Times: -1},
	)
	openKey(t, e, account, acctest.Values{"keep": true}).out.MustFail(t, "", "Cannot open API key", "agentyard_api_key_revoke", liveKeys(e)[0])
	e.Faults().Add(emulator.Fault{Operation: "listServiceAccounts", Kind: emulator.FaultStatusBeforeCommit, Status: 403, Times: -1})
	openKey(t, e, account, acctest.Values{"keep": false}).out.MustFail(t, "", "Cannot open API key", "Manager role")
}

// A key that is gone at the end of the run needs no revocation.
func TestAPIKeyEphemeral_closesWhatIsGone(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(e *acctest.Env, account string){
		"the key":     func(e *acctest.Env, account string) { revokeKey(e, account, liveKeys(e)[0]) },
		"the account": deleteAccount,
	} {
		var e *acctest.Env
		var account string
		e = acctest.New(t, acctest.Intercept("revokeApiKey", false, func() { end(e, account) }))
		account = newAccount(e, "robots")
		o := openKey(t, e, account, nil)
		if len(o.out.Errors) > 0 || !o.isNew || len(liveKeys(e)) > 0 {
			t.Errorf("%s: %s", name, o.out)
		}
	}
}

// keptConfig passes a kept key on, once for each version. Without coalesce, a failed run would store null.
func keptConfig(account, version, command string) string {
	return fmt.Sprintf(`
ephemeral "agentyard_api_key" "test" {
  service_account_id = %q
  name               = "deploy-v%s"
  keep               = terraform.applying
}
resource "terraform_data" "store" {
  triggers_replace = %q
  provisioner "local-exec" {
    command     = %q
    environment = { KEY = terraform.applying ? coalesce(ephemeral.agentyard_api_key.test.key) : "" }
  }
}
`, account, version, version, command)
}

const storeKey = `printf %s "$KEY" > stored`

// A plan creates no key, the first apply one, and later applies none. Only the store has its value.
func TestAccAPIKeyEphemeral_keep_everyCLI(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.NewRealTime(t)
	account := newAccount(e, "robots")
	cli := acctest.NewCLI(t, e, keptConfig(account, "1", storeKey))
	cli.Setenv("TF_LOG", "TRACE")
	cli.Setenv("TF_LOG_PATH", filepath.Join(cli.Dir, "trace.log"))
	stored := func() string {
		text, err := os.ReadFile(filepath.Join(cli.Dir, "stored"))
		check.Must(t, err)
		return string(text)
	}
	created := func(want int) {
		t.Helper()
		if n := e.Journal().Count("createApiKey"); n != want {
			t.Fatalf("%d keys were created, want %d", n, want)
		}
	}
	cli.MustRun("plan", "-input=false", "-out=saved.plan")
	created(0)
	cli.MustRun("apply", "-input=false", "saved.plan")
	created(1)
	first := stored()
	for range 2 {
		cli.MustRun("apply", "-auto-approve", "-input=false")
		cli.MustPlanEmpty()
	}
	created(1)
	if stored() != first || !authenticates(e, first) {
		t.Error("the store has no live key")
	}

	// The store fails. The next apply fails too, and stores nothing.
	cli.Write("main.tf", keptConfig(account, "2", "exit 1"))
	if r := cli.Run("apply", "-auto-approve", "-input=false"); r.ExitCode == 0 {
		t.Fatalf("the store did not fail: %s", r.Output)
	}
	cli.Write("main.tf", keptConfig(account, "2", storeKey))
	if r := cli.Run("apply", "-auto-approve", "-input=false"); r.ExitCode == 0 || !strings.Contains(r.Output, "coalesce") {
		t.Errorf("the lost value was not noticed: %s", r.Output)
	}
	created(2)
	check.Is(t, "the store", stored(), first)
	cli.Write("main.tf", keptConfig(account, "3", storeKey))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	created(3)
	if third := stored(); third == first || !authenticates(e, third) || e.Journal().Count("revokeApiKey") > 0 {
		t.Error("the store has no new live key")
	}
	for _, name := range []string{"terraform.tfstate", "terraform.tfstate.backup", "saved.plan", "trace.log"} {
		content, err := os.ReadFile(filepath.Join(cli.Dir, name))
		check.Must(t, err)
		if keyValues.Match(content) {
			t.Errorf("%s holds a key", name)
		}
	}
}

// After an interrupt during the create, nothing can store the value, so the key is revoked. The next apply creates one.
func TestAPIKeyEphemeral_keepInterrupted(t *testing.T) {
	t.Parallel()
	var p *acctest.Process
	e := acctest.New(t, acctest.Hold("createApiKey", func(<-chan struct{}) { p.Stop() }))
	account := newAccount(e, "robots")
	p = acctest.NewProcess(t, e, nil)
	_, out := p.Open(keyType, acctest.Values{"service_account_id": account, "name": "deploy-v1", "keep": true})
	out.MustFail(t, "", "The run was interrupted.")
	noLiveKey(t, e)
	if !openKey(t, e, account, acctest.Values{"keep": true}).isNew || len(liveKeys(e)) != 1 {
		t.Errorf("the live keys are %v", liveKeys(e))
	}
}
