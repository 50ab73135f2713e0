package organization_test

import (
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
	if len(told) > 0 {
		t.Error(told)
	}
}
