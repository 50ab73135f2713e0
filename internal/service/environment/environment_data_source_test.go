package environment_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

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

func dataStep(hcl string, checks ...statecheck.StateCheck) resource.TestStep {
	return resource.TestStep{Config: hcl, ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: checks}
}

func dataError(hcl, want string) resource.TestStep {
	return resource.TestStep{Config: hcl, PlanOnly: true, ExpectError: regexp.MustCompile(want)}
}

// known checks the attributes of a data source.
func known(address string, want map[string]knownvalue.Check) []statecheck.StateCheck {
	var checks []statecheck.StateCheck
	for name, check := range want {
		checks = append(checks, statecheck.ExpectKnownValue("data."+address, tfjsonpath.New(name), check))
	}
	return checks
}

func text(s string) knownvalue.Check { return knownvalue.StringExact(s) }

func object(fields map[string]knownvalue.Check) knownvalue.Check {
	return knownvalue.ObjectExact(fields)
}

func listOf(items ...knownvalue.Check) knownvalue.Check { return knownvalue.ListExact(items) }

var (
	null = knownvalue.Null()
	yes  = knownvalue.Bool(true)
	no   = knownvalue.Bool(false)
)

// standIn starts standInURL, and returns a function that adds a provider block for it.
func standIn(t *testing.T, answers map[string]string) func(hcl string) string {
	t.Helper()
	address := acctest.StandIn(t, answers)
	return func(hcl string) string { return acctest.ConfigAt(address, "fk-x", hcl) }
}

// plainUser returns a function that adds a provider block with the API key of a member without the Manager role.
func plainUser(t *testing.T, e *acctest.Env) func(hcl string) string {
	t.Helper()
	key := userKey(t, e)
	return func(hcl string) string { return acctest.ConfigAt(e.URL(), key, hcl) }
}

func repositoryIs(script string) knownvalue.Check {
	return listOf(object(map[string]knownvalue.Check{"url": text("https://git.example/acme/app.git"), "script": text(script)}))
}

var baseSource = object(map[string]knownvalue.Check{
	"id": text("source-base"), "name": text("Base image"), "supports_repositories": yes, "supports_setup_scripts": yes, "unavailable": no,
	"provider": object(map[string]knownvalue.Check{"id": text("provider-a"), "name": text("Provider A")}),
})

func TestAccEnvironmentDataSource_everyAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	made := makeEnvironment(e, "a b/../c", "organization")
	makeEnvironment(e, "other", "user")
	hcl := e.Config(`
data "agentyard_environment" "by_id" {
  id = "` + made.ID + `"
}
data "agentyard_environment" "by_name" {
  name = "a b/../c"
}`)
	both := func(want map[string]knownvalue.Check) []statecheck.StateCheck {
		return append(known("agentyard_environment.by_id", want), known("agentyard_environment.by_name", want)...)
	}
	build := func(id string, other map[string]knownvalue.Check) knownvalue.Check {
		fields := map[string]knownvalue.Check{
			"id": text(id), "status": text("queued"), "trigger": text("create"), "repositories": null, "failure_reason": null, "failure_category": null, "excerpt": null,
			"truncated": no, "withheld": no, "created_at": text("2026-03-01T12:00:00Z"), "started_at": null, "finished_at": null, "promoted_at": null,
		}
		maps.Copy(fields, other)
		return object(fields)
	}
	built := listOf(object(map[string]knownvalue.Check{
		"url": text("https://git.example/acme/app.git"), "name": text("app"), "default_branch": text("main"), "commit_sha": knownvalue.StringRegexp(regexp.MustCompile("^[0-9a-f]{40}$")),
	}))
	// At first, no build is active.
	e.Run(t, dataStep(hcl, both(map[string]knownvalue.Check{
		"id": text(made.ID), "name": text("a b/../c"), "scope": text("organization"), "repositories": repositoryIs("make"), "active_repositories": null, "setup_script": null,
		"source": baseSource, "active_source": null, "status": text("building"), "is_default": no, "latest_build": build(made.BuildID, nil),
		"last_successful_build_at": null, "failure_reason": null, "created_at": text("2026-03-01T12:00:00Z"), "updated_at": text("2026-03-01T12:00:00Z"),
	})...))

	// After the first build succeeds, its inputs stay active even if the next build fails.
	e.Clock.Advance(buildTime)
	e.API(http.MethodPut, environmentsRoute+"/default", map[string]any{"environmentId": made.ID}, nil)
	e.Run(t, dataStep(hcl, both(map[string]knownvalue.Check{
		"status": text("ready"), "is_default": yes, "active_repositories": repositoryIs("make"), "active_source": baseSource, "last_successful_build_at": text("2026-03-01T12:00:06Z"),
		"latest_build": build(made.BuildID, map[string]knownvalue.Check{
			"status": text("succeeded"), "repositories": built, "started_at": text("2026-03-01T12:00:02Z"), "finished_at": text("2026-03-01T12:00:06Z"), "promoted_at": text("2026-03-01T12:00:06Z"),
		}),
	})...))

	failBuild(t, e, emulator.BuildFailure{Category: "validation", Reason: "The tests failed.", Excerpt: "1 of 2 failed"})
	var edited madeEnvironment
	e.API(http.MethodPatch, environmentsRoute+"/"+made.ID, map[string]any{"repositories": appRepository("make test"), "setupScript": "apt-get update"}, &edited)
	e.Clock.Advance(buildTime)
	e.Run(t, dataStep(hcl, both(map[string]knownvalue.Check{
		"status": text("failed"), "failure_reason": text("The tests failed."), "repositories": repositoryIs("make test"), "active_repositories": repositoryIs("make"),
		"setup_script": text("apt-get update"), "active_source": baseSource, "last_successful_build_at": text("2026-03-01T12:00:06Z"), "updated_at": text("2026-03-01T12:01:00Z"),
		"latest_build": build(edited.BuildID, map[string]knownvalue.Check{
			"status": text("failed"), "trigger": text("edit"), "repositories": built, "failure_category": text("validation"), "failure_reason": text("The tests failed."), "excerpt": text("1 of 2 failed"),
			"created_at": text("2026-03-01T12:01:00Z"), "started_at": text("2026-03-01T12:01:02Z"), "finished_at": text("2026-03-01T12:01:04Z"),
		}),
	})...))

	// Environments of other users are not found.
	others := plainUser(t, e)
	e.Run(t,
		dataStep(others(`data "agentyard_environment" "x" { name = "a b/../c" }`), known("agentyard_environment.x", map[string]knownvalue.Check{"id": text(made.ID)})...),
		dataError(others(`data "agentyard_environment" "x" { name = "other" }`), `Environment Not Found`),
	)
}

func TestAccEnvironmentDataSource_twoOfTheSameName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	own, shared := makeEnvironment(e, "app", "user"), makeEnvironment(e, "app", "organization")
	listed := []string{own.ID + ` \(scope user\)`, shared.ID + ` \(scope organization\)`}
	slices.Sort(listed)
	wrapping := regexp.MustCompile(`[ ,]+`)
	e.Run(t,
		dataError(e.Config(`data "agentyard_environment" "x" { name = "app" }`),
			`Environment Is Ambiguous(.|\n)*2\s+environments\s+are\s+named\s+"app":\s+`+wrapping.ReplaceAllString(listed[0]+", "+listed[1], `[\s,]+`)+`(.|\n)*Set\s+id\s+instead`),
		dataStep(e.Config(`data "agentyard_environment" "x" { id = "`+own.ID+`" }`), known("agentyard_environment.x", map[string]knownvalue.Check{"scope": text("user")})...),
	)
	without := standIn(t, map[string]string{environmentsRoute: `[{"id":"env_2","name":"app","repositories":[]},{"id":"env_1","name":"app","repositories":[]}]`})
	e.Run(t, dataError(without(`data "agentyard_environment" "x" { name = "app" }`), `Environment Is Ambiguous(.|\n)*"app":\s+env_1,\s+env_2\.`))
}

func TestAccEnvironmentDataSource_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	makeEnvironment(e, "app", "user")
	for hcl, want := range map[string]string{
		`data "agentyard_environment" "x" {}`:                                                       `Exactly one of these attributes must be configured: \[id,name\]|Missing Attribute Configuration`,
		"data \"agentyard_environment\" \"x\" {\n  id   = \"a\"\n  name = \"b\"\n}":                 `Exactly one of these attributes must be configured|Invalid Attribute Combination`,
		`data "agentyard_environment" "x" { id = "" }`:                                              `id\s+must\s+not\s+be\s+empty`,
		`data "agentyard_environment" "x" { name = "" }`:                                            `name\s+must\s+not\s+be\s+empty`,
		fmt.Sprintf("data \"agentyard_environment\" \"x\" { name = %q }", strings.Repeat("n", 129)): `Environment Not Found`,
		`data "agentyard_environment" "x" { id = "env_unknown" }`:                                   `id\s*=\s*"env_unknown"(.|\n)*Environment\s+"env_unknown"\s+was\s+not\s+found`,
		`data "agentyard_environment" "x" { name = "App" }`:                                         `name\s*=\s*"App"(.|\n)*No\s+environment\s+named(.|\n)*case`,
		`data "agentyard_environment" "x" { id = ".." }`:                                            `Cannot read environment(.|\n)*cannot\s+be\s+part`,
	} {
		e.Run(t, dataError(e.Config(hcl), want))
	}
	e.Run(t, dataError(acctest.ConfigAt(e.URL(), "fk-wrong", `data "agentyard_environment" "x" { name = "app" }`), `Cannot read environment(.|\n)*listEnvironments(.|\n)*401(.|\n)*AGENTYARD_API_KEY`))
	e.Faults().Add(emulator.Fault{Operation: "listEnvironments", Kind: emulator.FaultStatusBeforeCommit, Status: 402, Times: -1})
	e.Run(t, dataError(e.Config(`data "agentyard_environment" "x" { name = "app" }`), `Cannot read environment(.|\n)*listEnvironments(.|\n)*402(.|\n)*Upgrade\s+the\s+plan`))
	// A failed environment is found in the list and then read by ID, which may fail too.
	e.Faults().Clear()
	makeFailed(t, e, "broken", emulator.BuildFailure{})
	e.Faults().Add(emulator.Fault{Operation: "getEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: 403, Times: -1})
	e.Run(t, dataError(e.Config(`data "agentyard_environment" "x" { name = "broken" }`), `Cannot read environment(.|\n)*getEnvironment(.|\n)*403`))
}

// A service account's environments are found by ID and by name, with one listing.
func TestEnvironmentDataSource_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var account struct{ ID string }
	e.API(http.MethodPost, "/api/v0/service-accounts", map[string]any{"name": "robots"}, &account)
	var minted struct{ APIKey struct{ Value string } }
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account.ID+"/api-keys", map[string]any{"name": "ci"}, &minted)
	var made madeEnvironment
	if status, body := e.TryWithKey(minted.APIKey.Value, http.MethodPost, environmentsRoute, map[string]any{"name": "dev", "scope": "user", "repositories": appRepository("make")}); status != http.StatusCreated {
		t.Fatalf("%d %s", status, body)
	} else if err := json.Unmarshal(body, &made); err != nil {
		t.Fatal(err)
	}
	shared := makeEnvironment(e, "shared", "organization")
	p := acctest.NewProcess(t, e, nil)
	e.Journal().Reset()
	for want, by := range map[string]acctest.Values{made.ID: {"name": "dev"}, shared.ID: {"id": shared.ID}} {
		by["service_account_id"] = account.ID
		if found, out := p.ReadData(environmentType, by); len(out.Errors) > 0 || !found["id"].Equal(tftypes.NewValue(tftypes.String, want)) {
			t.Errorf("%v: %s", by, out)
		}
	}
	e.WantRequests(t, "listEnvironments", 1)
	_, out := p.ReadData(environmentType, acctest.Values{"name": "dev"})
	out.MustFail(t, "name", "No environment named")
	_, out = p.ReadData(environmentType, acctest.Values{"id": made.ID})
	out.MustFail(t, "id", "If its owner is a service account, set service_account_id")
	_, out = p.ReadData(environmentType, acctest.Values{"id": "env_none", "service_account_id": account.ID})
	out.MustFail(t, "id", "Check the ID. Also check service_account_id.")
	_, out = p.ReadData(environmentType, acctest.Values{"name": "dev", "service_account_id": "sa_none"})
	out.MustFail(t, "", "listEnvironments", "sa_none")
}
