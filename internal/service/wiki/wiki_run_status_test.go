package wiki_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The status is what the service returns, whatever that is, and null otherwise. It changes no plan, and an update of a wiki run
// without one leaves it null.
func TestWikiRun_status(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	process := func() *acctest.Process { return acctest.NewProcess(t, e, nil) }
	i := process().NewInstance(wikiRunType)
	process().Apply(i, wikiRunOf(nil)).MustSucceed(t)
	process().Apply(i, wikiRunOf(acctest.Values{"privacy_level": "private"})).MustDo(t, acctest.ActionUpdate)
	for _, answer := range []string{"", `,"status":null`, `,"status":""`, `,"status":"Half done"`} {
		run := fmt.Sprintf(`{"wikiRunId":%q,"repoUrl":%q,"privacyLevel":"private"%s}`, i.ID(), acmeAPI, answer)
		e.Faults().Clear()
		e.Faults().Add(emulator.Fault{Operation: "listWikiRuns", Kind: emulator.FaultOtherResponse, Times: -1, Body: `{"wikiRuns":[` + run + `]}`})
		e.Faults().Add(emulator.Fault{Operation: "getWikiRun", Kind: emulator.FaultOtherResponse, Times: -1, Body: run})
		process().Apply(i, wikiRunOf(acctest.Values{"privacy_level": "private"})).MustDo(t, acctest.ActionNone)
		read, out := process().ReadData("agentyard_wiki_run", acctest.Values{"id": i.ID()})
		out.MustSucceed(t)
		want := tftypes.NewValue(tftypes.String, nil)
		if answer == `,"status":"Half done"` {
			want = tftypes.NewValue(tftypes.String, "Half done")
		}
		var refreshed map[string]tftypes.Value
		acctest.Must(t, i.State.As(&refreshed))
		if !refreshed["status"].Equal(want) || !read["status"].Equal(want) {
			t.Errorf("%s: the resource has %s, the data source %s", answer, refreshed["status"], read["status"])
		}
	}
}
