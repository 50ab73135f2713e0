package computer_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestComputer_takenHostID(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	newComputer(e, map[string]any{"name": "holder", "provider": "byom", "hostId": hostA})
	const taken = "Another computer may have this host_id. To find it, use the data source agentyard_computers with host_id."
	config := acctest.Values{"name": "a", "provider_type": "byom", "host_id": hostA}
	i := e.NewInstance(t, computerType)
	e.Apply(t, i, config).MustFail(t, "host_id", "createComputer", "409", taken)

	e.MustApply(t, i, acctest.Values{"name": "a", "provider_type": "byom"})
	begin := e.Now()
	e.Apply(t, i, config).MustFail(t, "host_id", "updateComputer", "409", taken)
	config["name"] = "b"
	e.Apply(t, i, config).MustFail(t, "host_id", taken)
	if e.Now().Sub(begin) > time.Second {
		t.Error("a host ID that stays taken is tried again")
	}
}

// Another rename or deletion of the same apply frees the name a moment later.
func TestComputer_renameWaitsForTheName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p, i := e.Created(t, computerType, acctest.Values{"name": "a", "provider_type": "byom"})
	e.Refuse("updateComputer", 409, 5)
	p.Apply(i, acctest.Values{"name": "b", "provider_type": "byom"}).MustDo(t, acctest.ActionUpdate)
	if only(t, e).Name != "b" {
		t.Errorf("the service has %+v", only(t, e))
	}
}

func TestComputer_renameToATakenName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	newComputer(e, map[string]any{"name": "taken", "provider": "byom"})
	p, i := e.Created(t, computerType, acctest.Values{"name": "a", "provider_type": "byom"})
	begin := e.Now()
	p.Apply(i, acctest.Values{"name": "taken", "provider_type": "byom"}).MustFail(t, "name", "Another computer has this name. If this run renames or deletes that computer, apply again.", "apply a temporary name", "for_each", "-parallelism")
	if took := e.Now().Sub(begin); took > 2*time.Second { // Nothing in this run frees the name.
		t.Errorf("it was tried for %v", took)
	}
	// Other updates are not tried again.
	e.Refuse("updateComputer", 409, 1)
	p.Apply(i, acctest.Values{"name": "a", "provider_type": "byom", "remote_user": "x"}).MustFail(t, "", "409")
}

// For a software draft that was used, the service returns the computer that was created from it. That computer may belong to
// someone else.
func TestComputer_usedSoftwareDraftIsNotTakenOver(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	draft := map[string]any{"workstreamId": hostA, "creationSessionId": hostB, "firstTurnId": hostA}
	made := newComputer(e, map[string]any{"name": "theirs", "source": map[string]any{"kind": "template", "templateId": "template-base", "isListed": true, "softwareDraft": draft}})
	source := map[string]any{"kind": "template", "template_id": "template-base", "is_listed": true,
		"software_draft": map[string]any{"workstream_id": hostA, "creation_session_id": hostB, "first_turn_id": hostA}}
	i := e.NewInstance(t, computerType)
	for range 2 {
		e.Apply(t, i, acctest.Values{"name": "mine", "source": source}).MustFail(t, "",
			"the response has another object", "If no resource manages it", "terraform import ADDRESS "+made.ID)
	}
	if left := only(t, e); left.ID != made.ID || !i.State.IsNull() {
		t.Errorf("the emulator holds %+v, the state %s", left, i.State)
	}
}
