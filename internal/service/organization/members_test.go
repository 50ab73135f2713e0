package organization_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// bootstrap is the email address of the manager in every new emulator.
const bootstrap = "manager@agentyard.example"

// join adds a member, a minute after the previous one, and returns the member's ID and API key.
func join(t *testing.T, e *acctest.Env, h emulator.Human) (id, key string) {
	t.Helper()
	if e.Clock != nil {
		e.Clock.Advance(time.Minute)
	}
	id, key, err := e.AddHuman(h)
	check.Must(t, err)
	return id, key
}

// joinMany adds n members: m0@acme.example and so on.
func joinMany(t *testing.T, e *acctest.Env, n int) {
	t.Helper()
	for i := range n {
		join(t, e, emulator.Human{Email: fmt.Sprintf("m%d@acme.example", i)})
	}
}

// Who is only invited is not listed.
func TestMembers_metadata(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	join(t, e, emulator.Human{Email: "Ada.O'Neil+ci@Acme.example", Metadata: map[string]any{"team": "core", "level": 3, "lead": true, "tags": []string{"a", "b"}, "office": nil, "": "empty"}})
	join(t, e, emulator.Human{Email: "ben@acme.example"})
	check.Must(t, e.Invite("cho@acme.example", ""))
	var got []any
	for _, member := range e.MustRead(t, nil, "agentyard_members", nil)["members"].([]any) {
		got = append(got, member.(map[string]any)["metadata"])
	}
	check.Is(t, "the metadata", got, []any{map[string]any{}, map[string]any{"team": "core", "level": "3", "lead": "true", "tags": `["a","b"]`, "office": "null", "": "empty"}, map[string]any{}})
}

// No more pages are read than max_results needs. The emulator's pages have two members.
func TestMembers_maxResults(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 6)
	for most, want := range map[any]struct{ found, requests int }{nil: {7, 4}, 3: {3, 2}} {
		e.Journal().Reset()
		check.Is(t, fmt.Sprint("members with max_results ", most), len(e.MustRead(t, nil, "agentyard_members", acctest.Values{"max_results": most})["members"].([]any)), want.found)
		e.WantRequests(t, "listMembers", want.requests)
	}
	for _, typeName := range []string{"agentyard_members", "agentyard_enterprise_control_history"} {
		e.MustNotRead(t, nil, typeName, acctest.Values{"max_results": 0}, "max_results", "max_results must be at least 1, not")
	}
}

// A configured address keeps its case.
func TestMember_byEmail(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 3)
	id, _ := join(t, e, emulator.Human{Email: "Ada+ci@Acme.example", LastName: "Adams"})
	for _, email := range []string{"Ada+ci@Acme.example", "ada+CI@acme.example"} {
		acctest.MustHave(t, e.MustRead(t, nil, "agentyard_member", acctest.Values{"email": email}), map[string]any{"id": id, "email": email, "last_name": "Adams"})
	}
}

func TestMember_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	check.Must(t, e.Invite("invited@acme.example", ""))
	user := acctest.Values{"api_key": e.MemberKey("user@acme.example", emulator.RoleUser)}
	e.MustNotRead(t, user, "agentyard_members", nil, "", "Cannot list members", "This requires the API key of a member with the Manager role")
	for email, want := range map[any][]string{
		"invited@acme.example": {"Member not found", "A pending invitation is not a member yet. Check the address."},
		"M0 <m0@acme.example>": {"email must be an email address"},
		nil:                    {"required"},
	} {
		e.MustNotRead(t, nil, "agentyard_member", acctest.Values{"email": email}, "email", want...)
	}
}

// remaining returns the members' email addresses, except for the manager in every new emulator.
func remaining(t *testing.T, e *acctest.Env) []string {
	t.Helper()
	var emails []string
	for _, one := range e.MustRead(t, nil, "agentyard_members", nil)["members"].([]any) {
		if email := one.(map[string]any)["email"].(string); email != bootstrap {
			emails = append(emails, email)
		}
	}
	slices.Sort(emails)
	return emails
}

// The progress message tells whether a member was removed or not found.
func TestMemberRemove_progress(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 2)
	p := acctest.NewProcess(t, e, nil)
	for _, want := range []string{"m0@acme.example was removed from the organization.", "m0@acme.example is already gone: the service does not list this member."} {
		progress, out := p.Invoke("agentyard_member_remove", acctest.Values{"email": "m0@acme.example"})
		if len(out.Errors)+len(out.Warnings) > 0 || !slices.Equal(progress, []string{want}) {
			t.Errorf("progress %q, %s", progress, out)
		}
	}
}

func TestMemberRemove_errors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		email string
		fault emulator.Fault
		at    string
		want  []string
	}{
		"no address":           {"nobody", emulator.Fault{}, "email", []string{`email must be an email address`, `not "nobody"`}},
		"oneself":              {bootstrap, emulator.Fault{}, "email", []string{"Cannot remove member", "409", "The last manager", "API key of another manager or owner"}},
		"not an address there": {"m0@acme.example", emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 400}, "email", []string{"removeMember", "400", "without a name or brackets"}},
		"another member stays": {"m0@acme.example", emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 404}, "", []string{"removeMember", "404", "did not confirm", "then run again"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			joinMany(t, e, 2)
			if tc.fault.Kind != "" {
				tc.fault.Operation = "removeMember"
				e.Faults().Add(tc.fault)
			}
			told, out := acctest.NewProcess(t, e, nil).Invoke("agentyard_member_remove", acctest.Values{"email": tc.email})
			out.MustFail(t, tc.at, tc.want...)
			if len(told) > 0 || len(remaining(t, e)) != 2 {
				t.Errorf("left are %v: %s", remaining(t, e), told)
			}
		})
	}
}

// If the members cannot be listed, nobody is reported as removed: the address or the key may be wrong.
func TestMemberRemove_unproven(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: "listMembers", Kind: emulator.FaultStatusBeforeCommit, Status: 404, Times: -1})
	told, out := acctest.NewProcess(t, e, nil).Invoke("agentyard_member_remove", acctest.Values{"email": "nobody@acme.example"})
	out.MustFail(t, "", "may still exist", "base_url")
	check.None(t, "warnings", told)
}

// Members without a limit of their own are not listed.
func TestUserUsageLimitList(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, "Blake@agentyard.example", avery, "nolimit@agentyard.example")
	globalLimitElsewhere(e, 9_000_000)
	limitElsewhere(e, avery, 2_000_000)
	limitElsewhere(e, blake, 3_000_000)
	e.Journal().Reset()
	mustList(t, e, userLimitType, avery, "Blake@agentyard.example")
	check.Is(t, "requests, and listings", len(e.Journal().Entries()), e.Journal().Count("getUserUsageLimits"))
}

// Pending invitations are not listed.
func TestMemberInvitationList(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	join(t, e, emulator.Human{Email: "Avery@agentyard.example"})
	check.Must(t, e.Invite("pending@agentyard.example", ""))
	mustList(t, e, invitationType, bootstrap, "Avery@agentyard.example")
	// A query with a limit reads only the pages that it needs.
	e.Journal().Reset()
	p := acctest.NewProcess(t, e, nil)
	p.Limit = 1
	if found, out := p.List(invitationType, nil); len(found) != 1 || len(out.Errors) > 0 || e.Journal().Entries()[0].Query != "limit=1" {
		t.Errorf("%d found: %s", len(found), out)
	}
}

// mustList compares the display names of a query.
func mustList(t *testing.T, e *acctest.Env, typeName string, want ...string) {
	t.Helper()
	p := acctest.NewProcess(t, e, nil)
	_, out := p.List(typeName, nil)
	out.MustSucceed(t)
	check.Is(t, typeName, p.Names, want)
}
