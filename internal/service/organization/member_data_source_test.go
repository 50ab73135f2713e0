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
