package computer_test

import (
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func hidden(name string) map[string]any {
	return map[string]any{"name": name, "source": map[string]any{"kind": "template", "templateId": "template-base", "isListed": false}}
}

func TestComputerList(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	makeComputer(e, map[string]any{"name": "managed", "repos": []string{"https://git.example/acme/app"}})
	makeComputer(e, ownMachine("own"))
	makeComputer(e, hidden("hidden"))
	makeComputer(e, map[string]any{"name": "theirs", "serviceAccountId": account})
	for _, tc := range []struct {
		config acctest.Values
		want   []string
	}{
		{nil, []string{"managed", "own"}},
		{acctest.Values{"include_unlisted": true}, []string{"hidden", "managed", "own"}},
		{acctest.Values{"host_id": hostA}, []string{"own"}},
		{acctest.Values{"service_account_id": account}, []string{"theirs"}},
	} {
		e.Journal().Reset()
		p := acctest.NewProcess(t, e, nil)
		listed, out := p.List(computerType, tc.config)
		out.MustSucceed(t)
		for _, one := range listed {
			c := acctest.Plain(t, one).(map[string]any)
			source, _ := c["source"].(map[string]any)
			if c["status"] != "active" || c["wait_for_active"] != true || c["repos"] != nil || (c["service_account_id"] == account) != (c["name"] == "theirs") || (source["template_id"] == "template-base") != (c["name"] == "hidden") {
				t.Errorf("listed %v", c)
			}
		}
		if slices.Sort(p.Names); !slices.Equal(p.Names, tc.want) || len(e.Journal().Entries()) != e.Journal().Count("listComputers") {
			t.Errorf("%v lists %v, want %v", tc.config, p.Names, tc.want)
		}
	}
	_, out := acctest.NewProcess(t, e, nil).List(computerType, acctest.Values{"host_id": "not-a-uuid"})
	out.MustInclude(t, "host_id", "must")
}
