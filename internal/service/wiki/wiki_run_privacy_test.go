package wiki_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
