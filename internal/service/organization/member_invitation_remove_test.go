package organization_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// removing is the configuration of a person whom a destroy removes.
func removing(email string) acctest.Values {
	return acctest.Values{"email": email, "remove_on_destroy": true}
}

// removalWarning is the text of the warning about the removal of a member.
func removalWarning(email string) string {
	return "Member will be removed: " + email + " is a member, and remove_on_destroy is true in the state. Destroying the invitation also removes them from the organization."
}

// isNobody reports whether a person is neither a member nor invited, and invites them.
func isNobody(e *acctest.Env, email string) bool { return roleOf(e, email, "user") == "user invited" }

// A destroy removes a member, or revokes an invitation. A person who is already gone is no error.
func TestMemberInvitation_removeOnDestroy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		joins   bool
		before  func(*acctest.Env, *acctest.Process)
		warning string
	}{
		"a member":         {true, func(*acctest.Env, *acctest.Process) {}, removalWarning(avery)},
		"a pending one":    {false, func(*acctest.Env, *acctest.Process) {}, ""},
		"a removed member": {true, removesAvery, ""},
		"a revoked one":    {false, removesAvery, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			i := e.NewInstance(t, invitationType)
			e.MustApply(t, i, removing(strings.ToUpper(avery)))
			if tc.joins {
				join(t, e, emulator.Human{Email: avery})
				e.Apply(t, i, removing(avery)).MustDo(t, acctest.ActionNone)
			}
			p := acctest.NewProcess(t, e, nil)
			tc.before(e, p)
			if out := p.Destroy(i); len(out.Errors) > 0 || !i.State.IsNull() || out.WarningText() != tc.warning {
				t.Errorf("%s: %s: the state is %s", out, out.WarningText(), i.State)
			}
			if !isNobody(e, avery) {
				t.Error("the person was not removed")
			}
		})
	}
}

// removesAvery invokes the action that removes a member or revokes a pending invitation.
func removesAvery(_ *acctest.Env, p *acctest.Process) {
	p.Invoke("agentyard_member_remove", acctest.Values{"email": avery})
}

// Changing only remove_on_destroy sends no request. What counts is the value in the state.
func TestMemberInvitation_removeOnDestroyChanged(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		values  []acctest.Values
		removed bool
	}{
		"set":   {[]acctest.Values{{"email": avery}, removing(avery)}, true},
		"unset": {[]acctest.Values{removing(avery), {"email": avery}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			i := e.NewInstance(t, invitationType)
			e.MustApply(t, i, tc.values[0])
			join(t, e, emulator.Human{Email: avery})
			e.Journal().Reset()
			if out := e.Apply(t, i, tc.values[1]); out.Action != acctest.ActionUpdate || len(out.Errors)+len(out.Warnings) > 0 {
				t.Errorf("%s: %s", out.Action, out)
			}
			e.WantRequests(t, "inviteMember", 0)
			e.Apply(t, i, tc.values[1]).MustDo(t, acctest.ActionNone)
			e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
			if removed := len(remaining(t, e)) == 0; removed != tc.removed {
				t.Errorf("removed: %t", removed)
			}
		})
	}
}

// A replacement removes the person with the old address, as the plan says.
func TestMemberInvitation_removeOnDestroyReplaced(t *testing.T) {
	t.Parallel()
	for _, changes := range []acctest.Values{removing(blake), {"email": blake}} { // The state counts.
		e := limitEnv(t, avery)
		i := e.NewInstance(t, invitationType)
		e.MustApply(t, i, removing(avery))
		out := e.Apply(t, i, changes)
		out.MustDo(t, acctest.ActionReplace)
		if out.WarningText() != removalWarning(avery) || len(remaining(t, e)) > 0 || i.Attribute("status") != "invited" {
			t.Errorf("%s: the state is %s", out.WarningText(), i.State)
		}
	}
}

// The last manager stays, and so does the state. The error has the remedy.
func TestMemberInvitation_removeOnDestroyErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		email string
		fault emulator.Fault
		want  []string
	}{
		"oneself":              {bootstrap, emulator.Fault{}, []string{"removeMember", "409", "The last manager", "API key of another manager or owner"}},
		"another member stays": {avery, emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 404}, []string{"removeMember", "404", "did not confirm", "apply again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := limitEnv(t, avery)
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(invitationType)
			p.Import(i, tc.email)
			e.Apply(t, i, removing(tc.email)).MustDo(t, acctest.ActionUpdate)
			if tc.fault.Kind != "" {
				tc.fault.Operation = "removeMember"
				e.Faults().Add(tc.fault)
			}
			out := e.Apply(t, i, nil)
			out.MustFail(t, "", append(tc.want, "Cannot delete member invitation", tc.email)...)
			if i.State.IsNull() || len(remaining(t, e)) != 1 {
				t.Errorf("left are %v, and the state is %s", remaining(t, e), i.State)
			}
			e.Faults().Clear()
			if out := e.Apply(t, i, nil); (len(out.Errors) > 0) != (tc.email == bootstrap) {
				t.Errorf("the next apply: %s", out)
			}
		})
	}
}

// A member whose address was changed is not gone, although nobody has the old address.
func TestMemberInvitation_removeOnDestroyChangedAddress(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id, _ := join(t, e, emulator.Human{Email: avery})
	i := e.NewInstance(t, invitationType)
	e.MustApply(t, i, removing(avery))
	if i.Attribute("member_id") != id {
		t.Errorf("the state is %s", i.State)
	}
	users, err := json.Marshal([]any{map[string]any{"id": id, "email": blake, "createdAt": "2026-05-01T12:00:00Z", "metadata": map[string]any{}}})
	acctest.Must(t, err)
	e.Faults().Add(
		emulator.Fault{Operation: "listMembers", Kind: emulator.FaultOtherResponse, Times: -1, Body: fmt.Sprintf(`{"users":%s,"pagination":{"hasMore":false,"nextCursor":null}}`, users)},
	)
	acctest.NewProcess(t, e, nil).Destroy(i).MustFail(t, "", "Cannot delete member invitation", "member "+id+" was changed from "+avery+" to "+blake, "terraform state rm ADDRESS")
	if i.State.IsNull() {
		t.Error("the resource was removed from the state")
	}
	e.WantRequests(t, "removeMember", 0) // Somebody else may have the address now.
}

func TestMemberInvitation_faultMatrixOfARemoval(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type:  invitationType,
		Setup: func(*acctest.Env) []acctest.Values { return []acctest.Values{removing(avery)} },
		Live: func(e *acctest.Env) []string {
			if !isNobody(e, avery) {
				return []string{avery}
			}
			leaves(e, avery)
			return nil
		},
	}.Run(t)
}
