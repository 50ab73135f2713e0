package serviceaccount_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// openedKey is what Open returned, with the private data for Close.
type openedKey struct {
	value   map[string]tftypes.Value
	private []byte
	errors  string
}

func (o openedKey) text(t *testing.T, attribute string) string {
	t.Helper()
	if o.value == nil || o.value[attribute].IsNull() {
		return ""
	}
	var text string
	acctest.Must(t, o.value[attribute].As(&text))
	return text
}

func (o openedKey) isNew(t *testing.T) bool {
	t.Helper()
	var isNew bool
	if o.errors != "" {
		t.Fatal(o.errors)
	}
	acctest.Must(t, o.value["is_new"].As(&isNew))
	if isNew == (o.text(t, "key") == "") || isNew == (o.text(t, "id") == "") {
		t.Errorf("is_new is %t, but the ID is %q", isNew, o.text(t, "id"))
	}
	return isNew
}

// openKey opens the ephemeral resource as a new run does. Null attributes are left out.
func openKey(ctx context.Context, t *testing.T, p tfprotov6.ProviderServer, account string, more map[string]tftypes.Value) openedKey {
	t.Helper()
	schemas, err := p.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	acctest.Must(t, err)
	object := schemas.EphemeralResourceSchemas["agentyard_api_key"].ValueType().(tftypes.Object)
	values := map[string]tftypes.Value{}
	for name, typ := range object.AttributeTypes {
		values[name] = tftypes.NewValue(typ, nil)
	}
	values["service_account_id"], values["name"] = tftypes.NewValue(tftypes.String, account), tftypes.NewValue(tftypes.String, "deploy-v1")
	for name, v := range more {
		values[name] = v
	}
	config, err := tfprotov6.NewDynamicValue(object, tftypes.NewValue(object, values))
	acctest.Must(t, err)
	resp, err := p.OpenEphemeralResource(ctx, &tfprotov6.OpenEphemeralResourceRequest{TypeName: "agentyard_api_key", Config: &config})
	acctest.Must(t, err)
	o := openedKey{private: resp.Private}
	for _, d := range resp.Diagnostics {
		o.errors += d.Summary + ": " + d.Detail + "\n"
	}
	if o.errors == "" {
		result, err := resp.Result.Unmarshal(object)
		acctest.Must(t, err)
		acctest.Must(t, result.As(&o.value))
	}
	return o
}

func closeKey(t *testing.T, p tfprotov6.ProviderServer, o openedKey) {
	t.Helper()
	resp, err := p.CloseEphemeralResource(context.Background(), &tfprotov6.CloseEphemeralResourceRequest{TypeName: "agentyard_api_key", Private: o.private})
	acctest.Must(t, err)
	if len(resp.Diagnostics) > 0 {
		t.Fatalf("closing: %v", resp.Diagnostics[0])
	}
}

func keep(is bool) map[string]tftypes.Value {
	return map[string]tftypes.Value{"keep": tftypes.NewValue(tftypes.Bool, is)}
}

// A kept key is created once, outlives the run, and is created again only after it has ended.
func TestAPIKeyEphemeral_keep(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	run := func(config map[string]tftypes.Value) openedKey {
		t.Helper()
		p := newServer(t, e)
		o := openKey(t.Context(), t, p, account, config)
		closeKey(t, p, o)
		return o
	}
	for _, name := range []string{"deploy-v0", "deploy-v10", "DEPLOY-V1"} {
		newKey(e, account, name)
	}
	others := len(liveKeys(e))
	if run(keep(false)).isNew(t) || e.Journal().Count("createApiKey") != others {
		t.Error("a plan creates a key")
	}

	first := run(keep(true))
	if !first.isNew(t) || first.text(t, "expires_at") != "" || !authenticates(e, first.text(t, "key")) {
		t.Errorf("the kept key expires at %q, and authenticates: %t", first.text(t, "expires_at"), authenticates(e, first.text(t, "key")))
	}
	for range 2 {
		if run(keep(true)).isNew(t) || run(keep(false)).isNew(t) {
			t.Error("a repeated run creates a key")
		}
	}
	if n := e.Journal().Count("createApiKey"); n != others+1 || e.Journal().Count("revokeApiKey") > 0 {
		t.Errorf("%d keys created for one version, %d revoked", n-others, e.Journal().Count("revokeApiKey"))
	}

	revokeKey(e, account, first.text(t, "id"))
	config := keep(true)
	config["expires_in"] = tftypes.NewValue(tftypes.String, "30d")
	second := run(config)
	if at := acctest.Start.AddDate(0, 0, 30).Format(time.RFC3339); !second.isNew(t) || second.text(t, "expires_at") != at {
		t.Errorf("after a revocation, the new key expires at %q, want %s", second.text(t, "expires_at"), at)
	}
	e.Clock.Advance(30*24*time.Hour - time.Minute)
	if run(config).isNew(t) {
		t.Error("a key was created before the old one expired")
	}
	e.Clock.Advance(2 * time.Minute)
	if run(config).text(t, "id") == second.text(t, "id") || e.Journal().Count("createApiKey") != others+3 {
		t.Error("no key was created after the old one expired")
	}
}

// Two ephemeral resources with one name create one key in a run.
func TestAPIKeyEphemeral_keepTwice(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	p := newServer(t, e)
	first, second := openKey(t.Context(), t, p, account, keep(true)), openKey(t.Context(), t, p, account, keep(true))
	if !first.isNew(t) || second.isNew(t) || len(liveKeys(e)) != 1 {
		t.Errorf("the live keys are %v", liveKeys(e))
	}
}

// No kept key lives whose value is lost, except one that an error names.
func TestAPIKeyEphemeral_keepLostAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		faults  []emulator.Fault
		created bool
		want    string
	}{
		"dropped after commit":  {[]emulator.Fault{{Operation: "createApiKey", Kind: emulator.FaultDropAfterCommit}}, true, ""},
		"dropped before commit": {[]emulator.Fault{{Operation: "createApiKey", Kind: emulator.FaultDropBeforeCommit}}, false, "Cannot open API key"},
		"truncated":             {[]emulator.Fault{{Operation: "createApiKey", Kind: emulator.FaultTruncatedBody}}, true, ""},
		"500 after commit":      {[]emulator.Fault{{Operation: "createApiKey", Kind: emulator.FaultStatusAfterCommit}}, true, ""},
		"lost and not revoked": {[]emulator.Fault{
			{Operation: "createApiKey", Kind: emulator.FaultDropAfterCommit},
			{Operation: "revokeApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 500, Times: -1},
		}, false, "agentyard_api_key_revoke"},
		"403": {[]emulator.Fault{{Operation: "createApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 403}}, false, "Manager role"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			e.Faults().Add(tc.faults...)
			o := openKey(t.Context(), t, newServer(t, e), account, keep(true))
			e.Faults().Clear()
			live := liveKeys(e)
			switch {
			case tc.created:
				if !o.isNew(t) || len(live) != 1 || live[0] != o.text(t, "id") || !authenticates(e, o.text(t, "key")) {
					t.Errorf("the live keys are %v, and the run has %s", live, o.text(t, "id"))
				}
			case tc.want == "" || !strings.Contains(o.errors, tc.want):
				t.Errorf("%q, want %q", o.errors, tc.want)
			case len(live) > 0 && !strings.Contains(o.errors, live[0]):
				t.Errorf("the error does not name the live key %v: %s", live, o.errors)
			}
		})
	}
}

// keep = false reads only, and reports that the provider's key has no access.
func TestAPIKeyEphemeral_keepAccess(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 402, 403} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			for _, operation := range []string{"listServiceAccounts", "listApiKeys"} {
				e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: status, Times: -1})
			}
			for _, is := range []bool{false, true} {
				if o := openKey(t.Context(), t, newServer(t, e), account, keep(is)); !strings.Contains(o.errors, "Cannot open API key") {
					t.Errorf("keep = %t: %q", is, o.errors)
				}
			}
			if n := e.Journal().Count("createApiKey"); n > 0 {
				t.Errorf("%d creates were sent", n)
			}
		})
	}
}

// keptConfig passes a kept key on, once for each version. Without coalesce, a failed run would store null.
func keptConfig(account, version, command string) string {
	return ephemeralConfig(account, fmt.Sprintf("name = \"deploy-v%s\"\nkeep = terraform.applying", version)) + fmt.Sprintf(`
resource "terraform_data" "store" {
  triggers_replace = %q
  provisioner "local-exec" {
    command     = %q
    environment = { KEY = terraform.applying ? coalesce(ephemeral.agentyard_api_key.test.key) : "" }
  }
}
`, version, command)
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
		acctest.Must(t, err)
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
	if stored() != first {
		t.Error("the store was changed")
	}
	cli.Write("main.tf", keptConfig(account, "3", storeKey))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	created(3)
	if third := stored(); third == first || !authenticates(e, third) || e.Journal().Count("revokeApiKey") > 0 {
		t.Error("the store has no new live key")
	}
	for _, name := range []string{"terraform.tfstate", "terraform.tfstate.backup", "saved.plan", "trace.log"} {
		content, err := os.ReadFile(filepath.Join(cli.Dir, name))
		acctest.Must(t, err)
		if keyValues.Match(content) {
			t.Errorf("%s holds a key", name)
		}
	}
}

// If the account's ID is unknown in the plan, the apply opens the resource.
func TestAccAPIKeyEphemeral_keepUnknown(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.NewRealTime(t)
	config := strings.Replace(keptConfig("", "1", storeKey), `service_account_id = ""`, "service_account_id = agentyard_service_account.test.id", 1)
	config = strings.Replace(config, "keep = terraform.applying", "keep = terraform.applying && agentyard_service_account.test.id != \"\"", 1)
	cli := acctest.NewCLI(t, e, config+"resource \"agentyard_service_account\" \"test\" {\n  name = \"robots\"\n}\n")
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustRun("apply", "-auto-approve", "-input=false")
	if n := e.Journal().Count("createApiKey"); n != 1 || len(liveKeys(e)) != 1 {
		t.Errorf("%d keys were created, and the live ones are %v", n, liveKeys(e))
	}
}

// After Ctrl-C during the create, nothing can store the value, so the key is revoked. The next apply creates one.
func TestAccAPIKeyEphemeral_keepInterrupted(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	running := make(chan *acctest.Running, 1)
	e := acctest.NewRealTime(t, acctest.InterruptInFlight("createApiKey", running))
	account := newAccount(e, "robots")
	cli := acctest.NewCLI(t, e, keptConfig(account, "1", storeKey))
	run := cli.Start("apply", "-auto-approve", "-input=false")
	running <- run
	r := run.Wait()
	if r.ExitCode == 0 {
		t.Fatalf("the run was not interrupted: %s", r.Output)
	}
	acctest.Says(t, r.Output, "The run was interrupted.")
	noLiveKey(t, e)
	cli.MustRun("apply", "-auto-approve", "-input=false")
	if live := liveKeys(e); len(live) != 1 {
		t.Errorf("the live keys are %v", live)
	}
}

// After a kill during the create, the next apply creates no other key and stores nothing, but fails.
func TestAccAPIKeyEphemeral_keepKilled(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	var running *acctest.Running
	ready := make(chan struct{})
	e := acctest.NewRealTime(t, acctest.Intercept("createApiKey", true, func() { <-ready; running.Kill() }))
	account := newAccount(e, "robots")
	cli := acctest.NewCLI(t, e, keptConfig(account, "1", storeKey))
	running = cli.Start("apply", "-auto-approve", "-input=false")
	close(ready)
	running.Wait()
	lost := liveKeys(e)
	if r := cli.Run("apply", "-auto-approve", "-input=false", "-lock=false"); r.ExitCode == 0 || !strings.Contains(r.Output, "coalesce") {
		t.Errorf("the lost value was not noticed: %s", r.Output)
	}
	if live := liveKeys(e); len(lost) != 1 || fmt.Sprint(live) != fmt.Sprint(lost) {
		t.Errorf("the live keys are %v, and were %v", live, lost)
	}
	cli.Write("main.tf", keptConfig(account, "2", storeKey))
	cli.MustRun("apply", "-auto-approve", "-input=false", "-lock=false")
}
