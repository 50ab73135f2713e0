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
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
	"github.com/agentyard/terraform-provider-agentyard/internal/wait"
)

var _ action.ActionWithConfigure = (*computerInstallDepsAction)(nil)

const defaultInstallTimeout = 30 * time.Minute

// statusNotStarted stands for a step that does not show the new installation yet.
const statusNotStarted = "not started"

// installStates are the statuses of the step that installs dependencies.
var installStates = wait.States{
	Done:       []string{client.StepCompleted},
	InProgress: []string{client.StepPending, client.StepInProgress, statusNotStarted},
	Failed:     []string{client.StepFailed},
}

// NewComputerInstallDepsAction returns the action agentyard_computer_install_deps.
func NewComputerInstallDepsAction() action.Action { return &computerInstallDepsAction{} }

type computerInstallDepsAction struct{ crud.Action }

type computerInstallDepsModel struct {
	ComputerID     types.String   `tfsdk:"computer_id"`
	WaitForInstall types.Bool     `tfsdk:"wait_for_install"`
	Timeouts       timeouts.Value `tfsdk:"timeouts"`
}

func (a *computerInstallDepsAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computer_install_deps"
}

func (a *computerInstallDepsAction) Schema(ctx context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Installs the dependencies of a managed computer's repositories again. The computer must have been created with `auto_install_deps = true`. " +
			"While an installation runs, the service refuses another one.",
		Attributes: map[string]schema.Attribute{
			"computer_id": computerIDAttribute(),
			"wait_for_install": schema.BoolAttribute{
				Optional:            true,
				MarkdownDescription: "Whether the action waits until the installation has ended, and fails if it failed. Null means `false`: the installation goes on in the background.",
			},
		},
		Blocks: map[string]schema.Block{
			"timeouts": value.ActionTimeouts(timeouts.BlockWithOpts(ctx, timeouts.Opts{InvokeDescription: "How long the installation may take where it is waited for, such as `30m` (the default)."})),
		},
	}
}

func (a *computerInstallDepsAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "install dependencies on", "computer", req, resp, func(m *computerInstallDepsModel, tell crud.Tell) error {
		timeout, diags := m.Timeouts.Invoke(ctx, defaultInstallTimeout)
		resp.Diagnostics.Append(diags...)
		id := m.ComputerID.ValueString()

		// The step of the last installation has ended too, so its start tells it from the new one.
		var before client.ProvisioningStep
		if m.WaitForInstall.ValueBool() {
			c, err := a.Client.ComputerAlone(ctx, id)
			if err == nil {
				c, err = a.Client.WithSteps(ctx, c)
			}
			if err != nil {
				return err
			}
			if step := c.InstallStep(); step != nil {
				before = *step
			}
		}
		tell("Starting to install dependencies on computer %s", id)
		c, err := a.Client.InstallComputerDeps(ctx, id)
		if err != nil {
			return err
		}
		if !m.WaitForInstall.ValueBool() {
			tell("Dependencies are being installed on computer %q; the action does not wait for it", c.Name)
			return nil
		}
		return a.waitForInstall(ctx, c, before, timeout, tell)
	}, atComputer, installAdvice)
}

// installAdvice is what refusals of an installation mean.
var installAdvice = apierror.Advice{
	http.StatusBadRequest: "Dependencies can be installed on managed computers that were created with auto_install_deps = true, not on machines of one's own (`byom`).",
	http.StatusConflict:   "An installation is running on this computer. Its provisioning step `install-dependencies` shows when it has ended; then invoke the action again.",
}

func (a *computerInstallDepsAction) waitForInstall(ctx context.Context, c *client.Computer, before client.ProvisioningStep, timeout time.Duration, tell crud.Tell) error {
	watch := a.Client.WatchComputer(c.ID, c.ServiceAccount())
	defer watch.Close()
	last, err := wait.For(ctx, a.Client.Clock, timeout, wait.Object[client.Computer]{
		Next: func(ctx context.Context, pause time.Duration) (*client.Computer, error) {
			next, err := watch.Next(ctx, pause)
			if err != nil {
				return nil, err
			}
			return a.Client.WithSteps(ctx, next)
		},
		Status: func(c *client.Computer) string { return installStatus(c, before) },
		States: installStates,
		OnChange: func(next *client.Computer) {
			tell("Installing dependencies on computer %q: %s", c.Name, installStatus(next, before))
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
		return &crud.Fault{Summary: "Installation of Dependencies Failed",
			Detail: fmt.Sprintf("Installing dependencies on computer %q (%s) failed: %s\n\nThe computer goes on as it was. Mend the cause, then invoke the action again.", c.Name, c.ID, reason)}
	case errors.As(err, &late):
		return &crud.Fault{Summary: "Installation of Dependencies Is Not Done in Time",
			Detail: fmt.Sprintf("Installing dependencies on computer %q (%s) was started, but %s. It goes on at the service, which refuses another one until it has ended. To allow more time, raise invoke in the timeouts block.", c.Name, c.ID, late)}
	}
	return err
}

// installStatus is the status of the installation that came after before.
func installStatus(c *client.Computer, before client.ProvisioningStep) string {
	step := c.InstallStep()
	switch {
	case step == nil:
		return statusNotStarted
	case step.Status == client.StepInProgress:
		return step.Status
	case before.StartedAt != 0 && step.StartedAt == before.StartedAt:
		return statusNotStarted
	case step.Failed():
		return client.StepFailed
	}
	return step.Status
}
