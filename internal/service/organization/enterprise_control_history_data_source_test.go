package organization_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const wholeHistory = `data "agentyard_enterprise_control_history" "x" {}`

func changesAre(checks ...knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue("data.agentyard_enterprise_control_history.x", tfjsonpath.New("changes"), knownvalue.ListExact(checks))
}

// changeControls changes one setting, a minute after the previous change.
func changeControls(t *testing.T, e *acctest.Env, name, value, email string) {
	t.Helper()
	if e.Clock != nil {
		e.Clock.Advance(time.Minute)
	}
	acctest.Must(t, e.ChangeEnterpriseControls(map[string]json.RawMessage{name: json.RawMessage(value)}, email))
}

func TestAccEnterpriseControlHistory_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id, _ := join(t, e, emulator.Human{Email: "ada@acme.example", FirstName: "Ada", LastName: "Adams", Role: emulator.RoleManager})
	changeControls(t, e, "addedLater", `{"z": 1, "a": {"new": [1.50, 12345678901234567890, "<é> & y"]}}`, "ada@acme.example")
	// The settings are normalized: sorted keys, no whitespace, and numbers and characters as in the response.
	normalized := func(parts ...string) knownvalue.Check {
		return knownvalue.StringFunc(func(got string) error {
			if !json.Valid([]byte(got)) || strings.Contains(got, "\n") || strings.Contains(got, `": `) {
				return fmt.Errorf("not normalized: %s", got)
			}
			for _, part := range parts {
				if !strings.Contains(got, part) {
					return fmt.Errorf("%s is missing in %s", part, got)
				}
			}
			return nil
		})
	}
	change := func(revision int64, at string, settings knownvalue.Check, user map[string]knownvalue.Check) knownvalue.Check {
		return knownvalue.ObjectExact(map[string]knownvalue.Check{
			"revision": knownvalue.Int64Exact(revision), "updated_at": knownvalue.StringExact(at), "settings": settings, "user": knownvalue.ObjectExact(user),
		})
	}
	manager := map[string]knownvalue.Check{"id": anyUser, "email": knownvalue.StringExact(bootstrap), "name": knownvalue.StringExact("Avery Manager")}
	ada := map[string]knownvalue.Check{"id": knownvalue.StringExact(id), "email": knownvalue.StringExact("ada@acme.example"), "name": knownvalue.StringExact("Ada Adams")}
	e.Run(t, e.ReadStep(wholeHistory, changesAre(
		change(4, "2026-03-01T12:02:00Z", normalized(`"addedLater":{"a":{"new":[1.50,12345678901234567890,"<é> & y"]},"z":1}`, `"apiKey":"no-secret-api-key"`), ada),
		change(3, "2026-03-01T12:00:00Z", normalized(`"sessionRetentionDays":90`), manager),
		change(2, "2026-03-01T12:00:00Z", normalized(`"sessionRetentionDays":30`, `"maxAutonomyLevel":"high"`), manager),
		change(1, "2026-02-28T12:00:00Z", normalized(`"maxAutonomyLevel":"medium"`), map[string]knownvalue.Check{"id": anyUser, "email": knownvalue.Null(), "name": knownvalue.Null()}),
	)))
}

var fakeSecret = regexp.MustCompile(`no-secret-[a-z-]+`)

// The values of settings are in the state, but never in a log at any level or in the output, even if a response is
// malformed.
func TestAccEnterpriseControlHistory_settingsAreSecret(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	cli := acctest.NewCLI(t, e, wholeHistory+"\noutput \"revision\" {\n  value = data.agentyard_enterprise_control_history.x.changes[0].revision\n}\n")
	log := filepath.Join(cli.Dir, "trace.log")
	cli.Setenv("TF_LOG", "TRACE")
	cli.Setenv("TF_LOG_PATH", log)
	shown := cli.MustRun("apply", "-auto-approve", "-input=false").Output + cli.MustRun("show").Output
	state := read(t, filepath.Join(cli.Dir, "terraform.tfstate"))
	secrets := slices.Compact(slices.Sorted(slices.Values(fakeSecret.FindAllString(state, -1))))
	if len(secrets) < 4 || !strings.Contains(shown, "(sensitive value)") {
		t.Fatalf("the state holds the secrets %v, shown is\n%s", secrets, shown)
	}
	_, body := e.Try(http.MethodGet, "/api/v0/organization/enterprise-controls/history?limit=1", nil)
	for _, broken := range []string{
		string(body[:len(body)/2]), // It is cut off.
		strings.Replace(string(body), `"revision":3`, `"revision":"3"`, 1), // It has another type.
		strings.Replace(string(body), `"revision"`, `"number"`, 1),         // It lacks a field.
	} {
		if !fakeSecret.MatchString(broken) || broken == string(body) {
			t.Fatalf("this proves nothing: %s", broken)
		}
		e.Faults().Add(emulator.Fault{Operation: "listEnterpriseControlHistory", Kind: emulator.FaultOtherResponse, Body: broken, Times: 5})
		r := cli.Run("plan", "-input=false")
		if r.ExitCode == 0 {
			t.Errorf("the spoiled answer is read: %s", broken)
		}
		shown += r.Output
		e.Faults().Clear()
	}
	trace := read(t, log)
	if strings.Count(trace, "listEnterpriseControlHistory") < 5 {
		t.Fatalf("a log of %d bytes proves nothing", len(trace))
	}
	if found := fakeSecret.FindString(trace + shown); found != "" {
		t.Errorf("%s is in the log or in the output", found)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	file, err := os.Open(name)
	acctest.Must(t, err)
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(file)
	acctest.Must(t, err)
	return string(text)
}
