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
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ action.ActionWithConfigure = (*environmentBuildCancelAction)(nil)

// NewEnvironmentBuildCancelAction returns the action agentyard_environment_build_cancel.
func NewEnvironmentBuildCancelAction() action.Action { return &environmentBuildCancelAction{} }

type environmentBuildCancelAction struct{ crud.Action }

type environmentBuildCancelModel struct {
	EnvironmentID types.String `tfsdk:"environment_id"`
	BuildID       types.String `tfsdk:"build_id"`
}

// maxSuperseded is how many builds that took the place of a cancelled one are cancelled too.
const maxSuperseded = 3

func (a *environmentBuildCancelAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_environment_build_cancel"
}

func (a *environmentBuildCancelAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Cancels a running build of an environment. Sessions go on with the last successful build. The environment counts as failed then: where an `agentyard_environment` manages it, the next apply builds it again." + mayBuild,
		Attributes: map[string]schema.Attribute{
			"environment_id": environmentIDArgument(),
			"build_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The build to cancel. One that has ended is an error. Null means the latest build; where that does not run, nothing is cancelled and the action succeeds.",
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
		http.StatusForbidden: "Builds of an environment of the organization are cancelled by humans with the Manager role or higher, of any other by its owner. Use such a key.",
		http.StatusNotFound:  "The environment has no such build. Check build_id, or leave it out to cancel the latest one.",
	})
}

// cancelLatest cancels the latest build, and where another one has taken its place meanwhile, that one.
func (a *environmentBuildCancelAction) cancelLatest(ctx context.Context, e *client.Environment, tell crud.Tell) error {
	for range maxSuperseded {
		if e.LatestBuild == nil || hasEnded(e.LatestBuild.Status) {
			tell("%s: nothing was cancelled", notRunning(e))
			return nil
		}
		id := e.LatestBuild.ID
		err := a.Client.CancelBuild(ctx, e.ID, id)
		if err == nil {
			tell("%s was cancelled", buildOf(e, id))
			return nil
		}
		if !client.IsConflict(err) {
			return err
		}
		if e, err = environmentNamed(ctx, a.Client, e.ID); err != nil {
			return err
		}
		if e.LatestBuildID() == id && e.LatestBuild.Status == client.BuildFailed {
			// Where an answer was lost, the service refuses the repetition of what it has done.
			tell("%s was running and is not any more: it was cancelled, or has failed", buildOf(e, id))
			return nil
		}
	}
	return &crud.Fault{Summary: "Builds Take Each Other's Place", Detail: fmt.Sprintf("The environment %q (%s) gets a new build whenever one is cancelled: somebody edits it. Invoke the action again when that has ended.", e.Name, e.ID)}
}

// cancelGiven cancels one build. How it stood before tells a cancellation whose answer was lost from one of a build that has long ended.
func (a *environmentBuildCancelAction) cancelGiven(ctx context.Context, e *client.Environment, id string, tell crud.Tell) error {
	before, err := a.Client.BuildDiagnostics(ctx, e.ID, id)
	if err != nil {
		return err
	}
	if hasEnded(before.Status) {
		return ended(e, id, before.Status)
	}
	err = a.Client.CancelBuild(ctx, e.ID, id)
	if client.IsConflict(err) {
		after, readErr := a.Client.BuildDiagnostics(ctx, e.ID, id)
		switch {
		case readErr != nil:
			return readErr
		case after.Status == client.BuildFailed:
			tell("%s was running and is not any more: it was cancelled, or has failed", buildOf(e, id))
			return nil
		case hasEnded(after.Status):
			return ended(e, id, after.Status)
		}
	}
	if err == nil {
		tell("%s was cancelled", buildOf(e, id))
	}
	return err
}

func hasEnded(status string) bool {
	return slices.Contains([]string{client.BuildSucceeded, client.BuildFailed, client.BuildSuperseded}, status)
}

// ended says how a build has ended that was to be cancelled.
func ended(e *client.Environment, id, status string) error {
	how := map[string]string{
		client.BuildSucceeded:  "It has succeeded.",
		client.BuildFailed:     "It has failed, or was cancelled.",
		client.BuildSuperseded: "It was superseded by a newer one. To cancel the latest build, leave build_id out.",
	}
	return &crud.Fault{At: path.Root("build_id"), Summary: "Build Is Not Running", Detail: fmt.Sprintf("%s is %s, and only a running build can be cancelled. %s", buildOf(e, id), status, how[status])}
}

// notRunning says why there is nothing to cancel.
func notRunning(e *client.Environment) string {
	if e.LatestBuild == nil {
		return fmt.Sprintf("The environment %q (%s) has no build", e.Name, e.ID)
	}
	return fmt.Sprintf("%s, the latest one, is %s", buildOf(e, e.LatestBuild.ID), e.LatestBuild.Status)
}
