// Package guides follows every guide of the documentation to the letter: its configuration, its commands and their order.
package guides

import (
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// guides are all guides, and what their tests need besides following them: options of the emulator, a CLI that can run
// the page, and checks between the steps. Without checks, every command must succeed.
var guides = []struct {
	name    string
	options []acctest.Option
	needs   func(*testing.T)
	checks  func(*reader)
}{
	{name: "adopting-an-organization", options: with(quick), checks: adoptingAnOrganization},
	{name: "agent-sessions", options: with(quick, visibleAtOnce), checks: agentSessions},
	{name: "agents-in-a-pipeline", needs: acctest.NeedsTestFiles, checks: agentsInAPipeline},
	{name: "api-key-rotation", checks: apiKeyRotation},
	{name: "api-keys-without-state", needs: acctest.NeedsEphemeral, checks: apiKeysWithoutState},
	{name: "environment-builds", options: with(quick), checks: environmentBuilds},
	{name: "getting-started", options: with(quick), checks: gettingStarted},
	{name: "large-organizations", options: with(quick)},
	{name: "policies", options: with(quick), checks: policies},
	{name: "registered-machines", checks: registeredMachines},
	{name: "sharing-computers", options: with(quick), checks: sharingComputers},
	{name: "spend-governance", options: with(quick), checks: spendGovernance},
	{name: "state-and-ci", options: with(quick), checks: stateAndCI},
	{name: "teams-and-keys", options: with(quick, visibleAtOnce), checks: teamsAndKeys},
	{name: "testing-modules", needs: acctest.NeedsTestFiles, checks: testingModules},
	{name: "troubleshooting", options: with(quick), checks: troubleshooting},
	{name: "upgrading", checks: upgrading},
	{name: "wikis-from-pipelines", checks: wikisFromPipelines},
}

// Each guide is followed from its init to its end, on a machine that has nothing but the CLI and a mirror of the provider.
func TestAccGuides_everyCLI(t *testing.T) {
	t.Parallel()
	for _, guide := range guides {
		t.Run(guide.name, func(t *testing.T) {
			t.Parallel()
			if guide.needs != nil {
				guide.needs(t)
			}
			g := open(t, acctest.NewRealTime(t, append(guide.options, seeded(t, guide.name))...), guide.name)
			if guide.checks != nil {
				guide.checks(g)
			}
			for len(g.blocks) > 0 {
				g.step()
			}
		})
	}
}

var (
	title            = regexp.MustCompile(`(?m)^page_title: "(.*)"$`)
	requiresProvider = regexp.MustCompile(`source\s+= "agentyard/agentyard"`)
	startsWithInit   = regexp.MustCompile(`^(terraform|tofu) (-chdir=\S+ )?init`)
)

// A page has a row, a title that fits the sidebar, and begins with what init needs.
func TestGuides_shape(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob("../../../templates/guides/*.md.tmpl")
	if err != nil || len(pages) != len(guides) {
		t.Fatalf("%d pages and %d guides: %v", len(pages), len(guides), err)
	}
	for _, guide := range guides {
		text := page(t, guide.name)
		if found := title.FindStringSubmatch(text); found == nil || len(found[1]) > 30 {
			t.Errorf("%s: the title is %q", guide.name, found)
		}
		blocks := blocksOf(text)
		config := slices.IndexFunc(blocks, func(b block) bool { return b.language == "terraform" })
		if config < 0 || !requiresProvider.MatchString(blocks[config].text) {
			t.Errorf("%s begins without required_providers", guide.name)
		}
		first := slices.IndexFunc(blocks, func(b block) bool { return b.language == "shell" })
		if first < 0 || !startsWithInit.MatchString(blocks[first].text) {
			t.Errorf("%s: the commands do not begin with init", guide.name)
		}
	}
}

// The first line says how to have a service. The tests of the emulator's command start it so. On other pages, the commands contain the emulator.
func TestGuides_emulator(t *testing.T) {
	t.Parallel()
	for _, guide := range guides {
		text := page(t, guide.name)
		_, file := seedOf(text)
		command := "agentyard-emulator -data agentyard.db"
		if file != "" {
			command += " -seed " + file
		}
		line := "\n\n-> Run this guide with [an emulator](../guides/getting-started#keep-an-emulator-running), started with `" + command +
			"`, or with [your organization](../guides/getting-started#with-your-organization).\n\n"
		if _, after, found := strings.Cut(text, "\n# "); !found || strings.Index(after, line) != strings.IndexByte(after, '\n') {
			if !strings.Contains(text, "\nagentyard-emulator ") || file != "" {
				t.Errorf("%s does not begin with:%s", guide.name, line)
			}
		}
	}
	if text := page(t, "getting-started"); !strings.Contains(text, "\n    agentyard-emulator -data agentyard.db\n") {
		t.Error("getting-started does not start the emulator that the other guides name")
	}
}

func with(options ...acctest.Option) []acctest.Option { return options }

// quick is an emulator whose computers and environments are ready at once.
func quick(o *emulator.Options) {
	o.Provisioning.Step, o.BuildPhase = time.Millisecond, time.Millisecond
}

// visibleAtOnce is an emulator that shows sessions as soon as they exist.
func visibleAtOnce(o *emulator.Options) {
	o.MaxPageSize, o.SessionDelay, o.SessionListDelay = 0, time.Millisecond, time.Millisecond
}

type record struct {
	ID, Name  string
	IsRevoked bool
}

func accounts(e *acctest.Env) []record {
	var answer struct{ ServiceAccounts []record }
	e.API(http.MethodGet, "/api/v0/service-accounts", nil, &answer)
	return answer.ServiceAccounts
}

// live are the keys of all accounts that are not revoked, by name; those in a grace period too.
func live(e *acctest.Env) map[string][]string {
	keys := map[string][]string{}
	for _, account := range accounts(e) {
		var answer struct{ APIKeys []record }
		e.API(http.MethodGet, "/api/v0/service-accounts/"+account.ID+"/api-keys", nil, &answer)
		for _, key := range answer.APIKeys {
			if !key.IsRevoked {
				keys[key.Name] = append(keys[key.Name], key.ID)
				slices.Sort(keys[key.Name])
			}
		}
	}
	return keys
}

// onlyRead demands that nothing was written since the journal was reset.
func onlyRead(t *testing.T, e *acctest.Env) {
	t.Helper()
	for _, entry := range e.Journal().Entries() {
		if entry.Method != http.MethodGet {
			t.Errorf("%s was sent", entry.Operation)
		}
	}
}

func apiKeysWithoutState(g *reader) {
	account := accounts(g.e)[0]
	g.step()
	g.cli.MustPlanEmpty()
	if n := g.e.Journal().Count("createApiKey"); n < 2 {
		g.t.Errorf("%d keys for an apply and a plan", n)
	}
	if left := live(g.e); len(left) > 0 {
		g.t.Errorf("%v live on", left)
	}
	g.step()
	first := g.read("stored/key")
	g.run("terraform -chdir=stored plan -detailed-exitcode")
	g.run("terraform -chdir=stored apply")
	if keys := live(g.e); len(keys) != 1 || len(keys["deploy-v1"]) != 1 || g.read("stored/key") != first {
		g.t.Errorf("the live keys are %v", keys)
	}

	g.step()
	keys := live(g.e)
	if second := g.read("stored/key"); len(keys) != 2 || len(keys["deploy-v2"]) != 1 || second == first || !strings.HasPrefix(second, "fk-") {
		g.t.Errorf("the live keys are %v", keys)
	}
	g.step() // Revokes the first version.
	keys = live(g.e)
	if len(keys) != 1 || len(keys["deploy-v2"]) != 1 {
		g.t.Errorf("the live keys are %v", keys)
	}
	// The store lost the key, and later the key is revoked.
	const again = "terraform -chdir=stored apply -var key_version=2"
	if r := g.cli.Shell(again + " -replace=terraform_data.deploy"); r.ExitCode == 0 || !strings.Contains(r.Output, `Call to function "coalesce" failed`) {
		g.t.Errorf("null was stored: %s", r.Output)
	}
	g.e.API(http.MethodPost, "/api/v0/service-accounts/"+account.ID+"/api-keys/"+keys["deploy-v2"][0]+"/revoke", nil, nil)
	g.cli.Shell(again)
	if keys := live(g.e); len(keys) != 0 {
		g.t.Errorf("a key was created that nothing stores: %v", keys)
	}
	g.run("terraform -chdir=stored apply -var key_version=3")
	if third := live(g.e)["deploy-v3"]; len(third) != 1 {
		g.t.Errorf("the live keys of version 3 are %v", third)
	}
	for _, state := range []string{"terraform.tfstate", "stored/terraform.tfstate"} {
		if strings.Contains(g.read(state), "fk-") {
			g.t.Errorf("a key is in %s", state)
		}
	}
}
