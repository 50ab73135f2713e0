package computer

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// newKey is the key of the private state that holds a newComputers.
const newKey = "never_active"

// newComputers holds the IDs of computers that the fleet created and has not seen active. The value is true if the setup
// is known to have failed: nobody has worked on such a computer, so it can be replaced.
type newComputers map[string]bool

func getNew(ctx context.Context, private adopt.Private) (newComputers, diag.Diagnostics) {
	computers := newComputers{}
	stored, diags := private.GetKey(ctx, newKey)
	if len(stored) > 0 {
		if err := json.Unmarshal(stored, &computers); err != nil {
			diags.AddError("Private State Cannot Be Read", fmt.Sprintf("The provider cannot read which computers of the fleet were never active: %v. This is a bug in the provider; please report it.", err))
		}
	}
	return computers, diags
}

// store keeps the entries of the fleet's members.
func (n newComputers) store(ctx context.Context, private adopt.Private, members []fleetMember) diag.Diagnostics {
	kept := newComputers{}
	for _, id := range memberIDs(members) {
		if failed, isNew := n[id]; isNew {
			kept[id] = failed
		}
	}
	if len(kept) == 0 {
		return private.SetKey(ctx, newKey, nil)
	}
	stored, err := json.Marshal(kept)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Private State Cannot Be Stored", err.Error())}
	}
	return private.SetKey(ctx, newKey, stored)
}

// add takes over new computers as last seen. One that failed since its creation was never active.
func (n newComputers) add(made []client.Computer) {
	for i := range made {
		n[made[i].ID] = made[i].Status == client.ComputerError
	}
	n.see(made)
}

// see takes over what a refresh shows.
func (n newComputers) see(found []client.Computer) {
	for i := range found {
		c := &found[i]
		_, isNew := n[c.ID]
		switch {
		case isNew && c.Status == client.ComputerActive:
			delete(n, c.ID)
		case isNew && c.SetUpFailed():
			n[c.ID] = true
		}
	}
}
