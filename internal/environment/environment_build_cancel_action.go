package environment

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ action.ActionWithConfigure = (*environmentBuildCancelAction)(nil)

// NewEnvironmentBuildCancelAction returns the action agentyard_environment_build_cancel.
func NewEnvironmentBuildCancelAction() action.Action {
	return &environmentBuildCancelAction{crud.Action{Name: "environment_build_cancel"}}
}

type environmentBuildCancelAction struct{ crud.Action }

type environmentBuildCancelModel struct {
	EnvironmentID types.String `tfsdk:"environment_id"`
	BuildID       types.String `tfsdk:"build_id"`
}

// maxSuperseded limits how many superseding builds are canceled too.
const maxSuperseded = 3

func (a *environmentBuildCancelAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Cancels a running build of an environment.\n\n" +
			"A canceled build counts as failed. If an `agentyard_environment` resource manages the environment, its next apply rebuilds it, or replaces it if that was the first build." + mayBuild,
		Attributes: map[string]schema.Attribute{
			"environment_id": environmentIDArgument(),
			"build_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "ID of the build to cancel, which must be running. If omitted, the action cancels the latest build, or succeeds if that is not running.",
				Validators:          []validator.String{value.NotEmpty()},
			},
		},
	}
}

func (a *environmentBuildCancelAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "cancel", "build", req, resp, func(m *environmentBuildCancelModel, tell crud.Tell) error {
		e, err := environmentNamed(ctx, a.Client, m.EnvironmentID.ValueString())
		if err != nil {
			return err
		}
		if m.BuildID.IsNull() {
			return a.cancelLatest(ctx, e, tell)
		}
		return a.cancelGiven(ctx, e, m.BuildID.ValueString(), tell)
	}, apierror.AtStatus{http.StatusNotFound: path.Root("build_id")}, apierror.Advice{
		http.StatusForbidden: environmentAdvice[http.StatusForbidden],
		http.StatusNotFound:  "The environment has no build with this ID. Check build_id, or omit it to cancel the latest build.",
	})
}

// cancelLatest cancels the latest build, or a newer one that has superseded it.
func (a *environmentBuildCancelAction) cancelLatest(ctx context.Context, e *environments.Environment, tell crud.Tell) error {
	for range maxSuperseded {
		if e.LatestBuild == nil || hasEnded(e.LatestBuild.Status) {
			tell("%s: nothing was canceled", notRunning(e))
			return nil
		}
		id := e.LatestBuild.ID
		if id == "" {
			return fmt.Errorf("getEnvironment returned environment %q (%s) without the field id of latestBuild. Set build_id to the ID of the build", e.Name, e.ID)
		}
		err := a.Client.Environments.CancelBuild(ctx, e.ID, id)
		if err == nil {
			tell("%s was canceled", buildOf(e, id))
			return nil
		}
		if !transport.IsConflict(err) {
			return err
		}
		if e, err = environmentNamed(ctx, a.Client, e.ID); err != nil {
			return err
		}
		if e.LatestBuildID() == id && e.LatestBuild.Status == environments.BuildFailed {
			// If the first response was lost, the service rejects the retry.
			tell("%s is no longer running: it was canceled or failed", buildOf(e, id))
			return nil
		}
	}
	return &crud.ObjectError{Summary: "Build Is Superseded Repeatedly", Detail: fmt.Sprintf("Environment %q (%s) gets a new build whenever one is canceled, because it is being edited. Invoke the action again later.", e.Name, e.ID)}
}

// cancelGiven reads the status first, to distinguish a lost response from a build that had already ended.
func (a *environmentBuildCancelAction) cancelGiven(ctx context.Context, e *environments.Environment, id string, tell crud.Tell) error {
	before, err := a.Client.Environments.BuildDiagnostics(ctx, e.ID, id)
	if err != nil {
		return err
	}
	if hasEnded(before.Status) {
		return ended(e, id, before.Status)
	}
	err = a.Client.Environments.CancelBuild(ctx, e.ID, id)
	if transport.IsConflict(err) {
		after, readErr := a.Client.Environments.BuildDiagnostics(ctx, e.ID, id)
		switch {
		case readErr != nil:
			return readErr
		case after.Status == environments.BuildFailed:
			tell("%s is no longer running: it was canceled or failed", buildOf(e, id))
			return nil
		case hasEnded(after.Status):
			return ended(e, id, after.Status)
		}
	}
	if err == nil {
		tell("%s was canceled", buildOf(e, id))
	}
	return err
}

func hasEnded(status string) bool {
	return slices.Contains([]string{environments.BuildSucceeded, environments.BuildFailed, environments.BuildSuperseded}, status)
}

func ended(e *environments.Environment, id, status string) error {
	return &crud.ObjectError{At: path.Root("build_id"), Summary: "Build Is Not Running", Detail: fmt.Sprintf("%s has status %q. To cancel the latest build, omit build_id.", buildOf(e, id), status)}
}

func notRunning(e *environments.Environment) string {
	if e.LatestBuild == nil {
		return fmt.Sprintf("Environment %q (%s) has no build", e.Name, e.ID)
	}
	return fmt.Sprintf("%s is the latest and has status %q", buildOf(e, e.LatestBuild.ID), e.LatestBuild.Status)
}
