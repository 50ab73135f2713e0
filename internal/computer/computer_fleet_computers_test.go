package computer

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/types"
)

// A new computer of another owner may have the same name as a computer in the state, which must be kept.
func TestFleet_setComputersKeepsWhatIsInTheState(t *testing.T) {
	t.Parallel()
	member := func(name, id string) fleetMember {
		return fleetMember{name, fleetComputer{ID: types.StringValue(id), ClonedRepoDirectories: types.ListNull(types.StringType)}}
	}
	var m fleetModel
	if diags := m.setComputers(t.Context(), []fleetMember{member("web-1", "ours"), member("web-1", "theirs"), member("web-2", "new")}, nil); diags.HasError() {
		t.Fatal(diags)
	}
	members, _, diags := m.computersInState(t.Context())
	if diags.HasError() || len(members) != 2 || members[0].ID.ValueString() != "ours" || members[1].ID.ValueString() != "new" {
		t.Errorf("got %v, %v", members, diags)
	}
}
