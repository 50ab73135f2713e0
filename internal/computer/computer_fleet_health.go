package computer

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// newKey is the key of the private state with the computers that the fleet has made and not seen active yet.
const newKey = "never_active"

// newComputers are computers that the fleet has made and not seen active yet, by their IDs. Those are true whose set-up is
// known to have failed: these were never active, so that nobody has worked on them, and may be replaced.
type newComputers map[string]bool

func getNew(ctx context.Context, private adopt.Private) (newComputers, diag.Diagnostics) {
	computers := newComputers{}
	stored, diags := private.GetKey(ctx, newKey)
	if len(stored) > 0 {
		if err := json.Unmarshal(stored, &computers); err != nil {
			diags.AddError("Private State Cannot Be Read", fmt.Sprintf("Which computers of the fleet were never active is not readable: %v. This is a bug in the provider; please report it.", err))
		}
	}
	return computers, diags
}

// store keeps those that are present.
func (n newComputers) store(ctx context.Context, private adopt.Private, present []string) diag.Diagnostics {
	left := newComputers{}
	for _, id := range present {
		if failed, isNew := n[id]; isNew {
			left[id] = failed
		}
	}
	if len(left) == 0 {
		return private.SetKey(ctx, newKey, nil)
	}
	stored, err := json.Marshal(left)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Private State Cannot Be Stored", err.Error())}
	}
	return private.SetKey(ctx, newKey, stored)
}

// add takes over computers that were just made, as they were last seen: whoever has followed one from its creation knows
// that it was not active before it failed.
func (n newComputers) add(made []client.Computer) {
	for i := range made {
		n[made[i].ID] = made[i].Status == client.ComputerError
	}
	n.see(made)
}

// see takes over what a refresh shows.
func (n newComputers) see(members []client.Computer) {
	for i := range members {
		c := &members[i]
		_, isNew := n[c.ID]
		switch {
		case isNew && c.Status == client.ComputerActive:
			delete(n, c.ID)
		case isNew && c.SetUpFailed():
			n[c.ID] = true
		}
	}
}

// brokenInFleet reports the computers with the status "error". What becomes of them is for the plan to say, which knows
// what is configured.
func brokenInFleet(members []client.Computer, m *fleetModel) diag.Diagnostics {
	var broken []string
	for i := range members {
		if c := &members[i]; c.Status == client.ComputerError {
			broken = append(broken, fmt.Sprintf("- %s (%s): %s", c.Name, c.ID, whyBroken(c)))
		}
	}
	if len(broken) == 0 {
		return nil
	}
	lines := strings.Join(broken[:min(len(broken), maxNamed)], "\n")
	if more := len(broken) - maxNamed; more > 0 {
		lines += fmt.Sprintf("\n- and %d more", more)
	}
	return diag.Diagnostics{diag.NewAttributeWarningDiagnostic(path.Root("computers"), fmt.Sprintf("Computers of the Fleet %q Are Broken", m.NamePrefix.ValueString()),
		fmt.Sprintf("%d of %d computers of the fleet had the status %q when they were read:\n%s\n\nA plan names those that it replaces because they were never active. "+
			"Any other is left as it is: to have the fleet make another in its place, delete it at the service and apply again.", len(broken), len(members), client.ComputerError, lines))}
}

// whyBroken says what the record tells of a failure.
func whyBroken(c *client.Computer) string {
	if step := c.FailedStep(); step != nil {
		return fmt.Sprintf("step %q failed: %s", step.Name, strings.TrimSuffix(step.Error, "."))
	}
	return fmt.Sprintf("the status is %q, and the service gives no reason", c.Status)
}
