package emulator_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestInvitations(t *testing.T) {
	v := startParallel(t)
	v.invite("New@people.example")
	for want, err := range map[string]error{
		"pending":        v.Invite("new@People.example", emulator.RoleManager),
		"already exists": v.Invite("MANAGER@agentyard.example", ""),
		"not valid":      v.Invite("nobody", ""),
		"not user":       v.Invite("x@people.example", "king"),
	} {
		fails(t, err, want)
	}
	if got, _ := v.memberEmails(100); got != "manager@agentyard.example" {
		t.Errorf("members: %s", got)
	}
	v.call(204, "DELETE", remove("new@people.example"), nil)
	v.call(404, "DELETE", remove("new@people.example"), nil)
	// Who joins has accepted: a removal is that of the member, and no invitation is left after it.
	v.invite("new@people.example")
	_, keys := v.join("NEW@people.example")
	v.call(204, "DELETE", remove("new@people.example"), nil)
	v.as(keys[0], 401, "GET", computers, nil)
	v.call(404, "DELETE", remove("new@people.example"), nil)
}

// invited invites a person with a key, and returns the response.
func (v *env) invited(key string, body object) object {
	v.t.Helper()
	return v.as(key, 200, "POST", invite, body).object(v.t)
}

func TestInviteMember(t *testing.T) {
	v := startParallel(t)
	response := func(email, role, status string) object {
		return object{"email": email, "role": role, "status": status}
	}
	manager := v.BootstrapKey()
	same(t, "a person", v.invited(manager, object{"email": "New@people.example"}), response("New@people.example", "user", "invited"))
	same(t, "a manager to be", v.invited(manager, object{"email": "boss@people.example", "role": "manager"}), response("boss@people.example", "manager", "invited"))
	// A pending invitation keeps its role.
	for _, role := range []string{"user", "owner"} {
		same(t, "invited again as "+role, v.invited(manager, object{"email": "new@PEOPLE.example", "role": role}), response("New@people.example", "user", "already_invited"))
	}
	if got, _ := v.memberEmails(100); got != "manager@agentyard.example" {
		t.Errorf("members: %s", got)
	}

	// Who accepts has the role of the invitation.
	_, keys := v.join("boss@people.example", "new@people.example")
	v.as(keys[0], 200, "GET", members, nil)
	v.as(keys[1], 403, "GET", members, nil)
	same(t, "the role of a member", v.invited(manager, object{"email": "New@people.example"}), response("new@people.example", "user", "already_member"))
	same(t, "another role", v.invited(keys[0], object{"email": "new@people.example", "role": "owner"}), response("new@people.example", "owner", "role_updated"))
	v.as(keys[1], 200, "GET", members, nil)
	same(t, "no role", v.invited(manager, object{"email": "new@people.example"}), response("new@people.example", "user", "role_updated"))
	v.as(keys[1], 403, "GET", members, nil)

	own := v.invited(keys[0], object{"email": "boss@people.example", "role": "owner"})
	same(t, "the own role", []any{own["role"], own["status"], own["error"]}, []any{"manager", "error", "You cannot change your own role; another manager or owner can change it."})
	same(t, "the role that one has", v.invited(keys[0], object{"email": "boss@people.example", "role": "manager"}), response("boss@people.example", "manager", "already_member"))
}

// Members and pending invitations take the seats, until a reset gives any number of them.
func TestSeats(t *testing.T) {
	v := startParallel(t)
	v.join("member@people.example")
	v.call(204, "POST", "/_emulator/seats", object{"seats": 3})
	manager := v.BootstrapKey()
	status := func(email, want string) {
		t.Helper()
		same(t, email, v.invited(manager, object{"email": email, "role": "user"})["status"], want)
	}
	status("a@people.example", "invited")
	same(t, "no seat", v.invited(manager, object{"email": "b@people.example", "role": "owner"}), object{
		"email": "b@people.example", "role": "owner", "status": "error", "error": "The organization has no free seat.",
	})
	status("a@people.example", "already_invited")
	status("member@people.example", "already_member")
	v.call(204, "DELETE", remove("a@people.example"), nil)
	status("b@people.example", "invited")
	status("c@people.example", "error")
	must(t, v.Reset())
	for _, email := range []string{"a@people.example", "b@people.example", "c@people.example", "d@people.example"} {
		status(email, "invited")
	}
}
