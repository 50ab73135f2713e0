// Package guides follows every guide of the documentation to the letter: its configuration, its commands and their order.
package guides

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
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
	return acctest.Rows[record](e, "/api/v0/service-accounts", "serviceAccounts")
}

// live are the keys of all accounts that are not revoked, by name; those in a grace period too.
func live(e *acctest.Env) map[string][]string {
	keys := map[string][]string{}
	for _, account := range accounts(e) {
		for _, key := range acctest.Rows[record](e, "/api/v0/service-accounts/"+account.ID+"/api-keys", "apiKeys") {
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
		check.Is(t, "the method of "+entry.Operation, entry.Method, http.MethodGet)
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

var buildEmulator = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "agentyard-emulator-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "agentyard-emulator")
	return binary, exec.Command("go", "build", "-o", binary, "../../emulator/cmd/agentyard-emulator").Run()
})

// emulatorBinary returns the path of the emulator as a program.
func emulatorBinary(t *testing.T) string {
	t.Helper()
	binary, err := buildEmulator()
	check.Must(t, err)
	return binary
}

// The emulator of the page keeps its objects from one command to the next. The last apply is for the organization.
func gettingStarted(g *reader) {
	g.programs = append(g.programs, emulatorBinary(g.t))
	g.expect(g.step(), "2 added, 0 changed, 0 destroyed", `"agent-2"`)
	g.expect(g.step(), "0 added, 1 changed, 0 destroyed", `"agent-3"`)
	g.expect(g.step(), "2 destroyed")
	g.expect(g.step(), "2 added, 0 changed, 0 destroyed")
	if all := accounts(g.e); len(all) != 1 || all[0].Name != "agents" {
		g.t.Errorf("the accounts of the organization are %v", all)
	}
}

func testingModules(g *reader) {
	g.programs = append(g.programs, emulatorBinary(g.t))
	g.expect(g.step(), "Success! 5 passed, 0 failed.")
	g.expect(g.step(), "ok example.com/team/terratest")
	for _, b := range g.blocks { // They name what TestDockerfile starts.
		for _, want := range []string{"http://emulator:8787", "fk-emulator", "terraform init && terraform test"} {
			if !strings.Contains(b.text, want) {
				g.t.Errorf("%s does not contain %q", b.file, want)
			}
		}
	}
	g.blocks = nil
}

// owners are the names of the accounts that own a computer.
func owners(e *acctest.Env) (names []string) {
	for _, account := range accounts(e) {
		var answer struct{ Computers []record }
		e.API("GET", "/api/v0/computers?serviceAccountId="+account.ID, nil, &answer)
		for range answer.Computers {
			names = append(names, account.Name)
		}
	}
	slices.Sort(names)
	return names
}

// Each team's computer and session belong to its account, and neither a rotation nor another team disturbs them.
func teamsAndKeys(g *reader) {
	g.expect(g.step(), "4 added, 0 changed, 0 destroyed")
	g.expect(g.step(), "4 added, 0 changed, 0 destroyed")
	if all := owners(g.e); !slices.Equal(all, []string{"blue", "red"}) {
		g.t.Errorf("the owners of computers are %v", all)
	}
	if all := sessions(g.e); len(all) > 0 {
		g.t.Errorf("the manager owns sessions: %+v", all)
	}
	const plan = `TF_VAR_keys=$(terraform -chdir=organization output -json keys) terraform -chdir=teams plan -detailed-exitcode`
	g.run(plan)
	g.run(`terraform -chdir=organization apply -replace='agentyard_api_key.team["blue"]'`)
	g.run(plan)

	// The red team leaves.
	page := g.read("teams/main.tf")
	page = strings.Replace(page[:strings.Index(page, `module "red"`)]+page[strings.Index(page, `output "sessions"`):], ", red = module.red.session_id", "", 1)
	g.cli.Write("teams/main.tf", page)
	g.expect(g.run(strings.Replace(plan, "plan -detailed-exitcode", "apply", 1)), "0 added, 0 changed, 2 destroyed")
	g.cli.Write("organization/main.tf", strings.Replace(g.read("organization/main.tf"), `, "red"`, "", 1))
	g.expect(g.run("terraform -chdir=organization apply"), "0 added, 0 changed, 2 destroyed")
	if all := owners(g.e); !slices.Equal(all, []string{"blue"}) {
		g.t.Errorf("the owners of computers are %v", all)
	}
}

// What one manager has applied is the same to another one, and the account's own key works beside it.
func sharingComputers(g *reader) {
	_, colleague, err := g.e.AddHuman(emulator.Human{Email: "colleague@agentyard.example", Role: emulator.RoleManager})
	check.Must(g.t, err)
	g.step()
	g.cli.MustPlanEmpty()
	g.cli.Setenv("AGENTYARD_API_KEY", colleague)
	g.cli.MustPlanEmpty()

	g.step()
	g.run("export AGENTYARD_API_KEY=$(terraform output -raw pipeline_key)\nterraform -chdir=pipeline plan -detailed-exitcode")
	g.cli.MustPlanEmpty()
	g.run("AGENTYARD_API_KEY=$(terraform output -raw pipeline_key) terraform -chdir=pipeline destroy\nterraform destroy")
}

// A computer of a person's own moves under the service account with the steps of the guide.
func TestAccGuide_movingComputers(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quick)
	config := func(more string) string {
		return "resource \"agentyard_service_account\" \"team\" {\n  name = \"team\"\n}\nresource \"agentyard_computer\" \"moved\" {\n  name = \"build-1\"\n" + more + "}\n"
	}
	cli := acctest.NewCLI(t, e, config(""))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", config("  service_account_id = agentyard_service_account.team.id\n  lifecycle {\n    create_before_destroy = true\n  }\n"))
	check.Says(t, cli.MustRun("plan", "-input=false", "-out=plan").Output, "Plan: 1 to add, 0 to change, 1 to destroy.")
	cli.MustRun("apply", "-input=false", "plan")
	cli.MustPlanEmpty()
}

// The host ID is set in place, once.
func registeredMachines(g *reader) {
	g.expect(g.step(), "1 added, 0 changed, 0 destroyed")
	g.cli.MustPlanEmpty()
	g.expect(g.step(), "0 added, 1 changed, 0 destroyed")
	if out := g.run("terraform plan -var host_id=9b4e28ba-2fa1-41d2-883f-0016d3cca427"); !strings.Contains(out, "must be replaced") {
		g.t.Errorf("another host ID: %s", out)
	}
	g.expect(g.step(), `"active"`, `"wss://`, `/client"`)
	g.cli.MustPlanEmpty()
	g.run("terraform destroy")
}

// The lock file keeps the version until init runs with -upgrade.
func upgrading(g *reader) {
	g.cli.Setenv("TF_CLI_CONFIG_FILE", acctest.Mirror(g.t, "0.1.0", "0.2.0"))
	g.expect(g.step(), "agentyard v0.1.0", "1 added")
	g.expect(g.step(), "agentyard v0.2.0", "No changes.")
	if lock := g.read(".terraform.lock.hcl"); !strings.Contains(lock, `"0.2.0"`) {
		g.t.Errorf("the lock file is\n%s", lock)
	}
}
