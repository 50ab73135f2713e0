package organization_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck/queryfilter"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func membersQuery(name, arguments string) string {
	return fmt.Sprintf("list %q %q {\n  provider = agentyard\n%s\n}\n", invitationType, name, arguments)
}

func TestAccMemberInvitationList(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	id, _ := join(t, e, emulator.Human{Email: "Avery@agentyard.example", Role: emulator.RoleOwner})
	join(t, e, emulator.Human{Email: blake})
	join(t, e, emulator.Human{Email: casey})
	acctest.Must(t, e.Invite("pending@agentyard.example", ""))
	of := func(email string) map[string]knownvalue.Check {
		return map[string]knownvalue.Check{"email": knownvalue.StringExact(email)}
	}
	at := func(list string) string { return invitationType + "." + list }
	person := queryfilter.ByResourceIdentity(of("Avery@agentyard.example"))
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		Steps: []resource.TestStep{{
			Query:  true,
			Config: e.Config(membersQuery("plain", "") + membersQuery("all", "include_resource = true") + membersQuery("two", "limit = 2")),
			QueryResultChecks: []querycheck.QueryResultCheck{
				querycheck.ExpectLength(at("plain"), 4), querycheck.ExpectLength(at("all"), 4), querycheck.ExpectLength(at("two"), 2),
				querycheck.ExpectIdentity(at("plain"), of(bootstrap)), querycheck.ExpectIdentity(at("plain"), of(casey)),
				querycheck.ExpectNoIdentity(at("plain"), of("pending@agentyard.example")),
				querycheck.ExpectResourceDisplayName(at("all"), person, knownvalue.StringExact("Avery@agentyard.example")),
				querycheck.ExpectResourceKnownValues(at("all"), person, []querycheck.KnownValueCheck{
					{Path: tfjsonpath.New("id"), KnownValue: knownvalue.StringExact("Avery@agentyard.example")},
					{Path: tfjsonpath.New("email"), KnownValue: knownvalue.StringExact("Avery@agentyard.example")},
					{Path: tfjsonpath.New("member_id"), KnownValue: knownvalue.StringExact(id)},
					{Path: tfjsonpath.New("role"), KnownValue: knownvalue.Null()},
					{Path: tfjsonpath.New("status"), KnownValue: knownvalue.Null()},
					{Path: tfjsonpath.New("remove_on_destroy"), KnownValue: knownvalue.Bool(false)},
				}),
			},
		}},
	})
}

// A query with a limit reads only the pages that it needs. An error on a later page is an error of the query.
func TestAccMemberInvitationList_lazy(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.NewRealTime(t)
	haveJoined(t, e, avery, blake, casey)
	cli := acctest.NewCLI(t, e, "")
	e.Faults().Add(emulator.Fault{Operation: "listMembers", Kind: emulator.FaultStatusBeforeCommit, Status: 403, After: 1, Times: -1})
	cli.Write("all.tfquery.hcl", membersQuery("two", "limit = 2"))
	cli.MustRun("query")
	e.WantRequests(t, "listMembers", 1)
	e.Faults().Clear()
	e.Faults().Add(emulator.Fault{Operation: "listMembers", Kind: emulator.FaultStatusBeforeCommit, Status: 403, After: 1, Times: -1})
	cli.Write("all.tfquery.hcl", membersQuery("all", ""))
	if r := cli.Run("query"); r.ExitCode == 0 || !strings.Contains(acctest.OneLine(r.Output), "Cannot list members") || !strings.Contains(acctest.OneLine(r.Output), "Manager role or higher") {
		t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
	}
}
