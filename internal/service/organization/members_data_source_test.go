package organization_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
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
	acctest.Must(t, err)
	return id, key
}

// joinMany adds n members: m0@acme.example and so on.
func joinMany(t *testing.T, e *acctest.Env, n int) {
	t.Helper()
	for i := range n {
		join(t, e, emulator.Human{Email: fmt.Sprintf("m%d@acme.example", i)})
	}
}

// serviceAccountKey returns an API key of a new service account.
func serviceAccountKey(e *acctest.Env) string {
	key, _ := e.ServiceAccountKey()
	return key
}

const allMembers = `data "agentyard_members" "x" {}`

func membersAre(checks ...knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue("data.agentyard_members.x", tfjsonpath.New("members"), knownvalue.ListExact(checks))
}

var anyUser = knownvalue.StringRegexp(regexp.MustCompile(`^user_`))

func TestAccMembers_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id, _ := join(t, e, emulator.Human{Email: "Ada.O'Neil+ci@Acme.example", FirstName: "Ada", LastName: "O'Neil", Metadata: map[string]any{
		"team": "core", "level": 3, "lead": true, "tags": []string{"a", "b"}, "office": nil, "": "empty",
	}})
	join(t, e, emulator.Human{Email: "ben@acme.example"})
	acctest.Must(t, e.Invite("cho@acme.example", ""))
	none := knownvalue.MapExact(map[string]knownvalue.Check{})
	e.Run(t, e.ReadStep(allMembers, membersAre(
		knownvalue.ObjectPartial(map[string]knownvalue.Check{"id": anyUser, "email": knownvalue.StringExact(bootstrap), "last_sign_in_at": knownvalue.StringExact("2026-03-01T12:00:00Z"), "metadata": none}),
		knownvalue.ObjectExact(map[string]knownvalue.Check{
			"id": knownvalue.StringExact(id), "email": knownvalue.StringExact("Ada.O'Neil+ci@Acme.example"), "first_name": knownvalue.StringExact("Ada"), "last_name": knownvalue.StringExact("O'Neil"),
			"created_at": knownvalue.StringExact("2026-03-01T12:01:00Z"), "last_sign_in_at": knownvalue.Null(),
			"metadata": knownvalue.MapExact(map[string]knownvalue.Check{
				"team": knownvalue.StringExact("core"), "level": knownvalue.StringExact("3"), "lead": knownvalue.StringExact("true"), "tags": knownvalue.StringExact(`["a","b"]`),
				"office": knownvalue.StringExact("null"), "": knownvalue.StringExact("empty"),
			}),
		}),
		knownvalue.ObjectExact(map[string]knownvalue.Check{
			"id": anyUser, "email": knownvalue.StringExact("ben@acme.example"), "first_name": knownvalue.Null(), "last_name": knownvalue.Null(),
			"created_at": knownvalue.StringExact("2026-03-01T12:02:00Z"), "last_sign_in_at": knownvalue.Null(), "metadata": none,
		}),
	)))
}
