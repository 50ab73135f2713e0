package computer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// memberWait is the outcome of a wait for a member. Its zero value is for one that is active, or was not waited for.
type memberWait struct {
	last  *computers.Computer
	err   error
	diags diag.Diagnostics
}

// waitForMembers waits until the awaited members are active, and updates them in place. It also returns what to say if some
// do not become active.
func (r *fleetResource) waitForMembers(ctx context.Context, members []fleetMember, m *fleetModel, deadline time.Time) (notActive, diags diag.Diagnostics) {
	waits := make([]memberWait, len(members))
	var running sync.WaitGroup
	for i := range members {
		if members[i].isAwaited {
			running.Go(func() { waits[i] = r.waitForMember(ctx, &members[i], m, deadline) })
		}
	}
	running.Wait()
	for i := range waits {
		diags.Append(waits[i].diags...)
	}
	return m.membersNotActive(members, waits), diags
}

func (r *fleetResource) waitForMember(ctx context.Context, member *fleetMember, m *fleetModel, deadline time.Time) memberWait {
	known := &computers.Computer{ID: member.ID.ValueString(), Name: member.name, Status: member.Status.ValueString()}
	last, isSeen, err := waitForActive(ctx, r.Client, known, m.ServiceAccountID.ValueString(), deadline.Sub(r.Client.Conn.Clock.Now()))
	w := memberWait{last: last, err: err}
	if isSeen {
		w.diags = member.update(ctx, last)
	}
	return w
}

// membersNotActive says which members are not active, why, and what the next apply does about them: as an error, unless the run was stopped.
func (m *fleetModel) membersNotActive(members []fleetMember, waits []memberWait) (diags diag.Diagnostics) {
	var lines []string
	next, isStopped := []string{"They are kept in the state."}, true
	say := func(sentence string) {
		if !slices.Contains(next, sentence) {
			next = append(next, sentence)
		}
	}
	for i, w := range waits {
		if w.err == nil {
			continue
		}
		lines = append(lines, fmt.Sprintf("- %s (%s): %s.", members[i].name, members[i].ID.ValueString(), whyNotActive(w.last, w.err)))
		isStopped = isStopped && errors.Is(w.err, context.Canceled)
		switch {
		case !wait.IsFailed(w.err):
			say("The next apply waits for computers that are still provisioning.")
		case m.replaces(&members[i]):
			say("The next apply replaces computers that " + failedBeforeUseText + ".")
		default:
			say(replaceKept)
		}
		if wait.IsTimeout(w.err) {
			say("To allow more time, raise create or update in the timeouts block.")
		}
	}
	if len(lines) == 0 {
		return diags
	}
	detail := fmt.Sprintf("Of %s, %d %s not active:\n%s\n\n%s",
		phrase.Count(len(awaited(members)), "computer"), len(lines), phrase.Verb(len(lines), "is", "are"), firstLines(lines), phrase.Join(next...))
	if isStopped {
		diags.AddWarning("Interrupted before the fleet was active", detail)
	} else {
		diags.AddError("Fleet computers are not active", detail)
	}
	return diags
}
