package computer

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/modifier"
)

const newComputersKey = "never_active"

// newComputers contains the IDs of computers that the fleet created and has not seen active. The value is true if
// provisioning failed: nobody has used the computer, so it can be replaced.
type newComputers map[string]bool

func getNewComputers(ctx context.Context, private modifier.Private) (newComputers, diag.Diagnostics) {
	computers := newComputers{}
	stored, diags := private.GetKey(ctx, newComputersKey)
	if len(stored) > 0 {
		if err := json.Unmarshal(stored, &computers); err != nil {
			diags.AddError("Private State Cannot Be Read", fmt.Sprintf("The provider cannot read which computers of the fleet were never active: %v. Report this bug to the provider's developers.", err))
		}
	}
	return computers, diags
}

// store forgets computers that are no longer members.
func (n newComputers) store(ctx context.Context, private modifier.Private, members []fleetMember) diag.Diagnostics {
	kept := newComputers{}
	for _, id := range memberIDs(members) {
		if failed, isNew := n[id]; isNew {
			kept[id] = failed
		}
	}
	if len(kept) == 0 {
		return private.SetKey(ctx, newComputersKey, nil)
	}
	stored, err := json.Marshal(kept)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Private State Cannot Be Stored", err.Error())}
	}
	return private.SetKey(ctx, newComputersKey, stored)
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
