package guides

import (
	"slices"

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

// Each team's computer and session belong to its account, and a rotation does not disturb them.
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
}
