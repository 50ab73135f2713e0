package environment

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// NewEnvironmentBuildCancelAction returns the action agentyard_environment_build_cancel.
func NewEnvironmentBuildCancelAction() action.Action { return environmentBuildCancel.Action() }

// NewEnvironmentBuildCancelResource returns the resource agentyard_environment_build_cancel.
func NewEnvironmentBuildCancelResource() resource.Resource { return environmentBuildCancel.Resource() }

type environmentBuildCancelModel struct {
	EnvironmentID types.String `tfsdk:"environment_id"`
	BuildID       types.String `tfsdk:"build_id"`
}

// maxSuperseded limits how many superseding builds are canceled too.
const maxSuperseded = 3

var environmentBuildCancel = crud.Operation{
	Name: "environment_build_cancel",
	Description: "Cancels a running build of an environment.\n\n" +
		"A canceled build counts as failed. If an `agentyard_environment` resource manages the environment, its next apply rebuilds it, or replaces it if that was the first build." + mayBuild,
	Arguments: map[string]schema.Attribute{
		"environment_id": environmentIDArgument(),
		"build_id": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "ID of the build to cancel, which must be running. If omitted, the latest build is canceled, and nothing happens if that is not running.",
			Validators:          []validator.String{value.NotEmpty()},
		},
	},
	Results: results.Fields[any]{
		"canceled_build_id": {Text: "ID of the build that was canceled. Null if the latest build was not running.", Type: types.StringType},
	},
	Run:    crud.Run(cancelBuild),
	Verb:   "cancel",
	Object: "build",
	Options: apierror.Options{apierror.AtStatus{http.StatusNotFound: path.Root("build_id")}, apierror.Advice{
		http.StatusForbidden: environmentAdvice[http.StatusForbidden],
		http.StatusNotFound:  "The environment has no build with this ID. Check build_id, or omit it to cancel the latest build.",
	}},
}

func cancelBuild(ctx context.Context, c *client.Client, m *environmentBuildCancelModel, call *crud.Call) (crud.Results, error) {
	e, err := environmentNamed(ctx, c, m.EnvironmentID.ValueString())
	if err != nil {
		return nil, err
	}
	id := m.BuildID.ValueString()
	if m.BuildID.IsNull() {
		id, err = cancelLatest(ctx, c, e, call)
	} else {
		err = cancelGiven(ctx, c, e, id, call)
	}
	return crud.Results{"canceled_build_id": value.StringOrNull(id)}, err
}

// cancelLatest cancels the latest build, or a newer one that has superseded it, and returns its ID.
func cancelLatest(ctx context.Context, c *client.Client, e *environments.Environment, call *crud.Call) (canceled string, err error) {
	for range maxSuperseded {
		if e.LatestBuild == nil || hasEnded(e.LatestBuild.Status) {
			call.Tell("%s: nothing was canceled", notRunning(e))
			return "", nil
		}
		id := e.LatestBuild.ID
		if id == "" {
			return "", fmt.Errorf("getEnvironment returned environment %q (%s) without the field id of latestBuild. Set build_id to the ID of the build", e.Name, e.ID)
		}
		err := c.Environments.CancelBuild(ctx, e.ID, id)
		if err == nil {
			call.Tell("%s was canceled", buildOf(e, id))
			return id, nil
		}
		if !transport.IsConflict(err) {
			return "", err
		}
		if e, err = environmentNamed(ctx, c, e.ID); err != nil {
			return "", err
		}
		if e.LatestBuildID() == id && e.LatestBuild.Status == environments.BuildFailed {
			// If the first response was lost, the service rejects the retry.
			call.Tell("%s is no longer running: it was canceled or failed", buildOf(e, id))
			return id, nil
		}
	}
	return "", &crud.ObjectError{Summary: "Build Is Superseded Repeatedly", Detail: fmt.Sprintf("Environment %q (%s) gets a new build whenever one is canceled, because it is being edited. Later, "+crud.RunAgain+".", e.Name, e.ID)}
}

// cancelGiven reads the status first, to distinguish a lost response from a build that had already ended.
func cancelGiven(ctx context.Context, c *client.Client, e *environments.Environment, id string, call *crud.Call) error {
	before, err := c.Environments.BuildDiagnostics(ctx, e.ID, id)
	if err != nil {
		return err
	}
	if hasEnded(before.Status) {
		return ended(e, id, before.Status)
	}
	err = c.Environments.CancelBuild(ctx, e.ID, id)
	if transport.IsConflict(err) {
		after, readErr := c.Environments.BuildDiagnostics(ctx, e.ID, id)
		switch {
		case readErr != nil:
			return readErr
		case after.Status == environments.BuildFailed:
			call.Tell("%s is no longer running: it was canceled or failed", buildOf(e, id))
			return nil
		case hasEnded(after.Status):
			return ended(e, id, after.Status)
		}
	}
	if err == nil {
		call.Tell("%s was canceled", buildOf(e, id))
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
