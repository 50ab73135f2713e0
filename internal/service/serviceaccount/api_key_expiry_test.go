package serviceaccount_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const day = 24 * time.Hour

// Only results that the apply changes are unknown in a plan.
func TestAPIKey_planLeavesOpenWhatChanges(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	i := e.NewInstance(t, keyType)
	created := []string{"created_at", "fingerprint", "id", "key"}
	rotated := []string{"created_at", "fingerprint", "id", "key", "previous_key_id", "rotated_at"}
	rotation := func(values map[string]any) acctest.Values { return acctest.Values{"rotation": values} }
	for n, step := range []struct {
		before  func()
		more    acctest.Values
		unknown []string
	}{
		{nil, nil, created},
		{func() { revokeKey(e, account, i.ID()) }, nil, rotated},
		{nil, rotation(map[string]any{"triggers": triggers("1")}), rotated},
		{nil, rotation(map[string]any{"triggers": triggers("1"), "grace_period_minutes": 5}), nil},
		{nil, rotation(map[string]any{"interval": "10d"}), nil},
		{func() { e.Clock.Advance(10 * day) }, rotation(map[string]any{"interval": "10d"}), append([]string{"next_rotation_at"}, rotated...)},
		{nil, rotation(map[string]any{"interval": "10d", "triggers": triggers("1"), "grace_period_minutes": 5}), append([]string{"next_rotation_at"}, rotated...)},
		{nil, acctest.Values{"expires_in": "30d"}, append([]string{"expires_at"}, rotated...)},
		{nil, nil, rotated},
	} {
		if step.before != nil {
			step.before()
		}
		unknown := e.Plan(t, i, keyOf(account, step.more)).Unknown(t)
		slices.Sort(unknown)
		slices.Sort(step.unknown)
		check.Is(t, fmt.Sprint("known after the apply of step ", n), unknown, step.unknown)
		e.MustApply(t, i, keyOf(account, step.more))
		mustWork(t, e, i)
	}
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
	e.Plan(t, i, config("2")).MustDo(t, acctest.ActionNone)
	check.Is(t, "the expiry", i.Attribute("expires_at"), "2026-05-30T12:00:00Z")
}

// Terraform rejects another expiry than the planned one, and would taint the key. So the response to a creation or rotation does not change it.
func TestAPIKey_configuredExpiryThatTheResponseLacks(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]any{"omitted": nil, "another": acctest.Start.Add(day).UnixMilli()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, acctest.Rewrite("/api/v0/service-accounts/", "", func(r *http.Request, body map[string]any) {
				if key, ok := body["apiKey"].(map[string]any); ok && r.Method == http.MethodPost {
					key["expiresAt"] = at
				}
			}))
			account := newAccount(e, "robots")
			i := e.NewInstance(t, keyType)
			for _, expiry := range []string{"2026-05-30T12:00:00Z", "2026-06-30T12:00:00Z"} {
				config := keyOf(account, acctest.Values{"expires_at": expiry})
				e.MustApply(t, i, config)
				e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
				mustWork(t, e, i)
				check.Is(t, "the expiry", i.Attribute("expires_at"), expiry)
			}
		})
	}
}

// A second rotation within the grace period does not end it. None of the old keys prevents a new one, and a destroy revokes them all.
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
	for _, v := range []string{"4", "5", "6"} {
		e.Apply(t, i, config(v)).MustDo(t, acctest.ActionUpdate)
	}
	revoked := i.ID()
	revokeKey(e, account, revoked)
	e.Apply(t, i, config("6")).MustDo(t, acctest.ActionUpdate)
	check.Is(t, "the live keys", len(liveKeys(e)), 4)
	if previous := i.Attribute("previous_key_id"); previous == revoked {
		t.Error("a revoked key is in its grace period")
	}
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
	another := config("2")
	another["name"] = "another" // A replacement has no grace period.
	e.Plan(t, i, another).MustDo(t, acctest.ActionReplace)
	e.Clock.Advance(9 * time.Minute)
	e.Apply(t, i, config("2")).MustDo(t, acctest.ActionUpdate)
	mustWork(t, e, i)
}

// Terraform plans again during apply. If a saved plan changes the key and does not rotate it, but the key is due meanwhile, the
// apply fails and changes nothing.
func TestAccAPIKey_savedPlan(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	account := newAccount(e, "robots")
	config := func(grace int) string {
		return keyConfig(account, fmt.Sprintf("name = \"ci\"\nrotation = {\n  interval = \"10d\"\n  grace_period_minutes = %d\n}", grace))
	}
	cli := acctest.NewCLI(t, e, config(0))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", config(1))
	cli.MustRun("plan", "-input=false", "-out=saved.plan")
	e.API("POST", "/_emulator/clock", map[string]string{"advance": "240h"}, nil)
	if r := cli.Run("apply", "-input=false", "saved.plan"); r.ExitCode == 0 || !strings.Contains(acctest.OneLine(r.Output), "inconsistent final plan") {
		t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
	}
	e.WantRequests(t, "rotateApiKey", 0)
	cli.MustRun("apply", "-auto-approve", "-input=false")
	e.WantRequests(t, "rotateApiKey", 1)
}

// With ignore_changes, the expiry in the state becomes an argument beside expires_in, so no new key can be planned. The key is left
// alone, and a warning says why, whatever would rotate it.
func TestAccAPIKey_ignoredExpiry(t *testing.T) {
	t.Parallel()
	for ignored, trigger := range map[string]string{"all": "1", "[expires_at]": "2"} {
		t.Run(ignored, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			account := newAccount(e, "robots")
			config := func(trigger string) string {
				return keyConfig(account, fmt.Sprintf("name = \"ci\"\nexpires_in = \"30d\"\nrotation = {\n  before_expiry = \"7d\"\n  triggers = { v = %q }\n}\nlifecycle {\n  ignore_changes = %s\n}", trigger, ignored))
			}
			cli := acctest.NewCLI(t, e, config("1"))
			cli.MustRun("apply", "-auto-approve", "-input=false")
			if cli.Write("main.tf", config(trigger)); trigger == "1" {
				e.API("POST", "/_emulator/clock", map[string]string{"advance": "24d"}, nil) // The key is due.
			}
			check.Says(t, acctest.OneLine(cli.MustRun("apply", "-auto-approve", "-input=false").Output), "API key needs attention", "ignore_changes includes expires_at")
			e.WantRequests(t, "rotateApiKey", 0)
			e.WantRequests(t, "createApiKey", 1)
			cli.MustPlanEmpty()
			cli.MustRun("destroy", "-auto-approve", "-input=false")
		})
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
	mustWork(t, e, i)
	check.Is(t, "the imported key works still", authenticates(e, old.Value), false)
}

// The trigger of a rotation may be known only during the apply, and may turn out to be unchanged.
func TestAPIKey_unknownTrigger(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(v any) acctest.Values {
		return keyOf(account, acctest.Values{"rotation": map[string]any{"triggers": map[string]any{"v": v}}})
	}
	_, i := e.Created(t, keyType, config("1"))
	for rotations, v := range []string{"1", "2"} {
		e.Journal().Reset()
		acctest.NewProcess(t, e, nil).ApplyLater(i, config(tftypes.UnknownValue), config(v)).MustDo(t, acctest.ActionUpdate)
		e.WantRequests(t, "rotateApiKey", rotations)
		mustWork(t, e, i)
	}
}

// An expiry beside expires_in that is known only during the apply may turn out to be null. Only the one that ignore_changes hands back, which
// is known, keeps the key.
func TestAPIKey_unknownExpiryBesideALife(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(v string, expiresAt any) acctest.Values {
		return acctest.Values{"service_account_id": account, "name": "ci", "expires_in": "30d", "expires_at": expiresAt, "rotation": map[string]any{"triggers": triggers(v)}}
	}
	_, i := e.Created(t, keyType, config("1", nil))
	e.Plan(t, i, config("2", tftypes.UnknownValue)).MustBeSilent(t)
}

// An expiry that is known only during the apply may be in the past. A revoked key then remains, as it is.
func TestAPIKey_unknownExpiryThatIsOver(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	config := func(at any) acctest.Values { return keyOf(account, acctest.Values{"expires_at": at}) }
	_, i := e.Created(t, keyType, config("2026-03-02T12:00:00Z"))
	revokeKey(e, account, i.ID())
	e.Clock.Advance(2 * day)
	acctest.NewProcess(t, e, nil).ApplyLater(i, config(tftypes.UnknownValue), config("2026-03-02T12:00:00Z")).MustDo(t, acctest.ActionUpdate)
	if i.State.IsNull() || e.Journal().Count("createApiKey") != 1 {
		t.Errorf("the state is %s", i.State)
	}
}

// The service's time decides about a key, even if this machine's clock is wrong.
func TestAPIKey_anotherClockThanTheServices(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"behind the service": 15 * time.Minute, "ahead of the service": -15 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(o *emulator.Options) { o.Clock = clock.NewAhead(o.Clock, ahead) })
			account := newAccount(e, "robots")
			config := func(v string) acctest.Values {
				return keyOf(account, acctest.Values{"expires_in": "20m", "rotation": map[string]any{"triggers": triggers(v), "grace_period_minutes": 10}})
			}
			_, i := e.Created(t, keyType, config("1"))
			e.Apply(t, i, config("2")).MustDo(t, acctest.ActionUpdate)
			e.Clock.Advance(9 * time.Minute)
			e.Apply(t, i, config("2")).MustDo(t, acctest.ActionNone)
			check.Is(t, "the grace period has ended too early", i.Attribute("previous_key_id") == "", false)
			e.Clock.Advance(time.Minute)
			e.Apply(t, i, config("2")).MustDo(t, acctest.ActionNone)
			check.Is(t, "the previous key", i.Attribute("previous_key_id"), "")
			e.Plan(t, i, config("3")).MustDo(t, acctest.ActionUpdate)
			e.Clock.Advance(10 * time.Minute)
			out := e.Apply(t, i, config("2"))
			out.MustDo(t, acctest.ActionUpdate)
			check.Says(t, out.WarningText(), "it expired on")
			check.Is(t, "the new key works", authenticates(e, i.Attribute("key")), true)

			at := func(left time.Duration) acctest.Values {
				return keyOf(account, acctest.Values{"name": "fixed", "expires_at": e.Now().Add(ahead + left).UTC().Format(time.RFC3339)})
			}
			e.Plan(t, e.NewInstance(t, keyType), at(time.Minute)).MustDo(t, acctest.ActionCreate)
			e.Plan(t, e.NewInstance(t, keyType), at(-time.Minute)).MustFail(t, "expires_at", "Expiry in the past")
		})
	}
}

// If no response has the creation time, only a refresh computes the time of a rotation that was added. The second one has a listing.
func TestAPIKey_dueWithoutACreationTime(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, acctest.Rewrite("/api/v0/service-accounts/", "apiKeys", func(_ *http.Request, key map[string]any) { delete(key, "createdAt") }))
	config := keyOf(newAccount(e, "robots"), acctest.Values{"expires_in": "30d"})
	_, i := e.Created(t, keyType, config)
	config["rotation"] = map[string]any{"before_expiry": "7d"}
	e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
	e.Clock.Advance(24 * day)
	p := acctest.NewProcess(t, e, nil)
	for range 2 {
		p.Plan(i.Clone(), config).MustDo(t, acctest.ActionUpdate)
	}
}

// The time of the next rotation is the service's, too.
func TestAPIKey_dueByTheServicesClock(t *testing.T) {
	t.Parallel()
	for _, ahead := range []time.Duration{15 * time.Minute, -15 * time.Minute} {
		e := acctest.New(t, func(o *emulator.Options) { o.Clock = clock.NewAhead(o.Clock, ahead) })
		account := newAccount(e, "robots")
		config := keyOf(account, acctest.Values{"rotation": map[string]any{"interval": "10d"}})
		_, i := e.Created(t, keyType, config)
		e.Clock.Advance(10*day - time.Minute)
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		e.Clock.Advance(time.Minute)
		e.Plan(t, i, config).MustDo(t, acctest.ActionUpdate)
	}
}
