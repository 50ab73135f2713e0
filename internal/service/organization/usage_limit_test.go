package organization

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

func TestUserUsageLimitModel_keepsTheSpelling(t *testing.T) {
	t.Parallel()
	limit := int64(1 << 53)
	for name, tc := range map[string]struct {
		before types.String
		answer string
		want   string
	}{
		"the same":         {types.StringValue("avery@agentyard.example"), "avery@agentyard.example", "avery@agentyard.example"},
		"in capitals":      {types.StringValue("Avery@Agentyard.Example"), "avery@agentyard.example", "Avery@Agentyard.Example"},
		"answered so":      {types.StringValue("avery@agentyard.example"), "AVERY@agentyard.example", "avery@agentyard.example"},
		"accents":          {types.StringValue("zoë@agentyard.example"), "ZOË@agentyard.example", "zoë@agentyard.example"},
		"another address":  {types.StringValue("avery@agentyard.example"), "blake@agentyard.example", "blake@agentyard.example"},
		"listed":           {types.StringNull(), "Avery@agentyard.example", "Avery@agentyard.example"},
		"not known so far": {types.StringUnknown(), "Avery@agentyard.example", "Avery@agentyard.example"},
	} {
		m := userUsageLimitModel{ID: types.StringUnknown(), Email: tc.before}
		if diags := m.FromAPI(t.Context(), &organization.UserUsageLimit{Email: tc.answer, Limit: &limit}); len(diags) > 0 {
			t.Errorf("%s: %v", name, diags)
		}
		if want := types.StringValue(tc.want); !m.Email.Equal(want) || !m.ID.Equal(want) || !m.Limit.Equal(types.Int64Value(limit)) {
			t.Errorf("%s: got %+v", name, m)
		}
		identity, ok := m.Identity().(*userUsageLimitIdentity)
		if !ok || !identity.Email.Equal(m.Email) {
			t.Errorf("%s: the identity is %+v", name, identity)
		}
	}
}

func TestGlobalUsageLimitModel(t *testing.T) {
	t.Parallel()
	limit := int64(1 << 53)
	m := globalUsageLimitModel{ID: types.StringUnknown()}
	if diags := m.FromAPI(t.Context(), &limit); len(diags) > 0 || !m.ID.Equal(types.StringValue("organization")) || !m.Limit.Equal(types.Int64Value(limit)) {
		t.Errorf("got %+v, %v", m, diags)
	}
	if identity, ok := m.Identity().(*crud.ID); !ok || !identity.ID.Equal(m.ID) {
		t.Errorf("the identity is %+v", m.Identity())
	}
}

func TestUserLimit(t *testing.T) {
	t.Parallel()
	own := int64(1 << 53)
	got := results.ListOf(userLimit, []organization.UserUsageLimit{{Email: "A@x", Limit: &own}, {Email: "b@x"}}).String()
	if got != `[{"email":"A@x","limit":9007199254740992},{"email":"b@x","limit":<null>}]` {
		t.Errorf("got %s", got)
	}
}
