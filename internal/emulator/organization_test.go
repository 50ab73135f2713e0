package emulator_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
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
		check.Must(v.t, err)
		ids, keys = append(ids, id), append(keys, key)
	}
	return ids, keys
}

func (v *env) invite(email string) {
	v.t.Helper()
	check.Must(v.t, v.Invite(email, ""))
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
	check.Must(t, err)
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
	check.Is(t, "the ID is that of the former member", again[0] == ids[0], false)
	v.as(keys[0], 401, "GET", computers, nil)
	v.as(key[0], 200, "GET", computers, nil)
	check.Says(t, v.limits(), "leaves@people.example:<nil>")
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
		check.Fails(t, err, want)
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
	check.Must(t, v.Reset())
	for _, email := range []string{"a@people.example", "b@people.example", "c@people.example", "d@people.example"} {
		status(email, "invited")
	}
}

const (
	globalLimits = organization + "/usage/limits/global"
	userLimits   = organization + "/usage/limits/users"
)

// setLimits sends one request with these entries, and all must be carried out.
func (v *env) setLimits(entries ...object) {
	v.t.Helper()
	if o := v.call(200, "PUT", userLimits, object{"users": entries}).object(v.t); len(o["errors"].([]any)) != 0 {
		v.t.Fatalf("errors: %v", o["errors"])
	}
}

// limits shows the global limit and those of the users, sorted by email.
func (v *env) limits() string {
	v.t.Helper()
	o := v.call(200, "GET", userLimits, nil).object(v.t)
	return fmt.Sprint(number(o["globalLimit"]), " ", pairs(o["userLimits"], "limit"))
}

// number keeps large numbers in digits.
func number(value any) any {
	if n, ok := value.(float64); ok {
		return int64(n)
	}
	return value
}

// pairs shows a list of entries by email, sorted.
func pairs(list any, field string) string {
	var texts []string
	for _, entry := range list.([]any) {
		texts = append(texts, fmt.Sprintf("%v:%v", entry.(object)["email"], number(entry.(object)[field])))
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

func TestGlobalUsageLimit(t *testing.T) {
	v := startParallel(t)
	expect := func(method string, body any, want string) {
		t.Helper()
		same(t, method, string(v.call(200, method, globalLimits, body).raw), want)
	}
	expect("GET", nil, `{"limit":null}`)
	expect("PUT", object{"limit": nil}, `{"limit":null}`)
	for _, c := range []struct{ given, want string }{
		{"1000000", "1000000"}, {"1e6", "1000000"}, {"2500000.0", "2500000"}, {"9007199254740991", "9007199254740991"},
	} {
		expect("PUT", `{"limit":`+c.given+`}`, `{"limit":`+c.want+`}`)
		expect("GET", nil, `{"limit":`+c.want+`}`)
	}
	expect("PUT", `{"limit":null}`, `{"limit":null}`)
	expect("GET", nil, `{"limit":null}`)
}

func TestUserUsageLimits(t *testing.T) {
	v := startParallel(t)
	v.join("Ada@People.example", "bob@people.example")
	v.invite("pending@people.example")
	expect := func(want string) {
		t.Helper()
		same(t, "limits", v.limits(), want)
	}
	expect("<nil> Ada@People.example:<nil> bob@people.example:<nil> manager@agentyard.example:<nil>")
	v.call(200, "PUT", globalLimits, object{"limit": 9_000_000})
	o := v.call(200, "PUT", userLimits, object{"users": []object{
		{"email": "ada@people.EXAMPLE", "limit": 1_000_000}, {"email": "BOB@people.example", "limit": 2_000_000},
		{"email": "nobody@people.example", "limit": 1_000_000}, {"email": "no address", "limit": 1_000_000}, {"email": "", "limit": nil},
		{"email": "Pending@people.example", "limit": nil}, {"email": "manager@agentyard.example", "limit": nil},
	}}).object(t)
	same(t, "updated", pairs(o["updated"], "limit"), "Ada@People.example:1000000 bob@people.example:2000000 manager@agentyard.example:<nil>")
	same(t, "errors", o["errors"], []object{
		{"email": "nobody@people.example", "error": "The organization has no member with this email address."},
		{"email": "no address", "error": "The email address is malformed."},
		{"email": "", "error": "The email address is malformed."},
		{"email": "Pending@people.example", "error": "The invitation of this member is pending; a limit can be set once the member has joined."},
	})
	expect("9000000 Ada@People.example:1000000 bob@people.example:2000000 manager@agentyard.example:<nil>")
	v.setLimits(object{"email": "ada@people.example", "limit": nil}, object{"email": "bob@people.example", "limit": 3_000_000})
	expect("9000000 Ada@People.example:<nil> bob@people.example:3000000 manager@agentyard.example:<nil>")
	for _, email := range []string{" bob@people.example", "Bob <bob@people.example", "Bob <bob@people.example>"} {
		o := v.call(200, "PUT", userLimits, object{"users": []object{{"email": email, "limit": 1_000_000}}}).object(t)
		same(t, email, o["errors"], []object{{"email": email, "error": "The email address is malformed."}})
	}
	// All failed, and still the status is 200.
	same(t, "answer", string(v.call(200, "PUT", userLimits, object{"users": []object{{"email": "x", "limit": nil}}}).raw), `{"errors":[{"email":"x","error":"The email address is malformed."}],"updated":[]}`)
}

const history = organization + "/enterprise-controls/history"

func (v *env) changeControls(settings object, email string) {
	v.t.Helper()
	raw := map[string]json.RawMessage{}
	for name, value := range settings {
		data, err := json.Marshal(value)
		check.Must(v.t, err)
		raw[name] = data
	}
	check.Must(v.t, v.ChangeEnterpriseControls(raw, email))
}

func TestHistoryFromTheStart(t *testing.T) {
	v := startParallel(t)
	o := v.call(200, "GET", history, nil).object(t)
	same(t, "pagination", o["pagination"], object{"hasMore": false, "nextCursor": nil})
	var got []string
	for _, x := range o["changes"].([]any) {
		c := x.(object)
		settings, user := c["settings"].(object), c["user"].(object)
		got = append(got, fmt.Sprint(c["revision"], c["updatedAt"], user["email"], user["name"], settings["maxAutonomyLevel"], settings["sessionRetentionDays"]))
		if !strings.HasPrefix(fmt.Sprint(user["id"]), "user_") {
			t.Errorf("user of revision %v: %v", c["revision"], user)
		}
	}
	if want := []string{
		fmt.Sprint(3.0, "2026-05-01T12:00:00Z", "manager@agentyard.example", "Avery Manager", "high", 90.0),
		fmt.Sprint(2.0, "2026-05-01T12:00:00Z", "manager@agentyard.example", "Avery Manager", "high", 30.0),
		fmt.Sprint(1.0, "2026-04-30T12:00:00Z", nil, nil, "medium", 30.0),
	}; !slices.Equal(got, want) {
		t.Errorf("changes: %v, want %v", got, want)
	}
}

func TestChangeEnterpriseControls(t *testing.T) {
	v := startParallel(t)
	latest := func() object {
		t.Helper()
		return v.call(200, "GET", history+"?limit=1", nil).object(t)["changes"].([]any)[0].(object)
	}
	before := latest()
	v.clock.Advance(time.Hour + time.Microsecond)
	ids, _ := v.join("Ada@people.example")
	v.changeControls(object{"outputStyle": "verbose", "modelPolicy": object{"allowCustomModels": false}, "addedLater": []int{1}, "routerGuidance": nil}, "ada@people.example")
	c := latest()
	same(t, "user", c["user"], object{"id": ids[0], "email": "Ada@people.example", "name": nil})
	want := before["settings"].(object)
	maps.Copy(want, object{"outputStyle": "verbose", "modelPolicy": object{"allowCustomModels": false}, "addedLater": []int{1}})
	delete(want, "routerGuidance")
	same(t, "settings", c["settings"], want)
	fields(t, "latest change", c, object{"revision": 4.0, "updatedAt": "2026-05-01T13:00:00Z"})

	v.changeControls(object{"outputStyle": "concise"}, "")
	want["outputStyle"] = "concise"
	c = latest()
	same(t, "settings", c["settings"], want)
	same(t, "user", c["user"], before["user"])
	// The history says who it was also after that member is gone.
	v.call(204, "DELETE", remove("ada@people.example"), nil)
	same(t, "user of revision 4", v.call(200, "GET", history+"?limit=2", nil).object(t)["changes"].([]any)[1].(object)["user"].(object)["email"], "Ada@people.example")

	for text, err := range map[string]error{
		"not be empty":  v.ChangeEnterpriseControls(nil, ""),
		`"a" is not`:    v.ChangeEnterpriseControls(map[string]json.RawMessage{"a": json.RawMessage("{")}, ""),
		"no member has": v.ChangeEnterpriseControls(map[string]json.RawMessage{"a": json.RawMessage("1")}, "ada@people.example"),
	} {
		check.Fails(t, err, text)
	}
	same(t, "the latest revision is", latest()["revision"], 5.0)
}

func TestHistoryPages(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{ShuffleLists: true})
	for i := range 9 {
		v.changeControls(object{"sessionRetentionDays": 100 + i}, "")
	}
	var got []string
	query := "?limit=5"
	for range 3 {
		o := v.call(200, "GET", history+query, nil).object(t)
		for _, c := range o["changes"].([]any) {
			got = append(got, fmt.Sprint(c.(object)["revision"]))
		}
		query = fmt.Sprintf("?limit=5&cursor=%v", o["pagination"].(object)["nextCursor"])
		// Pages go on where they were, whatever comes on top.
		v.changeControls(object{"outputStyle": "verbose"}, "")
	}
	same(t, "revisions", strings.Join(got, " "), "12 11 10 9 8 7 6 5 4 3 2 1")
	v.detail(v.call(400, "GET", history+"?cursor=none", nil), "not a cursor")
}
