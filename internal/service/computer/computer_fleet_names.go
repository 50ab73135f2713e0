package computer

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
)

const otherNamesKey = "other_names"

// otherNames contains the service's names of members, by ID, that differ from their names in the fleet.
type otherNames map[string]string

func (n otherNames) add(found []computers.Computer, names map[string]string) {
	for i := range found {
		if name, ok := names[found[i].ID]; ok && name != found[i].Name {
			n[found[i].ID] = found[i].Name
		}
	}
}

func (n otherNames) of(member fleetMember) string { return n[member.ID.ValueString()] }

func (n otherNames) contains(name string) bool {
	return slices.Contains(slices.Collect(maps.Values(n)), name)
}

// namesByID returns the names in the fleet.
func namesByID(members []fleetMember) map[string]string {
	names := make(map[string]string, len(members))
	for _, member := range members {
		names[member.ID.ValueString()] = member.name
	}
	return names
}

// assignNames returns the planned names of new computers by ID. A computer with a name that was not planned gets one that is
// left: the state must have the planned names, and renameBack corrects the service's.
func assignNames(planned []string, made []computers.Computer) map[string]string {
	left, names := map[string]bool{}, map[string]string{}
	for _, name := range planned {
		left[name] = true
	}
	for i := range made {
		if name := made[i].Name; left[name] {
			names[made[i].ID] = name
			delete(left, name)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(planned), func(name string) bool { return !left[name] })
	for i := range made {
		if id := made[i].ID; names[id] == "" {
			names[id], rest = rest[0], rest[1:]
		}
	}
	return names
}

// renameBack gives members their names in the fleet again.
func (r *fleetResource) renameBack(ctx context.Context, members []fleetMember, others otherNames, m *fleetModel) diag.Diagnostics {
	var diags diag.Diagnostics
	pending := slices.DeleteFunc(slices.Clone(members), func(member fleetMember) bool { return others.of(member) == "" })
	for len(pending) > 0 {
		// Another member may have the name until it gets its own again.
		next := slices.IndexFunc(pending, func(member fleetMember) bool { return !others.contains(member.name) })
		if temporary := "tmp-" + pending[0].ID.ValueString(); next < 0 && others.of(pending[0]) != temporary {
			// The members have each other's names, so one of them makes room.
			if _, err := r.Client.Computers.Update(ctx, pending[0].ID.ValueString(), m.ServiceAccountID.ValueString(), computers.UpdateRequest{Name: &temporary}); err != nil {
				return append(diags, m.notRenamed(pending[0], others.of(pending[0]), err)...)
			}
			others[pending[0].ID.ValueString()] = temporary
			continue
		}
		next = max(0, next)
		member := pending[next]
		pending = slices.Delete(pending, next, next+1)
		updated, err := r.Client.Computers.Update(ctx, member.ID.ValueString(), m.ServiceAccountID.ValueString(), computers.UpdateRequest{Name: &member.name})
		if err != nil {
			diags.Append(m.notRenamed(member, others.of(member), err)...)
			if transport.IsConflict(err) {
				continue
			}
			return diags
		}
		delete(others, updated.ID)
		for i := range members {
			if members[i].ID.Equal(member.ID) {
				members[i].Status = types.StringValue(cmp.Or(updated.Status, member.Status.ValueString()))
			}
		}
	}
	return diags
}

// renameNew renames new computers whose names were not planned: another computer had one of the lowest numbers, or lost it.
func (r *fleetResource) renameNew(ctx context.Context, made []computers.Computer, names map[string]string, others otherNames, m *fleetModel) diag.Diagnostics {
	others.add(made, names)
	members, diags := membersFromAPI(ctx, made, names)
	diags.Append(r.renameBack(ctx, members, others, m)...)
	return diags
}

func (m *fleetModel) notRenamed(member fleetMember, other string, err error) diag.Diagnostics {
	var diags diag.Diagnostics
	taken := fmt.Sprintf("Another computer is named %q. Rename that computer at the service, then apply again.", member.name)
	for _, d := range apierror.For("rename", "computer", err, apierror.Advice{409: taken}) {
		diags.AddError(d.Summary(), fmt.Sprintf("Computer %s (%s) of the fleet %q is named %q at the service. %s", member.name, member.ID.ValueString(), m.NamePrefix.ValueString(), other, d.Detail()))
	}
	return diags
}
