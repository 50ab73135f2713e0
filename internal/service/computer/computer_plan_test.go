package computer_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
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

	for _, tc := range []struct{ config, known acctest.Values }{
		{config("new"), acctest.Values{"install_session_id": nil, "computer_source": nil}},
		{acctest.Values{"name": "new", "auto_install_deps": true}, acctest.Values{"computer_source": nil}},
		{
			acctest.Values{"name": "new", "source": map[string]any{"kind": "computer", "source_computer_id": i.ID()}},
			acctest.Values{"install_session_id": nil, "computer_source": map[string]any{"kind": "computer", "computer_id": i.ID(), "template_id": nil}},
		},
	} {
		planned := map[string]tftypes.Value{}
		acctest.Must(t, p.Plan(p.NewInstance(computerType), tc.config).Planned.As(&planned))
		for _, name := range []string{"host_id", "install_session_id", "computer_source"} {
			if want, ok := tc.known[name]; planned[name].IsFullyKnown() != ok || ok && !reflect.DeepEqual(acctest.Plain(t, planned[name]), want) {
				t.Errorf("%v: %s is %s", tc.config, name, planned[name])
			}
		}
	}

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
