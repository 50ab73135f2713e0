package computer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// statusMissing is the status of an entry whose computer does not exist. The service does not use it.
const statusMissing = "missing"

type fleetComputer struct {
	ID     types.String `tfsdk:"id"`
	Status types.String `tfsdk:"status"`
	provisionedResults
}

var fleetComputerResults = results.Fields[*computers.Computer]{
	"id":                      computerResults["id"],
	"status":                  results.String("The computer's status. One of `provisioning`, `active`, `error`, or `missing`. The next apply creates a missing computer.", func(c *computers.Computer) string { return c.Status }),
	"hostname":                computerResults["hostname"],
	"remote_user":             computerResults["remote_user"],
	"relay_client_url":        computerResults["relay_client_url"],
	"relay_agent_url":         computerResults["relay_agent_url"],
	"cloned_repo_directories": computerResults["cloned_repo_directories"],
}

var fleetComputerType = fleetComputerResults.ObjectType()

// fleetMember is a computer of the fleet that exists. Its ID identifies it. Its name is the one that was planned. If the
// service uses another one, or somebody renames the computer, it stays.
type fleetMember struct {
	name string
	fleetComputer
	life
	// isAwaited says that the apply waits for the computer: it is new, or an earlier apply left it while it was set up.
	isAwaited bool
}

// update takes over what was seen of the computer.
func (f *fleetMember) update(ctx context.Context, seen *computers.Computer) diag.Diagnostics {
	f.life = f.after(seen)
	return fleetComputerResults.Into(ctx, seen, &f.fleetComputer)
}

// membersFromAPI returns the computers in the same order, with what the fleet knows of them. One that it does not know was imported.
func membersFromAPI(ctx context.Context, found []computers.Computer, known []fleetMember) (members []fleetMember, diags diag.Diagnostics) {
	byID := make(map[string]fleetMember, len(known))
	for _, member := range known {
		byID[member.ID.ValueString()] = member
	}
	for i := range found {
		member, isKnown := byID[found[i].ID]
		if !isKnown {
			member.name = found[i].Name
		}
		diags.Append(member.update(ctx, &found[i])...)
		members = append(members, member)
	}
	return members, diags
}

// newMembers returns computers that the fleet created beside others, with planned names. One with another name gets a planned one that is left.
func (m *fleetModel) newMembers(ctx context.Context, others []fleetMember, count int, made []computers.Computer) ([]fleetMember, diag.Diagnostics) {
	var diags diag.Diagnostics
	members, left := make([]fleetMember, len(made)), newNames(m.NamePrefix.ValueString(), others, count)
	for i := range made {
		members[i].neverActive, members[i].isAwaited = true, m.WaitForActive.ValueBool()
		diags.Append(members[i].update(ctx, &made[i])...)
		if at := slices.Index(left, made[i].Name); at >= 0 {
			members[i].name, left = made[i].Name, slices.Delete(left, at, at+1)
		}
	}
	for i := range members {
		if members[i].name == "" {
			members[i].name, left = left[0], left[1:]
		}
	}
	return members, diags
}

// computersInState returns the computers that exist, ordered by number, and the names of the missing ones.
func (m *fleetModel) computersInState(ctx context.Context, private privatestate.Reader) (members []fleetMember, missing []string, diags diag.Diagnostics) {
	if !value.IsSet(m.Computers) {
		return nil, nil, nil
	}
	remembered := lives(ctx, private)
	var entries map[string]fleetComputer
	diags = m.Computers.ElementsAs(ctx, &entries, false)
	for name, entry := range entries {
		if entry.ID.IsNull() {
			missing = append(missing, name)
		} else {
			members = append(members, fleetMember{name: name, fleetComputer: entry, life: remembered[entry.ID.ValueString()]})
		}
	}
	prefix := m.NamePrefix.ValueString()
	wire.Sort(members, func(a, b *fleetMember) int {
		return cmp.Or(cmp.Compare(orderOf(prefix, a.name), orderOf(prefix, b.name)), strings.Compare(a.name, b.name))
	})
	return members, missing, diags
}

func orderOf(prefix, name string) int {
	number, _ := computers.FleetNumber(prefix, name)
	return number
}

// store saves the fleet with its members, and with entries of the missing ones.
func (m *fleetModel) store(ctx context.Context, members []fleetMember, missing []string,
	state *tfsdk.State, identity *tfsdk.ResourceIdentity, private privatestate.State,
) diag.Diagnostics {
	entries, remembered := make(map[string]fleetComputer, len(members)+len(missing)), make(map[string]life, len(members))
	for _, name := range missing {
		entries[name] = fleetComputer{Status: types.StringValue(statusMissing), provisionedResults: provisionedResults{ClonedRepoDirectories: types.ListNull(types.StringType)}}
	}
	for _, member := range members {
		entries[member.name], remembered[member.ID.ValueString()] = member.fleetComputer, member.life
	}
	all, diags := types.MapValueFrom(ctx, fleetComputerType, entries)
	m.Computers, m.Quantity = all, types.Int64Value(int64(len(entries))) // After an import, or a destroy that left some, nothing else knows it.
	diags.Append(crud.Save(ctx, state, identity, m)...)
	return append(diags, recordLives(ctx, private, remembered)...)
}

func (m *fleetModel) setProviderType(found []computers.Computer) {
	if value.IsSet(m.ProviderType) {
		return
	}
	m.ProviderType = types.StringNull()
	if len(found) > 0 {
		m.ProviderType = types.StringValue(found[0].ProviderType)
	}
}

// newNames predicts the names of new computers: the service uses the lowest free numbers.
func newNames(prefix string, members []fleetMember, count int) []string {
	taken := make(map[string]bool, len(members))
	for _, member := range members {
		taken[member.name] = true
	}
	var names []string
	for number := 1; len(names) < count; number++ {
		if name := fmt.Sprintf("%s-%d", prefix, number); !taken[name] {
			names = append(names, name)
		}
	}
	return names
}

func memberNames(members []fleetMember) []string {
	names := make([]string, len(members))
	for i, member := range members {
		names[i] = member.name
	}
	return names
}

func memberIDs(members []fleetMember) []string {
	ids := make([]string, len(members))
	for i, member := range members {
		ids[i] = member.ID.ValueString()
	}
	return ids
}

// awaited returns the members that the apply waits for.
func awaited(members []fleetMember) []fleetMember {
	return collection.Filter(members, func(member *fleetMember) bool { return member.isAwaited })
}

// without returns the members whose ID is not in others.
func without(members, others []fleetMember) []fleetMember {
	ids := memberIDs(others)
	return slices.DeleteFunc(slices.Clone(members), func(member fleetMember) bool { return slices.Contains(ids, member.ID.ValueString()) })
}
