package organization_test

import (
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// Members without a limit of their own are not listed.
func TestUserUsageLimitList(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, "Blake@agentyard.example", avery, "nolimit@agentyard.example")
	globalLimitElsewhere(e, 9_000_000)
	limitElsewhere(e, avery, 2_000_000)
	limitElsewhere(e, blake, 3_000_000)
	e.Journal().Reset()
	acctest.Is(t, "the list", listed(t, e, userLimitType), map[string]any{
		avery:                     map[string]any{"id": avery, "email": avery, "limit": 2e6},
		"Blake@agentyard.example": map[string]any{"id": "Blake@agentyard.example", "email": "Blake@agentyard.example", "limit": 3e6},
	})
	if n := len(e.Journal().Entries()); n != e.Journal().Count("getUserUsageLimits") {
		t.Errorf("a query sent more than listings: %+v", e.Journal().Entries())
	}
}

// Pending invitations are not listed, and neither the role nor the status is known.
func TestMemberInvitationList(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id, _ := join(t, e, emulator.Human{Email: "Avery@agentyard.example", Role: emulator.RoleOwner})
	acctest.Must(t, e.Invite("pending@agentyard.example", ""))
	all := listed(t, e, invitationType)
	acctest.Is(t, "the member", all["Avery@agentyard.example"], map[string]any{
		"id": "Avery@agentyard.example", "email": "Avery@agentyard.example", "member_id": id, "role": nil, "status": nil, "remove_on_destroy": false,
	})
	if len(all) != 2 || all[bootstrap] == nil {
		t.Errorf("listed are %v", all)
	}
	// A query with a limit reads only the pages that it needs.
	e.Journal().Reset()
	p := acctest.NewProcess(t, e, nil)
	p.Limit = 1
	if found, out := p.List(invitationType, nil); len(found) != 1 || len(out.Errors) > 0 || e.Journal().Entries()[0].Query != "limit=1" {
		t.Errorf("%d found: %s", len(found), out)
	}
}

// listed returns the resources of a query by their email address, which is also their display name.
func listed(t *testing.T, e *acctest.Env, typeName string) map[string]any {
	t.Helper()
	p := acctest.NewProcess(t, e, nil)
	resources, out := p.List(typeName, nil)
	out.MustSucceed(t)
	all := map[string]any{}
	for _, one := range resources {
		plain := acctest.Plain(t, one).(map[string]any)
		all[plain["email"].(string)] = plain
		if !slices.Contains(p.Names, plain["email"].(string)) {
			t.Errorf("the display names are %v", p.Names)
		}
	}
	return all
}
