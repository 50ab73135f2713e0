package organization_test

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// remaining returns the members' email addresses, except for the manager in every new emulator.
func remaining(t *testing.T, e *acctest.Env) []string {
	t.Helper()
	var emails []string
	for cursor := ""; ; {
		var page struct {
			Users      []struct{ Email string }
			Pagination struct{ NextCursor string }
		}
		query := url.Values{"limit": {"100"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		e.API(http.MethodGet, "/api/v0/organization/users?"+query.Encode(), nil, &page)
		for _, user := range page.Users {
			if user.Email != bootstrap {
				emails = append(emails, user.Email)
			}
		}
		if cursor = page.Pagination.NextCursor; cursor == "" {
			slices.Sort(emails)
			return emails
		}
	}
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

// remove invokes the action in a new process.
func remove(t *testing.T, e *acctest.Env, settings acctest.Values, email string) (string, acctest.Outcome) {
	t.Helper()
	progress, out := acctest.NewProcess(t, e, settings).Invoke("agentyard_member_remove", acctest.Values{"email": email})
	return strings.Join(progress, "\n"), out
}

func TestMemberRemove_errors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		email string
		fault emulator.Fault
		at    string
		want  []string
	}{
		"no address":           {"nobody", emulator.Fault{}, "email", []string{`email must be an email address`, `got: "nobody"`}},
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
			told, out := remove(t, e, nil, tc.email)
			out.MustFail(t, tc.at, tc.want...)
			if told != "" || len(remaining(t, e)) != 2 {
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
	told, out := remove(t, e, nil, "nobody@acme.example")
	out.MustFail(t, "", "may still exist", "base_url")
	if told != "" {
		t.Error(told)
	}
}

// A manager can be removed unless it is the last one, and only managers can remove members.
func TestMemberRemove_roles(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, manager := join(t, e, emulator.Human{Email: "ada@acme.example", Role: emulator.RoleManager})
	_, user := join(t, e, emulator.Human{Email: "ben@acme.example"})
	for _, tc := range []struct{ key, email, want string }{
		{user, "ada@acme.example", "403"},
		{serviceAccountKey(e), "ben@acme.example", "403"},
		{manager, "ada@acme.example", "409"},
		{manager, bootstrap, "was removed"},
		{manager, "ada@acme.example", "Use the API key of another manager or owner"},
		{manager, "ben@acme.example", "was removed"},
	} {
		told, out := remove(t, e, acctest.Values{"api_key": tc.key}, tc.email)
		if (told == "") != (tc.want != "was removed") || !strings.Contains(told+out.Text(), tc.want) {
			t.Errorf("%s: %q, want %s: %s", tc.email, told, tc.want, out)
		}
	}
}
