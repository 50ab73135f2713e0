package serviceaccount_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

const day = 24 * time.Hour

// userConfig adds a resource that depends on the key.
const userConfig = "resource \"terraform_data\" \"user\" {\n  input = agentyard_api_key.test.fingerprint\n}\n"

// planHook runs during a plan check: after the plan and before the apply.
type planHook func()

func (h planHook) CheckPlan(context.Context, plancheck.CheckPlanRequest, *plancheck.CheckPlanResponse) {
	h()
}

func advance(e *acctest.Env, d time.Duration) func() { return func() { e.Clock.Advance(d) } }

// rotated expects an update of the key with new results and of the resource that depends on it, and an empty plan after it.
func rotated() resource.ConfigPlanChecks {
	unknown := func(attribute string) plancheck.PlanCheck {
		return plancheck.ExpectUnknownValue(keyAddress, tfjsonpath.New(attribute))
	}
	return resource.ConfigPlanChecks{
		PreApply: []plancheck.PlanCheck{
			plancheck.ExpectResourceAction(keyAddress, plancheck.ResourceActionUpdate),
			unknown("id"), unknown("key"), unknown("fingerprint"), unknown("rotated_at"), unknown("created_at"),
			plancheck.ExpectResourceAction("terraform_data.user", plancheck.ResourceActionUpdate),
		},
		PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
	}
}

// unknownAre expects exactly these results of the key to be unknown in a plan.
type unknownAre []string

func (want unknownAre) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	for _, change := range req.Plan.ResourceChanges {
		if change.Address != keyAddress {
			continue
		}
		var got []string
		unknown, _ := change.Change.AfterUnknown.(map[string]any)
		for name, is := range unknown {
			if is == true {
				got = append(got, name)
			}
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			resp.Error = fmt.Errorf("known after apply are %v, want %v", got, want)
		}
	}
}

// Only results that the apply changes are unknown in a plan.
func TestAccAPIKey_planLeavesOpenWhatChanges(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	step := func(before func(), arguments string, unknown ...string) resource.TestStep {
		return resource.TestStep{
			PreConfig: before, Config: e.Config(keyConfig(account, "name = \"ci\"\n"+arguments)), Check: inState(e),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{unknownAre(unknown)},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
		}
	}
	revoke := func() { revokeKey(e, account, liveKeys(e)[0]) }
	runKeys(t, e,
		step(nil, ``, "created_at", "fingerprint", "id", "key"),
		step(revoke, ``, "created_at", "fingerprint", "id", "key", "previous_key_id", "rotated_at"),
		step(nil, `rotation = { triggers = { v = 1 } }`, "created_at", "fingerprint", "id", "key", "previous_key_id", "rotated_at"),
		step(nil, `rotation = {
			triggers = { v = 1 }
			grace_period_minutes = 5
		}`),
		step(nil, `rotation = { interval = "10d" }`),
		step(advance(e, 10*day), `rotation = { interval = "10d" }`, "created_at", "fingerprint", "id", "key", "next_rotation_at", "previous_key_id", "rotated_at"),
		step(nil, `rotation = {
			interval = "10d"
			triggers = { v = 1 }
			grace_period_minutes = 5
		}`, "created_at", "fingerprint", "id", "key", "next_rotation_at", "previous_key_id", "rotated_at"),
		step(nil, `expires_in = "30d"`, "created_at", "expires_at", "fingerprint", "id", "key", "previous_key_id", "rotated_at"),
		step(nil, ``, "created_at", "fingerprint", "id", "key", "previous_key_id", "rotated_at"),
	)
}

// expiryOfItsOwn makes the service set an expiry for a key that was created without one.
func expiryOfItsOwn(operation string, at time.Time) acctest.Option {
	return acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, operation) {
				r.Body = io.NopCloser(strings.NewReader(fmt.Sprintf("{\"expiresAt\":%d}", at.UnixMilli())))
				r.ContentLength = -1
			}
			next.ServeHTTP(w, r)
		})
	})
}

// An expiry that the service sets is not in the plan of a rotation. The next refresh reads it.
func TestAccAPIKey_expiryThatTheServiceSets(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, expiryOfItsOwn("/rotate", acctest.Start.Add(90*day)))
	account := newAccount(e, "robots")
	config := func(v string) string {
		return e.Config(keyConfig(account, fmt.Sprintf("name = \"ci\"\nrotation = { triggers = { v = %q } }", v)))
	}
	runKeys(t, e,
		resource.TestStep{Config: config("1"), ConfigStateChecks: []statecheck.StateCheck{keyValue("expires_at", knownvalue.Null())}},
		resource.TestStep{Config: config("2"), ConfigPlanChecks: acctest.ThenEmpty, Check: inState(e)},
		resource.TestStep{RefreshState: true, Check: resource.TestCheckResourceAttr(keyAddress, "expires_at", "2026-05-30T12:00:00Z")},
		resource.TestStep{Config: config("2"), ConfigPlanChecks: keyAction(plancheck.ResourceActionNoop)},
	)
}

func TestAccAPIKey_rotatesWhenDue(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arguments  string
		early, due time.Duration // After the create: at early, nothing is planned; at due, a rotation is.
		next       string
	}{
		"interval":      {`rotation = { interval = "10d" }`, 10*day - time.Second, 10 * day, "2026-03-21T12:00:00Z"},
		"before expiry": {"expires_in = \"30d\"\nrotation = { before_expiry = \"7d\" }", 23*day - time.Second, 23 * day, "2026-04-16T12:00:00Z"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			config := e.Config(keyConfig(account, "name = \"ci\"\n"+tc.arguments) + userConfig)
			id := statecheck.CompareValue(compare.ValuesDiffer())
			runKeys(t, e,
				resource.TestStep{Config: config, ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: []statecheck.StateCheck{id.AddStateValue(keyAddress, tfjsonpath.New("id"))}},
				resource.TestStep{PreConfig: advance(e, tc.early), Config: config, PlanOnly: true},
				resource.TestStep{
					PreConfig: advance(e, tc.due-tc.early), Config: config, ConfigPlanChecks: rotated(), Check: inState(e),
					ConfigStateChecks: []statecheck.StateCheck{
						id.AddStateValue(keyAddress, tfjsonpath.New("id")),
						keyValue("next_rotation_at", knownvalue.StringExact(tc.next)),
						keyValue("rotated_at", knownvalue.StringExact(acctest.Start.Add(tc.due).Format(time.RFC3339))),
						keyValue("created_at", knownvalue.StringExact(acctest.Start.Add(tc.due).Format(time.RFC3339))),
					},
				},
			)
		})
	}
}

func TestAccAPIKey_graceKeepsThePreviousKeyAlive(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	var first string
	config := func(v string) string {
		return e.Config(keyConfig(account, fmt.Sprintf("name = \"ci\"\nrotation = {\n  triggers = { v = %q }\n  grace_period_minutes = 10\n}", v)))
	}
	runKeys(t, e,
		resource.TestStep{Config: config("1"), Check: func(s *terraform.State) error {
			first = s.RootModule().Resources[keyAddress].Primary.Attributes["key"]
			return nil
		}},
		resource.TestStep{
			Config: config("2"), ConfigPlanChecks: acctest.ThenEmpty,
			ConfigStateChecks: []statecheck.StateCheck{keyValue("previous_key_id", knownvalue.NotNull())},
			Check: func(s *terraform.State) error {
				if !authenticates(e, first) {
					return fmt.Errorf("the previous key is dead before its grace period is over")
				}
				return inState(e)(s)
			},
		},
		// A second rotation within the grace period does not end it. The state remembers the latest previous key.
		resource.TestStep{Config: config("3"), ConfigPlanChecks: acctest.ThenEmpty, Check: func(*terraform.State) error {
			if !authenticates(e, first) {
				return fmt.Errorf("the second rotation ends the grace period of the first one")
			}
			return nil
		}},
		resource.TestStep{
			PreConfig: advance(e, 10*time.Minute), RefreshState: true,
			Check: resource.TestCheckNoResourceAttr(keyAddress, "previous_key_id"),
		},
		resource.TestStep{Config: config("3"), ConfigPlanChecks: acctest.ThenEmpty, Check: inState(e)},
		// A destroy also revokes the previous key in its grace period, so no key remains.
		resource.TestStep{Config: config("4"), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: []statecheck.StateCheck{keyValue("previous_key_id", knownvalue.NotNull())}},
	)
}

func TestAccAPIKey_graceThatTheOldKeyDoesNotLiveToSee(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(v string) string {
		return e.Config(keyConfig(account, fmt.Sprintf("name = \"ci\"\nexpires_in = \"1d\"\nrotation = {\n  triggers = { v = %q }\n  grace_period_minutes = 10\n}", v)))
	}
	runKeys(t, e,
		resource.TestStep{Config: config("1")},
		resource.TestStep{
			PreConfig: advance(e, day-9*time.Minute), Config: config("2"), PlanOnly: true,
			ExpectError: regexp.MustCompile(`(?s)Grace Period Too Long.*2026-03-02T12:00:00Z.*apply\s+again\s+when\s+the\s+key\s+has\s+expired`),
		},
		resource.TestStep{PreConfig: advance(e, 9*time.Minute), Config: config("2"), Check: inState(e), ConfigPlanChecks: acctest.ThenEmpty},
	)
}

// The expiry of an expired key may stay in the configuration. Only a change to another past time is an error.
func TestAccAPIKey_expiryThatIsOver(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(at string) string {
		return e.Config(keyConfig(account, fmt.Sprintf("name = \"ci\"\nexpires_at = %q", at)))
	}
	runKeys(t, e,
		resource.TestStep{Config: config("2026-03-02T12:00:00Z")},
		resource.TestStep{PreConfig: advance(e, 2*day), Config: config("2026-03-02T12:00:00Z"), PlanOnly: true},
		resource.TestStep{Config: config("2026-03-03T11:00:00Z"), PlanOnly: true, ExpectError: regexp.MustCompile(`Expiry in the Past`)},
		resource.TestStep{Config: config("2026-03-05T12:00:00Z"), ConfigPlanChecks: keyAction(plancheck.ResourceActionUpdate), Check: inState(e)},
	)
}

// Terraform plans again during apply. If a saved plan changes the key and does not rotate it, but the key is due meanwhile, the
// apply fails and changes nothing.
func TestAccAPIKey_savedPlan(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		age  time.Duration
		want *regexp.Regexp
	}{
		"due":                {10 * day, nil},
		"not due for long":   {day, nil},
		"due while it waits": {10*day - time.Minute, regexp.MustCompile(`inconsistent\s+final\s+plan`)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			config := func(grace int) string {
				return e.Config(keyConfig(account, fmt.Sprintf("name = \"ci\"\nrotation = {\n  interval = \"10d\"\n  grace_period_minutes = %d\n}", grace)))
			}
			runKeys(t, e,
				resource.TestStep{Config: config(0)},
				resource.TestStep{
					PreConfig: advance(e, tc.age), Config: config(1), ExpectError: tc.want,
					ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{planHook(advance(e, day))}},
				},
				resource.TestStep{Config: config(1), ConfigPlanChecks: acctest.ThenEmpty, Check: inState(e)},
			)
		})
	}
}

// With ignore_changes, the expiry in the state becomes an argument beside expires_in, so no new key can be planned. The key is left
// alone, and a warning says why, whatever would rotate it.
func TestAccAPIKey_ignoredExpiry(t *testing.T) {
	t.Parallel()
	for _, ignored := range []string{"all", "[expires_at]"} {
		for name, change := range map[string]func(e *acctest.Env, cli *acctest.CLI, write func(trigger, life string)){
			"due": func(e *acctest.Env, _ *acctest.CLI, _ func(_, _ string)) {
				e.API("POST", "/_emulator/clock", map[string]string{"advance": "24d"}, nil)
			},
			"expired": func(e *acctest.Env, _ *acctest.CLI, _ func(_, _ string)) {
				e.API("POST", "/_emulator/clock", map[string]string{"advance": "31d"}, nil)
			},
			"revoked": func(e *acctest.Env, _ *acctest.CLI, _ func(_, _ string)) {
				revokeKey(e, listAccounts(e)[0].ID, liveKeys(e)[0])
			},
			"trigger": func(_ *acctest.Env, _ *acctest.CLI, write func(_, _ string)) { write("2", "30d") },
			"life":    func(_ *acctest.Env, _ *acctest.CLI, write func(_, _ string)) { write("1", "40d") },
		} {
			t.Run(ignored+" "+name, func(t *testing.T) {
				t.Parallel()
				e := acctest.NewRealTime(t)
				account := newAccount(e, "robots")
				cli := acctest.NewCLI(t, e, "")
				write := func(trigger, life string) {
					cli.Write("main.tf", keyConfig(account, fmt.Sprintf("name = \"ci\"\nexpires_in = %q\nrotation = {\n  before_expiry = \"7d\"\n  triggers = { v = %q }\n}\nlifecycle {\n  ignore_changes = %s\n}", life, trigger, ignored)))
				}
				write("1", "30d")
				cli.MustRun("apply", "-auto-approve", "-input=false")
				change(e, cli, write)
				text := acctest.OneLine(cli.MustRun("apply", "-auto-approve", "-input=false").Output)
				isIgnored := ignored == "all" && (name == "trigger" || name == "life")
				if strings.Contains(text, "API Key Needs Attention") == isIgnored || strings.Contains(text, "ignore_changes includes expires_at") == isIgnored || e.Journal().Count("rotateApiKey")+e.Journal().Count("createApiKey") != 1 {
					t.Error(text)
				}
				cli.MustPlanEmpty()
				cli.MustRun("destroy", "-auto-approve", "-input=false")
			})
		}
	}
}

// After an import, the value is unknown. Without a rotation block, nothing happens. With one, the key is rotated
// once.
func TestAccAPIKey_importedKeyGetsAValue(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	old := newKey(e, account, "ci")
	bare, config := e.Config(keyConfig(account, `name = "ci"`)), e.Config(keyConfig(account, "name = \"ci\"\nrotation = { triggers = { imported = \"1\" } }"))
	runKeys(t, e,
		resource.TestStep{Config: bare, ResourceName: keyAddress, ImportState: true, ImportStateId: account + "/" + old.ID, ImportStatePersist: true},
		resource.TestStep{Config: bare, PlanOnly: true},
		resource.TestStep{Config: config, ConfigPlanChecks: keyAction(plancheck.ResourceActionUpdate), Check: inState(e)},
	)
	if authenticates(e, old.Value) {
		t.Error("the imported key lives on")
	}
}

// The values that decide about a rotation may be known only during the apply.
func TestAccAPIKey_unknownTrigger(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(release, more string) string {
		return e.Config(fmt.Sprintf("resource \"terraform_data\" \"release\" {\n  input = %q\n%s}\n", release, more) +
			keyConfig(account, "name = \"ci\"\nrotation = { triggers = { v = terraform_data.release.output } }"))
	}
	same, differ := statecheck.CompareValue(compare.ValuesSame()), statecheck.CompareValue(compare.ValuesDiffer())
	id := tfjsonpath.New("id")
	runKeys(t, e,
		resource.TestStep{Config: config("1", ""), ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(keyAddress, id)}},
		// The unknown output turns out to be unchanged, so nothing is rotated.
		resource.TestStep{
			Config: config("1", "  triggers_replace = \"x\"\n"), ConfigPlanChecks: keyAction(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(keyAddress, id), differ.AddStateValue(keyAddress, id)},
		},
		resource.TestStep{
			Config: config("2", "  triggers_replace = \"x\"\n"), ConfigPlanChecks: keyAction(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{differ.AddStateValue(keyAddress, id)}, Check: inState(e),
		},
	)
}

// An expiry beside expires_in that is known only during the apply may turn out to be null. Only the one that ignore_changes hands back, which
// is known, keeps the key.
func TestAPIKey_unknownExpiryBesideALife(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(v string, expiresAt any) acctest.Values {
		return acctest.Values{"service_account_id": account, "name": "ci", "expires_in": "30d", "expires_at": expiresAt, "rotation": map[string]any{"triggers": triggers(v)}}
	}
	i := acctest.NewProcess(t, e, nil).NewInstance(keyType)
	e.MustApply(t, i, config("1", nil))
	if out := acctest.NewProcess(t, e, nil).Plan(i, config("2", tftypes.UnknownValue)); len(out.Errors)+len(out.Warnings) > 0 {
		t.Error(out)
	}
}

// An expiry that is known only during the apply may be in the past. A revoked key then remains, as it is.
func TestAccAPIKey_unknownExpiryThatIsOver(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(more string) string {
		return e.Config("resource \"terraform_data\" \"until\" {\n  input = \"2026-03-02T12:00:00Z\"\n" + more + "}\n" + keyConfig(account, "name = \"ci\"\nexpires_at = terraform_data.until.output"))
	}
	runKeys(t, e,
		resource.TestStep{Config: config("")},
		resource.TestStep{
			PreConfig: func() { revokeKey(e, account, liveKeys(e)[0]); e.Clock.Advance(2 * day) },
			Config:    config("  triggers_replace = \"x\"\n"), ConfigPlanChecks: keyAction(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{keyValue("is_revoked", knownvalue.Bool(true))},
		},
	)
}
