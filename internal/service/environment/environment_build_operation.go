package environment

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
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

const mayBuild = " Requires the API key of a member with the Manager role or higher, or the owner's key if the scope is `user`."

func environmentIDArgument() schema.StringAttribute {
	return schema.StringAttribute{
		Required:            true,
		MarkdownDescription: environmentResults["id"].Text,
		Validators:          []validator.String{value.NotEmpty()},
	}
}

// environmentNamed reads the environment of an action. A missing one is an error at the argument.
func environmentNamed(ctx context.Context, c *client.Client, id string) (*environments.Environment, error) {
	e, err := c.Environments.GetUncached(ctx, id)
	if transport.IsNotFound(err) {
		return nil, &crud.ObjectError{At: path.Root("environment_id"), Summary: "Environment Not Found", Detail: apierror.NoSuch("environment", id) + " " + apierror.Sentences(err)}
	}
	return e, err
}

// Build is agentyard_environment_build.
var Build = crud.Operation{
	Name: "environment_build",
	Description: "Starts a new build of an environment, for example to include new commits.\n\n" +
		"If another build is running, waits for it to end before it starts the new one." + mayBuild,
	Arguments: map[string]schema.Attribute{
		"environment_id": environmentIDArgument(),
		"wait_for_build": schema.BoolAttribute{
			Optional:            true,
			MarkdownDescription: "Whether to wait for the build and fail if the build fails. If a newer build supersedes it, the provider waits for the newer one. Defaults to `true`.",
		},
	},
	Results: results.Fields[any]{
		"id":       {Text: "ID of the build that this resource started.", Type: types.StringType},
		"build_id": {Text: "ID of the build that `status` describes: the one in `id`, or the newest one that superseded it during the wait.", Type: types.StringType},
		"status":   {Text: "Status of the build `build_id` after the wait. Null if `wait_for_build` is `false`.", Type: types.StringType},
	},
	Timeout:     defaultBuildTimeout,
	TimeoutText: "Maximum time to wait for the build. Defaults to `60m`.",
	Canonical:   crud.CanonicalModel(func(m *environmentBuildModel) { m.WaitForBuild = types.BoolNull() }),
	Run:         crud.Run(buildEnvironment),
	Verb:        "build",
	Object:      "environment",
	Options:     apierror.Options{atEnvironmentID, buildAdvice},
}

func buildEnvironment(ctx context.Context, c *client.Client, m *environmentBuildModel, call *crud.Call) (crud.Results, error) {
	e, err := environmentNamed(ctx, c, m.EnvironmentID.ValueString())
	if err != nil {
		return nil, err
	}
	deadline := c.Conn.Clock.Now().Add(call.Timeout)
	tell := func(b *environments.BuildReport) { call.Tell("%s: %s", buildOf(e, b.ID), b.Status) }
	call.Tell("Starting a build of environment %q (%s)", e.Name, e.ID)
	before := e.LatestBuildID()
	build, err := startBuild(ctx, c, e, before)
	for ended, looks := "", 0; transport.IsConflict(err); looks++ {
		// The service also starts builds by itself.
		w := &buildWait{client: c, environment: e.ID, onStatus: tell}
		running, waitErr := w.run(ctx, deadline.Sub(c.Conn.Clock.Now()))
		var failed *wait.FailedError
		switch {
		case waitErr != nil && !errors.As(waitErr, &failed):
			return nil, notBuilt(ctx, c, e, running, waitErr)
		case running.ID == ended && looks > maxLooks:
			return nil, err // No build runs, so the service refuses for another reason.
		case running.ID != ended:
			looks = 0
		case c.Conn.Clock.Sleep(ctx, lookPause) != nil: // The service may show the running build late.
			return nil, err
		}
		ended, before = running.ID, running.ID
		build, err = startBuild(ctx, c, e, before)
	}
	if err != nil {
		return nil, err
	}
	started := crud.Results{"id": types.StringValue(build), "build_id": types.StringValue(build)}
	if !m.WaitForBuild.IsNull() && !m.WaitForBuild.ValueBool() {
		call.Tell("%s was started and continues in the background", buildOf(e, build))
		return started, nil
	}
	w := &buildWait{client: c, environment: e.ID, build: build, before: before, onStatus: tell}
	last, err := w.run(ctx, deadline.Sub(c.Conn.Clock.Now()))
	if err != nil {
		return nil, notBuilt(ctx, c, e, last, err)
	}
	started["build_id"], started["status"] = types.StringValue(last.ID), types.StringValue(last.Status)
	return started, nil
}

// After a 409, the latest build is looked at so often if it has ended.
const (
	maxLooks  = 3
	lookPause = 5 * time.Second
)

var atEnvironmentID = apierror.AtStatus{http.StatusNotFound: path.Root("environment_id"), http.StatusConflict: path.Root("environment_id")}

var buildAdvice = apierror.Advice{
	http.StatusForbidden: environmentAdvice[http.StatusForbidden],
}

// startBuild starts a build. An uncertain start is an error here, because there is no object to find later.
func startBuild(ctx context.Context, c *client.Client, e *environments.Environment, before string) (string, error) {
	build, err := c.Environments.StartBuild(ctx, e.ID, before)
	var lost *create.LostError
	if errors.As(err, &lost) {
		return "", &crud.ObjectError{Summary: "Build May Not Have Started", Detail: fmt.Sprintf("The response was lost, and environment %q (%s) has no new build yet: %s\n\nFirst look at the environment's latest build: running this again starts a new build after a running one has ended.", e.Name, e.ID, apierror.Sentences(lost.Err))}
	}
	return build, err
}

// notBuilt says what to do about a build that did not succeed.
func notBuilt(ctx context.Context, c *client.Client, e *environments.Environment, last *environments.BuildReport, err error) error {
	summary, detail := unbuilt(ctx, c, e, last, err)
	switch summary {
	case "":
		return err
	case failedToBuild:
		detail += "\n\nTo rebuild the environment, run this again. If an agentyard_environment resource manages it, the next apply also rebuilds it."
	case buildTimedOut:
		detail += " The service refuses another build until it ends. To allow more time, raise the timeout in the timeouts block."
	default:
		detail += " To stop it, use agentyard_environment_build_cancel."
	}
	return &crud.ObjectError{Summary: summary, Detail: detail}
}

func buildOf(e *environments.Environment, build string) string {
	return fmt.Sprintf("Build %s of environment %q (%s)", build, e.Name, e.ID)
}
