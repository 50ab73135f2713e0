package organization_test

import (
	"fmt"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func memberConfig(email string) string {
	return fmt.Sprintf("data \"agentyard_member\" \"x\" {\n  email = %q\n}\n", email)
}

func TestAccMember_byEmail(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 3)
	id, _ := join(t, e, emulator.Human{Email: "Ada+ci@Acme.example", FirstName: "Ada", LastName: "Adams", Metadata: map[string]any{"team": "core", "level": 3}})
	for _, email := range []string{"Ada+ci@Acme.example", "ada+CI@acme.example"} {
		is := func(attribute string, want knownvalue.Check) statecheck.StateCheck {
			return statecheck.ExpectKnownValue("data.agentyard_member.x", tfjsonpath.New(attribute), want)
		}
		e.Run(t, e.ReadStep(memberConfig(email),
			is("id", knownvalue.StringExact(id)), is("email", knownvalue.StringExact(email)), is("first_name", knownvalue.StringExact("Ada")), is("last_name", knownvalue.StringExact("Adams")),
			is("created_at", knownvalue.StringExact("2026-03-01T12:04:00Z")), is("last_sign_in_at", knownvalue.Null()),
			is("metadata", knownvalue.MapExact(map[string]knownvalue.Check{"team": knownvalue.StringExact("core"), "level": knownvalue.StringExact("3")})),
		))
	}
}

// All lookups and the list together request each page once, and none after the last match.
func TestAccMember_lookUpsShareThePages(t *testing.T) {
	t.Parallel()
	e := acctest.New(t) // Its pages hold two members.
	joinMany(t, e, 59)
	lookUps := func(from, to int) string {
		return fmt.Sprintf("data \"agentyard_member\" \"x\" {\n  for_each = toset([for n in range(%d, %d) : \"m${n}@acme.example\"])\n  email = each.key\n}\n", from, to)
	}
	for name, tc := range map[string]struct {
		hcl      string
		requests int
	}{
		"one":                   {memberConfig("m4@acme.example"), 3},
		"50":                    {lookUps(0, 50), 26},
		"50 and the whole list": {lookUps(0, 50) + allMembers, 30},
		"nobody":                {lookUps(59, 60), 30},
	} {
		cli := acctest.NewCLI(t, e, tc.hcl)
		e.Journal().Reset()
		r := cli.Run("plan", "-input=false", "-parallelism=20")
		if n := e.Journal().Count("listMembers"); n != tc.requests || len(e.Journal().Entries()) != n || (r.ExitCode == 0) != (name != "nobody") {
			t.Errorf("%s: %d requests, want %d; exit code %d\n%s", name, n, tc.requests, r.ExitCode, r.Output)
		}
	}
}
