package environment_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func appRepository(script string) []map[string]any {
	return []map[string]any{{"url": "https://git.example/acme/app.git", "script": script}}
}

// makeEnvironment creates an environment with one repository. Its build is running.
func makeEnvironment(e *acctest.Env, name, scope string) madeEnvironment {
	var made madeEnvironment
	e.API(http.MethodPost, environmentsRoute, map[string]any{"name": name, "scope": scope, "repositories": appRepository("make")}, &made)
	return made
}

// makeFailed creates an environment with user scope whose build has failed.
func makeFailed(t *testing.T, e *acctest.Env, name string, f emulator.BuildFailure) madeEnvironment {
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
		if is, wanted := commit.ReplaceAllString(fmt.Sprintf("%#v", got[name]), `"SHA"`), fmt.Sprintf("%#v", value); is != wanted {
			t.Errorf("%s %v: %s is\n%s, want\n%s", typeName, config, name, is, wanted)
		}
	}
}

// failsToRead fails the test unless reading a data source has one error, at an attribute, with these parts.
func failsToRead(t *testing.T, e *acctest.Env, settings acctest.Values, typeName string, config acctest.Values, at string, parts ...string) {
	t.Helper()
	e.MustNotRead(t, settings, typeName, config, at, parts...)
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
	var edited madeEnvironment
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
	failsToRead(t, e, others, environmentType, acctest.Values{"name": "other"}, "name", "Environment not found")
}

func TestEnvironmentDataSource_twoOfTheSameName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	own, shared := makeEnvironment(e, "app", "user"), makeEnvironment(e, "app", "organization")
	failsToRead(t, e, nil, environmentType, acctest.Values{"name": "app"}, "name",
		"Environment is ambiguous", `2 environments are named "app": `, own.ID+" (scope user)", shared.ID+" (scope organization)", "Set id instead")
	reads(t, e, nil, environmentType, acctest.Values{"id": own.ID}, map[string]any{"scope": "user"})
}

func TestEnvironmentDataSource_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	makeFailed(t, e, "broken", emulator.BuildFailure{})
	for _, tc := range []struct {
		config acctest.Values
		at     string
		want   []string
	}{
		{acctest.Values{}, "", []string{"Exactly one of these attributes must be configured: [id,name]"}},
		{acctest.Values{"id": "a", "name": "b"}, "id", []string{"Exactly one of these attributes must be configured"}},
		{acctest.Values{"id": "env_unknown"}, "id", []string{`Environment "env_unknown" was not found`}},
		{acctest.Values{"name": "Broken"}, "name", []string{"No environment named", "case"}},
	} {
		failsToRead(t, e, nil, environmentType, tc.config, tc.at, tc.want...)
	}
	// A failed environment is found in the list and then read by ID, which may fail too.
	e.Refuse("getEnvironment", http.StatusForbidden, -1)
	failsToRead(t, e, nil, environmentType, acctest.Values{"name": "broken"}, "", "Cannot read environment", "getEnvironment", "403")
}

// A service account's environments are found by ID and by name, with one listing.
func TestEnvironmentDataSource_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, account := e.ServiceAccountKey()
	var made madeEnvironment
	_, body := e.TryWithKey(key, http.MethodPost, environmentsRoute, map[string]any{"name": "dev", "scope": "user", "repositories": appRepository("make")})
	acctest.Must(t, json.Unmarshal(body, &made))
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
