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

func TestAccComputer_thePlanOfACreationProvesSomething(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	e.API("POST", "/api/v0/computers", map[string]any{"name": "taken", "provider": "byom"}, nil)
	makeComputers(e, "web", "", 1)
	taken := computers(e)
	id := taken[0].ID
	if taken[0].Name != "taken" {
		id = taken[1].ID
	}
	var hcl strings.Builder
	for n := range 20 {
		fmt.Fprintf(&hcl, "resource \"agentyard_computer\" \"c%d\" {\n  name = \"c%d\"\n}\n", n, n)
	}
	cli := acctest.NewCLI(t, e, hcl.String())
	plan := func() string { return cli.Run("plan", "-input=false").Output }

	e.Journal().Reset()
	if out := plan(); strings.Contains(out, "Taken") || !strings.Contains(out, "20 to add") {
		t.Errorf("twenty new computers:\n%s", out)
	}
	if requests := e.Journal().Entries(); len(requests) != 1 || requests[0].Operation != "listComputers" {
		t.Errorf("the plan of twenty new computers asked %+v", requests)
	}

	cli.Write("taken.tf", config("name = \"taken\"\nprovider_type = \"byom\"")+fleetConfig(1, ""))
	out := inOneLine(plan())
	for _, want := range []string{"Name \"taken\" Is Taken", "terraform import ADDRESS " + id, "with a moved block", "Names of the Fleet \"web\" Are Taken", "terraform import ADDRESS web", "22 to add"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %s", want, out)
		}
	}

	cli.Write("taken.tf", "")
	for name, tc := range map[string]struct{ variable, value, want string }{
		"wrong key":     {"AGENTYARD_API_KEY", "fk-wrong", "The API key was refused"},
		"wrong address": {"AGENTYARD_BASE_URL", "http://127.0.0.1:1", "Check the network and base_url"},
		"no server yet": {"AGENTYARD_BASE_URL", "http://127.0.0.1:1", "must be applied first, with -target"},
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

// What a resource in the same run holds is no surprise: it may be renamed or replaced first.
func TestAccComputer_itsOwnNameIsNotTaken(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	cli := acctest.NewCLI(t, e, config("name = \"mine\"\nprovider_type = \"byom\""))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	for _, refresh := range []string{"-refresh=true", "-refresh=false"} {
		cli.Write("main.tf", config("name = \"mine\"\nprovider_type = \"managed-a\""))
		if out := cli.MustRun("plan", "-input=false", refresh).Output; strings.Contains(out, "Is Taken") || !strings.Contains(out, "must be replaced") {
			t.Errorf("a replacement:\n%s", out)
		}
	}
	// Another one takes the name that this one gives up.
	cli.Write("main.tf", config("name = \"renamed\"\nprovider_type = \"byom\"")+"resource \"agentyard_computer\" \"next\" {\n  name = \"mine\"\n  provider_type = \"byom\"\n  depends_on = ["+address+"]\n}\n")
	for _, refresh := range []string{"-refresh=true", "-refresh=false"} {
		if out := cli.MustRun("plan", "-input=false", refresh).Output; strings.Contains(out, "Is Taken") {
			t.Errorf("a rename:\n%s", out)
		}
	}
	cli.Write("main.tf", config("name = \"mine\"\nprovider_type = \"byom\"")+fmt.Sprintf("resource \"agentyard_computer\" \"more\" {\n  name = %q\n  provider_type = \"byom\"\n}\n", "other"))
	if out := cli.MustRun("apply", "-auto-approve", "-input=false").Output; strings.Contains(out, "Is Taken") {
		t.Errorf("another computer:\n%s", out)
	}
}
