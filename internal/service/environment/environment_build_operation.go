package environment

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

type environmentBuildModel struct {
	EnvironmentID types.String `tfsdk:"environment_id"`
	WaitForBuild  types.Bool   `tfsdk:"wait_for_build"`
}

// What an environment requires: who changes it, and who reads it.
var (
	mayChange = crud.Requires + "the owner's API key for the scope `user`, or the " + crud.ManagerRole + " for the scope `organization` (assumptions [`create-environment` and `get-environment`](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/evidence))."
	anyViewer = crud.AnyKey + " To set `service_account_id`: the " + crud.ManagerRole + crud.Assumed("service-account-id-query-parameter")
)

// environmentNamed reads the environment of an action. A missing one is an error at the argument.
func environmentNamed(ctx context.Context, c *client.Client, id string) (*environments.Environment, error) {
	e, err := c.Environments.GetUncached(ctx, id)
	if transport.IsNotFound(err) {
		return nil, &crud.ObjectError{At: path.Root("environment_id"), Summary: "Environment not found", Detail: apierror.NoSuch("environment", id) + " " + apierror.Sentences(err)}
	}
	return e, err
}

// Build is agentyard_environment_build.
var Build = crud.Operation{
	Name: "environment_build",
	Description: "Starts a new build of an environment, for example to include new commits." + mayChange + "\n\n" +
		"**After a success.** The API documents call this a retry. It should also build again after a build that succeeded" + crud.Assumed("create-environment-build") + "\n\n" +
		"**Other builds.** If another build is running, the provider waits for its end before it starts the new one." + crud.AssumedFormat,
	Arguments: map[string]schema.Attribute{
		"environment_id": crud.RequiredText(environmentResults["id"].Text),
		"wait_for_build": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether to wait for the build and fail if the build fails. If a newer build supersedes it, the provider waits for the newer one. Defaults to `true`.",
		},
	},
	Results: results.Attributes{
		"id":       results.Computed("ID of the build that this resource started. Null if the service did not name it.", types.StringType),
		"build_id": results.Computed("ID of the build that `status` describes: the one in `id`, or the newest one that superseded it during the wait.", types.StringType),
		"status":   results.Computed("Status of the build `build_id` after the wait. Null if `wait_for_build` is `false`.", types.StringType),
	},
	Timeout:     defaultBuildTimeout,
	TimeoutText: "Maximum time to wait for the build. Defaults to `60m`.",
	Canonical:   crud.CanonicalModel(func(m *environmentBuildModel) { m.WaitForBuild = types.BoolNull() }),
	Run:         crud.Run(buildEnvironment),
	Verb:        "build", Object: "environment",
	Options: apierror.Options{environmentAdvice, apierror.AtStatus{
		http.StatusNotFound: path.Root("environment_id"), http.StatusConflict: path.Root("environment_id"),
	}},
}

func buildEnvironment(ctx context.Context, c *client.Client, m *environmentBuildModel, call *crud.Call) (crud.Results, error) {
	e, err := environmentNamed(ctx, c, m.EnvironmentID.ValueString())
	if err != nil {
		return nil, err
	}
	deadline := c.Conn.Clock.Now().Add(call.Timeout)
	follow := func(awaited awaitedBuild) (*environments.Build, error) {
		return waitForBuild(ctx, c, e.ID, awaited, deadline.Sub(c.Conn.Clock.Now()), func(b *environments.Build) {
			call.Report("%s: %s", buildOf(e, cmp.Or(b.ID, awaited.id)), b.Status)
		})
	}
	call.Report("Starting a build of %s", named(e))
	started, err := startBuild(ctx, c, e, follow)
	if err != nil {
		return nil, err
	}
	if !m.WaitForBuild.IsNull() && !m.WaitForBuild.ValueBool() {
		call.Report("%s was started and continues in the background", buildOf(e, started.id))
		id := value.StringOrNull(started.id)
		return crud.Results{"id": id, "build_id": id}, nil
	}
	last, err := follow(started)
	if err != nil {
		return nil, buildError(ctx, c, e, last, err)
	}
	return crud.Results{"id": types.StringValue(cmp.Or(started.id, last.ID)), "build_id": types.StringValue(last.ID), "status": types.StringValue(last.Status)}, nil
}

// startBuild starts a build. The service refuses it while another one runs, which follow then waits for.
func startBuild(ctx context.Context, c *client.Client, e *environments.Environment, follow func(awaitedBuild) (*environments.Build, error)) (started awaitedBuild, err error) {
	started.before = e.LatestBuildID()
	started.id, err = c.Environments.StartBuild(ctx, e.ID, started.before)
	isLost := transport.IsRepeated(err) // The first build after the one before is then that of the request.
	for looks := 0; transport.IsConflict(err) && looks < maxLooks; looks++ {
		// The service also starts builds by itself, and may show them late.
		running, waitErr := follow(awaitedBuild{})
		isNewer := running.ID != started.before
		switch {
		case waitErr != nil && !wait.IsFailed(waitErr):
			return started, buildError(ctx, c, e, running, waitErr)
		case isNewer && isLost:
			started.id = running.ID
			return started, nil
		case !isNewer && c.Conn.Clock.Sleep(ctx, lookPause) != nil:
			return started, err
		}
		started.before = running.ID
		started.id, err = c.Environments.StartBuild(ctx, e.ID, started.before)
		if isLost && started.id != "" {
			err = nil // A later 409 also names the build of the lost request.
		}
	}
	return started, err
}

// After a 409, the latest build is looked at so often. If it had ended before, there is a pause.
const maxLooks, lookPause = 4, 5 * time.Second

func buildOf(e *environments.Environment, build string) string {
	return strings.TrimSpace("Build "+build) + " of " + named(e)
}
