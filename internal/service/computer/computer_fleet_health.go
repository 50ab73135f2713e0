package computer

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
)

const newComputersKey = "never_active"

// newComputers contains the IDs of computers that the fleet created and has not seen active. The value is true if
// provisioning failed: nobody has used the computer, so it can be replaced.
type newComputers map[string]bool

// fleetNotes is what the private state says about the members.
type fleetNotes struct {
	created newComputers
	others  otherNames
}

func getFleetNotes(ctx context.Context, private modifier.PrivateState) (fleetNotes, diag.Diagnostics) {
	created, diags := getNotes[bool](ctx, private, newComputersKey)
	others, more := getNotes[string](ctx, private, otherNamesKey)
	diags.Append(more...)
	return fleetNotes{created, others}, diags
}

// store forgets computers that are no longer members.
func (n fleetNotes) store(ctx context.Context, private modifier.PrivateState, members []fleetMember) diag.Diagnostics {
	diags := storeNotes(ctx, private, newComputersKey, n.created, memberIDs(members))
	diags.Append(storeNotes(ctx, private, otherNamesKey, n.others, memberIDs(members))...)
	return diags
}

func getNotes[T any](ctx context.Context, private modifier.PrivateState, key string) (map[string]T, diag.Diagnostics) {
	notes := map[string]T{}
	stored, diags := private.GetKey(ctx, key)
	if len(stored) > 0 {
		if err := json.Unmarshal(stored, &notes); err != nil {
			diags.AddError("Private State Cannot Be Read", fmt.Sprintf("The provider cannot read what it stored about its computers (%s): %v. Report this bug to the provider's developers.", key, err))
		}
	}
	return notes, diags
}

func storeNotes[T any](ctx context.Context, private modifier.PrivateState, key string, notes map[string]T, ids []string) diag.Diagnostics {
	kept := map[string]T{}
	for _, id := range ids {
		if note, ok := notes[id]; ok {
			kept[id] = note
		}
	}
	if len(kept) == 0 {
		return private.SetKey(ctx, key, nil)
	}
	stored, err := json.Marshal(kept)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Private State Cannot Be Stored", err.Error())}
	}
	return private.SetKey(ctx, key, stored)
}

// add treats a new computer with the status "error" as failed to provision: it cannot have been active.
func (n newComputers) add(made []computers.Computer) {
	for i := range made {
		n[made[i].ID] = made[i].Status == computers.StatusError
	}
	n.update(made)
}

func (n newComputers) update(found []computers.Computer) {
	for i := range found {
		c := &found[i]
		_, isNew := n[c.ID]
		switch {
		case isNew && c.Status == computers.StatusActive:
			delete(n, c.ID)
		case isNew && c.SetUpFailed():
			n[c.ID] = true
		}
	}
}
