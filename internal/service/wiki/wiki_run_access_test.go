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

// A user who is neither the owner nor a manager gets an error that says whose API key is needed.
func TestWikiRun_isForItsOwner(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	other := acctest.NewProcess(t, e, acctest.Values{"api_key": e.MemberKey("robin@acme.example", "")})
	shared, private := wikiRunOf(acctest.Values{"privacy_level": "organization"}), wikiRunOf(acctest.Values{"privacy_level": "private"})
	_, i := e.Created(t, wikiRunType, shared)
	e.WantRequests(t, "updateWikiPrivacy", 0) // The service's own level needs no request.
	id := i.ID()
	other.Apply(i, shared).MustDo(t, acctest.ActionNone)
	acctest.MustHave(t, acctest.Plain(t, i.State).(map[string]any), map[string]any{"can_update_privacy": false})
	other.Apply(i, private).MustFail(t, "privacy_level", "Cannot update wiki run", "403", "Only the owner", "remove privacy_level")
	other.Destroy(i).MustFail(t, "", "Cannot delete wiki run", id, "403", "Only the owner")
	e.Plan(t, i, shared).MustDo(t, acctest.ActionNone)
}

// If only the privacy level of a new run could not be set, the run is kept, and the next plan updates it in place.
func TestWikiRun_withoutItsPrivacy(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: "updateWikiPrivacy", Kind: emulator.FaultStatusBeforeCommit, Status: 422, Times: -1})
	i, config := e.NewInstance(t, wikiRunType), wikiRunOf(acctest.Values{"privacy_level": "private"})
	out := e.MustApply(t, i, config)
	run := onlyRun(t, e)
	acctest.Says(t, out.WarningText(), "Privacy level not set", run.ID, `is "organization" instead of "private"`, "The next apply sets it", "422")
	e.Faults().Clear()
	if i.ID() != run.ID || i.Tainted {
		t.Errorf("the state holds %v", i.State)
	}
	isIn(t, e, i, config, acctest.ActionUpdate, map[string]any{"privacy_level": "private"})
	if now := onlyRun(t, e); now.ID != run.ID || now.PrivacyLevel != "private" {
		t.Errorf("the emulator holds %+v", now)
	}
}

// After an interrupt during the create, the privacy level is still set, because other users must not see the run.
func TestWikiRun_interruptedBeforeItsPrivacy(t *testing.T) {
	t.Parallel()
	var p *acctest.Process
	e := acctest.New(t, acctest.Hold("createWikiRun", func(<-chan struct{}) { p.Stop() }))
	p = acctest.NewProcess(t, e, nil)
	i, config := p.NewInstance(wikiRunType), wikiRunOf(acctest.Values{"privacy_level": "private"})
	p.Apply(i, config)
	if made := onlyRun(t, e); made.PrivacyLevel != "private" || i.ID() != made.ID || i.Tainted {
		t.Errorf("the run is left %s; tainted %v, the state is %s", made.PrivacyLevel, i.Tainted, i.State)
	}
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
}
