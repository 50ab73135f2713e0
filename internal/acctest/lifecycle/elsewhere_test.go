package lifecycle

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// What was changed elsewhere is changed back, and the next plan is empty.
func TestResource_changedElsewhere(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		if r.IfChanged == "-" {
			return
		}
		least, changed := r.FullOrLeast()
		created := o.In(least)
		_, i := o.Created(t, r.Type, created)
		o.MustApply(t, i.Clone(), o.In(changed))
		o.Apply(t, i, created).MustDo(t, acctest.Action(cmp.Or(r.IfChanged, "update")))
		o.Plan(t, i, created).MustDo(t, acctest.ActionNone)
	})
}

// What was deleted elsewhere is created again, and destroying it succeeds.
func TestResource_deletedElsewhere(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		created := o.In(r.Least)
		_, i := o.Created(t, r.Type, created)
		gone := i.Clone()
		o.MustApply(t, i.Clone(), nil)
		acctest.NewProcess(t, o.Env, nil).Destroy(gone).MustDo(t, acctest.ActionDelete)
		if r.IfDeleted == "-" {
			return
		}
		o.Clock.Advance(time.Hour) // A new session may still be hidden.
		action := acctest.Action(cmp.Or(r.IfDeleted, "create"))
		out := o.Apply(t, i, created)
		out.MustDo(t, action)
		if text := out.WarningText(); action == acctest.ActionCreate && !strings.Contains(text, "not found") && !strings.Contains(text, "is not set") {
			t.Errorf("no warning says that it is gone: %s", out)
		}
		o.Plan(t, i, created).MustDo(t, acctest.ActionNone)
	})
}

// trimmed returns a response without the blanks at the end of its texts.
func trimmed(v any) any {
	switch v := v.(type) {
	case string:
		return strings.TrimRight(v, " ")
	case []any:
		for i := range v {
			v[i] = trimmed(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = trimmed(v[name])
		}
	}
	return v
}

// A text that the service returns without the blanks at its end is the same text: nothing is replaced or updated because of them.
func TestResource_serviceThatTrims(t *testing.T) {
	t.Parallel()
	trims := acctest.Rewrite("/api/v0", "", func(_ *http.Request, body map[string]any) { trimmed(body) })
	for _, r := range specimens.Resources {
		t.Run(r.Title(), func(t *testing.T) {
			t.Parallel()
			o := acctest.NewOrganization(t, acctest.New(t, trims, visibleAtOnce))
			config := o.In(r.Least)
			for _, more := range []specimens.Values{r.FullChanged, r.Full} {
				maps.Copy(config, o.In(more))
			}
			padded := map[string]string{}
			for _, text := range []string{"name", "description", "remote_user", "setup_script"} {
				if given, isSet := config[text].(string); isSet {
					config[text], padded[text] = given+" ", given+" "
				}
			}
			_, i := o.Created(t, r.Type, config)
			o.MustApply(t, i, config).MustDo(t, acctest.ActionNone)
			for text := range padded {
				check.Is(t, text, i.Attribute(text), padded[text])
				config[text] = strings.TrimSpace(padded[text])
			}
			o.Plan(t, i, config).MustDo(t, acctest.ActionNone)
		})
	}
}

// A wrong path in base_url lets each object seem deleted. Nothing may leave the state then.
func TestResource_wrongPathInBaseURL(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		created := o.In(r.Least)
		_, i := o.Created(t, r.Type, created)
		o.Clock.Advance(time.Hour)
		var requests atomic.Int64
		wrong := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"detail": "No such route.", "status": 404, "title": "Not Found"}`)
		}))
		t.Cleanup(wrong.Close)
		for name, run := range map[string]func(*acctest.Process, *acctest.Instance) acctest.Outcome{
			"plan":    func(p *acctest.Process, i *acctest.Instance) acctest.Outcome { return p.Plan(i, created) },
			"apply":   func(p *acctest.Process, i *acctest.Instance) acctest.Outcome { return p.Apply(i, created) },
			"destroy": (*acctest.Process).Destroy,
		} {
			kept := i.Clone()
			requests.Store(0)
			out := run(acctest.NewProcess(t, o.Env, acctest.Values{"base_url": wrong.URL}), kept)
			if name == "destroy" && requests.Load() == 0 {
				continue // What is destroyed is only the state.
			}
			if kept.State.IsNull() || len(out.Errors) == 0 || !strings.Contains(out.Text(), "path") {
				t.Errorf("%s: %s, state %s", name, out.Text(), kept.State)
			}
		}
		o.Plan(t, i, created).MustDo(t, acctest.ActionNone)
	})
}

// ignore_changes = all hands the values in the state to the provider as arguments, also those that the service chose. After the object
// was changed elsewhere, the plan is empty and a destroy works.
func TestAccResource_changedElsewhereAndIgnored(t *testing.T) {
	t.Parallel()
	for _, r := range specimens.Resources {
		if r.IfChanged == "-" {
			continue // See TestAccAPIKey_ignoredExpiry.
		}
		t.Run(r.Title(), func(t *testing.T) {
			t.Parallel()
			o := acctest.NewOrganization(t, acctest.NewRealTime(t, func(o *emulator.Options) {
				o.SessionDelay, o.SessionListDelay, o.Provisioning.Step = -1, -1, time.Millisecond
			}))
			ignored := strings.TrimSuffix(r.Config(o.Fill, r.Least), "}\n") + "lifecycle {\n  ignore_changes = all\n}\n}\n"
			cli := acctest.NewCLI(t, o.Env, ignored)
			cli.MustRun("apply", "-auto-approve", "-input=false")
			state := filepath.Join(cli.Dir, "terraform.tfstate")
			before, err := os.ReadFile(state)
			check.Must(t, err)

			// Another state has the same object.
			cli.Write("main.tf", r.Config(o.Fill, r.Changed))
			cli.MustRun("apply", "-auto-approve", "-input=false")
			check.Must(t, os.WriteFile(state, before, 0o600))

			cli.Write("main.tf", ignored)
			check.Says(t, cli.MustRun("apply", "-auto-approve", "-input=false").Output, "0 added, 0 changed, 0 destroyed")
			cli.MustPlanEmpty()
			cli.MustRun("destroy", "-auto-approve", "-input=false")
		})
	}
}
