package environment_test

import (
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	environmentType   = "agentyard_environment"
	environmentsRoute = "/api/v0/environments"

	// buildTime is longer than a build takes on the emulator's clock.
	buildTime = time.Minute
)

// slowBuilds makes builds take half an hour, longer than any pause between requests.
func slowBuilds(o *emulator.Options) { o.BuildPhase = 10 * time.Minute }

type buildJSON struct{ ID, Status, Trigger string }

// environmentJSON contains the fields of an environment that the tests check in the emulator.
type environmentJSON struct {
	ID, Name, Scope, Status string
	IsDefault               bool
	LatestBuild             buildJSON
}

func environmentsOf(e *acctest.Env) []environmentJSON {
	return acctest.Rows[environmentJSON](e, environmentsRoute, "environments")
}

func idsOf(e *acctest.Env) []string { return e.IDs(environmentsRoute, "environments") }

func onlyEnv(t testing.TB, e *acctest.Env) environmentJSON {
	t.Helper()
	return check.Only(t, environmentsOf(e))
}

func latestBuild(e *acctest.Env, id string) buildJSON {
	for _, environment := range environmentsOf(e) {
		if environment.ID == id {
			return environment.LatestBuild
		}
	}
	return buildJSON{}
}

// latestOf returns the ID of the latest build of the only environment.
func latestOf(e *acctest.Env) string { return environmentsOf(e)[0].LatestBuild.ID }

// changesSent returns the requests in the journal that change something.
func changesSent(e *acctest.Env) string {
	var sent []string
	for _, entry := range e.Journal().Entries() {
		if entry.Method != http.MethodGet {
			sent = append(sent, entry.Operation)
		}
	}
	return strings.Join(sent, " ")
}

// newEnv creates an environment outside Terraform and returns its ID. Its build is running.
func newEnv(e *acctest.Env, other map[string]any) string {
	body := map[string]any{"name": "dev", "repositories": []map[string]any{{"url": "https://git.example/acme/app", "script": "make"}}}
	maps.Copy(body, other)
	return e.Make(environmentsRoute, body).ID
}

// builtEnv is newEnv, but the build has succeeded.
func builtEnv(e *acctest.Env, other map[string]any) string {
	id := newEnv(e, other)
	e.Clock.Advance(buildTime)
	return id
}

// environmentsReady creates environments with organization scope whose builds have succeeded.
func environmentsReady(e *acctest.Env, names ...string) []string {
	var ids []string
	for _, name := range names {
		ids = append(ids, newEnv(e, map[string]any{"name": name, "scope": "organization"}))
	}
	letBuild(e)
	return ids
}

// letBuild advances the emulator's clock until every build has ended.
func letBuild(e *acctest.Env) {
	e.API(http.MethodPost, "/_emulator/clock", map[string]any{"advance": buildTime.String()}, nil)
}

// patchEnv updates the only environment outside Terraform.
func patchEnv(t testing.TB, e *acctest.Env, fields map[string]any) {
	t.Helper()
	e.API(http.MethodPatch, environmentsRoute+"/"+onlyEnv(t, e).ID, fields, nil)
}

// rebuilt starts another build of the only environment outside Terraform, and lets it run for some time.
func rebuilt(t testing.TB, e *acctest.Env, runs time.Duration) {
	t.Helper()
	e.API(http.MethodPost, environmentsRoute+"/"+onlyEnv(t, e).ID+"/builds", nil, nil)
	e.Clock.Advance(runs)
}

func failBuild(t testing.TB, e *acctest.Env, f emulator.BuildFailure) {
	t.Helper()
	check.Must(t, e.FailBuild(f))
}

// mustDefault changes the default outside Terraform. An empty ID removes it.
func mustDefault(t testing.TB, e *acctest.Env, id string) {
	t.Helper()
	check.Must(t, e.SetDefaultEnvironment(id))
}

// envValues returns the least configuration, with changed attributes.
func envValues(other acctest.Values) acctest.Values {
	values := acctest.Values{"name": "dev", "repositories": repositories("app", "make")}
	maps.Copy(values, other)
	return values
}

// repositories returns the attribute from pairs of a URL's last part and a script.
func repositories(pairs ...string) (list []any) {
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, map[string]any{"url": "https://git.example/acme/" + pairs[i], "script": pairs[i+1]})
	}
	return list
}

// environmentOf returns an environment with organization scope.
func environmentOf(name string, changes acctest.Values) acctest.Values {
	config := envValues(acctest.Values{"name": name, "scope": "organization"})
	maps.Copy(config, changes)
	return config
}

// mustWarnOnce fails the test unless there is no error, and exactly one warning that contains all parts.
func mustWarnOnce(t testing.TB, out acctest.Outcome, parts ...string) {
	t.Helper()
	if len(out.Errors) > 0 || len(out.Warnings) != 1 {
		t.Errorf("errors %s, warnings %s", out.Text(), out.WarningText())
	}
	check.Says(t, out.WarningText(), parts...)
}

// mustRest fails the test unless the environment is ready and a new run has no changes.
func mustRest(t testing.TB, e *acctest.Env, i *acctest.Instance, config acctest.Values) {
	t.Helper()
	out := e.Plan(t, i, config)
	out.MustDo(t, acctest.ActionNone)
	if got := onlyEnv(t, e); got.Status != "ready" || got.ID != i.ID() || len(out.Warnings) > 0 {
		t.Errorf("%+v, and the plan warns: %s", got, out.WarningText())
	}
}

// atFirstLook calls hit once, at the first poll of a build after arm was called.
func atFirstLook() (option acctest.Option, arm func(hit func())) {
	var armed atomic.Pointer[func()]
	option = acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if !strings.HasSuffix(r.URL.Path, "/build-statuses") {
				return
			}
			if hit := armed.Swap(nil); hit != nil {
				(*hit)()
			}
		})
	})
	return option, func(hit func()) { armed.Store(&hit) }
}
