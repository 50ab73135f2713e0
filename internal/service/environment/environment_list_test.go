package environment_test

import (
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestEnvironmentList(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	makeEnvironment(e, "app", "organization")
	makeEnvironment(e, "mine", "user")
	makeFailed(t, e, "broken", emulator.BuildFailure{Reason: "No.", Excerpt: "make: error"})
	e.Journal().Reset()
	for _, tc := range []struct {
		account any
		want    []string
	}{{nil, []string{"app", "broken", "mine"}}, {account, []string{"app"}}} {
		p := acctest.NewProcess(t, e, nil)
		listed, out := p.List(environmentType, acctest.Values{"service_account_id": tc.account})
		mustBeSilent(t, out)
		var names []string
		for _, one := range listed {
			c := acctest.Plain(t, one).(map[string]any)
			names = append(names, c["name"].(string))
			if c["wait_for_build"] != true || c["make_organization_default"] != nil || c["timeouts"] != nil || c["setup_script"] != nil || c["failure_reason"] != nil ||
				(c["scope"] == "organization") != (c["name"] == "app") || (c["status"] == "failed") != (c["name"] == "broken") || c["source_id"] != "source-base" {
				t.Errorf("listed %v", c)
			}
		}
		if !slices.Equal(p.Names, names) {
			t.Errorf("%v are named %v", names, p.Names)
		}
		if slices.Sort(names); !slices.Equal(names, tc.want) {
			t.Errorf("%v lists %v", tc.account, names)
		}
	}
	if n := len(e.Journal().Entries()); n != e.Journal().Count("listEnvironments") {
		t.Errorf("a query sent more than listings: %+v", e.Journal().Entries())
	}
}
