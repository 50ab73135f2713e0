package wiki_test

import (
	"fmt"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The status is what the service returns, whatever that is, and null otherwise. It changes no plan, and an update of a wiki run
// without one leaves it null.
func TestWikiRun_status(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	private := wikiRunOf(acctest.Values{"privacy_level": "private"})
	_, i := e.Created(t, wikiRunType, wikiRunOf(nil))
	e.Apply(t, i, private).MustDo(t, acctest.ActionUpdate)
	for _, answer := range []string{"", `,"status":null`, `,"status":""`, `,"status":"Half done"`} {
		run := fmt.Sprintf(`{"wikiRunId":%q,"repoUrl":%q,"privacyLevel":"private"%s}`, i.ID(), acmeAPI, answer)
		e.Faults().Clear()
		e.Faults().Add(emulator.Fault{Operation: "listWikiRuns", Kind: emulator.FaultOtherResponse, Times: -1, Body: `{"wikiRuns":[` + run + `]}`})
		e.Faults().Add(emulator.Fault{Operation: "getWikiRun", Kind: emulator.FaultOtherResponse, Times: -1, Body: run})
		e.Apply(t, i, private).MustDo(t, acctest.ActionNone)
		var want any
		if answer == `,"status":"Half done"` {
			want = "Half done"
		}
		acctest.MustHave(t, acctest.Plain(t, i.State).(map[string]any), map[string]any{"status": want})
		acctest.MustHave(t, read(t, e, nil, "run", acctest.Values{"id": i.ID()}), map[string]any{"status": want})
	}
}
