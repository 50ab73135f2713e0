package computer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// statusMissing is the status of an entry whose computer does not exist. The service does not use it.
const statusMissing = "missing"

type fleetComputer struct {
	ID                    types.String `tfsdk:"id"`
	Status                types.String `tfsdk:"status"`
	Hostname              types.String `tfsdk:"hostname"`
	RemoteUser            types.String `tfsdk:"remote_user"`
	RelayClientURL        types.String `tfsdk:"relay_client_url"`
	RelayAgentURL         types.String `tfsdk:"relay_agent_url"`
	ClonedRepoDirectories types.List   `tfsdk:"cloned_repo_directories"`
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
}

// membersFromAPI returns the computers in the same order, with their names in the fleet by ID. A computer without one keeps its
// own: it was imported.
func membersFromAPI(ctx context.Context, computers []computers.Computer, names map[string]string) ([]fleetMember, diag.Diagnostics) {
	var diags diag.Diagnostics
	members := make([]fleetMember, len(computers))
	for i, c := range computers {
		members[i].name = cmp.Or(names[c.ID], c.Name)
		diags.Append(fleetComputerResults.Into(ctx, &c, &members[i].fleetComputer)...)
	}
	return members, diags
}

// computersInState returns the computers that exist, ordered by number, and the names of the missing ones.
func (m *fleetModel) computersInState(ctx context.Context) (members []fleetMember, missing []string, diags diag.Diagnostics) {
	if !value.IsSet(m.Computers) {
		return nil, nil, nil
	}
	var entries map[string]fleetComputer
	diags = m.Computers.ElementsAs(ctx, &entries, false)
	for name, entry := range entries {
		if entry.ID.IsNull() {
			missing = append(missing, name)
		} else {
			members = append(members, fleetMember{name, entry})
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

// namesByID returns the names in the fleet.
func namesByID(members []fleetMember) map[string]string {
	names := make(map[string]string, len(members))
	for _, member := range members {
		names[member.ID.ValueString()] = member.name
	}
	return names
}

// assignNames returns the planned names of new computers by ID. A computer with a name that was not planned gets one that is left.
func assignNames(planned []string, made []computers.Computer) map[string]string {
	names, left := map[string]string{}, slices.Clone(planned)
	for i := range made {
		if at := slices.Index(left, made[i].Name); at >= 0 {
			names[made[i].ID], left = made[i].Name, slices.Delete(left, at, at+1)
		}
	}
	for i := range made {
		if id := made[i].ID; names[id] == "" {
			names[id], left = left[0], left[1:]
		}
	}
	return names
}

func (m *fleetModel) setComputers(ctx context.Context, members []fleetMember, missing []string) diag.Diagnostics {
	entries := make(map[string]fleetComputer, len(members)+len(missing))
	for _, name := range missing {
		entries[name] = fleetComputer{Status: types.StringValue(statusMissing), ClonedRepoDirectories: types.ListNull(types.StringType)}
	}
	for _, member := range members {
		entries[member.name] = member.fleetComputer
	}
	computers, diags := types.MapValueFrom(ctx, fleetComputerType, entries)
	m.Computers, m.Quantity = computers, types.Int64Value(int64(len(entries)))
	return diags
}

func (m *fleetModel) setProviderType(computers []computers.Computer) {
	if value.IsSet(m.ProviderType) {
		return
	}
	m.ProviderType = types.StringNull()
	if len(computers) > 0 {
		m.ProviderType = types.StringValue(computers[0].ProviderType)
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

// asComputers returns what the fleet knows of its members.
func asComputers(members []fleetMember) []computers.Computer {
	known := make([]computers.Computer, len(members))
	for i, m := range members {
		known[i] = computers.Computer{
			ID: m.ID.ValueString(), Name: m.name, Status: m.Status.ValueString(), Hostname: m.Hostname.ValueString(), RemoteUser: m.RemoteUser.ValueString(),
			RelayClientURL: m.RelayClientURL.ValueString(), RelayAgentURL: m.RelayAgentURL.ValueString(), ClonedRepoDirectories: value.Strings(m.ClonedRepoDirectories),
		}
	}
	return known
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

// without returns the members whose ID is not in others.
func without(members, others []fleetMember) []fleetMember {
	ids := memberIDs(others)
	return slices.DeleteFunc(slices.Clone(members), func(member fleetMember) bool { return slices.Contains(ids, member.ID.ValueString()) })
}
