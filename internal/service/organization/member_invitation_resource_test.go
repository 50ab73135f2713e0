package organization_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const (
	invitationType    = "agentyard_member_invitation"
	invitationAddress = invitationType + ".test"
)

func invitationConfig(email, role string) string {
	if role != "" {
		role = fmt.Sprintf("\n  role  = %q", role)
	}
	return fmt.Sprintf("resource \"agentyard_member_invitation\" \"test\" {\n  email = %q%s\n}\n", email, role)
}

// roleOf invites a person again with the expected role, which changes nothing if they have it, and returns the role and the status.
func roleOf(e *acctest.Env, email, expected string) string {
	var answer struct{ Role, Status string }
	e.API(http.MethodPost, "/api/v0/organization/users/invite", map[string]any{"email": email, "role": expected}, &answer)
	return answer.Role + " " + answer.Status
}

// invitationIs checks attributes in the state. An empty text means null.
func invitationIs(want map[string]string) []statecheck.StateCheck {
	var checks []statecheck.StateCheck
	for name, text := range want {
		var check knownvalue.Check = knownvalue.StringExact(text)
		if text == "" {
			check = knownvalue.Null()
		}
		checks = append(checks, statecheck.ExpectKnownValue(invitationAddress, tfjsonpath.New(name), check))
	}
	return checks
}

// A person is invited, joins, gets another role, and leaves.
func TestAccMemberInvitation_fromTheInvitationOn(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var id string
	joins := func() { id, _ = join(t, e, emulator.Human{Email: "Avery@agentyard.example"}) }
	step := func(before func(), email, role string, action plancheck.ResourceActionType, want map[string]string) resource.TestStep {
		return resource.TestStep{
			PreConfig: before, Config: e.Config(invitationConfig(email, role)),
			ConfigPlanChecks: acctest.PlannedThenEmpty(invitationAddress, action), ConfigStateChecks: invitationIs(want),
		}
	}
	e.Run(t,
		step(nil, avery, "", plancheck.ResourceActionCreate, map[string]string{"id": avery, "email": avery, "role": "", "status": "invited", "member_id": ""}),
		step(nil, "AVERY@agentyard.example", "", plancheck.ResourceActionNoop, map[string]string{"email": avery, "status": "invited"}),
		step(nil, avery, "user", plancheck.ResourceActionUpdate, map[string]string{"role": "user", "status": "already_invited"}),
		// A pending invitation keeps its role.
		e.FailingStep(invitationConfig(avery, "manager"), `role\s+=\s+"manager"(.|\n)*inviteMember(.|\n)*kept\s+the\s+role\s+"user"(.|\n)*Set\s+role\s+to\s+the\s+one(.|\n)*after\s+the\s+invitation\s+is\s+accepted`),
		step(joins, avery, "user", plancheck.ResourceActionNoop, map[string]string{"role": "user", "status": "already_invited"}),
		step(func() {
			if got := remaining(t, e); len(got) != 1 || id == "" {
				t.Errorf("members: %v", got)
			}
		}, avery, "manager", plancheck.ResourceActionUpdate, map[string]string{"role": "manager", "status": "role_updated"}),
		// Without a role, the member keeps theirs, and nothing is sent.
		step(nil, avery, "", plancheck.ResourceActionUpdate, map[string]string{"role": "", "status": "role_updated"}),
		step(func() {
			if got := roleOf(e, avery, "manager"); got != "manager already_member" {
				t.Errorf("the member is %s", got)
			}
		}, avery, "", plancheck.ResourceActionNoop, nil),
		// Somebody who left is invited again.
		step(func() { leaves(e, avery) }, avery, "", plancheck.ResourceActionCreate, map[string]string{"status": "invited", "member_id": ""}),
		step(nil, blake, "owner", plancheck.ResourceActionReplace, map[string]string{"id": blake, "role": "owner", "status": "invited"}),
	)
	// Neither the replacement nor the destroy revoked an invitation.
	if got := roleOf(e, avery, "user") + ", " + roleOf(e, blake, "owner"); got != "user already_invited, owner already_invited" {
		t.Errorf("the invitations are %s", got)
	}
}

// The state has the member's ID after the first refresh, and plans nothing because of it.
func TestMemberInvitation_memberID(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"email": avery}
	i := e.NewInstance(t, invitationType)
	apply := func(action acctest.Action) {
		t.Helper()
		e.Apply(t, i, config).MustDo(t, action)
	}
	apply("create")
	id, _ := join(t, e, emulator.Human{Email: "AVERY@agentyard.example"})
	apply("none")
	if i.Attribute("member_id") != id || i.ID() != avery {
		t.Errorf("the state is %s, want the member %s", i.State, id)
	}
	// A person who left and joined again is another member.
	leaves(e, avery)
	again, _ := join(t, e, emulator.Human{Email: avery})
	apply("none")
	if i.Attribute("member_id") != again {
		t.Errorf("the state is %s, want the member %s", i.State, again)
	}
	config["role"] = "manager"
	apply("update")
	if i.Attribute("member_id") != again || i.Attribute("status") != "role_updated" {
		t.Errorf("the state is %s", i.State)
	}
	leaves(e, avery)
	out := e.Plan(t, i, config)
	if out.Action != acctest.ActionCreate || !strings.Contains(out.WarningText(), "Member Not Found: The member "+avery+" no longer exists.") {
		t.Errorf("%s: %s", out.Action, out.WarningText())
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
				want = "Already a Member: " + avery + " is already a member, and " + tc.want + ". To rename this resource, add a moved block."
			}
			if len(out.Errors) > 0 || out.WarningText() != want {
				t.Errorf("%s\n%s, want %s", out.Text(), out.WarningText(), want)
			}
			e.WantRequests(t, "inviteMember", tc.requests)
			if i.Attribute("member_id") != id || i.Attribute("status") != tc.status {
				t.Errorf("the state is %s", i.State)
			}
			p.Apply(i, tc.config).MustDo(t, acctest.ActionNone)
			if got := roleOf(e, avery, tc.role); got != tc.role+" already_member" {
				t.Errorf("the member is %s", got)
			}
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
func TestAccMemberInvitation_ofAMemberUnknownAtPlan(t *testing.T) {
	t.Parallel()
	for name, value := range map[string]string{
		"email": "email = terraform_data.test.output\n  role  = \"owner\"",
		"role":  "email = \"" + avery + "\"\n  role  = terraform_data.test.output",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			join(t, e, emulator.Human{Email: avery})
			input := map[string]string{"email": avery, "role": "owner"}[name]
			cli := acctest.NewCLI(t, e, fmt.Sprintf("resource \"terraform_data\" \"test\" {\n  input = %q\n}\nresource %q \"test\" {\n  %s\n}\n", input, invitationType, value))
			planned := cli.MustRun("plan", "-input=false", "-out=plan").Output
			if strings.Contains(planned, "Already a Member") {
				t.Errorf("the plan says %s", planned)
			}
			if out := acctest.OneLine(cli.MustRun("apply", "-input=false", "plan").Output); strings.Count(out, "Already a Member") != 1 || !strings.Contains(out, avery+" is already a member") {
				t.Errorf("the apply says %s", out)
			}
			if got := roleOf(e, avery, "owner"); got != "owner already_member" {
				t.Errorf("the member is %s", got)
			}
		})
	}
}

// A plan needs all members, because it says which people are members already.
func TestMemberInvitation_incompleteListing(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, blake, avery)
	e.Faults().Add(emulator.Fault{Operation: "listMembers", Kind: emulator.FaultStatusBeforeCommit, Status: 500, After: 1, Times: -1})
	p := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0})
	p.Plan(p.NewInstance(invitationType), acctest.Values{"email": avery}).MustFail(t, "", "Cannot plan member invitation", "listMembers", "500")
	if e.Journal().Count("listMembers") < 2 {
		t.Error("the first page was not read")
	}
}

// A member whose address was changed elsewhere is not invited again with the old address.
func TestMemberInvitation_changedAddress(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id, _ := join(t, e, emulator.Human{Email: avery})
	i := e.NewInstance(t, invitationType)
	e.MustApply(t, i, acctest.Values{"email": avery})
	acctest.NewProcess(t, e, nil).Plan(i, acctest.Values{"email": avery}).MustDo(t, acctest.ActionNone)
	e.Faults().Add(emulator.Fault{Operation: "listMembers", Kind: emulator.FaultOtherResponse, Times: -1,
		Body: fmt.Sprintf(`{"users":[{"id":%q,"email":%q,"createdAt":"2026-05-01T12:00:00Z","metadata":{}}],"pagination":{"hasMore":false,"nextCursor":null}}`, id, blake)})
	e.Plan(t, i, acctest.Values{"email": avery}).MustFail(t, "email", "Member Has Another Email Address",
		"The email address of member "+id+" was changed from "+avery+" to "+blake, "Run terraform state rm ADDRESS. To keep managing the member, set email to \""+blake+"\", and import the member with this address.")
	p := acctest.NewProcess(t, e, nil)
	imported := p.NewInstance(invitationType)
	p.Import(imported, blake)
	p.Plan(imported, acctest.Values{"email": blake}).MustDo(t, acctest.ActionNone)
}

// An imported member keeps the role until one is configured.
func TestAccMemberInvitation_import(t *testing.T) {
	t.Parallel()
	for name, block := range map[string]string{
		"command":     "",
		"by ID":       "import {\n  to = " + invitationAddress + "\n  id = \"AVERY@agentyard.example\"\n}\n",
		"by identity": "import {\n  to = " + invitationAddress + "\n  identity = {\n    email = \"Avery@agentyard.example\"\n  }\n}\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "by identity" {
				acctest.NeedsIdentity(t)
			}
			e := acctest.New(t)
			join(t, e, emulator.Human{Email: avery, Role: emulator.RoleOwner})
			cli := acctest.NewCLI(t, e, invitationConfig(avery, "")+block)
			if block == "" {
				cli.MustRun("import", invitationAddress, "AVERY@Agentyard.example")
			} else if out := cli.MustRun("apply", "-auto-approve", "-input=false").Output; !strings.Contains(out, "1 imported, 0 added, 0 changed, 0 destroyed") {
				t.Errorf("the import: %s", out)
			}
			cli.MustPlanEmpty()
			e.WantRequests(t, "inviteMember", 0)
			cli.Write("main.tf", invitationConfig(avery, "manager"))
			if out := cli.MustRun("apply", "-auto-approve", "-input=false").Output; !strings.Contains(out, "0 added, 1 changed, 0 destroyed") {
				t.Errorf("the role: %s", out)
			}
			cli.MustPlanEmpty()
			cli.MustRun("destroy", "-auto-approve", "-input=false")
			if got := roleOf(e, avery, "manager"); got != "manager already_member" {
				t.Errorf("the member is %s", got)
			}
		})
	}
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
		"no such role": {acctest.Values{"email": avery, "role": "king"}, emulator.Fault{}, "role", []string{`role must be one of user, manager, owner, got: "king".`}},
		"no seat":      {acctest.Values{"email": avery}, full, "email", []string{"Cannot create member invitation", "inviteMember", "refused for " + avery + ": No seats left.", "Nobody was invited"}},
		"oneself":      {acctest.Values{"email": bootstrap, "role": "user"}, emulator.Fault{}, "email", []string{"inviteMember", "your own role", "Resolve what the service reports"}},
		"400":          {acctest.Values{"email": avery}, emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 400, Body: `{"title":"Bad Request","status":400,"detail":"The email is malformed."}`}, "", []string{"inviteMember", "400"}},
		"403":          {acctest.Values{"email": avery}, emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 403}, "", []string{"inviteMember", "403", "Manager role or higher"}},
		"500":          {acctest.Values{"email": avery}, emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 500, Times: -1}, "", []string{"inviteMember", "500", "may have completed"}},
		"lost":         {acctest.Values{"email": avery}, emulator.Fault{Kind: emulator.FaultDropAfterCommit, Times: -1}, "", []string{"inviteMember", "may have completed"}},
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
			if !i.State.IsNull() {
				t.Errorf("the state is %s", i.State)
			}
		})
	}
}

// A key that may not invite is an error in the plan, before anything is sent.
func TestMemberInvitation_roles(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, user := join(t, e, emulator.Human{Email: blake})
	for _, key := range []string{user, serviceAccountKey(e)} {
		p := acctest.NewProcess(t, e, acctest.Values{"api_key": key})
		out := p.Plan(p.NewInstance(invitationType), acctest.Values{"email": avery})
		out.MustFail(t, "", "Cannot plan member invitation", "403", "Manager role or higher")
	}
	e.WantRequests(t, "inviteMember", 0)
}

// A pending invitation is taken over with the same role, and cannot be imported.
func TestMemberInvitation_pendingElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	if err := e.Invite("Avery@agentyard.example", emulator.RoleManager); err != nil {
		t.Fatal(err)
	}
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

func TestAccMemberInvitation_unknownAtPlan(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, blake)
	unknown := func(email, role string) string {
		return fmt.Sprintf("resource \"terraform_data\" \"email\" {\n  input = %q\n}\nresource \"terraform_data\" \"role\" {\n  input = %q\n}\n", email, role) +
			"resource \"agentyard_member_invitation\" \"test\" {\n  email = terraform_data.email.output\n  role  = terraform_data.role.output\n}\n"
	}
	step := func(email, role, status string, action plancheck.ResourceActionType) resource.TestStep {
		return resource.TestStep{
			Config: e.Config(unknown(email, role)), ConfigPlanChecks: acctest.PlannedThenEmpty(invitationAddress, action),
			ConfigStateChecks: invitationIs(map[string]string{"email": email, "role": role, "status": status}),
		}
	}
	e.Run(t,
		step(avery, "user", "invited", plancheck.ResourceActionCreate),
		step(blake, "manager", "role_updated", plancheck.ResourceActionReplace),
		step(blake, "owner", "role_updated", plancheck.ResourceActionUpdate),
		resource.TestStep{Config: e.ConfigWithNewKey(invitationConfig(blake, "owner")), ConfigPlanChecks: acctest.ThenEmpty},
	)
}

// The service takes one person in a request. All invitations share the listing of the plan, and that of the apply.
func TestAccMemberInvitation_many(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) { o.MaxPageSize = 100 })
	joinMany(t, e, 10)
	cli := acctest.NewCLI(t, e, "resource \"agentyard_member_invitation\" \"test\" {\n  for_each = toset([for n in range(50) : \"m${n}@acme.example\"])\n  email    = each.key\n}\n")
	e.Journal().Reset()
	cli.MustRun("apply", "-auto-approve", "-input=false")
	e.WantRequests(t, "listMembers", 2)
	e.WantRequests(t, "inviteMember", 40) // The others are members.
	e.Journal().Reset()
	cli.MustPlanEmpty()
	if n := len(e.Journal().Entries()); n != 1 {
		t.Errorf("a plan takes %d requests", n)
	}
	e.Journal().Reset()
	cli.MustRun("destroy", "-auto-approve", "-input=false")
	if n := len(e.Journal().Entries()); n != 1 {
		t.Errorf("a destroy takes %d requests", n)
	}
}

func TestMemberInvitation_faultMatrixOfAnInvitation(t *testing.T) {
	t.Parallel()
	invitationMatrix(t, func(*acctest.Env) []acctest.Values { return []acctest.Values{{"email": avery, "role": "manager"}} })
}

func TestMemberInvitation_faultMatrixOfAMember(t *testing.T) {
	t.Parallel()
	invitationMatrix(t, func(e *acctest.Env) []acctest.Values {
		haveJoined(t, e, avery)
		return []acctest.Values{{"email": avery, "role": "manager"}, {"email": avery, "role": "user"}}
	})
}

// invitationMatrix runs the fault matrix. A destroy leaves the invitation, so nothing counts as created.
func invitationMatrix(t *testing.T, setup func(*acctest.Env) []acctest.Values) {
	t.Helper()
	acctest.Matrix{
		Type: invitationType, Setup: setup,
		Live: func(*acctest.Env) []string { return nil }, IDs: func(*acctest.Instance) []string { return nil },
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			t.Helper()
			if role := i.Attribute("role"); role == "" || !strings.HasPrefix(roleOf(e, avery, role), role+" already_") {
				t.Errorf("the emulator does not have the role of the state: %s", i.State)
			}
		},
	}.Run(t)
}
