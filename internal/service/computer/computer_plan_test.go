package computer_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// planned returns the lines of a plan that show resources.
func planned(t *testing.T, cli *acctest.CLI) []string {
	t.Helper()
	out := cli.MustRun("plan", "-input=false").Output
	_, actions, found := strings.Cut(out, " will perform the following actions:\n")
	shown, _, ended := strings.Cut(actions, "\nPlan: ")
	if !found || !ended {
		t.Fatalf("no actions in\n%s", out)
	}
	return strings.Split(strings.TrimSpace(shown), "\n")
}

// changes returns the lines that show a change.
func changes(lines []string) []string {
	var marked []string
	for _, line := range lines[1:] {
		if text := strings.TrimSpace(line); strings.HasPrefix(text, "+") || strings.HasPrefix(text, "-") || strings.HasPrefix(text, "~") {
			marked = append(marked, text)
		}
	}
	return marked
}

func TestAccComputer_aRenameShowsTheName(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quickSetUp)
	cli := acctest.NewCLI(t, e, config("name = \"before\"\nrepos = [\"https://git.example/acme/app\"]"))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", config("name = \"after\"\nrepos = [\"https://git.example/acme/app\"]"))
	lines := planned(t, cli)
	t.Logf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	// The resource and its name.
	if got := changes(lines); len(got) != 2 || !strings.Contains(got[1], `"before" -> "after"`) {
		t.Errorf("the plan shows %q", got)
	}
}

// entries returns the names of the computers in a plan, with the sign of each.
func entries(lines []string) []string {
	var names []string
	for _, line := range lines {
		if match := regexp.MustCompile(`^\s*([-+~]) "(web-\d+)"`).FindStringSubmatch(line); match != nil {
			names = append(names, match[1]+match[2])
		}
	}
	return names
}

func TestAccFleet_plansShowOneComputer(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quickSetUp)
	cli := acctest.NewCLI(t, e, fleetConfig(5, ""))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	step := func(quantity, most int, want string) {
		t.Helper()
		cli.Write("main.tf", fleetConfig(quantity, ""))
		lines := planned(t, cli)
		t.Logf("%s: %d lines:\n%s", want, len(lines), strings.Join(lines, "\n"))
		if got := entries(lines); len(lines) > most || !slices.Equal(got, []string{want}) {
			t.Errorf("%d lines show %v, want %s in %d", len(lines), got, want, most)
		}
		cli.MustRun("apply", "-auto-approve", "-input=false")
		cli.MustPlanEmpty()
	}
	step(6, 25, "+web-6")
	step(5, 25, "-web-6")
	for _, c := range computers(e) {
		if c.Name == "web-2" {
			e.API("DELETE", "/api/v0/computers/"+c.ID, nil, nil)
		}
	}
	step(5, 25, "~web-2")

	out := cli.MustRun("destroy", "-auto-approve", "-input=false").Output
	plan, _, _ := strings.Cut(out, "Plan: ")
	lines := strings.Split(plan, "\n")
	t.Logf("destroy: %d lines:\n%s", len(lines), plan)
	if got := entries(lines); len(lines) > 80 || len(got) != 5 {
		t.Errorf("%d lines show %v", len(lines), got)
	}
}

func TestAccFleet_forEachInTheFirstPlan(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quickSetUp)
	config := func(quantity int, more string) string {
		return fleetConfig(quantity, more) + `
resource "terraform_data" "on" {
  for_each = agentyard_computer_fleet.test.computers
  input    = each.value.id
}
`
	}
	cli := acctest.NewCLI(t, e, config(2, ""))
	acctest.Says(t, cli.MustRun("plan", "-input=false").Output, "3 to add", `terraform_data.on["web-2"]`)
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", config(3, ""))
	acctest.Says(t, cli.MustRun("plan", "-input=false").Output, "1 to add, 1 to change, 0 to destroy")
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()

	// A replacement uses the same names again.
	cli.Write("main.tf", config(3, "auto_install_deps = true"))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
}

// The CLIs hide an object that is unknown as a whole.
func TestAccFleet_manyNewComputersStayReadable(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	cli := acctest.NewCLI(t, e, fleetConfig(200, ""))
	if got := entries(planned(t, cli)); len(got) != 50 {
		t.Errorf("the plan shows %d computers", len(got))
	}
}
