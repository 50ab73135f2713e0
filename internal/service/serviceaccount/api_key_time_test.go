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
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

const day = 24 * time.Hour

// planHook runs during a plan check: after the plan and before the apply.
type planHook func()

func (h planHook) CheckPlan(context.Context, plancheck.CheckPlanRequest, *plancheck.CheckPlanResponse) {
	h()
}

func advance(e *acctest.Env, d time.Duration) func() { return func() { e.Clock.Advance(d) } }

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
func TestAPIKey_expiryThatTheServiceSets(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, expiryOfItsOwn("/rotate", acctest.Start.Add(90*day)))
	account := newAccount(e, "robots")
	config := func(v string) acctest.Values {
		return keyOf(account, acctest.Values{"rotation": map[string]any{"triggers": triggers(v)}})
	}
	_, i := e.Created(t, keyType, config("1"))
	e.Apply(t, i, config("2")).MustDo(t, acctest.ActionUpdate)
	mustWork(t, e, i)
	if e.Plan(t, i, config("2")).MustDo(t, acctest.ActionNone); i.Attribute("expires_at") != "2026-05-30T12:00:00Z" {
		t.Error(i.State)
	}
}

func TestAPIKey_rotatesWhenDue(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arguments acctest.Values
		due       time.Duration // After the creation. A second earlier, nothing is planned.
		next      string
	}{
		"interval":      {acctest.Values{"rotation": map[string]any{"interval": "10d"}}, 10 * day, "2026-03-21T12:00:00Z"},
		"before expiry": {acctest.Values{"expires_in": "30d", "rotation": map[string]any{"before_expiry": "7d"}}, 23 * day, "2026-04-16T12:00:00Z"},
	} {
		e, account := newAccountEnv(t)
		config := keyOf(account, tc.arguments)
		_, i := e.Created(t, keyType, config)
		id := i.ID()
		e.Clock.Advance(tc.due - time.Second)
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		e.Clock.Advance(time.Second)
		e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
		mustWork(t, e, i)
		if at := acctest.Start.Add(tc.due).Format(time.RFC3339); i.ID() == id || i.Attribute("next_rotation_at") != tc.next || i.Attribute("rotated_at") != at || i.Attribute("created_at") != at {
			t.Errorf("%s: %s", name, i.State)
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
}

// A second rotation within the grace period does not end it. A destroy also revokes the previous key.
func TestAPIKey_graceKeepsThePreviousKeyAlive(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(v string) acctest.Values {
		return keyOf(account, acctest.Values{"rotation": map[string]any{"triggers": triggers(v), "grace_period_minutes": 10}})
	}
	_, i := e.Created(t, keyType, config("1"))
	first := i.Attribute("key")
	for _, v := range []string{"2", "3"} {
		if e.Apply(t, i, config(v)).MustDo(t, acctest.ActionUpdate); i.Attribute("previous_key_id") == "" || !authenticates(e, first) {
			t.Errorf("rotation %s ends the grace period of the first key: %s", v, i.State)
		}
		e.Plan(t, i, config(v)).MustDo(t, acctest.ActionNone)
	}
	e.Clock.Advance(10 * time.Minute)
	if e.Plan(t, i, config("3")).MustDo(t, acctest.ActionNone); i.Attribute("previous_key_id") != "" || authenticates(e, first) {
		t.Errorf("after the grace period: %s", i.State)
	}
	mustWork(t, e, i)
	e.Apply(t, i, config("4")).MustDo(t, acctest.ActionUpdate)
	e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
	noLiveKey(t, e)
}

func TestAPIKey_graceThatTheOldKeyDoesNotLiveToSee(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(v string) acctest.Values {
		return keyOf(account, acctest.Values{"expires_in": "1d", "rotation": map[string]any{"triggers": triggers(v), "grace_period_minutes": 10}})
	}
	_, i := e.Created(t, keyType, config("1"))
	e.Clock.Advance(day - 9*time.Minute)
	e.Plan(t, i, config("2")).MustInclude(t, "rotation.grace_period_minutes", "apply again when the key has expired")
	e.Clock.Advance(9 * time.Minute)
	e.Apply(t, i, config("2")).MustDo(t, acctest.ActionUpdate)
	mustWork(t, e, i)
}

// The expiry of an expired key may stay in the configuration. Only a change to another past time is an error.
func TestAPIKey_expiryThatIsOver(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(at string) acctest.Values { return keyOf(account, acctest.Values{"expires_at": at}) }
	_, i := e.Created(t, keyType, config("2026-03-02T12:00:00Z"))
	e.Clock.Advance(2 * day)
	e.Plan(t, i, config("2026-03-02T12:00:00Z")).MustDo(t, acctest.ActionNone)
	e.Plan(t, i, config("2026-03-03T11:00:00Z")).MustFail(t, "expires_at", "Expiry in the Past")
	e.Apply(t, i, config("2026-03-05T12:00:00Z")).MustDo(t, acctest.ActionUpdate)
	mustWork(t, e, i)
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
			"trigger": func(_ *acctest.Env, _ *acctest.CLI, write func(_, _ string)) { write("2", "30d") },
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
				isIgnored := ignored == "all" && name == "trigger"
				if strings.Contains(text, "API Key Needs Attention") == isIgnored || strings.Contains(text, "ignore_changes includes expires_at") == isIgnored || e.Journal().Count("rotateApiKey")+e.Journal().Count("createApiKey") != 1 {
					t.Error(text)
				}
				cli.MustPlanEmpty()
				cli.MustRun("destroy", "-auto-approve", "-input=false")
			})
		}
	}
}

// After an import, the value is unknown. Without a rotation block, nothing happens. With one, the key is rotated once.
func TestAPIKey_importedKeyGetsAValue(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	old := newKey(e, account, "ci")
	i := e.NewInstance(t, keyType)
	acctest.NewProcess(t, e, nil).Import(i, account+"/"+old.ID).MustSucceed(t)
	e.Plan(t, i, keyOf(account, nil)).MustDo(t, acctest.ActionNone)
	e.Apply(t, i, keyOf(account, acctest.Values{"rotation": map[string]any{"triggers": triggers("1")}})).MustDo(t, acctest.ActionUpdate)
	if mustWork(t, e, i); authenticates(e, old.Value) {
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
