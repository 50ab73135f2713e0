package computer

import (
	"context"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// life is what private state remembers of a computer. The zero value is of one that was active or imported: somebody may use it, so no plan
// replaces it by itself, and no apply waits for it. NeverActive ends with the first look that shows the computer active. FailedBeforeUse is
// what the last look proved. If a planned update would become a replacement in the apply, Terraform refuses it; a planned replacement is
// not checked again.
type life struct {
	// neverActive says that this configuration created the computer, and that nothing has seen it active since.
	neverActive bool
	// failedBeforeUse says that, in addition, its provisioning steps showed that it failed before anybody could use it.
	failedBeforeUse bool
}

// after returns the life of a computer that was seen again.
func (l life) after(seen *computers.Computer) life {
	neverActive := l.neverActive && !seen.IsActive()
	return life{neverActive: neverActive, failedBeforeUse: neverActive && seen.FailedBeforeUse()}
}

// isUnfinished reports whether the next apply waits for the computer. The service may leave the status out. A wait goes on while the status
// is unknown, but no later apply resumes it: the computer may be asleep.
func (l life) isUnfinished(status string) bool {
	return l.neverActive && (status == "" || slices.Contains(computers.ProvisioningStatuses, status))
}

// lives returns the lives of a resource's computers by ID.
func lives(ctx context.Context, r privatestate.Reader) map[string]life {
	all := map[string]life{}
	for id, failedBeforeUse := range privatestate.NeverActive(ctx, r) {
		all[id] = life{neverActive: true, failedBeforeUse: failedBeforeUse}
	}
	return all
}

// recordLives records the lives of all computers of a resource.
func recordLives(ctx context.Context, s privatestate.State, all map[string]life) diag.Diagnostics {
	failedBeforeUse := map[string]bool{}
	for id, l := range all {
		if l.neverActive {
			failedBeforeUse[id] = l.failedBeforeUse
		}
	}
	return privatestate.SetNeverActive(ctx, s, failedBeforeUse)
}

// provisionedResults are the results that stay null until the service sets them, while it sets the computer up.
type provisionedResults struct {
	Hostname              types.String `tfsdk:"hostname"`
	RemoteUser            types.String `tfsdk:"remote_user"`
	RelayClientURL        types.String `tfsdk:"relay_client_url"`
	RelayAgentURL         types.String `tfsdk:"relay_agent_url"`
	ClonedRepoDirectories types.List   `tfsdk:"cloned_repo_directories"`
}

func (s *provisionedResults) texts() []*types.String {
	return []*types.String{&s.Hostname, &s.RemoteUser, &s.RelayClientURL, &s.RelayAgentURL}
}

// makeNullsUnknown makes the results unknown that a wait may set. More are further results that may still be null.
func (s *provisionedResults) makeNullsUnknown(more ...*types.String) {
	for _, result := range append(s.texts(), more...) {
		if result.IsNull() {
			*result = types.StringUnknown()
		}
	}
	if s.ClonedRepoDirectories.IsNull() {
		s.ClonedRepoDirectories = types.ListUnknown(types.StringType)
	}
}

// keepKnown keeps what the plan shows as known: what was not null before the wait.
func (s *provisionedResults) keepKnown(before provisionedResults) {
	known := before.texts()
	for i, result := range s.texts() {
		if !known[i].IsNull() {
			*result = *known[i]
		}
	}
	if !before.ClonedRepoDirectories.IsNull() {
		s.ClonedRepoDirectories = before.ClonedRepoDirectories
	}
}

// waitForActive follows a computer from what is known of it. It returns the computer as last seen, even with an error. IsSeen is false if
// last is only known, which must not be stored unless it is whole. Ctx must not end with the timeout: the wait looks once more then.
func waitForActive(ctx context.Context, c *client.Client, known *computers.Computer, account string, timeout time.Duration) (last *computers.Computer, isSeen bool, err error) {
	watch := c.Computers.Watch(known.ID, account)
	defer watch.Close()
	last, err = wait.For(ctx, c.Conn.Clock, timeout, wait.Object[computers.Computer]{
		Start:  known,
		Next:   watch.Next,
		Status: func(c *computers.Computer) string { return c.Status },
		States: wait.States{Done: computers.ActiveStatuses, InProgress: computers.ProvisioningStatuses, Failed: computers.FailedStatuses},
	})
	last = withSteps(ctx, c, last, account)
	return last, last != known, err
}

// withSteps adds the provisioning steps to a failed computer, if they can be read: only listings have them.
func withSteps(ctx context.Context, c *client.Client, found *computers.Computer, account string) *computers.Computer {
	if !found.HasFailed() || found.ProvisioningSteps != nil {
		return found
	}
	if listed, err := c.Computers.LookupWithSteps(ctx, found.ID, account); err == nil && listed != nil && listed.Status == found.Status {
		return listed
	}
	return found
}
