package environment_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Responses without optional fields lead to the same result.
func TestEnvironment_answersOfAnotherShape(t *testing.T) {
	t.Parallel()
	const (
		least = `{"id":"ID","name":"dev","repositories":[{"url":"https://git.example/acme/app","script":"make"}],"source":{"id":"source-base","name":"Base image","supportsRepositories":true,"supportsSetupScripts":true,"provider":{"id":"p","name":"P"}},"createdAt":1,"updatedAt":1}`
		other = `{"id":"env_other","buildId":"bld_other"}`
	)
	for name, tc := range map[string]struct {
		operation, body string
		times           int
		fails           string // Empty if the apply succeeds.
	}{
		"a creation without anything":      {operation: "createEnvironment", body: `{}`},
		"an update without a build":        {operation: "updateEnvironment", body: `{"id":"ID"}`},
		"an update of another environment": {operation: "updateEnvironment", body: other, fails: "env_other instead of"},
		"a build without anything":         {operation: "createEnvironmentBuild", body: ``},
		"statuses without any":             {operation: "getEnvironmentBuildStatuses", body: `{"builds":[]}`, times: -1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			p := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0})
			i := p.NewInstance(environmentType)
			config := envValues(acctest.Values{"scope": "organization"})
			action := acctest.ActionCreate
			if tc.operation != "createEnvironment" {
				p.Apply(i, config).MustDo(t, action)
				action, config["make_organization_default"] = "update", true
				if tc.operation == "createEnvironmentBuild" {
					failBuild(t, e, emulator.BuildFailure{})
					e.API(http.MethodPost, environmentsRoute+"/"+i.ID()+"/builds", nil, nil)
					e.Clock.Advance(buildTime)
					p = acctest.NewProcess(t, e, acctest.Values{"max_retries": 0})
				} else {
					config["setup_script"] = "make"
				}
			}
			body := strings.NewReplacer("ID", i.ID(), "BUILD", latestOf(e)).Replace(tc.body)
			e.Faults().Add(emulator.Fault{Operation: tc.operation, Kind: emulator.FaultOtherResponse, Body: body, Times: tc.times})
			out := p.Apply(i, config)
			if len(out.Errors) > 0 != (tc.fails != "") || !strings.Contains(out.Text(), tc.fails) {
				t.Fatalf("want %q: %s", tc.fails, out.Text())
			}
			e.Faults().Clear()
			if tc.fails != "" {
				e.Clock.Advance(buildTime)
				e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
			}
			mustRest(t, e, i, config)
			if got := onlyEnv(t, e); action == "update" && !got.IsDefault {
				t.Errorf("%+v", got)
			}
		})
	}
}

// A rebuild whose response names no build does not read the earlier failure as its own.
func TestEnvironment_rebuildWhoseBuildIsNotNamed(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := envValues(nil)
	_, i := e.Created(t, environmentType, config)
	failBuild(t, e, emulator.BuildFailure{})
	rebuilt(t, e, buildTime)
	failed := strings.NewReplacer("ID", i.ID(), "BEFORE", latestOf(e)).Replace(`{"builds":[{"environmentId":"ID","environmentStatus":"failed","latestBuild":{"id":"BEFORE","status":"failed","truncated":false,"withheld":false}}]}`)
	e.Faults().Add(emulator.Fault{Operation: "createEnvironmentBuild", Kind: emulator.FaultOtherResponse, Status: http.StatusOK, Body: `{}`})
	e.Faults().Add(emulator.Fault{Operation: "getEnvironmentBuildStatuses", Kind: emulator.FaultOtherResponse, Body: failed})
	if out := e.MustApply(t, i, config); out.Action != acctest.ActionUpdate || i.Attribute("status") != "ready" {
		t.Errorf("%s; the status is %q", out, i.Attribute("status"))
	}
	mustRest(t, e, i, config)
}

// stripped makes the service omit fields from every response about environments.
func stripped(names ...string) acctest.Option {
	return acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := httptest.NewRecorder()
			next.ServeHTTP(answer, r)
			var decoded any
			body := answer.Body.Bytes()
			if strings.HasPrefix(r.URL.Path, environmentsRoute) && json.Unmarshal(body, &decoded) == nil {
				strip(decoded, names)
				body, _ = json.Marshal(decoded)
			}
			maps.Copy(w.Header(), answer.Header())
			w.Header().Del("Content-Length")
			w.WriteHeader(answer.Code)
			_, _ = w.Write(body)
		})
	})
}

func strip(value any, names []string) {
	switch value := value.(type) {
	case map[string]any:
		for _, name := range names {
			delete(value, name)
		}
		for _, inner := range value {
			strip(inner, names)
		}
	case []any:
		for _, inner := range value {
			strip(inner, names)
		}
	}
}

// A scope that the service does not return is adopted after an import, and forces replacement at any other time.
func TestEnvironment_scopeThatTheServiceDoesNotTell(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, stripped("scope"))
	id := builtEnv(e, map[string]any{"scope": "organization"})
	i := e.NewInstance(t, environmentType)
	acctest.NewProcess(t, e, nil).Import(i, id).MustSucceed(t)
	for _, step := range []struct {
		scope  string
		action acctest.Action
	}{{"organization", "update"}, {"user", "replace"}} {
		e.Apply(t, i, envValues(acctest.Values{"scope": step.scope})).MustDo(t, step.action)
		if i.Attribute("scope") != step.scope || (i.ID() == id) != (step.action == "update") {
			t.Errorf("%s: the state is %s", step.scope, i.State)
		}
		mustRest(t, e, i, envValues(acctest.Values{"scope": step.scope}))
	}
}

// A listing does not tell why a build failed, so an environment whose latest build failed is read alone, whether or not it stays
// ready, and whichever others were read.
func TestEnvironment_readyWithAFailedBuild(t *testing.T) {
	t.Parallel()
	var tells atomic.Bool
	ready := func(record map[string]any) {
		if record["status"] != "failed" {
			return
		}
		record["status"] = "ready"
		if !tells.Load() {
			delete(record, "failureReason")
			for _, field := range []string{"failureReason", "failureCategory", "excerpt"} {
				delete(record["latestBuild"].(map[string]any), field)
			}
		}
	}
	e := acctest.New(t, acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, environmentsRoute) {
				next.ServeHTTP(w, r)
				return
			}
			answer, body := httptest.NewRecorder(), map[string]any{}
			next.ServeHTTP(answer, r)
			_ = json.Unmarshal(answer.Body.Bytes(), &body)
			ready(body)
			listed, _ := body["environments"].([]any)
			for _, record := range listed {
				record := record.(map[string]any)
				ready(record)
				delete(record, "failureReason")
				if b, ok := record["latestBuild"].(map[string]any); ok {
					delete(b, "failureReason")
					delete(b, "failureCategory")
					delete(b, "excerpt")
				}
			}
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(answer.Code)
			_ = json.NewEncoder(w).Encode(body)
		})
	}))
	ids := environmentsReady(e, "a", "b")
	failBuild(t, e, emulator.BuildFailure{Reason: "The disk is full.", Excerpt: "no space left"})
	e.API(http.MethodPost, environmentsRoute+"/"+ids[0]+"/builds", nil, nil)
	letBuild(e)
	p := acctest.NewProcess(t, e, nil)
	instances := make([]*acctest.Instance, len(ids))
	for k, id := range ids {
		instances[k] = p.NewInstance(environmentType)
		p.Import(instances[k], id).MustSucceed(t)
	}
	for _, told := range []bool{false, true} {
		tells.Store(told)
		p = acctest.NewProcess(t, e, nil)
		// After two reads, there is a listing. The shortcut is compared with the framework whenever it answers.
		for _, name := range []string{"b", "b", "a", "a"} {
			p.Apply(instances[strings.Index("ab", name)], environmentOf(name, nil)).MustSucceed(t)
		}
		if got := instances[0].Attribute("failure_reason"); (got == "The disk is full.") != told {
			t.Errorf("told %v, and the reason is %q", told, got)
		}
	}
	if p.Answered(environmentType) == 0 {
		t.Error("the shortcut never answered")
	}
}
