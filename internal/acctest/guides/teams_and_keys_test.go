package guides

import (
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

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
