package acceptance

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
)

// Each data source can be read, and finds what the suite created.
func TestAccDataSource(t *testing.T) {
	t.Parallel()
	needService(t)
	for _, r := range specimens.Data {
		if r.NotAtService != "" {
			continue
		}
		t.Run(r.Title(), func(t *testing.T) {
			t.Parallel()
			fill := places(t)
			arguments := specimens.HCL(fill.In(r.Values))
			if r.Shows != "" {
				arguments += fmt.Sprintf("lifecycle {\n  postcondition {\n    condition     = %s\n    error_message = \"The object is missing.\"\n  }\n}\n", fill.Text(r.Shows))
			}
			runSteps(t, nil, resource.TestStep{Config: specimens.Block("data", r.Type, arguments), PlanOnly: true})
		})
	}
}

// Each list resource can be queried, with whole resources.
func TestAccList(t *testing.T) {
	t.Parallel()
	needService(t)
	needsCLI(t, 14)
	for _, l := range specimens.Lists {
		if l.NotAtService != "" {
			continue
		}
		t.Run(l.Title(), func(t *testing.T) {
			t.Parallel()
			fill, least := places(t), 0
			if l.Shows != "" {
				fill(l.Shows)
				least = 1
			}
			arguments := "provider = agentyard\ninclude_resource = true\nlimit = 1000\nconfig {\n" + specimens.HCL(fill.In(l.Values)) + "}\n"
			runSteps(t, nil, resource.TestStep{
				Query: true, Config: "provider \"agentyard\" {}\n" + specimens.Block("list", l.Type, arguments),
				QueryResultChecks: []querycheck.QueryResultCheck{querycheck.ExpectLengthAtLeast(l.Type+".test", least)},
			})
		})
	}
}
