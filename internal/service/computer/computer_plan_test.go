package computer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// A plan shows what is changed, and no other computer of a fleet.
func TestComputer_plansShowWhatChanges(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := func(name string) acctest.Values {
		return acctest.Values{"name": name, "repos": []any{"https://git.example/acme/app"}}
	}
	p, i := e.Created(t, computerType, config("before"))
	acctest.Is(t, "a rename", p.Changes(i, config("after")), []string{"name"})

	_, i = e.Created(t, fleetType, fleetOf(5))
	shows := func(quantity int, want ...string) {
		t.Helper()
		var changed []string
		for _, at := range acctest.NewProcess(t, e, nil).Changes(i, fleetOf(quantity)) {
			computer, _, _ := strings.Cut(at, "].")
			changed = append(changed, strings.TrimSuffix(computer, "]"))
		}
		acctest.Is(t, "the changes", slices.Compact(changed), want)
	}
	shows(6, "computers", `computers["web-6"`, "quantity")
	shows(4, "computers", "quantity") // What is removed is in neither.
	deleteComputers(e, "web-2")
	shows(5, `computers["web-2"`)
}
