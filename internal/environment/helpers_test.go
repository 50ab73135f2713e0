package environment_test

import (
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	environmentType    = "agentyard_environment"
	environmentAddress = environmentType + ".test"
	environmentsRoute  = "/api/v0/environments"

	// buildTime is longer than a build takes by the emulator's clock.
	buildTime = time.Minute
)

// quickBuilds has builds end before anybody looks at them, for tests in real time.
func quickBuilds(o *emulator.Options) { o.BuildPhase = time.Millisecond }

// slowBuilds has builds take half an hour, which no pause between requests lets pass.
func slowBuilds(o *emulator.Options) { o.BuildPhase = 10 * time.Minute }

type buildJSON struct{ ID, Status, Trigger string }

// environmentJSON is what the tests look at in the emulator.
type environmentJSON struct {
	ID, Name, Scope, Status string
	IsDefault               bool
	LatestBuild             buildJSON
}

func environmentsOf(e *acctest.Env) []environmentJSON {
	var answer struct{ Environments []environmentJSON }
	e.API(http.MethodGet, environmentsRoute, nil, &answer)
	return answer.Environments
}

func idsOf(e *acctest.Env) []string {
	var ids []string
	for _, found := range environmentsOf(e) {
		ids = append(ids, found.ID)
	}
	return ids
}

func onlyEnv(t testing.TB, e *acctest.Env) environmentJSON {
	t.Helper()
	all := environmentsOf(e)
	if len(all) != 1 {
		t.Fatalf("the emulator holds %d environments, want 1: %+v", len(all), all)
	}
	return all[0]
}

func latestBuild(e *acctest.Env, id string) buildJSON {
	for _, environment := range environmentsOf(e) {
		if environment.ID == id {
			return environment.LatestBuild
		}
	}
	return buildJSON{}
}

// latestOf is the ID of the latest build of the only environment.
func latestOf(e *acctest.Env) string {
	all := environmentsOf(e)
	if len(all) != 1 {
		return ""
	}
	return all[0].LatestBuild.ID
}

// changesSent are the requests of the journal that change something.
func changesSent(e *acctest.Env) string {
	var sent []string
	for _, entry := range e.Journal().Entries() {
		if entry.Method != http.MethodGet {
			sent = append(sent, entry.Operation)
		}
	}
	return strings.Join(sent, " ")
}

// madeEnvironment is the answer to what started a build.
type madeEnvironment struct {
	ID      string `json:"id"`
	BuildID string `json:"buildId"`
}

// newEnv creates an environment as somebody else and returns its ID. Its build runs.
func newEnv(e *acctest.Env, other map[string]any) string {
	body := map[string]any{"name": "dev", "repositories": []map[string]any{{"url": "https://git.example/acme/app", "script": "make"}}}
	maps.Copy(body, other)
	var made madeEnvironment
	e.API(http.MethodPost, environmentsRoute, body, &made)
	return made.ID
}

// builtEnv is newEnv whose build has succeeded.
func builtEnv(e *acctest.Env, other map[string]any) string {
	id := newEnv(e, other)
	e.Clock.Advance(buildTime)
	return id
}

// environmentsReady creates environments of the organization whose builds have succeeded.
func environmentsReady(e *acctest.Env, names ...string) []string {
	var ids []string
	for _, name := range names {
		ids = append(ids, newEnv(e, map[string]any{"name": name, "scope": "organization"}))
	}
	letBuild(e)
	return ids
}

// letBuild moves the emulator's time to where every build has ended.
func letBuild(e *acctest.Env) {
	e.API(http.MethodPost, "/_emulator/clock", map[string]any{"advance": buildTime.String()}, nil)
}

// patchEnv changes the only environment as somebody else.
func patchEnv(t testing.TB, e *acctest.Env, fields map[string]any) {
	t.Helper()
	e.API(http.MethodPatch, environmentsRoute+"/"+onlyEnv(t, e).ID, fields, nil)
}

// rebuilt starts another build of the only environment, as somebody else would, and lets it run for a while.
func rebuilt(t testing.TB, e *acctest.Env, runs time.Duration) {
	t.Helper()
	e.API(http.MethodPost, environmentsRoute+"/"+onlyEnv(t, e).ID+"/builds", nil, nil)
	e.Clock.Advance(runs)
}

func failBuild(t testing.TB, e *acctest.Env, f emulator.BuildFailure) {
	t.Helper()
	if err := e.FailBuild(f); err != nil {
		t.Fatal(err)
	}
}

// mustDefault changes the default behind Terraform's back; empty leaves none.
func mustDefault(t testing.TB, e *acctest.Env, id string) {
	t.Helper()
	if err := e.SetDefaultEnvironment(id); err != nil {
		t.Fatal(err)
	}
}

// refuse has the service answer requests of an operation with a status: one of them, or all if times is -1.
func refuse(e *acctest.Env, operation string, status, times int) {
	e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: status, Times: times})
}

// userKey is the API key of a human who manages nothing.
func userKey(t testing.TB, e *acctest.Env) string {
	t.Helper()
	_, key, err := e.AddHuman(emulator.Human{Email: "user@people.example", Role: emulator.RoleUser})
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// envRepos is the attribute repositories, of pairs of a URL's last part and a script.
func envRepos(pairs ...string) string {
	var list strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&list, "  { url = \"https://git.example/acme/%s\", script = %q },\n", pairs[i], pairs[i+1])
	}
	return "repositories = [\n" + list.String() + "]\n"
}

// envConfig is the environment of the tests: further attributes after its least ones, or in place of them.
func envConfig(more string) string {
	least := ""
	if !strings.Contains(more, "name ") {
		least += "name = \"dev\"\n"
	}
	if !strings.Contains(more, "repositories ") {
		least += envRepos("app", "make")
	}
	return "resource \"agentyard_environment\" \"test\" {\n" + least + more + "\n}\n"
}

// envValues is envConfig for the driver in process, with other attributes than usual.
func envValues(other acctest.Values) acctest.Values {
	values := acctest.Values{"name": "dev", "repositories": repositories("app", "make")}
	maps.Copy(values, other)
	return values
}

// repositories is the attribute, of pairs of a URL's last part and a script.
func repositories(pairs ...string) (list []any) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]any{"url": "https://git.example/acme/" + pairs[i], "script": pairs[i+1]})
	}
	return list
}

// environmentOf is an environment of the organization.
func environmentOf(name string, changes acctest.Values) acctest.Values {
	config := envValues(acctest.Values{"name": name, "scope": "organization"})
	maps.Copy(config, changes)
	return config
}

func newInstance(t testing.TB, e *acctest.Env) *acctest.Instance {
	t.Helper()
	return acctest.NewProcess(t, e, nil).NewInstance(environmentType)
}

// apply applies in a process of its own, as each run of Terraform does.
func apply(t testing.TB, e *acctest.Env, i *acctest.Instance, config acctest.Values) acctest.Outcome {
	t.Helper()
	return acctest.NewProcess(t, e, nil).Apply(i, config)
}

func mustApply(t testing.TB, e *acctest.Env, i *acctest.Instance, config acctest.Values) acctest.Outcome {
	t.Helper()
	out := apply(t, e, i, config)
	if len(out.Errors) > 0 {
		t.Fatal(out)
	}
	return out
}

func plan(t testing.TB, e *acctest.Env, i *acctest.Instance, config acctest.Values) acctest.Outcome {
	t.Helper()
	return acctest.NewProcess(t, e, nil).Plan(i, config)
}

// created returns an environment that has been created in the process p.
func created(t testing.TB, e *acctest.Env, config acctest.Values) (p *acctest.Process, i *acctest.Instance) {
	t.Helper()
	p = acctest.NewProcess(t, e, nil)
	i = p.NewInstance(environmentType)
	mustDo(t, p.Apply(i, config), "create")
	return p, i
}

// mustDo fails the test unless a configuration was applied or planned without an error, as the given action.
func mustDo(t testing.TB, out acctest.Outcome, action string) {
	t.Helper()
	if len(out.Errors) > 0 || out.Action != action {
		t.Fatalf("%q, want %q; %s", out.Action, action, out.Text())
	}
}

// warnings are the texts of an outcome's warnings.
func warnings(out acctest.Outcome) string {
	var all []string
	for _, d := range out.Warnings {
		all = append(all, d.Summary+": "+d.Detail)
	}
	return strings.Join(all, "\n")
}

// attribute is a top-level attribute in the form of mustFail.
func attribute(name string) string { return fmt.Sprintf("AttributeName(%q)", name) }

// mustFail fails the test unless there is one error, at an attribute ("" for none), that says every part.
func mustFail(t testing.TB, out acctest.Outcome, at string, parts ...string) {
	t.Helper()
	if len(out.Errors) != 1 {
		t.Fatalf("%d errors: %s", len(out.Errors), out.Text())
	}
	got := ""
	if out.Errors[0].Attribute != nil {
		got = out.Errors[0].Attribute.String()
	}
	if got != at {
		t.Errorf("the error is at %q, want %q: %s", got, at, out.Text())
	}
	if !containsAll(out.Text(), parts...) {
		t.Errorf("not all of %q in: %s", parts, out.Text())
	}
}

func mustWarn(t testing.TB, out acctest.Outcome, parts ...string) {
	t.Helper()
	if !containsAll(warnings(out), parts...) {
		t.Errorf("not all of %q in: %s", parts, warnings(out))
	}
}

// mustWarnOnce fails the test unless there is one warning, and no error, that says every part.
func mustWarnOnce(t testing.TB, out acctest.Outcome, parts ...string) {
	t.Helper()
	if len(out.Errors) > 0 || len(out.Warnings) != 1 {
		t.Errorf("errors %s, warnings %s", out.Text(), warnings(out))
	}
	mustWarn(t, out, parts...)
}

func mustBeSilent(t testing.TB, out acctest.Outcome) {
	t.Helper()
	if len(out.Errors)+len(out.Warnings) > 0 {
		t.Errorf("errors %s, warnings %s", out.Text(), warnings(out))
	}
}

// mustRest fails the test unless the environment is ready and there is nothing to do for a new run.
func mustRest(t testing.TB, e *acctest.Env, i *acctest.Instance, config acctest.Values) {
	t.Helper()
	out := plan(t, e, i, config)
	mustDo(t, out, "none")
	if got := onlyEnv(t, e); got.Status != "ready" || got.ID != i.ID() || len(out.Warnings) > 0 {
		t.Errorf("%+v, and the plan warns: %s", got, warnings(out))
	}
}

func noneLeft(t testing.TB, e *acctest.Env, i *acctest.Instance) {
	t.Helper()
	if left := environmentsOf(e); len(left) > 0 || !i.State.IsNull() {
		t.Errorf("left: %+v, the state: %s", left, i.State)
	}
}

// oneLine is the output of a CLI without frames and line breaks.
func oneLine(output string) string {
	return regexp.MustCompile(`[\s│╷╵]+`).ReplaceAllString(output, " ")
}

func containsAll(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// meanwhile calls do before each request whose method and path start so, with the number of those before.
func meanwhile(request string, do func(n int)) acctest.Option {
	return func(o *emulator.Options) {
		inner := o.Wrap
		var seen atomic.Int64
		o.Wrap = func(next http.Handler) http.Handler {
			if inner != nil {
				next = inner(next)
			}
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.Method+" "+r.URL.Path, request) {
					do(int(seen.Add(1)) - 1)
				}
				next.ServeHTTP(w, r)
			})
		}
	}
}

// atFirstLook has hit called once, when an apply has looked at its build for the first time after arm was called.
func atFirstLook() (option acctest.Option, arm func(hit func())) {
	var mu sync.Mutex
	var armed func()
	option = func(opts *emulator.Options) {
		inner := opts.Wrap
		opts.Wrap = func(next http.Handler) http.Handler {
			if inner != nil {
				next = inner(next)
			}
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				next.ServeHTTP(w, r)
				if !strings.HasSuffix(r.URL.Path, "/build-statuses") {
					return
				}
				mu.Lock()
				hit := armed
				armed = nil
				mu.Unlock()
				if hit != nil {
					hit()
				}
			})
		}
	}
	return option, func(hit func()) {
		mu.Lock()
		defer mu.Unlock()
		armed = hit
	}
}

// together calls do for each number below n, so many at a time.
func together(n, parallelism int, do func(k int)) {
	var running sync.WaitGroup
	slots := make(chan struct{}, parallelism)
	for k := range n {
		slots <- struct{}{}
		running.Go(func() {
			do(k)
			<-slots
		})
	}
	running.Wait()
}
