package environment

import (
	"context"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type environmentBuildCancelModel struct {
	EnvironmentID types.String `tfsdk:"environment_id"`
	BuildID       types.String `tfsdk:"build_id"`
}

// BuildCancel is agentyard_environment_build_cancel.
var BuildCancel = crud.Operation{
	Name: "environment_build_cancel",
	Description: "Cancels a running build of an environment." + mayChange + "\n\n" +
		"**Result.** A canceled build should count as failed" + crud.Assumed("cancel-environment-build") + " If an `agentyard_environment` resource manages the environment, its next apply rebuilds it, or replaces it if that was the first build.",
	Arguments: map[string]schema.Attribute{
		"environment_id": crud.RequiredText(environmentResults["id"].Text),
		"build_id":       crud.OptionalText("ID of the build to cancel, which must be running. If omitted, the latest build is canceled, and nothing happens if that is not running."),
	},
	Results: results.Attributes{
		"canceled_build_id": results.Computed("ID of the build that was canceled. Null if the latest build was not running.", types.StringType),
	},
	Run:  crud.Run(cancelBuild),
	Verb: "cancel", Object: "build",
	Options: apierror.Options{apierror.AtStatus{http.StatusNotFound: path.Root("build_id"), http.StatusConflict: path.Root("build_id")}, apierror.Advice{
		http.StatusForbidden: environmentAdvice[http.StatusForbidden],
		http.StatusNotFound:  "The environment has no build with this ID. Check build_id, or omit it to cancel the latest build.",
		http.StatusConflict:  "The build is not running any more. To cancel the build that runs now, omit build_id and run again.",
	}},
}

func cancelBuild(ctx context.Context, c *client.Client, m *environmentBuildCancelModel, call *crud.Call) (crud.Results, error) {
	e, err := environmentNamed(ctx, c, m.EnvironmentID.ValueString())
	if err != nil {
		return nil, err
	}
	id, isLatest := m.BuildID.ValueString(), m.BuildID.IsNull()
	notRunning := func() (crud.Results, error) {
		call.Report("The latest build of %s is not running: nothing was canceled", named(e))
		return crud.Results{"canceled_build_id": types.StringNull()}, nil
	}
	if isLatest {
		if !e.IsBuilding() || e.LatestBuild == nil {
			return notRunning()
		}
		if id = e.LatestBuildID(); id == "" {
			return nil, fmt.Errorf("getEnvironment returned %s without the field id of latestBuild. Set build_id to the ID of the build", named(e))
		}
	}
	err = c.Environments.CancelBuild(ctx, e.ID, id)
	switch {
	case isLatest && transport.IsConflict(err): // It has just ended.
		return notRunning()
	case err != nil:
		return nil, err
	}
	call.Report("%s was canceled", buildOf(e, id))
	return crud.Results{"canceled_build_id": types.StringValue(id)}, nil
}
