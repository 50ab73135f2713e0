package organization_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func removeAction(email string) string {
	return fmt.Sprintf("action \"agentyard_member_remove\" \"it\" {\n  config {\n    email = %q\n  }\n}\n", email)
}

// invoke runs the action as a user does, and returns the output in one line.
func invoke(cli *acctest.CLI, args ...string) (exitCode int, shown string) {
	r := cli.Run(append([]string{"apply", "-invoke=action.agentyard_member_remove.it", "-auto-approve", "-input=false"}, args...)...)
	return r.ExitCode, acctest.OneLine(r.Output)
}

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

func TestAccMemberRemove_invokedByHand(t *testing.T) {
	acctest.NeedsActions(t)
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 3)
	_, key := join(t, e, emulator.Human{Email: "Ada+ci&x@Acme.example"})
	cli := acctest.NewCLI(t, e, removeAction("ada+ci&x@acme.example"))
	if status, _ := e.TryWithKey(key, http.MethodGet, "/api/v0/computers", nil); status != 200 {
		t.Fatalf("the member's key is answered %d", status)
	}
	if code, shown := invoke(cli); code != 0 || !strings.Contains(shown, "ada+ci&x@acme.example was removed from the organization.") {
		t.Errorf("exit code %d: %s", code, shown)
	}
	if left := remaining(t, e); !slices.Equal(left, []string{"m0@acme.example", "m1@acme.example", "m2@acme.example"}) {
		t.Errorf("left are %v", left)
	}
	if status, _ := e.TryWithKey(key, http.MethodGet, "/api/v0/computers", nil); status != 401 {
		t.Errorf("the key of who was removed is answered %d", status)
	}
	// The action can be repeated.
	if code, shown := invoke(cli); code != 0 || !strings.Contains(shown, "ada+ci&x@acme.example is already gone") || strings.Contains(shown, "was removed") {
		t.Errorf("the second time: exit code %d: %s", code, shown)
	}
	e.WantRequests(t, "removeMember", 2)
}

// The address may come from a variable: the plan checks its value, and null removes nobody.
func TestAccMemberRemove_fromAVariable(t *testing.T) {
	acctest.NeedsActions(t)
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 2)
	cli := acctest.NewCLI(t, e, "variable \"leaver\" {\n  type = string\n  default = null\n}\n"+strings.Replace(removeAction("X"), `"X"`, "var.leaver", 1))
	cli.MustPlanEmpty()
	if code, shown := invoke(cli); code == 0 || !strings.Contains(shown, "Missing Value") || !strings.Contains(shown, "nothing was sent") {
		t.Errorf("exit code %d: %s", code, shown)
	}
	if code, shown := invoke(cli, "-var=leaver=m0"); code == 0 || !strings.Contains(shown, "must be an email address") {
		t.Errorf("exit code %d: %s", code, shown)
	}
	e.WantRequests(t, "removeMember", 0)
	if code, shown := invoke(cli, "-var=leaver=m0@acme.example"); code != 0 || !slices.Equal(remaining(t, e), []string{"m1@acme.example"}) {
		t.Errorf("exit code %d: %s", code, shown)
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
		"no address":                {"nobody", emulator.Fault{}, "email", []string{`email must be an email address`, `got: "nobody"`}},
		"with a name":               {"M <m0@acme.example>", emulator.Fault{}, "email", []string{`email must be an email address`}},
		"empty":                     {"", emulator.Fault{}, "email", []string{`email must be an email address`}},
		"oneself":                   {bootstrap, emulator.Fault{}, "email", []string{"Cannot remove member", "409", "The last manager", "API key of another manager or owner"}},
		"not an address there":      {"m0@acme.example", emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 400}, "email", []string{"removeMember", "400", "without a name or brackets"}},
		"401":                       {"m0@acme.example", emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 401}, "", []string{"removeMember", "401", "AGENTYARD_API_KEY"}},
		"403":                       {"m0@acme.example", emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 403}, "", []string{"removeMember", "403", "Manager role or higher"}},
		"another member stays":      {"m0@acme.example", emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 404}, "", []string{"removeMember", "404", "did not confirm", "then run again"}},
		"404 of something else":     {"m0@acme.example", emulator.Fault{Kind: emulator.FaultOtherServer, Status: 404, Body: "<html>404</html>"}, "", []string{"removeMember", "404", "not in the service's format"}},
		"success of something else": {"m0@acme.example", emulator.Fault{Kind: emulator.FaultOtherServer, Status: 200, Body: "<html>Log in</html>", Times: -1}, "", []string{"removeMember", "not JSON", "base_url"}},
		"500":                       {"m0@acme.example", emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 500, Times: -1}, "", []string{"removeMember", "500", "may have completed"}},
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
