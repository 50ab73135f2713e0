package wiki_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck/queryfilter"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// dataStep reads a data source and checks one of its attributes.
func dataStep(hcl, address, attribute string, want knownvalue.Check) resource.TestStep {
	return resource.TestStep{
		Config: hcl, ConfigPlanChecks: acctest.ThenEmpty,
		ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue("data."+address, tfjsonpath.New(attribute), want)},
	}
}

// runIs checks a run in a list, with additional fields.
func runIs(id, repoURL string, more map[string]knownvalue.Check) knownvalue.Check {
	fields := map[string]knownvalue.Check{"id": text(id), "repo_url": text(repoURL), "branch": text("main"), "video_overview": null, "page_tree": knownvalue.NotNull()}
	for name, check := range more {
		fields[name] = check
	}
	return knownvalue.ObjectPartial(fields)
}

func listOf(items ...knownvalue.Check) knownvalue.Check { return knownvalue.ListExact(items) }

func TestAccWikiRunDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI, CommitHash: "c0ffee0", SourceSessionID: "session-1"})
	acctest.Must(t, e.SetVideoOverview(id, map[string]any{"z": 1.5, "a": []string{"b"}}))
	hcl := func(id string) string { return fmt.Sprintf("data \"agentyard_wiki_run\" \"x\" {\n  id = %q\n}\n", id) }
	var checks []statecheck.StateCheck
	for name, check := range map[string]knownvalue.Check{
		"id": text(id), "repo_url": text(acmeAPI), "commit_hash": text("c0ffee0"), "branch": text("main"), "created_at": text("2026-03-01T12:00:00Z"), "source_session_id": text("session-1"),
		"video_overview": text(`{"a":["b"],"z":1.5}`), "model_used": knownvalue.ObjectExact(map[string]knownvalue.Check{"id": text("model-a"), "reasoning_effort": text("medium")}),
		"privacy_level": text("organization"), "can_update_privacy": knownvalue.Bool(true), "has_local_changes": knownvalue.Bool(false), "page_count": knownvalue.NotNull(), "owner_user_id": knownvalue.NotNull(),
	} {
		checks = append(checks, statecheck.ExpectKnownValue("data.agentyard_wiki_run.x", tfjsonpath.New(name), check))
	}
	reads(t, e, hcl(id), checks...)
	fails(t, e, "run", acctest.Values{"id": "wiki_unknown"}, "id", "Wiki Run Not Found", "its owner")
	fails(t, e, "run", acctest.Values{"id": ""}, "id", "id must not be blank")
	fails(t, e, "run", acctest.Values{"id": ".."}, "", "cannot be part of a request's path")
	failsWith(t, e, acctest.Values{"api_key": "fk-wrong"}, "run", acctest.Values{"id": id}, "", "Cannot read wiki run", "getWikiRun", "401", "AGENTYARD_API_KEY")
}

func TestAccWikiRunsDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	const hcl, x = `data "agentyard_wiki_runs" "x" {}`, "agentyard_wiki_runs.x"
	e.Run(t, dataStep(e.Config(hcl), x, "wiki_runs", listOf()))
	other := e.MemberKey("robin@acme.example", "")
	web := addRun(t, e, emulator.WikiRun{RepoURL: acmeWeb})
	addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	e.Clock.Advance(time.Minute)
	api := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	hidden := addRun(t, e, emulator.WikiRun{RepoURL: "https://code.example/robin/tools", OwnerEmail: "robin@acme.example", PrivacyLevel: "private"})
	e.Journal().Reset()
	e.Run(t,
		dataStep(e.Config(hcl), x, "wiki_runs", listOf(runIs(api, acmeAPI, nil), runIs(web, acmeWeb, nil))),
		dataStep(acctest.ConfigAt(e.URL(), other, hcl), x, "wiki_runs", listOf(runIs(api, acmeAPI, map[string]knownvalue.Check{"can_update_privacy": knownvalue.Bool(false)}), runIs(web, acmeWeb, nil), runIs(hidden, "https://code.example/robin/tools", nil))),
	)
	if n := len(e.Journal().Entries()); n != e.Journal().Count("listWikiRuns") {
		t.Errorf("more was sent than listings: %+v", e.Journal().Entries())
	}
	switchWikis(t, e, "false")
	fails(t, e, "runs", nil, "", "Cannot list wiki runs", "listWikiRuns", "403", "wikiCloudSync")
}

func TestAccWikiRunHistoryDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	hcl := func(repoURL string) string {
		return fmt.Sprintf("data \"agentyard_wiki_run_history\" \"x\" {\n  repo_url = %q\n}\n", repoURL)
	}
	const x = "agentyard_wiki_run_history.x"
	addRun(t, e, emulator.WikiRun{RepoURL: acmeWeb})
	older := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	e.Clock.Advance(time.Minute)
	newer := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI, PrivacyLevel: "private"})
	both := listOf(runIs(newer, acmeAPI, map[string]knownvalue.Check{"privacy_level": text("private")}), runIs(older, acmeAPI, nil))
	e.Run(t,
		dataStep(e.Config(hcl(acmeAPI)), x, "wiki_runs", both),
		dataStep(e.Config(hcl(strings.ToUpper(acmeAPI)+".git/")), x, "wiki_runs", both),
		dataStep(acctest.ConfigAt(e.URL(), e.MemberKey("robin@acme.example", ""), hcl(acmeAPI)), x, "wiki_runs", listOf(runIs(older, acmeAPI, nil))),
		dataStep(e.Config(hcl("https://code.example/acme/legacy")), x, "wiki_runs", listOf()),
	)
	for _, address := range []string{"acme/api", "https://code.example/acme/api/../web%2f.."} {
		fails(t, e, "run_history", acctest.Values{"repo_url": address}, "repo_url", "repo_url must be the http")
	}
	fails(t, e, "run_history", acctest.Values{"repo_url": "https://code.example/acme/unknown"}, "repo_url", "getWikiHistory", "403", "lists the connected repositories")
}

func runsList(name, arguments, config string) string {
	return fmt.Sprintf("list \"agentyard_wiki_run\" %q {\n  provider = agentyard\n%s\n  config {\n%s\n  }\n}\n", name, arguments, config)
}

func TestAccWikiRunList(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	web := addRun(t, e, emulator.WikiRun{RepoURL: acmeWeb, CommitHash: "facade0"})
	older := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI, CommitHash: "c0ffee0"})
	e.Clock.Advance(time.Minute)
	newer := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI, CommitHash: "c0ffee1"})
	at := func(list string) string { return "agentyard_wiki_run." + list }
	identity := func(id string) map[string]knownvalue.Check { return map[string]knownvalue.Check{"id": text(id)} }
	named := func(list, id, name string) querycheck.QueryResultCheck {
		return querycheck.ExpectResourceDisplayName(at(list), queryfilter.ByResourceIdentity(identity(id)), text(name))
	}
	ofRepository := func(repoURL string) string { return fmt.Sprintf("repo_url = %q", repoURL) }
	query := func(config, want string) resource.TestStep {
		return resource.TestStep{Query: true, Config: config, ExpectError: regexp.MustCompile(want)}
	}
	e.Journal().Reset()
	e.Run(t, resource.TestStep{
		Query:  true,
		Config: e.Config(runsList("plain", "", "") + runsList("all", "include_resource = true", "") + runsList("one", "limit = 1", "") + runsList("api", "", ofRepository(acmeAPI)) + runsList("none", "", ofRepository("https://code.example/acme/legacy"))),
		QueryResultChecks: []querycheck.QueryResultCheck{
			querycheck.ExpectLength(at("plain"), 2), querycheck.ExpectLength(at("one"), 1), querycheck.ExpectLength(at("api"), 2), querycheck.ExpectLength(at("none"), 0),
			querycheck.ExpectIdentity(at("plain"), identity(web)), querycheck.ExpectIdentity(at("plain"), identity(newer)), querycheck.ExpectNoIdentity(at("plain"), identity(older)), querycheck.ExpectIdentity(at("api"), identity(older)),
			named("all", newer, acmeAPI+"@c0ffee1"), named("all", web, acmeWeb+"@facade0"),
			querycheck.ExpectResourceKnownValues(at("all"), queryfilter.ByResourceIdentity(identity(web)), []querycheck.KnownValueCheck{
				{Path: tfjsonpath.New("repo_url"), KnownValue: text(acmeWeb)}, {Path: tfjsonpath.New("pages"), KnownValue: null}, {Path: tfjsonpath.New("triggers"), KnownValue: null},
				{Path: tfjsonpath.New("privacy_level"), KnownValue: text("organization")}, {Path: tfjsonpath.New("page_tree"), KnownValue: null},
			}),
		},
	})
	for _, entry := range e.Journal().Entries() {
		if entry.Operation != "listWikiRuns" && entry.Operation != "getWikiHistory" {
			t.Errorf("%s was sent", entry.Operation)
		}
	}
	e.Run(t,
		query(e.Config(runsList("x", "", `repo_url = "acme/api"`)), `repo_url must be the http`),
		query(e.Config(runsList("x", "", ofRepository("https://code.example/acme/unknown"))), `Cannot list wiki runs(.|\n)*getWikiHistory(.|\n)*403(.|\n)*lists\s+the\s+connected\s+repositories`),
		query(acctest.ConfigAt(e.URL(), "fk-wrong", runsList("x", "", "")), `Cannot list wiki runs(.|\n)*401`),
	)
	switchWikis(t, e, "false")
	e.Run(t, query(e.Config(runsList("x", "", "")), `Cannot list wiki runs(.|\n)*403(.|\n)*wikiCloudSync`))
}

// The configuration that a query generates imports all existing runs.
func TestAccWikiRunList_generatedConfigurationPlansClean(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	const total = 30
	e := acctest.NewRealTime(t)
	for n := range total {
		address := fmt.Sprintf("https://code.example/acme/r%d", n)
		acctest.Must(t, e.ConnectRepository(emulator.Repository{URL: address, DefaultBranch: "main"}))
		body := map[string]any{"repoUrl": address}
		if n%2 == 0 {
			body["pages"] = []map[string]any{{"path": "a/ü.md", "title": "\"${x}\" %{y} <z>", "content": "${HOME}"}, {"path": "b.md", "title": "B\n", "content": ""}}
			body["hasLocalChanges"], body["branch"], body["commitHash"] = true, "feature/${x}", "c0ffee0"
		}
		var made runJSON
		e.API("POST", "/api/v0/wiki", body, &made)
		if n%3 == 0 {
			e.API("POST", "/api/v0/wiki/"+made.ID+"/privacy", map[string]any{"privacyLevel": "private"}, nil)
		}
	}
	cli := acctest.NewCLI(t, e, "")
	cli.Write("wikis.tfquery.hcl", runsList("all", "include_resource = true", ""))
	cli.MustRun("query", "-generate-config-out=generated.tf")
	generated, err := os.ReadFile(filepath.Join(cli.Dir, "generated.tf"))
	acctest.Must(t, err)
	if n := strings.Count(string(generated), "resource \"agentyard_wiki_run\""); n != total {
		t.Fatalf("configuration of %d runs was generated, want %d:\n%s", n, total, generated)
	}
	e.Journal().Reset()
	plan := cli.MustRun("plan", "-input=false", "-out=plan")
	acctest.Says(t, plan.Output, fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.", total))
	cli.MustRun("apply", "-input=false", "plan")
	cli.MustPlanEmpty()
	for _, entry := range e.Journal().Entries() {
		if entry.Method != "GET" {
			t.Errorf("%s was sent", entry.Operation)
		}
	}
}
