package computer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/action/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
	"github.com/agentyard/terraform-provider-agentyard/internal/wait"
)

var _ action.ActionWithConfigure = (*computerInstallDepsAction)(nil)

const defaultInstallTimeout = 30 * time.Minute

// statusNotStarted means that the step still shows the previous installation.
const statusNotStarted = "not started"

var installStates = wait.States{
	Done:       []string{computers.StepCompleted},
	InProgress: []string{computers.StepPending, computers.StepInProgress, statusNotStarted},
	Failed:     []string{computers.StepFailed},
}

// NewComputerInstallDepsAction returns the action agentyard_computer_install_deps.
func NewComputerInstallDepsAction() action.Action {
	return &computerInstallDepsAction{crud.Action{Name: "computer_install_deps"}}
}

type computerInstallDepsAction struct{ crud.Action }

type computerInstallDepsModel struct {
	ComputerID     types.String   `tfsdk:"computer_id"`
	WaitForInstall types.Bool     `tfsdk:"wait_for_install"`
	Timeouts       timeouts.Value `tfsdk:"timeouts"`
}

func (a *computerInstallDepsAction) Schema(ctx context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Reinstalls the dependencies of a managed computer's repositories. The computer must have been created with `auto_install_deps = true`.\n\n" +
			"While an installation is running, the service refuses another one. Registered machines (`byom`) are not supported.",
		Attributes: map[string]schema.Attribute{
			"computer_id": computerIDAttribute(),
			"wait_for_install": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether to wait for the installation and fail if it fails. Defaults to `false`.",
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": value.ActionTimeouts(timeouts.BlockWithOpts(ctx, timeouts.Opts{InvokeDescription: "Maximum time to wait for the installation. Defaults to `30m`."})),
		},
	}
}

func (a *computerInstallDepsAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "install dependencies on", "computer", req, resp, func(m *computerInstallDepsModel, tell crud.Tell) error {
		timeout, diags := m.Timeouts.Invoke(ctx, defaultInstallTimeout)
		resp.Diagnostics.Append(diags...)
		id := m.ComputerID.ValueString()

		// The step of the previous installation has also ended. Its start time distinguishes the two.
		var previous computers.ProvisioningStep
		if m.WaitForInstall.ValueBool() {
			c, err := a.Client.Computers.GetUncached(ctx, id)
			if err == nil {
				c, err = a.Client.Computers.WithSteps(ctx, c)
			}
			if err != nil {
				return err
			}
			if step := c.InstallStep(); step != nil {
				previous = *step
			}
		}
		tell("Starting to install dependencies on computer %s", id)
		c, err := a.Client.Computers.InstallDeps(ctx, id)
		if err != nil {
			return err
		}
		if !m.WaitForInstall.ValueBool() {
			tell("The installation on computer %q was started and continues in the background", c.Name)
			return nil
		}
		return a.waitForInstall(ctx, c, previous, timeout, tell)
	}, atComputer, installAdvice)
}

var installAdvice = apierror.Advice{
	http.StatusBadRequest: "The computer must be a managed computer that was created with auto_install_deps = true. Registered machines (`byom`) are not supported.",
	http.StatusConflict:   "An installation is already running on this computer. Wait until its provisioning step `install-dependencies` is `completed` or `failed`, then invoke the action again.",
}

func (a *computerInstallDepsAction) waitForInstall(ctx context.Context, c *computers.Computer, previous computers.ProvisioningStep, timeout time.Duration, tell crud.Tell) error {
	watch := a.Client.Computers.Watch(c.ID, c.ServiceAccount())
	defer watch.Close()
	last, err := wait.For(ctx, a.Client.Conn.Clock, timeout, wait.Object[computers.Computer]{
		Next: func(ctx context.Context, pause time.Duration) (*computers.Computer, error) {
			next, err := watch.Next(ctx, pause)
			if err != nil {
				return nil, err
			}
			return a.Client.Computers.WithSteps(ctx, next)
		},
		Status: func(c *computers.Computer) string { return installStatus(c, previous) },
		States: installStates,
		OnChange: func(next *computers.Computer) {
			tell("Installing dependencies on computer %q: %s", c.Name, installStatus(next, previous))
		},
	})

	var failed *wait.FailedError
	var late *wait.TimeoutError
	switch {
	case errors.As(err, &failed):
		reason := "The service gives no reason."
		if step := last.InstallStep(); step != nil && step.Error != "" {
			reason = strings.TrimSuffix(step.Error, ".") + "."
		}
		return &crud.ObjectError{Summary: "Dependencies Failed to Install",
			Detail: fmt.Sprintf("Installing dependencies on computer %q (%s) failed: %s\n\nThe computer stays active. Fix the cause, then invoke the action again.", c.Name, c.ID, reason)}
	case errors.As(err, &late):
		return &crud.ObjectError{Summary: "Timed Out Waiting for the Installation",
			Detail: fmt.Sprintf("The installation on computer %q (%s) was started, but did not end: %s. It continues at the service, which refuses another one until it ends. To allow more time, raise invoke in the timeouts block.", c.Name, c.ID, late)}
	}
	return err
}

// installStatus ignores the step of the previous installation.
func installStatus(c *computers.Computer, previous computers.ProvisioningStep) string {
	step := c.InstallStep()
	switch {
	case step == nil:
		return statusNotStarted
	case step.Status == computers.StepInProgress:
		return step.Status
	case previous.StartedAt != 0 && step.StartedAt == previous.StartedAt:
		return statusNotStarted
	case step.Failed():
		return computers.StepFailed
	}
	return step.Status
}
