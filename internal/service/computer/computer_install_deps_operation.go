package computer

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

const defaultInstallTimeout = 30 * time.Minute

// statusNotStarted means that the step still shows the previous installation.
const statusNotStarted = "not started"

var installStates = wait.States{
	Done:       []string{computers.StepCompleted},
	InProgress: []string{computers.StepPending, computers.StepInProgress, statusNotStarted},
	Failed:     []string{computers.StepFailed},
}

// NewComputerInstallDepsAction returns the action agentyard_computer_install_deps.
func NewComputerInstallDepsAction() action.Action { return computerInstallDeps.Action() }

// NewComputerInstallDepsResource returns the resource agentyard_computer_install_deps.
func NewComputerInstallDepsResource() resource.Resource { return computerInstallDeps.Resource() }

type computerInstallDepsModel struct {
	ComputerID     types.String `tfsdk:"computer_id"`
	WaitForInstall types.Bool   `tfsdk:"wait_for_install"`
}

var computerInstallDeps = crud.Operation{
	Name: "computer_install_deps",
	Description: "Reinstalls the dependencies of a managed computer's repositories. The computer must have been created with `auto_install_deps = true`.\n\n" +
		"While an installation is running, the service refuses another one. Registered machines (`byom`) are not supported.",
	Arguments: map[string]schema.Attribute{
		"computer_id": computerIDAttribute(),
		"wait_for_install": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether to wait for the installation and fail if it fails. Defaults to `false`.",
		},
	},
	Timeout:     defaultInstallTimeout,
	TimeoutText: "Maximum time to wait for the installation. Defaults to `30m`.",
	Canonical:   crud.CanonicalModel(func(m *computerInstallDepsModel) { m.WaitForInstall = types.BoolNull() }),
	Run:         crud.Run(installDeps),
	Verb:        "install dependencies on",
	Object:      "computer",
	Options:     apierror.Options{atComputer, installAdvice},
}

func installDeps(ctx context.Context, c *client.Client, m *computerInstallDepsModel, call *crud.Call) (crud.Results, error) {
	id := m.ComputerID.ValueString()

	// The step of the previous installation has also ended. Its start time distinguishes the two.
	var previous computers.ProvisioningStep
	if m.WaitForInstall.ValueBool() {
		found, err := c.Computers.GetUncached(ctx, id)
		if err == nil {
			found, err = c.Computers.WithSteps(ctx, found)
		}
		if err != nil {
			return nil, err
		}
		if step := found.InstallStep(); step != nil {
			previous = *step
		}
	}
	call.Tell("Starting to install dependencies on computer %s", id)
	found, err := c.Computers.InstallDeps(ctx, id)
	if err != nil {
		return nil, err
	}
	if !m.WaitForInstall.ValueBool() {
		call.Tell("The installation on computer %q was started and continues in the background", found.Name)
		return nil, nil
	}
	return nil, waitForInstall(ctx, c, found, previous, call)
}

var installAdvice = apierror.Advice{
	http.StatusBadRequest: "The computer must be a managed computer that was created with auto_install_deps = true. Registered machines (`byom`) are not supported.",
	http.StatusConflict:   "An installation is already running on this computer. Wait until its provisioning step `install-dependencies` is `completed` or `failed`, then " + crud.RunAgain + ".",
}

func waitForInstall(ctx context.Context, conn *client.Client, c *computers.Computer, previous computers.ProvisioningStep, call *crud.Call) error {
	watch := conn.Computers.Watch(c.ID, c.ServiceAccount())
	defer watch.Close()
	last, err := wait.For(ctx, conn.Conn.Clock, call.Timeout, wait.Object[computers.Computer]{
		Next: func(ctx context.Context, pause time.Duration) (*computers.Computer, error) {
			next, err := watch.Next(ctx, pause)
			if err != nil {
				return nil, err
			}
			return conn.Computers.WithSteps(ctx, next)
		},
		Status: func(c *computers.Computer) string { return installStatus(c, previous) },
		States: installStates,
		OnChange: func(next *computers.Computer) {
			call.Tell("Installing dependencies on computer %q: %s", c.Name, installStatus(next, previous))
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
			Detail: fmt.Sprintf("Installing dependencies on computer %q (%s) failed: %s\n\nThe computer stays active. Fix the cause, then "+crud.RunAgain+".", c.Name, c.ID, reason)}
	case errors.As(err, &late):
		return &crud.ObjectError{Summary: "Timed Out Waiting for the Installation",
			Detail: fmt.Sprintf("The installation on computer %q (%s) was started, but did not end: %s. It continues at the service, which refuses another one until it ends. To allow more time, raise "+crud.TimeoutName+" in the timeouts block.", c.Name, c.ID, late)}
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
