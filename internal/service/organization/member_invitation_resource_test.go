package organization_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const invitationType = "agentyard_member_invitation"

// roleOf invites a person again with the expected role, which changes nothing if they have it, and returns the role and the status.
func roleOf(e *acctest.Env, email, expected string) string {
	var answer struct{ Role, Status string }
	e.API(http.MethodPost, "/api/v0/organization/users/invite", map[string]any{"email": email, "role": expected}, &answer)
	return answer.Role + " " + answer.Status
}

// A person is invited, joins, gets another role, and leaves. Without a role, a member keeps theirs. A person who left and joined
// again is another member.
func TestMemberInvitation_fromTheInvitationOn(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var id string
	joins := func() { id, _ = join(t, e, emulator.Human{Email: "AVERY@agentyard.example"}) }
	leave := func() {
		leaves(e, avery)
		id = ""
	}
	i := e.NewInstance(t, invitationType)
	for n, step := range []struct {
		before       func()
		email        string
		role         any
		action       acctest.Action
		status, says string
	}{
		{nil, avery, nil, "create", "invited", ""},
		{nil, "AVERY@agentyard.example", nil, "none", "invited", ""},
		{nil, avery, "user", "update", "already_invited", ""},
		{joins, avery, "user", "none", "already_invited", ""},
		{nil, avery, "manager", "update", "role_updated", ""},
		{nil, avery, nil, "update", "role_updated", ""},
		{func() {
			check.Is(t, "the member", roleOf(e, avery, "manager"), "manager already_member")
			leaves(e, avery)
			joins()
		}, avery, nil, "none", "role_updated", ""},
		{leave, avery, nil, "create", "invited", "Member not found: The member " + avery + " no longer exists."},
		{nil, blake, "owner", "replace", "invited", ""},
	} {
		if step.before != nil {
			step.before()
		}
		config := acctest.Values{"email": step.email, "role": step.role}
		out := e.Apply(t, i, config)
		out.MustDo(t, step.action)
		check.Says(t, out.WarningText(), step.says)
		role, _ := step.role.(string)
		if i.Attribute("status") != step.status || i.Attribute("member_id") != id || i.Attribute("role") != role || i.ID() != strings.ToLower(step.email) {
			t.Errorf("step %d: the state is %s, want the member %q", n, i.State, id)
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
}

// A role of a member changes only if it is configured, and the plan says so.
func TestMemberInvitation_ofAMember(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		config             acctest.Values
		role, status, want string
		requests           int
	}{
		"no role": {acctest.Values{"email": "AVERY@agentyard.example"}, "manager", "already_member", "", 0},
		"no role, removed on destroy": {
			acctest.Values{"email": avery, "remove_on_destroy": true}, "manager", "already_member",
			"destroying this resource will remove them from the organization", 0,
		},
		"another role":  {acctest.Values{"email": avery, "role": "owner"}, "owner", "role_updated", "the apply sets their role to owner", 1},
		"the same role": {acctest.Values{"email": avery, "role": "manager"}, "manager", "already_member", "the apply sets their role to manager", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			id, _ := join(t, e, emulator.Human{Email: avery, Role: emulator.RoleManager})
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(invitationType)
			out := p.Apply(i, tc.config)
			want := ""
			if tc.want != "" {
				want = "Already a member: " + avery + " is already a member, and " + tc.want + ". To rename this resource, add a moved block."
			}
			if len(out.Errors) > 0 || out.WarningText() != want {
				t.Errorf("%s\n%s, want %s", out.Text(), out.WarningText(), want)
			}
			e.WantRequests(t, "inviteMember", tc.requests)
			if i.Attribute("member_id") != id || i.Attribute("status") != tc.status {
				t.Errorf("the state is %s", i.State)
			}
			p.Apply(i, tc.config).MustDo(t, acctest.ActionNone)
			check.Is(t, "the member", roleOf(e, avery, tc.role), tc.role+" already_member")
		})
	}
}

// Somebody may have joined since the plan looked.
func TestMemberInvitation_joinedSinceThePlan(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(invitationType)
	apply := p.Save(i, acctest.Values{"email": avery})
	join(t, e, emulator.Human{Email: avery, Role: emulator.RoleOwner})
	e.Clock.Advance(time.Minute)
	if out := apply(); len(out.Errors) > 0 || i.Attribute("status") != "already_member" {
		t.Errorf("%s: the state is %s", out, i.State)
	}
	e.WantRequests(t, "inviteMember", 0)
}

// If the address or the role is known only in the apply, the apply warns before it changes the role.
func TestMemberInvitation_unknownAtPlan(t *testing.T) {
	t.Parallel()
	for _, unknown := range []string{"email", "role"} {
		e := limitEnv(t, avery)
		i := e.NewInstance(t, invitationType)
		config := acctest.Values{"email": avery, "role": "owner"}
		before := maps.Clone(config)
		before[unknown] = tftypes.UnknownValue
		said(t, e.Plan(t, i, before))
		out := acctest.NewProcess(t, e, nil).ApplyLater(i, before, config)
		if said(t, out, "Already a member: "+avery+" is already a member"); roleOf(e, avery, "owner") != "owner already_member" {
			t.Errorf("%s: %s", unknown, out)
		}
	}
}

// A member whose address was changed elsewhere is not invited again with the old address.
func TestMemberInvitation_changedAddress(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id, _ := join(t, e, emulator.Human{Email: avery})
	_, i := e.Created(t, invitationType, acctest.Values{"email": avery})
	acctest.NewProcess(t, e, nil).Plan(i, acctest.Values{"email": avery}).MustDo(t, acctest.ActionNone)
	e.Faults().Add(emulator.Fault{Operation: "listMembers", Kind: emulator.FaultOtherResponse, Times: -1,
		Body: fmt.Sprintf(`{"users":[{"id":%q,"email":%q,"createdAt":"2026-05-01T12:00:00Z","metadata":{}}],"pagination":{"hasMore":false,"nextCursor":null}}`, id, blake)})
	e.Plan(t, i, acctest.Values{"email": avery}).MustFail(t, "email", "Member has another email address",
		"The email address of member "+id+" was changed from "+avery+" to "+blake, "Run terraform state rm ADDRESS. To keep managing the member, set email to \""+blake+"\", and import the member with this address.")
	p := acctest.NewProcess(t, e, nil)
	imported := p.NewInstance(invitationType)
	p.Import(imported, blake)
	p.Plan(imported, acctest.Values{"email": blake}).MustDo(t, acctest.ActionNone)
}

// An imported member keeps the role until one is configured, and is kept until remove_on_destroy is set.
func TestMemberInvitation_import(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	join(t, e, emulator.Human{Email: avery, Role: emulator.RoleOwner})
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(invitationType)
	p.Import(i, "AVERY@Agentyard.example").MustSucceed(t)
	p.Destroy(i.Clone()).MustSucceed(t)
	check.Is(t, "remaining members", len(remaining(t, e)), 1)
	e.Apply(t, i, acctest.Values{"email": avery}).MustDo(t, acctest.ActionNone)
	e.Apply(t, i, removing(avery)).MustDo(t, acctest.ActionUpdate)
	e.WantRequests(t, "inviteMember", 0)
	check.Is(t, "the role", i.Attribute("role"), "")
	e.Apply(t, i, acctest.Values{"email": avery, "role": "manager"}).MustDo(t, acctest.ActionUpdate)
	e.Apply(t, i, nil).MustDo(t, acctest.ActionDelete)
	check.Is(t, "the member", roleOf(e, avery, "manager"), "manager already_member")
}

func TestMemberInvitation_errors(t *testing.T) {
	t.Parallel()
	full := emulator.Fault{Kind: emulator.FaultOtherResponse, Body: `{"email":"avery@agentyard.example","role":"user","status":"error","error":"No seats left."}`}
	for name, tc := range map[string]struct {
		config acctest.Values
		fault  emulator.Fault
		at     string
		want   []string
	}{
		"no address":   {acctest.Values{"email": "avery"}, emulator.Fault{}, "email", []string{"email must be an email address"}},
		"no such role": {acctest.Values{"email": avery, "role": "king"}, emulator.Fault{}, "role", []string{`role must be "user", "manager", or "owner", not "king".`}},
		"no seat":      {acctest.Values{"email": avery}, full, "email", []string{"Cannot create member invitation", "inviteMember", "refused for " + avery + ": No seats left.", "Nobody was invited"}},
		"oneself":      {acctest.Values{"email": bootstrap, "role": "user"}, emulator.Fault{}, "email", []string{"inviteMember", "your own role", "Resolve what the service reports"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			if tc.fault.Kind != "" {
				tc.fault.Operation = "inviteMember"
				e.Faults().Add(tc.fault)
			}
			p := acctest.NewProcess(t, e, acctest.Values{"max_retries": 1})
			i := p.NewInstance(invitationType)
			p.Apply(i, tc.config).MustFail(t, tc.at, tc.want...)
			check.Is(t, "the state is empty", i.State.IsNull(), true)
		})
	}
}

// A pending invitation is taken over with the same role, and cannot be imported.
func TestMemberInvitation_pendingElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	check.Must(t, e.Invite("Avery@agentyard.example", emulator.RoleManager))
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(invitationType)
	p.Import(i, avery).MustFail(t, "", "Cannot read member", "Nobody has joined", "does not show pending invitations", "apply without the import")

	i = p.NewInstance(invitationType)
	p.Apply(i, acctest.Values{"email": avery, "role": "owner"}).MustFail(t, "role", `role "manager" instead of "owner"`, "Set role to the one that the service kept", "after the invitation is accepted")
	if out := p.Apply(i, acctest.Values{"email": avery, "role": "manager"}); len(out.Errors) > 0 || i.Attribute("status") != "already_invited" {
		t.Errorf("%s: the state is %s", out, i.State)
	}
	// After it was revoked, the person can be invited with another role.
	leaves(e, avery)
	e.Apply(t, i, acctest.Values{"email": avery, "role": "owner"}).MustDo(t, acctest.ActionUpdate)
	if i.Attribute("status") != "invited" || i.Attribute("role") != "owner" {
		t.Errorf("the state is %s", i.State)
	}
}

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
			_, i := e.Created(t, invitationType, removing(strings.ToUpper(avery)))
			if tc.joins {
				join(t, e, emulator.Human{Email: avery})
				e.Apply(t, i, removing(avery)).MustDo(t, acctest.ActionNone)
			}
			p := acctest.NewProcess(t, e, nil)
			tc.before(e, p)
			if out := p.Destroy(i); len(out.Errors) > 0 || !i.State.IsNull() || out.WarningText() != tc.warning {
				t.Errorf("%s: %s: the state is %s", out, out.WarningText(), i.State)
			}
			check.Is(t, "the person was removed", isNobody(e, avery), true)
		})
	}
}

// removesAvery invokes the action that removes a member or revokes a pending invitation.
func removesAvery(_ *acctest.Env, p *acctest.Process) {
	p.Invoke("agentyard_member_remove", acctest.Values{"email": avery})
}

// A replacement removes the person with the old address, as the plan says.
func TestMemberInvitation_removeOnDestroyReplaced(t *testing.T) {
	t.Parallel()
	for _, changes := range []acctest.Values{removing(blake), {"email": blake}} { // The state counts.
		e := limitEnv(t, avery)
		_, i := e.Created(t, invitationType, removing(avery))
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
			check.Is(t, "the next apply fails", len(e.Apply(t, i, nil).Errors) > 0, tc.email == bootstrap)
		})
	}
}

// A member whose address was changed is not gone, although nobody has the old address.
func TestMemberInvitation_removeOnDestroyChangedAddress(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id, _ := join(t, e, emulator.Human{Email: avery})
	_, i := e.Created(t, invitationType, removing(avery))
	check.Is(t, "the member's ID", i.Attribute("member_id"), id)
	users, err := json.Marshal([]any{map[string]any{"id": id, "email": blake, "createdAt": "2026-05-01T12:00:00Z", "metadata": map[string]any{}}})
	check.Must(t, err)
	e.Faults().Add(
		emulator.Fault{Operation: "listMembers", Kind: emulator.FaultOtherResponse, Times: -1, Body: fmt.Sprintf(`{"users":%s,"pagination":{"hasMore":false,"nextCursor":null}}`, users)},
	)
	acctest.NewProcess(t, e, nil).Destroy(i).MustFail(t, "", "Cannot delete member invitation", "member "+id+" was changed from "+avery+" to "+blake, "terraform state rm ADDRESS")
	check.Is(t, "the state is lost", i.State.IsNull(), false)
	e.WantRequests(t, "removeMember", 0) // Somebody else may have the address now.
}

func TestMemberInvitation_faultMatrixOfARemoval(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: invitationType, Env: acctest.New(t), Steps: []acctest.Values{removing(avery)},
		Live: func(e *acctest.Env) []string {
			if !isNobody(e, avery) {
				return []string{avery}
			}
			leaves(e, avery)
			return nil
		},
	}.Run(t)
}
