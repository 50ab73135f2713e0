package wiki_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// An older run that the list no longer shows because of a newer run is not gone.
func TestWikiRun_anOlderRunStays(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, wikiRunType, wikiRunOf(nil))
	older := i.ID()
	e.Clock.Advance(time.Hour)
	newer := addRun(t, e, emulator.WikiRun{RepoURL: acmeAPI})
	e.Plan(t, i, wikiRunOf(nil)).MustDo(t, acctest.ActionNone)
	e.Clock.Advance(time.Hour)
	e.API(http.MethodDelete, "/api/v0/wiki/"+older, nil, nil)
	e.MustApply(t, i, wikiRunOf(nil)).MustDo(t, acctest.ActionCreate)
	e.MustApply(t, i, nil)
	if left := wikiRunsOf(t, e); len(left) != 1 || left[0].ID != newer {
		t.Errorf("the emulator holds %+v", left)
	}
}

// A private run that another API key cannot see is not treated as gone, neither by a read nor by a delete. With the key that
// last read it, it is.
func TestWikiRun_privateRunsOfOthers(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	owner, other := e.MemberKey("robin@acme.example", ""), e.MemberKey("ada@acme.example", "")
	process := func(key string) *acctest.Process { return acctest.NewProcess(t, e, acctest.Values{"api_key": key}) }
	config := wikiRunOf(acctest.Values{"privacy_level": "private"})
	i := process(owner).NewInstance(wikiRunType)
	process(owner).Apply(i, config).MustSucceed(t)
	hidden := func(what string, out acctest.Outcome) {
		t.Helper()
		if len(out.Errors) != 1 || !strings.Contains(out.Text(), "Wiki run "+i.ID()+" is not visible to the provider's API key") || !strings.Contains(out.Text(), "terraform state rm ADDRESS") {
			t.Errorf("%s: %s", what, out)
		}
	}
	hidden("read", process(other).Plan(i, config))
	hidden("deleted", process(other).Destroy(i))
	if n := len(wikiRunsOf(t, e)); n != 1 || i.State.IsNull() {
		t.Fatalf("the emulator holds %d runs, the state %v", n, i.State)
	}
	if status, _ := e.TryWithKey(owner, http.MethodDelete, "/api/v0/wiki/"+i.ID(), nil); status >= http.StatusMultipleChoices {
		t.Fatal(status)
	}
	if out := process(owner).Destroy(i.Clone()); len(out.Errors) > 0 {
		t.Errorf("destroyed: %s", out)
	}
	process(owner).Plan(i, config).MustDo(t, acctest.ActionCreate)
}
