package environment

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// readBackPatience limits a read during an interrupt.
const readBackPatience = 15 * time.Second

// unfinished records what a later apply must do. It is stored in private state.
type unfinished struct {
	// Build is set if the apply did not see the end of a build.
	Build bool `json:"build,omitempty"`
	// Default is set if the environment could not be made the organization's default.
	Default bool `json:"default,omitempty"`
}

const unfinishedKey = "unfinished"

func unfinishedOf(ctx context.Context, private modifier.PrivateState) (left unfinished) {
	stored, _ := private.GetKey(ctx, unfinishedKey)
	_ = json.Unmarshal(stored, &left) // Nothing is stored if nothing is left.
	return left
}

func (u unfinished) store(ctx context.Context, private modifier.PrivateState) diag.Diagnostics {
	if u == (unfinished{}) {
		return private.SetKey(ctx, unfinishedKey, nil)
	}
	encoded, err := json.Marshal(u)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Private State Cannot Be Stored", err.Error())}
	}
	return private.SetKey(ctx, unfinishedKey, encoded)
}

// since returns what is still left, given the current environment.
func (u unfinished) since(e *environments.Environment) unfinished {
	isDefault := e.IsDefault != nil && *e.IsDefault
	isBuilt := e.Status != "" && e.Status != environments.StatusBuilding
	return unfinished{Build: u.Build && !isBuilt, Default: u.Default && !isDefault}
}

// environmentApply contains the steps that follow the request to create or update an environment.
type environmentApply struct {
	*client.Client
	// plan becomes the new state. state is the prior state, or nil for a new environment.
	plan, state *environmentModel
	deadline    time.Time
	// done names what the apply did: "created", "updated", or "waited for".
	done string
	// left records what a later apply must do.
	left unfinished
}

// ending is what follows the requests of an apply.
type ending struct {
	// waits means to wait for the latest build. Build is the ID of the one that was started, or empty.
	waits bool
	build string
	// reads means to read the results if the apply does not wait.
	reads bool
}

// end waits for the build or reads the environment, and then makes it the default if that is left to do.
func (a *environmentApply) end(ctx context.Context, last ending) diag.Diagnostics {
	var diags diag.Diagnostics
	isReady := true
	switch {
	case last.waits:
		diags, isReady = a.waitForBuild(ctx, last.build)
	case last.reads:
		diags = a.refresh(ctx)
	}
	if isReady && a.left.Default {
		diags.Append(a.makeDefault(ctx)...)
	}
	return diags
}

// update sends the changes, rebuilds a failed environment that the changes do not build, and returns what follows.
func (a *environmentApply) update(ctx context.Context, body environments.UpdateRequest, left unfinished) (last ending, err error) {
	id, latest := a.state.ID.ValueString(), a.state.LatestBuildID.ValueString()
	a.left.Default = a.plan.makesDefault(a.state, left)
	if !body.IsEmpty() {
		if last.build, err = a.Environments.Update(ctx, id, latest, body); err != nil {
			a.left.Build = body.Builds() && mayHaveStarted(err)
			return last, err
		}
		a.done = "updated"
	}
	isBuilding := last.build != ""
	if a.state.Status.ValueString() == environments.StatusFailed && !isBuilding {
		if last.build, err = a.rebuild(ctx, id, latest); err != nil {
			a.left.Build = mayHaveStarted(err)
			return last, err
		}
		isBuilding = true
	}
	// The build of these changes may not be listed yet.
	a.left.Build = body.Builds() && !isBuilding && a.plan.WaitForBuild.ValueBool()
	last.waits = a.plan.WaitForBuild.ValueBool() && (isBuilding || left.Build || a.state.Status.ValueString() == environments.StatusBuilding)
	last.reads = isBuilding || body.Builds()
	return last, nil
}

// rebuild starts a build, or returns the build that something else has just started.
func (a *environmentApply) rebuild(ctx context.Context, id, latest string) (string, error) {
	build, err := a.Environments.StartBuild(ctx, id, latest)
	var lost *create.LostError
	switch {
	case errors.As(err, &lost):
		return "", fmt.Errorf("the response was lost, and no new build is listed yet: %s. Apply again: a build that is listed by then is used, otherwise one is started", strings.ReplaceAll(lost.Err.Error(), "\n", "; "))
	case !transport.IsConflict(err):
		return build, err
	}
	present, readErr := a.Environments.GetUncached(ctx, id)
	if readErr != nil || present.Status != environments.StatusBuilding && present.LatestBuildID() == latest {
		return "", err
	}
	return present.LatestBuildID(), nil
}

// mayHaveStarted reports whether the service may have started a build despite the error.
func mayHaveStarted(err error) bool {
	status := transport.StatusOf(err)
	return status == 0 || status >= http.StatusInternalServerError
}

// waitForBuild waits for the latest build, and reports whether it succeeded. Build is the one that the apply has started, or empty.
func (a *environmentApply) waitForBuild(ctx context.Context, build string) (diags diag.Diagnostics, isReady bool) {
	w := &buildWait{client: a.Client, environment: a.plan.ID.ValueString(), build: build}
	if a.state != nil && build != "" {
		w.before = a.state.LatestBuildID.ValueString()
	}
	last, err := w.run(ctx, a.deadline.Sub(a.Conn.Clock.Now()))
	if err == nil {
		return append(diags, a.refresh(ctx)...), true
	}
	present, readErr := a.readBack(ctx)
	if readErr == nil {
		diags.Append(a.plan.takeResults(ctx, present)...)
	}
	// Another build may be running even if this one has ended.
	a.left.Build = a.left.Build || !isEnd(err) || present.Status == environments.StatusBuilding
	return append(diags, a.notReady(present, last, err)...), false
}

// refresh reads the environment into the plan. A failure is only a warning, because the apply has succeeded.
func (a *environmentApply) refresh(ctx context.Context) diag.Diagnostics {
	present, err := a.readBack(ctx)
	if err != nil {
		return diag.Diagnostics{diag.NewWarningDiagnostic("Environment Not Read Back",
			fmt.Sprintf("%s was %s, but could not be read afterward: %s The next refresh updates its computed attributes.", named(present), a.done, apierror.Sentences(err)))}
	}
	return a.plan.takeResults(ctx, present)
}

// readBack reads the environment even during an interrupt, so that the state has its results. If the read fails, it returns
// the environment's ID and name with the error.
func (a *environmentApply) readBack(ctx context.Context) (*environments.Environment, error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), readBackPatience)
		defer cancel()
	}
	present, err := a.Environments.GetNow(ctx, a.plan.ID.ValueString())
	if err != nil {
		return &environments.Environment{ID: a.plan.ID.ValueString(), Name: a.plan.Name.ValueString()}, err
	}
	return present, nil
}

// makeDefault makes the environment the organization's default. After a create, a failure is a warning, because an error
// would taint the environment.
func (a *environmentApply) makeDefault(ctx context.Context) diag.Diagnostics {
	id := a.plan.ID.ValueString()
	err := a.Environments.SetDefault(ctx, id)
	if err == nil {
		a.plan.IsDefault, a.left.Default = types.BoolValue(true), false
		return nil
	}
	diags := apierror.For("set", "default environment", err, setAdvice, atDefault)
	if a.state != nil {
		return diags
	}
	var warnings diag.Diagnostics
	for _, d := range diags {
		warnings.AddWarning("Environment Is Not the Default", fmt.Sprintf("Environment %q (%s) was created, but could not be made the organization's default: %s\n\nThe next apply tries again.", a.plan.Name.ValueString(), id, d.Detail()))
	}
	return warnings
}

// notReady explains why an environment is not ready. An interrupt is a warning, because an error would taint a new
// environment.
func (a *environmentApply) notReady(present *environments.Environment, last *environments.BuildReport, err error) diag.Diagnostics {
	var failed *wait.FailedError
	var late *wait.TimeoutError
	name := named(present)
	switch {
	case errors.As(err, &failed):
		return diag.Diagnostics{diag.NewErrorDiagnostic(failedToBuild, failureOf(present, last)+"\n\n"+a.afterFailure(present))}
	case errors.As(err, &late):
		return diag.Diagnostics{diag.NewErrorDiagnostic(buildTimedOut,
			fmt.Sprintf("%s was %s, but its build did not end: %s. The build continues at the service. %s To allow more time, raise %s in the timeouts block.", name, a.done, late, a.afterTimeout(), a.timeout()))}
	case errors.Is(err, context.Canceled):
		return diag.Diagnostics{diag.NewWarningDiagnostic(buildInterrupted,
			fmt.Sprintf("%s was %s and is kept in the state. The build continues at the service. The next apply waits for it.", name, a.done))}
	}
	diags := apierror.For("wait for the build of", "environment", err)
	diags.AddWarning("Build Result Unknown", fmt.Sprintf("%s was %s, but the result of its build is unknown. %s", name, a.done, a.afterTimeout()))
	return diags
}

var atDefault = apierror.AtStatus{
	http.StatusBadRequest: path.Root("make_organization_default"), http.StatusForbidden: path.Root("make_organization_default"), http.StatusConflict: path.Root("make_organization_default"),
}

func (a *environmentApply) timeout() string {
	if a.state == nil {
		return "create"
	}
	return "update"
}

// afterFailure says what the next apply does after a failed build.
func (a *environmentApply) afterFailure(present *environments.Environment) string {
	goesOn := present.Status == environments.StatusBuilding
	switch {
	case a.state == nil && goesOn:
		return "Another build is running. The environment is tainted, so the next apply replaces it. To wait for that build instead, run terraform untaint ADDRESS, then apply."
	case a.state == nil:
		return "The environment is tainted, so the next apply replaces it. To rebuild it instead, run terraform untaint ADDRESS, then apply."
	}
	var text string
	if a.done == "updated" {
		text = "The environment keeps its new configuration. "
	}
	if goesOn {
		return text + "Another build is running, and the next apply waits for it."
	}
	return text + "The next apply rebuilds the environment."
}

// afterTimeout says what the next apply does about a build that had not ended.
func (a *environmentApply) afterTimeout() string {
	if a.state == nil {
		return "The environment is tainted, so the next apply replaces it. To wait for its build instead, run terraform untaint ADDRESS, then apply."
	}
	return "The next apply waits for the build."
}

// complete sets unknown results to their prior values, if the environment could not be read.
func (m *environmentModel) complete(state *environmentModel) {
	for _, result := range []struct {
		value attr.Value
		keep  func()
	}{
		{m.Source, func() { m.Source = state.Source }},
		{m.ActiveSource, func() { m.ActiveSource = state.ActiveSource }},
		{m.ActiveRepositories, func() { m.ActiveRepositories = state.ActiveRepositories }},
		{m.Status, func() { m.Status = state.Status }},
		{m.IsDefault, func() { m.IsDefault = state.IsDefault }},
		{m.LatestBuild, func() { m.LatestBuild = state.LatestBuild }},
		{m.LatestBuildID, func() { m.LatestBuildID = state.LatestBuildID }},
		{m.LastSuccessfulBuildAt, func() { m.LastSuccessfulBuildAt = state.LastSuccessfulBuildAt }},
		{m.FailureReason, func() { m.FailureReason = state.FailureReason }},
	} {
		if result.value.IsUnknown() {
			result.keep()
		}
	}
}
