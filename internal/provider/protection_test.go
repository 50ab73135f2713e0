package provider_test

import (
	"maps"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// protectedTypes are the resources with deletion_protection, with a change that replaces each.
var protectedTypes = []struct {
	typeName, object, deletion string
	config, replacing          acctest.Values
}{
	{
		"agentyard_computer", `Computer "c" (`, "deleteComputer",
		acctest.Values{"name": "c", "provider_type": "byom"}, acctest.Values{"name": "c", "provider_type": "byom", "host_id": "2c5f39cb-3fb2-42e3-994f-1127e4ddb538"},
	},
	{
		"agentyard_computer_fleet", "Computer fleet f has", "deleteComputer",
		acctest.Values{"name_prefix": "f", "quantity": 2, "wait_for_active": false}, acctest.Values{"name_prefix": "g", "quantity": 2, "wait_for_active": false},
	},
	{
		"agentyard_service_account", `Service account "a" (`, "deleteServiceAccount",
		acctest.Values{"name": "a"}, acctest.Values{"name": "b"},
	},
}

func with(config acctest.Values, protected any) acctest.Values {
	all := maps.Clone(config)
	all["deletion_protection"] = protected
	return all
}

func isProtected(t *testing.T, i *acctest.Instance) bool {
	t.Helper()
	return acctest.Plain(t, i.State).(map[string]any)["deletion_protection"] == true
}

func TestDeletionProtection(t *testing.T) {
	t.Parallel()
	for _, tc := range protectedTypes {
		t.Run(tc.typeName, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			before := tc.config
			if tc.typeName == "agentyard_computer" {
				before = maps.Clone(before)
				before["host_id"] = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"
			}
			p, i := e.Created(t, tc.typeName, before)
			check.Is(t, "protected without the argument", isProtected(t, i), false)
			// A change of the attribute alone sends only what a refresh sends.
			e.Journal().Reset()
			p.Apply(i, with(before, true)).MustDo(t, acctest.ActionUpdate)
			for _, sent := range e.Journal().Entries() {
				if sent.Method != http.MethodGet || sent.Operation == "listSessions" {
					t.Errorf("%s was sent", sent.Operation)
				}
			}
			if !isProtected(t, i) {
				t.Fatalf("the state is %s", i.State)
			}
			refused := func(out acctest.Outcome, more ...string) {
				t.Helper()
				if len(out.Errors) != 1 || len(out.Warnings) > 0 || i.State.IsNull() {
					t.Fatalf("got %s", out)
				}
				check.Says(t, out.Text(), append(more, "Cannot destroy protected", tc.object, "set deletion_protection = false and apply")...)
			}
			refused(p.Plan(i, nil))
			refused(p.Plan(i, tc.replacing))
			refused(p.Plan(i, with(tc.replacing, true)))
			refused(p.Plan(i, with(tc.replacing, false))) // What counts is the state.
			p.Plan(i, before).MustDo(t, acctest.ActionUpdate)
			// The plan of a tainted object does not show the provider that it is replaced.
			i.Tainted = true
			refused(p.Apply(i, before), "terraform untaint ADDRESS")
			i.Tainted = false
			e.WantRequests(t, tc.deletion, 0)
			e.WantRequests(t, "listSessions", 0)

			p.Apply(i, before).MustDo(t, acctest.ActionUpdate)
			p.Plan(i, tc.replacing).MustDo(t, acctest.ActionReplace)
			p.Apply(i, nil).MustDo(t, acctest.ActionDelete)
		})
	}
}

// With the CLI, destroy and replacement fail in the plan, -replace and a taint fail in the apply, and nothing is deleted.
func TestAccDeletionProtection(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	hcl := func(provider, protected string) string {
		return "resource \"agentyard_computer\" \"x\" {\n  deletion_protection = " + protected + "\n  name = \"c\"\n  provider_type = \"" + provider + "\"\n}\n"
	}
	cli := acctest.NewCLI(t, e, hcl("byom", "true"))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	refused := func(when string, args ...string) {
		t.Helper()
		r := cli.Run(args...)
		if out := acctest.OneLine(r.Output); r.ExitCode == 0 || !strings.Contains(out, "protected computer") || strings.Contains(out, "Destroying...") != (when == "apply") {
			t.Errorf("%v: %s", args, r.Output)
		}
	}
	refused("plan", "destroy", "-auto-approve", "-input=false")
	cli.Write("main.tf", "")
	refused("plan", "plan", "-input=false")
	cli.Write("main.tf", hcl("standard", "true"))
	refused("plan", "plan", "-input=false")
	cli.Write("main.tf", hcl("byom", "true"))
	refused("apply", "apply", "-auto-approve", "-input=false", "-replace=agentyard_computer.x")
	cli.MustPlanEmpty()
	e.WantRequests(t, "deleteComputer", 0)
	cli.Write("main.tf", hcl("byom", "false"))
	check.Says(t, cli.MustRun("apply", "-auto-approve", "-input=false").Output, "1 changed")
	check.Says(t, cli.MustRun("apply", "-auto-approve", "-input=false", "-replace=agentyard_computer.x").Output, "1 added, 0 changed, 1 destroyed")
}

// A replacement that the plan does not show leaves a deposed object. The error says how to keep it or its replacement, and both work.
func TestAccDeletionProtection_deposed(t *testing.T) {
	t.Parallel()
	hcl := func(name string) string {
		return "resource \"agentyard_computer\" \"x\" {\n  name = \"" + name + "\"\n  provider_type = \"byom\"\n  deletion_protection = true\n  lifecycle {\n    create_before_destroy = true\n  }\n}\n"
	}
	for kept, deleted := range map[string]string{"a": "b", "b": "a"} {
		t.Run("keep "+kept, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			cli := acctest.NewCLI(t, e, hcl("a"))
			cli.MustRun("apply", "-auto-approve", "-input=false")
			cli.MustRun("taint", "agentyard_computer.x")
			cli.Write("main.tf", hcl("b"))
			for range 2 {
				r := cli.Run("apply", "-auto-approve", "-input=false")
				if out := acctest.OneLine(r.Output); r.ExitCode == 0 || !strings.Contains(out, "run terraform state rm ADDRESS, import it, and delete the replacement") {
					t.Fatalf("%s", r.Output)
				}
			}
			var found struct{ Computers []struct{ ID, Name string } }
			e.API(http.MethodGet, "/api/v0/computers", nil, &found)
			ids := map[string]string{}
			for _, c := range found.Computers {
				ids[c.Name] = c.ID
			}
			e.API(http.MethodDelete, "/api/v0/computers/"+ids[deleted], nil, nil)
			cli.Write("main.tf", hcl(kept))
			if kept == "a" {
				cli.MustRun("state", "rm", "agentyard_computer.x")
				cli.MustRun("import", "-input=false", "agentyard_computer.x", ids["a"])
			}
			cli.MustRun("apply", "-auto-approve", "-input=false")
			cli.MustPlanEmpty()
		})
	}
}
