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

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/wait"
)

// readBackPatience is how long the environment may take to be read once the run is being stopped.
const readBackPatience = 15 * time.Second

// unfinished is what an apply has left to do, kept in the private state until a later one has done it.
type unfinished struct {
	// Build says that a build was not waited for to its end.
	Build bool `json:"build,omitempty"`
	// Default says that the environment was not made the organization's default.
	Default bool `json:"default,omitempty"`
}

// unfinishedKey is the key of unfinished in the private state.
const unfinishedKey = "unfinished"

func unfinishedOf(ctx context.Context, private modifier.Private) (left unfinished) {
	stored, _ := private.GetKey(ctx, unfinishedKey)
	_ = json.Unmarshal(stored, &left) // Nothing is stored where nothing is left.
	return left
}

func (u unfinished) store(ctx context.Context, private modifier.Private) diag.Diagnostics {
	if u == (unfinished{}) {
		return private.SetKey(ctx, unfinishedKey, nil)
	}
	encoded, err := json.Marshal(u)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Private State Cannot Be Stored", err.Error())}
	}
	return private.SetKey(ctx, unfinishedKey, encoded)
}

// since is what is left where the environment is found as it is now.
func (u unfinished) since(e *environments.Environment) unfinished {
	isDefault := e.IsDefault != nil && *e.IsDefault
	isBuilt := e.Status != "" && e.Status != environments.StatusBuilding
	return unfinished{Build: u.Build && !isBuilt, Default: u.Default && !isDefault}
}

// run is what an apply does besides the request that makes or changes an environment.
type run struct {
	*client.Client
	// plan becomes the new state; state is the prior one, nil for a new environment.
	plan, state *environmentModel
	deadline    time.Time
	// configured are the optional attributes of what is built, and whether the configuration has them.
	configured map[string]bool
	// sent says that an update has changed something beside a build.
	sent bool
	// mayBuild says that what the service returns may have moved, beside the name.
	mayBuild bool
	// follows says that a build is waited for: the given one, or the latest if that is not known.
	follows bool
	build   string
	// before is the build that was the latest one before that.
	before string
	// makesDefault says that the environment is to become the organization's default.
	makesDefault bool
	// left is what the run does not get done.
	left unfinished
}

// start sends what has changed, and starts a build where that does not and the last one failed. It reports whether
// anything was changed, also beside an error.
func (r *run) start(ctx context.Context, body environments.UpdateRequest, left unfinished) (changed bool, err error) {
	id, latest := r.state.ID.ValueString(), r.state.LatestBuildID.ValueString()
	r.before = latest
	if !body.IsEmpty() {
		if r.build, err = r.Environments.Update(ctx, id, latest, body); err != nil {
			r.left.Build = body.Builds() && mayHaveStarted(err)
			return false, err
		}
		changed, r.sent = true, true
	}
	built := r.build != ""
	if r.state.Status.ValueString() == environments.StatusFailed && !built {
		if r.build, err = r.rebuild(ctx, id, latest); err != nil {
			r.left.Build, r.left.Default = mayHaveStarted(err), r.makesDefault
			return changed, err
		}
		built = true
	}
	// What was changed is to be built, so a build may still show.
	r.left.Build = body.Builds() && !built && r.plan.WaitForBuild.ValueBool()
	r.follows = r.plan.WaitForBuild.ValueBool() && (built || r.plan.waitsOn(r.state, left))
	r.mayBuild = body.Builds() || built || r.follows
	return changed || built, nil
}

// rebuild starts a build. Where somebody else has started one meanwhile, that one is taken, also if it has just ended.
func (r *run) rebuild(ctx context.Context, id, latest string) (string, error) {
	build, err := r.Environments.StartBuild(ctx, id, latest)
	var lost *create.LostError
	switch {
	case errors.As(err, &lost):
		return "", fmt.Errorf("the response was lost, and no new build is listed yet: %s. Apply again: a build that is listed by then is used, otherwise one is started", strings.ReplaceAll(lost.Err.Error(), "\n", "; "))
	case !transport.IsConflict(err):
		return build, err
	}
	present, readErr := r.Environments.GetUncached(ctx, id)
	if readErr != nil || present.Status != environments.StatusBuilding && present.LatestBuildID() == latest {
		return "", err
	}
	return present.LatestBuildID(), nil
}

// mayHaveStarted reports that the service may have started a build although it did not say so.
func mayHaveStarted(err error) bool {
	status := transport.StatusOf(err)
	return status == 0 || status >= http.StatusInternalServerError
}

// finish waits for the build, reads the environment, and makes it the default if that is wanted.
func (r *run) finish(ctx context.Context) diag.Diagnostics {
	var diags diag.Diagnostics
	var last *environments.BuildReport
	var err error
	if r.follows {
		w := &buildWait{client: r.Client, environment: r.plan.ID.ValueString(), build: r.build, before: r.before}
		last, err = w.run(ctx, r.deadline.Sub(r.Conn.Clock.Now()))
		if moved := w.movedOn(); moved != "" {
			diags.AddWarning(anotherBuild, moved)
		}
	}
	present := &environments.Environment{ID: r.plan.ID.ValueString(), Name: r.plan.Name.ValueString()}
	if r.mayBuild {
		found, readErr := r.readBack(ctx)
		switch {
		case readErr == nil:
			present = found
			diags.Append(r.plan.takeResults(ctx, present)...)
		case err == nil:
			diags.AddWarning("Environment Not Read Back", fmt.Sprintf("%s was %s, but could not be read afterward: %s The next refresh updates its computed attributes.", named(present), r.done(), apierror.Sentences(readErr)))
		}
	}
	if err != nil {
		// Also after the end of the build that was waited for: somebody may have started another one.
		r.left.Build, r.left.Default = r.left.Build || !isEnd(err) || present.Status == environments.StatusBuilding, r.makesDefault
		diags.Append(r.notReady(ctx, present, last, err)...)
		return diags
	}
	if r.makesDefault {
		diags.Append(r.makeDefault(ctx)...)
	}
	return diags
}

// readBack reads the environment also when the run is being stopped: what the state does not hold is not known later.
func (r *run) readBack(ctx context.Context) (*environments.Environment, error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), readBackPatience)
		defer cancel()
	}
	return r.Environments.GetNow(ctx, r.plan.ID.ValueString())
}

// makeDefault makes the environment the organization's default. On creation a failure is a warning: an error would have
// the next apply replace an environment that is good.
func (r *run) makeDefault(ctx context.Context) diag.Diagnostics {
	id := r.plan.ID.ValueString()
	err := r.Environments.SetDefault(ctx, id)
	if err == nil {
		r.plan.IsDefault = types.BoolValue(true)
		return nil
	}
	r.left.Default = true
	diags := apierror.For("set", "default environment", err, setAdvice, atDefault)
	if r.state != nil {
		return diags
	}
	var warnings diag.Diagnostics
	for _, d := range diags {
		warnings.AddWarning("Environment Is Not the Default", fmt.Sprintf("Environment %q (%s) was created, but could not be made the organization's default: %s\n\nThe next apply tries again.", r.plan.Name.ValueString(), id, d.Detail()))
	}
	return warnings
}

// notReady explains why an environment that exists is not ready. An interruption is a warning, because an error would
// taint a new environment and have the next apply replace it.
func (r *run) notReady(ctx context.Context, present *environments.Environment, last *environments.BuildReport, err error) diag.Diagnostics {
	var failed *wait.FailedError
	var late *wait.TimeoutError
	name := named(present)
	switch {
	case errors.As(err, &failed):
		repositories, _ := repositoriesToAPI(ctx, r.plan.Repositories)
		f := failureOf(present, last)
		return at(f.at(repositories, r.configured), "Environment Failed to Build", f.text()+"\n\n"+r.afterFailure(present))
	case errors.As(err, &late):
		return diag.Diagnostics{diag.NewErrorDiagnostic("Timed Out Waiting for the Build",
			fmt.Sprintf("%s was %s, but its build did not end: %s. The build continues at the service. %s To allow more time, raise %s in the timeouts block.", name, r.done(), late, r.afterTimeout(), r.timeout()))}
	case errors.Is(err, context.Canceled):
		return diag.Diagnostics{diag.NewWarningDiagnostic("Interrupted Before the Environment Was Built",
			fmt.Sprintf("%s was %s and is kept in the state. The build continues at the service. The next apply waits for it.", name, r.done()))}
	case transport.IsNotFound(err):
		return diag.Diagnostics{diag.NewErrorDiagnostic("Environment Was Deleted During Its Build",
			fmt.Sprintf("%s was %s, but no longer exists. The next apply creates it again if it is still configured.", name, r.done()))}
	}
	diags := apierror.For("wait for the build of", "environment", err)
	diags.AddWarning("Build Result Unknown", fmt.Sprintf("%s was %s, but the result of its build is unknown. %s", name, r.done(), r.afterTimeout()))
	return diags
}

// atDefault shows refusals of a default at the attribute that asked for it.
var atDefault = apierror.AtStatus{
	http.StatusBadRequest: path.Root("make_organization_default"), http.StatusForbidden: path.Root("make_organization_default"), http.StatusConflict: path.Root("make_organization_default"),
}

func (r *run) done() string {
	switch {
	case r.state == nil:
		return "created"
	case r.sent:
		return "updated"
	}
	return "waited for"
}

func (r *run) timeout() string {
	if r.state == nil {
		return "create"
	}
	return "update"
}

// afterFailure says what the next apply does about a failed build of the environment as it is now.
func (r *run) afterFailure(present *environments.Environment) string {
	goesOn := present.Status == environments.StatusBuilding
	switch {
	case r.state == nil && goesOn:
		return "Another build is running. The environment is tainted, so the next apply replaces it. To wait for that build instead, run terraform untaint ADDRESS, then apply."
	case r.state == nil:
		return "The environment is tainted, so the next apply replaces it. To rebuild it instead, run terraform untaint ADDRESS, then apply."
	}
	text := staysActive(present)
	if r.sent {
		text = "The environment keeps its new configuration. " + text
	}
	if goesOn {
		return text + "Another build is running, and the next apply waits for it."
	}
	return text + "The next apply rebuilds the environment."
}

// afterTimeout says what the next apply does about a build whose end was not seen.
func (r *run) afterTimeout() string {
	if r.state == nil {
		return "The environment is tainted, so the next apply replaces it. To wait for its build instead, run terraform untaint ADDRESS, then apply."
	}
	return "The next apply waits for the build."
}

func at(place path.Path, summary, detail string) diag.Diagnostics {
	if len(place.Steps()) == 0 {
		return diag.Diagnostics{diag.NewErrorDiagnostic(summary, detail)}
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(place, summary, detail)}
}

// complete gives results that are not known, because the environment could not be read, their prior values.
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
