package computer_test

import (
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestFleet_importTakesAllOfTheNameAndAdopts(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	makeComputers(e, "web", "", 11)
	makeComputers(e, "web-1", "", 1)
	newComputer(e, map[string]any{"name": "web"})
	e.Clock.Advance(provisioned)
	i := e.NewInstance(t, fleetType)
	mustImport(t, e, i, "web")
	config := fleetOf(11)
	config["repos"], config["auto_install_deps"] = []any{"https://git.example/acme/app"}, true
	e.Apply(t, i, config).MustDo(t, "update")
	if !slices.Equal(fleetNames(i), numbered(1, 11)) || i.Attribute("provider_type") != "managed-a" {
		t.Errorf("the state is %s", i.State)
	}
	if e.Journal().Count("bulkCreateComputers") != 2 || e.Journal().Count("deleteComputer") != 0 {
		t.Error("computers were created or deleted")
	}
	e.Apply(t, i, config).MustDo(t, "none")
	e.Apply(t, i, nil).MustDo(t, "delete")
	if left := computerNames(e); !slices.Equal(left, []string{"web", "web-1-1"}) {
		t.Errorf("left: %v", left)
	}
}

func TestFleet_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	account := newAccount(e)
	i := e.NewInstance(t, fleetType)
	for n, step := range []struct {
		quantity int
		account  any
		action   string
		id       string
		own      int // Computers of the API key's owner.
	}{
		{0, nil, "create", "web", 0}, {2, account, "replace", account + "/web", 0}, {2, nil, "replace", "web", 2}, {2, account, "replace", account + "/web", 0},
	} {
		config := acctest.Values{"name_prefix": "web", "quantity": step.quantity, "service_account_id": step.account}
		e.Apply(t, i, config).MustDo(t, step.action)
		if i.ID() != step.id || len(computers(e)) != step.own {
			t.Errorf("step %d: the state is %s, and there are %+v", n, i.State, computers(e))
		}
		e.Plan(t, i, config).MustDo(t, "none")
	}
}
