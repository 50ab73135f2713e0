package computer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

var computerStates = wait.States{
	Done:       []string{computers.StatusActive},
	InProgress: []string{computers.StatusProvisioning},
	Failed:     []string{computers.StatusError},
}

// life is what private state remembers of a computer. The zero value is of one that was active or imported: somebody may use it, so no plan
// replaces it by itself, and no apply waits for it. What was seen last decides, so a plan and its apply agree.
type life struct {
	// neverActive says that this configuration created the computer, and that nothing has seen it active since.
	neverActive bool
	// setUpFailed says that, in addition, its provisioning steps showed that it failed before anybody could use it.
	setUpFailed bool
}

// after returns the life of a computer that was seen again.
func (l life) after(seen *computers.Computer) life {
	neverActive := l.neverActive && seen.Status != computers.StatusActive
	return life{neverActive: neverActive, setUpFailed: neverActive && seen.SetUpFailed()}
}

// isLeft reports whether an earlier apply ended while the computer was set up.
func (l life) isLeft(status string) bool {
	return l.neverActive && status == computers.StatusProvisioning
}

// lives returns the lives of a resource's computers by ID.
func lives(ctx context.Context, r privatestate.Reader) map[string]life {
	found := map[string]life{}
	for _, id := range privatestate.IDs(ctx, r, privatestate.NeverActive) {
		found[id] = life{neverActive: true}
	}
	for _, id := range privatestate.IDs(ctx, r, privatestate.SetUpFailed) {
		found[id] = life{neverActive: true, setUpFailed: true}
	}
	return found
}

// setLives records the lives of all computers of a resource.
func setLives(ctx context.Context, s privatestate.State, all map[string]life) diag.Diagnostics {
	var neverActive, setUpFailed []string
	for id, l := range all {
		if l.neverActive {
			neverActive = append(neverActive, id)
		}
		if l.setUpFailed {
			setUpFailed = append(setUpFailed, id)
		}
	}
	diags := privatestate.SetIDs(ctx, s, privatestate.NeverActive, neverActive)
	return append(diags, privatestate.SetIDs(ctx, s, privatestate.SetUpFailed, setUpFailed)...)
}

// waitForActive follows a computer from what is known of it. It returns the computer as last seen, even with an error.
func waitForActive(ctx context.Context, c *client.Client, known *computers.Computer, account string, timeout time.Duration) (*computers.Computer, error) {
	watch := c.Computers.Watch(known.ID, account)
	defer watch.Close()
	last, err := wait.For(ctx, c.Conn.Clock, timeout, wait.Object[computers.Computer]{
		Start:  known,
		Next:   watch.Next,
		Status: func(c *computers.Computer) string { return c.Status },
		States: computerStates,
	})
	return withSteps(ctx, c, last, account), err
}

// withSteps adds the provisioning steps to a failed computer, if they can be read: only listings have them.
func withSteps(ctx context.Context, c *client.Client, found *computers.Computer, account string) *computers.Computer {
	if found.Status != computers.StatusError || found.ProvisioningSteps != nil {
		return found
	}
	if listed, err := c.Computers.GetListed(ctx, found.ID, account); err == nil && listed != nil && listed.Status == found.Status {
		return listed
	}
	return found
}

// whyNotActive says within a sentence why a wait for a computer ended.
func whyNotActive(last *computers.Computer, err error) string {
	if _, isFailed := errors.AsType[*wait.FailedError](err); isFailed {
		return fmt.Sprintf("the status is %q: %s", last.Status, whyFailed(last))
	}
	if _, isLate := errors.AsType[*wait.TimeoutError](err); isLate {
		return err.Error() + "; provisioning continues at the service"
	}
	if errors.Is(err, context.Canceled) {
		return "the run was interrupted; provisioning continues at the service"
	}
	return err.Error()
}

func whyFailed(c *computers.Computer) string {
	if at := c.FailedStep(); at >= 0 {
		step := c.ProvisioningSteps[at]
		return fmt.Sprintf("step %q failed: %s", step.Name, strings.TrimSuffix(step.Error, "."))
	}
	if c.ProvisioningSteps == nil {
		return "its provisioning steps could not be read"
	}
	return "the service gives no reason"
}
