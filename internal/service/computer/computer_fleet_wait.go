package computer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// waitForActive waits until the awaited members are active, and sees them. If some do not become active, that is an error in an update. For a new fleet,
// it is a warning: an error would taint the fleet, and the next apply would replace all computers. It is also one if the run was only stopped.
func (r *fleetResource) waitForActive(ctx context.Context, members []fleetMember, m *fleetModel, deadline time.Time, isNew bool) (diags diag.Diagnostics) {
	type outcome struct {
		err   error
		line  string
		diags diag.Diagnostics
	}
	outcomes, awaited := make([]outcome, len(members)), 0
	var running sync.WaitGroup
	for i := range members {
		member := &members[i]
		if !member.isAwaited {
			continue
		}
		awaited++
		known := &computers.Computer{ID: member.ID.ValueString(), Name: member.name, Status: member.Status.ValueString()}
		if known.Status == computers.StatusActive {
			continue
		}
		running.Go(func() {
			last, err := waitForActive(ctx, r.Client, known, m.ServiceAccountID.ValueString(), deadline.Sub(r.Client.Conn.Clock.Now()))
			if last != known {
				outcomes[i].diags = member.see(ctx, last)
			}
			if err != nil {
				outcomes[i].err, outcomes[i].line = err, fmt.Sprintf("- %s (%s): %s.", known.Name, known.ID, whyNotActive(last, err))
			}
		})
	}
	running.Wait()

	var lines []string
	isStopped := true
	for _, outcome := range outcomes {
		diags.Append(outcome.diags...)
		if outcome.err != nil {
			lines = append(lines, outcome.line)
			isStopped = isStopped && errors.Is(outcome.err, context.Canceled)
		}
	}
	if len(lines) == 0 {
		return diags
	}
	detail := fmt.Sprintf("Of %s, %d %s not active:\n%s\n\nThey are kept in the state. The next apply waits for computers that are still provisioning. The next apply replaces computers that failed before dependencies were installed, unless replace_failed = false. To replace another one, delete it at the service, then apply. To allow more time, raise create or update in the timeouts block.",
		phrase.Count(awaited, "computer"), len(lines), phrase.Verb(len(lines), "is", "are"), firstLines(lines))
	switch {
	case isStopped:
		diags.AddWarning("Interrupted before the fleet was active", detail)
	case isNew:
		diags.AddWarning("Fleet computers are not active", detail)
	default:
		diags.AddError("Fleet computers are not active", detail)
	}
	return diags
}
