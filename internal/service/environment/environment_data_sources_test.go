package environment_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func appRepository(script string) []map[string]any {
	return []map[string]any{{"url": "https://git.example/acme/app.git", "script": script}}
}

// makeEnvironment creates an environment with one repository. Its build is running.
func makeEnvironment(e *acctest.Env, name, scope string) acctest.Made {
	return e.Make(environmentsRoute, map[string]any{"name": name, "scope": scope, "repositories": appRepository("make")})
}

// makeFailed creates an environment with user scope whose build has failed.
func makeFailed(t *testing.T, e *acctest.Env, name string, f emulator.BuildFailure) acctest.Made {
	t.Helper()
	f.Name = name
	failBuild(t, e, f)
	made := makeEnvironment(e, name, "user")
	e.Clock.Advance(buildTime)
	return made
}

var commit = regexp.MustCompile(`"[0-9a-f]{40}"`)

// reads fails the test unless a data source has these attributes, among others. A commit is "SHA".
func reads(t *testing.T, e *acctest.Env, settings acctest.Values, typeName string, config acctest.Values, want map[string]any) {
	t.Helper()
	got := e.MustRead(t, settings, typeName, config)
	for name, value := range want {
		check.Is(t, fmt.Sprint(typeName, config, name), commit.ReplaceAllString(fmt.Sprintf("%#v", got[name]), `"SHA"`), fmt.Sprintf("%#v", value))
	}
}

func repositoryIs(script string) []any {
	return []any{map[string]any{"url": "https://git.example/acme/app.git", "script": script}}
}

var baseSource = map[string]any{
	"id": "source-base", "name": "Base image", "supports_repositories": true, "supports_setup_scripts": true, "unavailable": false,
	"provider": map[string]any{"id": "provider-a", "name": "Provider A"},
}

// After the first build succeeds, its inputs stay active even if the next build fails. The name is no part of a path.
func TestEnvironmentDataSource_everyAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	made := makeEnvironment(e, "a b/../c", "organization")
	makeEnvironment(e, "other", "user")
	e.Clock.Advance(buildTime)
	mustDefault(t, e, made.ID)
	failBuild(t, e, emulator.BuildFailure{Category: "validation", Reason: "The tests failed.", Excerpt: "1 of 2 failed"})
	var edited acctest.Made
	e.API(http.MethodPatch, environmentsRoute+"/"+made.ID, map[string]any{"repositories": appRepository("make test"), "setupScript": "apt-get update"}, &edited)
	e.Clock.Advance(buildTime)
	for _, config := range []acctest.Values{{"id": made.ID}, {"name": "a b/../c"}} {
		reads(t, e, nil, environmentType, config, map[string]any{
			"id": made.ID, "name": "a b/../c", "scope": "organization", "is_default": true, "source": baseSource, "created_at": "2026-03-01T12:00:00Z",
			"status": "failed", "failure_reason": "The tests failed.", "repositories": repositoryIs("make test"), "active_repositories": repositoryIs("make"),
			"setup_script": "apt-get update", "active_source": baseSource, "last_successful_build_at": "2026-03-01T12:00:06Z", "updated_at": "2026-03-01T12:01:00Z",
			"latest_build": map[string]any{
				"id": edited.BuildID, "status": "failed", "trigger": "edit", "failure_category": "validation", "failure_reason": "The tests failed.", "excerpt": "1 of 2 failed",
				"repositories": []any{map[string]any{"url": "https://git.example/acme/app.git", "name": "app", "default_branch": "main", "commit_sha": "SHA"}}, "truncated": false, "withheld": false,
				"created_at": "2026-03-01T12:01:00Z", "started_at": "2026-03-01T12:01:02Z", "finished_at": "2026-03-01T12:01:04Z", "promoted_at": nil,
			},
		})
	}
	// Environments of other users are not found.
	others := acctest.Values{"api_key": e.MemberKey("user@people.example", emulator.RoleUser)}
	reads(t, e, others, environmentType, acctest.Values{"name": "a b/../c"}, map[string]any{"id": made.ID})
	e.MustNotRead(t, others, environmentType, acctest.Values{"name": "other"}, "name", "Environment not found")
}

func TestEnvironmentDataSource_twoOfTheSameName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	own, shared := makeEnvironment(e, "app", "user"), makeEnvironment(e, "app", "organization")
	e.MustNotRead(t, nil, environmentType, acctest.Values{"name": "app"}, "name",
		"Environment is ambiguous", `2 environments are named "app": `, own.ID+" (scope user)", shared.ID+" (scope organization)", "Set id instead")
	reads(t, e, nil, environmentType, acctest.Values{"id": own.ID}, map[string]any{"scope": "user"})
}

// A failed environment is found in the list and then read by ID, which may fail too.
func TestEnvironmentDataSource_refused(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	makeFailed(t, e, "broken", emulator.BuildFailure{})
	e.Refuse("getEnvironment", http.StatusForbidden, -1)
	e.MustNotRead(t, nil, environmentType, acctest.Values{"name": "broken"}, "", "Cannot read environment", "getEnvironment", "403")
}

// A service account's environments are found by ID and by name, with one listing.
func TestEnvironmentDataSource_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, account := e.ServiceAccountKey()
	var made acctest.Made
	_, body := e.TryWithKey(key, http.MethodPost, environmentsRoute, map[string]any{"name": "dev", "scope": "user", "repositories": appRepository("make")})
	check.Must(t, json.Unmarshal(body, &made))
	shared := makeEnvironment(e, "shared", "organization")
	p := acctest.NewProcess(t, e, nil)
	e.Journal().Reset()
	for want, by := range map[string]acctest.Values{made.ID: {"name": "dev"}, shared.ID: {"id": shared.ID}} {
		by["service_account_id"] = account
		if found, out := p.ReadData(environmentType, by); len(out.Errors) > 0 || !found["id"].Equal(tftypes.NewValue(tftypes.String, want)) {
			t.Errorf("%v: %s", by, out)
		}
	}
	e.WantRequests(t, "listEnvironments", 1)
	_, out := p.ReadData(environmentType, acctest.Values{"name": "dev"})
	out.MustFail(t, "name", "No environment named")
	_, out = p.ReadData(environmentType, acctest.Values{"id": made.ID})
	out.MustFail(t, "id", "If its owner is a service account, set service_account_id")
	_, out = p.ReadData(environmentType, acctest.Values{"id": "env_none", "service_account_id": account})
	out.MustFail(t, "id", "Check the ID. Also check service_account_id.")
	_, out = p.ReadData(environmentType, acctest.Values{"name": "dev", "service_account_id": "sa_none"})
	out.MustFail(t, "", "listEnvironments", "sa_none")
}

func TestEnvironmentsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const typeName = "agentyard_environments"
	reads(t, e, nil, typeName, nil, map[string]any{"environments": []any{}, "default_environment_id": nil})
	makeEnvironment(e, "zebra", "user")
	app := makeEnvironment(e, "app", "organization")
	makeFailed(t, e, "broken", emulator.BuildFailure{Category: "timeout", Reason: "Too slow.", Excerpt: "step 3"})
	mustDefault(t, e, app.ID)
	_, account := e.ServiceAccountKey()
	e.Journal().Reset()
	// A service account sees the organization's environments and its own.
	for _, tc := range []struct {
		account any
		want    [][]any
	}{
		{nil, [][]any{{"app", "organization", "ready", true, nil}, {"broken", "user", "failed", false, nil}, {"zebra", "user", "ready", false, nil}}},
		{account, [][]any{{"app", "organization", "ready", true, nil}}},
	} {
		got := e.MustRead(t, nil, typeName, acctest.Values{"service_account_id": tc.account})
		listed := [][]any{}
		for _, one := range got["environments"].([]any) {
			one := one.(map[string]any)
			listed = append(listed, []any{one["name"], one["scope"], one["status"], one["is_default"], one["failure_reason"]})
		}
		if !reflect.DeepEqual(listed, tc.want) || got["default_environment_id"] != app.ID {
			t.Errorf("%v: %v", tc.account, got)
		}
	}
	// Reading the reasons of failures would need one request for each environment.
	e.WantRequests(t, "getEnvironment", 0)
}

func TestEnvironmentSourceOptionsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const typeName = "agentyard_environment_source_options"
	source := func(id, name string, repositories, scripts bool) any {
		return map[string]any{"id": id, "name": name, "supports_repositories": repositories, "supports_setup_scripts": scripts}
	}
	a := map[string]any{"id": "provider-a", "name": "Provider A", "sources": []any{
		source("source-bare", "Bare image", false, false), source("source-base", "Base image", true, true), source("source-repositories", "Repositories without scripts", true, false),
	}}
	b := map[string]any{"id": "provider-b", "name": "Provider B"}
	reads(t, e, nil, typeName, nil, map[string]any{"providers": []any{a}, "unavailable_providers": []any{b}})
	check.Must(t, e.SetSourceProvider("provider-b", true))
	b["sources"] = []any{source("source-other", "Other image", true, true)}
	reads(t, e, nil, typeName, nil, map[string]any{"providers": []any{a, b}, "unavailable_providers": []any{}})
	// A response without providers is an error, because otherwise every source would look unknown.
	e.Faults().Add(emulator.Fault{Operation: "getEnvironmentSourceOptions", Kind: emulator.FaultOtherResponse, Body: `{}`})
	e.MustNotRead(t, nil, typeName, nil, "", "Cannot list environment source options", "providers")
}

func TestEnvironmentBuildStatusesDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const typeName = "agentyard_environment_build_statuses"
	is := func(made acctest.Made, status, buildStatus string, excerpt any, truncated, withheld bool) any {
		return map[string]any{
			"environment_id": made.ID, "environment_status": status,
			"latest_build": map[string]any{"id": made.BuildID, "status": buildStatus, "excerpt": excerpt, "truncated": truncated, "withheld": withheld},
		}
	}
	ready := makeEnvironment(e, "ready", "organization")
	long := makeFailed(t, e, "long", emulator.BuildFailure{Excerpt: strings.Repeat("x", 5000)})
	withheld := makeFailed(t, e, "withheld", emulator.BuildFailure{Excerpt: "secret", Withheld: true})
	_, account := e.ServiceAccountKey()

	// Environments that do not exist are omitted, and the others are ordered by ID.
	want := []any{is(ready, "ready", "succeeded", nil, false, false), is(long, "failed", "failed", strings.Repeat("x", 4096), true, false), is(withheld, "failed", "failed", nil, false, true)}
	slices.SortFunc(want, func(a, b any) int {
		return cmp.Compare(a.(map[string]any)["environment_id"].(string), b.(map[string]any)["environment_id"].(string))
	})
	all := []any{"env_unknown", withheld.ID, long.ID, ready.ID}
	reads(t, e, nil, typeName, acctest.Values{"environment_ids": all}, map[string]any{"service_account_id": nil, "builds": want})
	// A service account does not see the user-scope environments of others.
	reads(t, e, nil, typeName, acctest.Values{"environment_ids": all, "service_account_id": account}, map[string]any{"builds": []any{is(ready, "ready", "succeeded", nil, false, false)}})

	reads(t, e, nil, typeName, acctest.Values{"environment_ids": []any{}}, map[string]any{"builds": []any{}}) // Of an organization without environments.
}

const diagnosticsType = "agentyard_environment_build_diagnostics"

func TestEnvironmentBuildDiagnosticsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	// Without a build ID, the latest build is read, and the status is that of the environment.
	are := func(environment string, build any, is, status string, excerpt any, truncated, withheld bool) {
		t.Helper()
		reads(t, e, nil, diagnosticsType, acctest.Values{"environment_id": environment, "build_id": build}, map[string]any{
			"environment_id": environment, "build_id": is, "status": status, "excerpt": excerpt, "truncated": truncated, "withheld": withheld,
		})
	}
	made := makeFailed(t, e, "app", emulator.BuildFailure{Excerpt: strings.Repeat("x", 5000) + "the end"})
	withheld := makeFailed(t, e, "withheld", emulator.BuildFailure{Excerpt: "secret", Withheld: true})
	end := strings.Repeat("x", 4096-len("the end")) + "the end"
	are(made.ID, nil, made.BuildID, "failed", end, true, false)
	are(withheld.ID, nil, withheld.BuildID, "failed", nil, false, true)
	are(withheld.ID, withheld.BuildID, withheld.BuildID, "failed", nil, false, true)
	again := e.Make(environmentsRoute+"/"+made.ID+"/builds", nil)
	are(made.ID, nil, again.BuildID, "building", nil, false, false)
	are(made.ID, again.BuildID, again.BuildID, "queued", nil, false, false)
	are(made.ID, made.BuildID, made.BuildID, "failed", end, true, false)
	e.Clock.Advance(buildTime)
	are(made.ID, nil, again.BuildID, "ready", nil, false, false)
}

func TestEnvironmentBuildDiagnosticsDataSource_unknownBuild(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := makeEnvironment(e, "app", "user").ID
	of := acctest.Values{"environment_id": id, "build_id": "bld_unknown"}
	e.MustNotRead(t, nil, diagnosticsType, of, "environment_id", "getBuildDiagnostics", "404", "or the build was not found")
}
