package computer_test

import (
	"fmt"
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

// changes are the lines that show a change.
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
	// The resource itself, and the name.
	if got := changes(lines); len(got) != 2 || !strings.Contains(got[1], `"before" -> "after"`) {
		t.Errorf("the plan shows %q", got)
	}
}

func TestAccComputer_anAdoptionShowsWhatIsAdopted(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quickSetUp)
	e.API("POST", "/api/v0/computers", map[string]any{"name": "found"}, nil)
	cli := acctest.NewCLI(t, e, config("name = \"found\"\nrepos = [\"https://git.example/acme/app\"]"))
	cli.MustRun("import", "-input=false", address, computers(e)[0].ID)
	lines := planned(t, cli)
	t.Logf("%d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	if got := changes(lines); len(got) != 3 || !strings.HasPrefix(got[1], "+ repos") {
		t.Errorf("the plan shows %q", got)
	}
}

func TestAccFleet_growthShowsWhatStays(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quickSetUp)
	cli := acctest.NewCLI(t, e, fleetConfig(5, ""))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", fleetConfig(6, ""))
	lines := planned(t, cli)
	t.Logf("+1 on 5: %d lines:\n%s", len(lines), strings.Join(lines, "\n"))
	if len(lines) > 60 || !strings.Contains(strings.Join(lines, "\n"), "(5 unchanged elements hidden)") {
		t.Errorf("%d lines", len(lines))
	}
	cli.MustRun("apply", "-auto-approve", "-input=false")

	cli.Write("main.tf", fleetConfig(5, ""))
	lines = planned(t, cli)
	t.Logf("-1 on 6: %d lines", len(lines))
	if text := strings.Join(lines, "\n"); strings.Contains(text, "known after apply") || !strings.Contains(text, `= "web-6" -> null`) {
		t.Errorf("the plan of a smaller fleet is not exact:\n%s", text)
	}
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()

	// Where a number in the middle is free, the new computer takes it.
	for _, c := range computers(e) {
		if c.Name == "web-2" {
			e.API("DELETE", "/api/v0/computers/"+c.ID, nil, nil)
		}
	}
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.MustPlanEmpty()
}

func TestAccFleet_saysHowManyComputersGo(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, quickSetUp)
	cli := acctest.NewCLI(t, e, fleetConfig(3, ""))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	for name, tc := range map[string]struct {
		args   []string
		config string
		want   string
	}{
		"destroy":  {[]string{"-destroy"}, fleetConfig(3, ""), "Destroying the Fleet \"web\" Deletes 3 Computers"},
		"removed":  {nil, "", "Destroying the Fleet \"web\" Deletes 3 Computers"},
		"replaced": {nil, fleetConfig(2, "auto_install_deps = true"), "Replacing the Fleet \"web\" Deletes 3 Computers"},
		"renamed":  {nil, strings.Replace(fleetConfig(3, ""), "\"web\"", "\"app\"", 1), "Replacing the Fleet \"web\" Deletes 3 Computers"},
	} {
		cli.Write("main.tf", tc.config)
		out := cli.MustRun(append([]string{"plan", "-input=false"}, tc.args...)...).Output
		if !strings.Contains(out, tc.want) || !strings.Contains(out, "web-1, web-2, web-3") || strings.Contains(out, "Are Deleted") {
			t.Errorf("%s: no %q in\n%s", name, tc.want, out)
		}
	}
}

func TestAccComputer_aPlanChecksTheAccessOnce(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	var hcl strings.Builder
	for n := range 20 {
		fmt.Fprintf(&hcl, "resource \"agentyard_computer\" \"c%d\" {\n  name = \"c%d\"\n}\n", n, n)
	}
	cli := acctest.NewCLI(t, e, hcl.String())

	if out := cli.Run("plan", "-input=false").Output; !strings.Contains(out, "20 to add") {
		t.Errorf("twenty new computers:\n%s", out)
	}
	if requests := e.Journal().Entries(); len(requests) != 1 || requests[0].Operation != "listComputers" {
		t.Errorf("the plan of twenty new computers asked %+v", requests)
	}

	for name, tc := range map[string]struct{ variable, value, want string }{
		"wrong key":     {"AGENTYARD_API_KEY", "fk-wrong", "The API key was refused"},
		"wrong address": {"AGENTYARD_BASE_URL", "http://127.0.0.1:1", "Check the network and base_url"},
	} {
		cli := acctest.NewCLI(t, e, hcl.String())
		cli.Setenv(tc.variable, tc.value)
		r := cli.Run("plan", "-input=false")
		text := inOneLine(r.Output)
		if r.ExitCode == 0 || !strings.Contains(text, tc.want) || strings.Count(text, "Error: ") != 1 {
			t.Errorf("%s: exit code %d\n%s", name, r.ExitCode, r.Output)
		}
	}
}
