package serviceaccount_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func ephemeralConfig(account, arguments string) string {
	return fmt.Sprintf("ephemeral \"agentyard_api_key\" \"test\" {\n  service_account_id = %q\n%s\n}\n", account, arguments)
}

// echoed passes the ephemeral key to the echo provider, which stores it in echo.test.data so that tests can check it.
func echoed(t *testing.T, e *acctest.Env, config string, step resource.TestStep) {
	t.Helper()
	step.Config = e.Config(config + "provider \"echo\" {\n  data = ephemeral.agentyard_api_key.test\n}\nresource \"echo\" \"test\" {}\n")
	e.RunEcho(t, step)
}

func noLiveKey(t *testing.T, e *acctest.Env) {
	t.Helper()
	if left := liveKeys(e); len(left) > 0 {
		t.Errorf("the emulator still holds the live keys %v", left)
	}
}

// Every plan and every apply creates its own key, which works until the end of the run and is then revoked.
func TestAccAPIKeyEphemeral(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	for name, tc := range map[string]struct{ arguments, expiresAt string }{
		"least":           {`name = "run"`, "2026-03-01T13:00:00Z"},
		"every attribute": {"name = \"run\"\nexpires_in = \"30m\"", "2026-03-01T12:30:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			data := func(attribute string, check knownvalue.Check) statecheck.StateCheck {
				return statecheck.ExpectKnownValue("echo.test", tfjsonpath.New("data").AtMapKey(attribute), check)
			}
			echoed(t, e, ephemeralConfig(account, tc.arguments), resource.TestStep{
				ConfigStateChecks: []statecheck.StateCheck{
					data("key", knownvalue.StringRegexp(keyValues)), data("id", knownvalue.NotNull()), data("fingerprint", knownvalue.NotNull()),
					data("expires_at", knownvalue.StringExact(tc.expiresAt)),
				},
			})
			noLiveKey(t, e)
			opened, closed := e.Journal().Count("createApiKey"), e.Journal().Count("revokeApiKey")
			if opened < 2 || opened != closed {
				t.Errorf("%d keys opened, %d closed", opened, closed)
			}
		})
	}
}

func TestAccAPIKeyEphemeral_configuresAnotherProvider(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.NewRealTime(t)
	account := newAccount(e, "robots")
	newKey(e, account, "run") // A live key with the same name does not matter and is kept.
	cli := acctest.NewCLI(t, e, ephemeralConfig(account, `name = "run"`)+`
provider "agentyard" {
  alias   = "robot"
  api_key = ephemeral.agentyard_api_key.test.key
}
data "agentyard_computers" "mine" {
  provider = agentyard.robot
}
resource "terraform_data" "count" {
  input = length(data.agentyard_computers.mine.computers)
}
`)
	cli.Setenv("TF_LOG", "TRACE")
	log := filepath.Join(cli.Dir, "trace.log")
	cli.Setenv("TF_LOG_PATH", log)
	cli.MustRun("plan", "-input=false", "-out=saved.plan")
	cli.MustRun("apply", "-input=false", "saved.plan")
	cli.MustRun("destroy", "-auto-approve", "-input=false")
	live := 0
	for _, k := range listKeys(e, account) {
		if !k.IsRevoked {
			live++
		}
	}
	if live != 1 {
		t.Errorf("%d live keys, want the one that was there before", live)
	}
	for _, name := range []string{"terraform.tfstate", "terraform.tfstate.backup", "saved.plan", "trace.log"} {
		content, err := os.ReadFile(filepath.Join(cli.Dir, name))
		acctest.Must(t, err)
		if keyValues.Match(content) {
			t.Errorf("%s holds a key", name)
		}
	}
}

// A lost response in Open leaves no key behind.
func TestAccAPIKeyEphemeral_lostAnswers(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	for name, fault := range map[string]emulator.Fault{
		"open dropped after commit": {Operation: "createApiKey", Kind: emulator.FaultDropAfterCommit},
		"open truncated":            {Operation: "createApiKey", Kind: emulator.FaultTruncatedBody},
		"open 500 after commit":     {Operation: "createApiKey", Kind: emulator.FaultStatusAfterCommit},
		"close dropped":             {Operation: "revokeApiKey", Kind: emulator.FaultDropAfterCommit},
		"close 503":                 {Operation: "revokeApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			older := newKey(e, account, "run")
			e.Faults().Add(fault)
			echoed(t, e, ephemeralConfig(account, `name = "run"`), resource.TestStep{})
			if live := liveKeys(e); len(live) != 1 || live[0] != older.ID {
				t.Errorf("the live keys are %v, want %s alone", live, older.ID)
			}
		})
	}
}

func TestAccAPIKeyEphemeral_errors(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	for name, tc := range map[string]struct {
		arguments, want string
		fault           emulator.Fault
	}{
		"name of 129 characters": {`name = "` + strings.Repeat("n", 129) + `"`, `(?s)name.*128`, emulator.Fault{}},
		"no duration":            {"name = \"run\"\nexpires_in = \"soon\"", `(?s)Invalid Duration.*30d`, emulator.Fault{}},
		"403":                    {`name = "run"`, `(?s)Cannot open API key.*Manager\s+role`, emulator.Fault{Operation: "createApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 403}},
		"400 about the expiry": {"name = \"run\"\nexpires_in = \"2s\"", `(?s)Cannot open API key.*expiresAt.*Correct`, emulator.Fault{
			Operation: "createApiKey", Kind: emulator.FaultRateLimited, RetryAfter: "10"}},
		"close fails": {`name = "run"`, `(?s)Cannot revoke API key.*was\s+not\s+revoked\s+and\s+works\s+until\s+it\s+expires`, emulator.Fault{Operation: "revokeApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 503, Times: -1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			if tc.fault.Kind != "" {
				e.Faults().Add(tc.fault)
			}
			echoed(t, e, ephemeralConfig(account, tc.arguments), resource.TestStep{ExpectError: regexp.MustCompile(tc.want)})
		})
	}
}

// Terraform does not close an ephemeral resource after an error, which the page says. Only the expiry ends the key.
func TestAccAPIKeyEphemeral_failedRun(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.NewRealTime(t)
	account := newAccount(e, "robots")
	cli := acctest.NewCLI(t, e, ephemeralConfig(account, "name = \"run\"\nexpires_in = \"10m\"")+`
provider "agentyard" {
  alias   = "robot"
  api_key = ephemeral.agentyard_api_key.test.key
}
data "agentyard_computers" "mine" {
  provider = agentyard.robot
}
resource "terraform_data" "fails" {
  lifecycle {
    precondition {
      condition     = length(data.agentyard_computers.mine.computers) > 0
      error_message = "No computers."
    }
  }
}
`)
	if r := cli.Run("plan", "-input=false"); r.ExitCode == 0 {
		t.Fatalf("the plan succeeds: %s", r.Output)
	}
	keys := listKeys(e, account)
	if len(keys) != 1 || keys[0].IsRevoked || keys[0].ExpiresAt == nil {
		t.Errorf("the emulator holds %+v, want a live key with an expiry", keys)
	}
	page, err := os.ReadFile("../../../docs/ephemeral-resources/api_key.md")
	acctest.Must(t, err)
	if !strings.Contains(string(page), "After an error or Ctrl-C, Terraform does not close ephemeral resources, so the key works until it expires.") {
		t.Error("the page does not say that the key of a failed run lives on")
	}
}
