package emulator_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	organization = "/api/v0/organization"
	members      = organization + "/users"
	invite       = members + "/invite"
)

// join adds members with the role user and returns their IDs and keys in that order.
func (v *env) join(emails ...string) (ids, keys []string) {
	v.t.Helper()
	for _, email := range emails {
		id, key, err := v.AddHuman(emulator.Human{Email: email})
		must(v.t, err)
		ids, keys = append(ids, id), append(keys, key)
	}
	return ids, keys
}

func (v *env) invite(email string) {
	v.t.Helper()
	must(v.t, v.Invite(email, ""))
}

// memberEmails reads all pages of the listing.
func (v *env) memberEmails(limit int) (emails string, pages int) {
	v.t.Helper()
	query := url.Values{"limit": {fmt.Sprint(limit)}}
	var list []string
	for {
		o := v.call(200, "GET", members+"?"+query.Encode(), nil).object(v.t)
		for _, m := range o["users"].([]any) {
			list = append(list, m.(object)["email"].(string))
		}
		pages++
		p := o["pagination"].(object)
		if p["hasMore"] != true {
			same(v.t, "cursor of the last page", p["nextCursor"], nil)
			return strings.Join(list, " "), pages
		}
		query.Set("cursor", p["nextCursor"].(string))
	}
}

func remove(email string) string { return members + "?email=" + url.QueryEscape(email) }

func TestMemberRecord(t *testing.T) {
	v := startParallel(t)
	v.clock.Advance(1500 * time.Millisecond)
	id, _, err := v.AddHuman(emulator.Human{
		Email: "Ada@People.example", FirstName: "Ada", LastName: "Byron", Metadata: map[string]any{"team": "engines", "level": 3, "tags": []string{"a"}},
	})
	must(t, err)
	bare, _ := v.join("bare@people.example")
	list := v.call(200, "GET", members, nil).object(t)["users"].([]any)
	if len(list) != 3 {
		t.Fatalf("members: %v", list)
	}
	same(t, "the first manager", list[0], object{
		"id": list[0].(object)["id"], "email": "manager@agentyard.example", "firstName": "Avery", "lastName": "Manager",
		"createdAt": "2026-05-01T12:00:00Z", "lastSignInAt": "2026-05-01T12:00:00Z", "metadata": object{},
	})
	byID := map[any]any{list[1].(object)["id"]: list[1], list[2].(object)["id"]: list[2]}
	same(t, "all fields", byID[id], object{
		"id": id, "email": "Ada@People.example", "firstName": "Ada", "lastName": "Byron", "createdAt": "2026-05-01T12:00:01.5Z",
		"metadata": object{"team": "engines", "level": 3, "tags": []string{"a"}},
	})
	same(t, "few fields", byID[bare[0]], object{
		"id": bare[0], "email": "bare@people.example", "createdAt": "2026-05-01T12:00:01.5Z", "metadata": object{},
	})
}

func TestMembersAreListedOldestFirst(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{ShuffleLists: true})
	want := []string{"manager@agentyard.example"}
	for i := range 6 {
		v.clock.Advance(time.Millisecond)
		email := fmt.Sprintf("m%d@people.example", 9-i)
		v.join(email)
		want = append(want, email)
	}
	v.invite("pending@people.example")
	for limit, pages := range map[int]int{2: 4, 7: 1} {
		if got, n := v.memberEmails(limit); got != strings.Join(want, " ") || n != pages {
			t.Errorf("limit %d: %d pages of %s", limit, n, got)
		}
	}
}

// Members of one millisecond have the order of their IDs, so that pages neither overlap nor miss anybody.
func TestMembersOfOneMoment(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{MaxPageSize: 2})
	ids, _ := v.join("a@people.example", "b@people.example", "c@people.example", "d@people.example")
	slices.Sort(ids)
	var got []string
	query := ""
	for range 3 {
		o := v.call(200, "GET", members+query, nil).object(t)
		for _, m := range o["users"].([]any) {
			if m.(object)["email"] != "manager@agentyard.example" {
				got = append(got, m.(object)["id"].(string))
			}
		}
		query = "?cursor=" + fmt.Sprint(o["pagination"].(object)["nextCursor"])
	}
	same(t, "order", got, ids)
}

// A cursor stays good when somebody joins or leaves, unless it is the very member that it names.
func TestMemberPagesWhileMembersChange(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{MaxPageSize: 2})
	for _, email := range []string{"a@people.example", "b@people.example", "c@people.example"} {
		v.clock.Advance(time.Second)
		v.join(email)
	}
	next := v.call(200, "GET", members, nil).object(t)["pagination"].(object)["nextCursor"].(string)
	v.call(204, "DELETE", remove("b@people.example"), nil)
	v.clock.Advance(time.Second)
	v.join("d@people.example")
	o := v.call(200, "GET", members+"?cursor="+next, nil).object(t)
	if list := o["users"].([]any); len(list) != 2 || list[0].(object)["email"] != "c@people.example" || list[1].(object)["email"] != "d@people.example" {
		t.Errorf("second page: %v", o)
	}
	v.call(204, "DELETE", remove("a@people.example"), nil)
	v.detail(v.call(400, "GET", members+"?cursor="+next, nil), "not a cursor of this list")
}

func TestRemoveMember(t *testing.T) {
	v := startParallel(t)
	ids, keys := v.join("Leaves@people.example", "stays@people.example")
	for _, email := range []string{"leaves@people.example", "stays@people.example"} {
		v.setLimits(object{"email": email, "limit": 2_000_000})
	}
	v.as(keys[0], 200, "GET", computers, nil)
	same(t, "body", len(v.call(204, "DELETE", remove("leaves@PEOPLE.example"), nil).raw), 0)
	v.detail(v.as(keys[0], 401, "GET", computers, nil), "was removed")
	v.as(keys[1], 200, "GET", computers, nil)
	v.detail(v.call(404, "DELETE", remove("Leaves@people.example"), nil), `"Leaves@people.example"`)
	if got, _ := v.memberEmails(100); strings.Contains(got, "eaves") {
		t.Errorf("members: %s", got)
	}
	if got := v.limits(); strings.Contains(got, "eaves") || !strings.Contains(got, "stays@people.example:2000000") {
		t.Errorf("limits: %s", got)
	}
	// Whoever comes back is somebody else, without what the former member had.
	again, key := v.join("leaves@people.example")
	if again[0] == ids[0] {
		t.Error("the ID is that of the former member")
	}
	v.as(keys[0], 401, "GET", computers, nil)
	v.as(key[0], 200, "GET", computers, nil)
	if got := v.limits(); !strings.Contains(got, "leaves@people.example:<nil>") {
		t.Errorf("limits: %s", got)
	}
}

func TestRemoveMemberRefuses(t *testing.T) {
	v := startParallel(t)
	v.detail(v.call(409, "DELETE", remove("Manager@agentyard.example"), nil), "last manager or owner")
	v.human(emulator.RoleUser)
	v.detail(v.call(409, "DELETE", remove("manager@agentyard.example"), nil), "last manager or owner")
	_, owner := v.human(emulator.RoleOwner)
	v.detail(v.call(409, "DELETE", remove("manager@agentyard.example"), nil), "another manager or owner")
	v.as(owner, 409, "DELETE", remove("owner@people.example"), nil)
	// Addresses of any form may be asked for; nobody has them.
	for _, email := range []string{"nobody@people.example", "a'b/c@d.example", "ü@ä.example", "a@-", "a+b@[192.0.2.1]"} {
		v.detail(v.call(404, "DELETE", remove(email), nil), "no pending invitation")
	}
}

// Somebody else may remove the manager that every emulator begins with; a reset brings it back.
func TestRemoveTheFirstManager(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{DataFile: dataFile(t)})
	v.clock.Advance(time.Second)
	_, owner := v.human(emulator.RoleOwner)
	before := v.call(200, "GET", members, nil).object(t)["users"].([]any)[0]
	v.as(owner, 204, "DELETE", remove("manager@agentyard.example"), nil)
	v.call(401, "GET", members, nil)
	v = v.restart()
	v.call(401, "GET", members, nil)
	v.call(204, "POST", "/_emulator/enterprise-controls", object{"settings": object{"outputStyle": "verbose"}})
	v.call(204, "POST", "/_emulator/reset", nil)
	v.as(owner, 401, "GET", members, nil)
	list := v.call(200, "GET", members, nil).object(t)["users"].([]any)
	same(t, "members", len(list), 1)
	same(t, "the first manager", list[0], before)
}

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
