package computer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

type notActiveError struct {
	detail string
	// interrupted is true if no computer failed: the run was only stopped.
	interrupted bool
}

func (e *notActiveError) summary() string {
	if e.interrupted {
		return "Interrupted before the fleet was active"
	}
	return "Fleet computers are not active"
}

// waitForActive returns the computers as last seen, even with an error.
func (r *fleetResource) waitForActive(ctx context.Context, followed []computers.Computer, m *fleetModel, timeout time.Duration) ([]computers.Computer, *notActiveError) {
	last, errs := slices.Clone(followed), make([]error, len(followed))
	var running sync.WaitGroup
	for i := range followed {
		if followed[i].Status == computers.StatusActive {
			continue
		}
		running.Go(func() {
			seen, err := waitForActive(ctx, r.Client, followed[i].ID, m.ServiceAccountID.ValueString(), &followed[i], timeout)
			if seen != nil {
				last[i] = *seen
			}
			errs[i] = err
		})
	}
	running.Wait()

	var lines []string
	interrupted := true
	for i, err := range errs {
		if err == nil {
			continue
		}
		if last[i].Status == computers.StatusError {
			last[i] = withSteps(ctx, r.Client, last[i], m.ServiceAccountID.ValueString())
		}
		lines = append(lines, fmt.Sprintf("- %s (%s): %s.", last[i].Name, last[i].ID, whyNotActive(&last[i], err)))
		interrupted = interrupted && errors.Is(err, context.Canceled)
	}
	if len(lines) == 0 {
		return last, nil
	}
	return last, &notActiveError{interrupted: interrupted, detail: fmt.Sprintf("Of %s, %d %s not active:\n%s\n\nThey are kept in the state. The next apply waits for computers that are still provisioning. The next apply replaces computers that failed before dependencies were installed, unless replace_failed = false. To replace another one, delete it at the service, then apply. To allow more time, raise create or update in the timeouts block.",
		phrase.Count(len(last), "computer"), len(lines), phrase.Verb(len(lines), "is", "are"), strings.Join(lines, "\n"))}
}

// withSteps returns the computer of the shared listing, which includes the provisioning steps, if it is listed.
func withSteps(ctx context.Context, c *client.Client, found computers.Computer, account string) computers.Computer {
	if listed, err := c.Computers.GetListed(ctx, found.ID, account); err == nil && listed != nil {
		return *listed
	}
	return found
}

func whyNotActive(c *computers.Computer, err error) string {
	var failed *wait.FailedError
	var late *wait.TimeoutError
	switch {
	case errors.As(err, &failed):
		return fmt.Sprintf("the status is %q: %s", failed.Status, whyFailed(c))
	case errors.As(err, &late):
		return err.Error() + "; provisioning continues at the service"
	case errors.Is(err, context.Canceled):
		return "the run was interrupted; provisioning continues at the service"
	}
	return err.Error()
}

func whyFailed(c *computers.Computer) string {
	if at := c.FailedStep(); at >= 0 {
		step := c.ProvisioningSteps[at]
		return fmt.Sprintf("step %q failed: %s", step.Name, strings.TrimSuffix(step.Error, "."))
	}
	return "the service gives no reason"
}
