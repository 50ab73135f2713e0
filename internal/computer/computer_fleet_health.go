package computer

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// unprovenKey is the key of the private state with the IDs of the computers that the fleet has made and not seen active
// yet. Only these may be replaced because they failed: on any other somebody may have worked.
const unprovenKey = "never_active"

// getUnproven returns the IDs as a set.
func getUnproven(ctx context.Context, private adopt.Private) (map[string]bool, diag.Diagnostics) {
	var ids []string
	stored, diags := private.GetKey(ctx, unprovenKey)
	if len(stored) > 0 {
		if err := json.Unmarshal(stored, &ids); err != nil {
			diags.AddError("Private State Cannot Be Read", fmt.Sprintf("Which computers of the fleet were never active is not readable: %v. This is a bug in the provider; please report it.", err))
		}
	}
	never := make(map[string]bool, len(ids))
	for _, id := range ids {
		never[id] = true
	}
	return never, diags
}

// setUnproven stores never without what is not present any more.
func setUnproven(ctx context.Context, private adopt.Private, never map[string]bool, present []string) diag.Diagnostics {
	ids := slices.DeleteFunc(present, func(id string) bool { return !never[id] })
	if len(ids) == 0 {
		return private.SetKey(ctx, unprovenKey, nil)
	}
	stored, err := json.Marshal(ids)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Private State Cannot Be Stored", err.Error())}
	}
	return private.SetKey(ctx, unprovenKey, stored)
}

// prove takes what the computers show to have been active out of never, and where they are new puts the others in.
func prove(never map[string]bool, computers []client.Computer, areNew bool) {
	for i := range computers {
		switch c := &computers[i]; {
		case c.WasActive():
			delete(never, c.ID)
		case areNew:
			never[c.ID] = true
		}
	}
}

// brokenInFleet reports the computers with the status "error", and what becomes of each.
func brokenInFleet(members []client.Computer, never map[string]bool, m *fleetModel) diag.Diagnostics {
	var lines []string
	for i := range members {
		c := &members[i]
		if c.Status != client.ComputerError {
			continue
		}
		next := "It was active before or was imported, so it is left as it is: to have the fleet make another in its place, delete it at the service and apply again."
		switch {
		case !never[c.ID]:
		case m.ReplaceFailed.ValueBool():
			next = "It never became active: the next apply replaces it."
		default:
			next = "It never became active, and is left as it is because replace_failed is false."
		}
		lines = append(lines, fmt.Sprintf("- %s (%s): %s. %s", c.Name, c.ID, whyBroken(c), next))
	}
	if len(lines) == 0 {
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeWarningDiagnostic(path.Root("computers"), fmt.Sprintf("Computers of the Fleet %q Are Broken", m.NamePrefix.ValueString()),
		fmt.Sprintf("%d of %d computers of the fleet %q have the status %q:\n%s", len(lines), len(members), m.NamePrefix.ValueString(), client.ComputerError, strings.Join(lines, "\n")))}
}

// whyBroken says what the record tells of a failure.
func whyBroken(c *client.Computer) string {
	if step := c.FailedStep(); step != nil {
		return fmt.Sprintf("step %q failed: %s", step.Name, strings.TrimSuffix(step.Error, "."))
	}
	return fmt.Sprintf("the status is %q, and the service gives no reason", c.Status)
}
