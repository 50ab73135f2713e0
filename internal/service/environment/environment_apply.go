package environment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// Create creates the environment, waits for its first build, and makes it the organization's default.
func (r *environmentResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var deadline time.Time
	m, made := crud.Create(ctx, &r.Resource, req, resp, func(ctx context.Context, m *environmentModel) (*environments.Environment, error) {
		body, diags := m.createRequest(ctx)
		createCtx, stop, until, problems := crud.WithTimeout(ctx, r.Client, m.Timeouts.Create, defaultBuildTimeout)
		defer stop()
		if err := crud.Failure(append(diags, problems...)); err != nil {
			return nil, err
		}
		deadline = until
		made, err := r.Client.Environments.Create(createCtx, body)
		return made, crud.Explained(err, refusal(false, body.SourceID != ""))
	})
	if made == nil {
		return
	}
	// Without a wait, the request has made it the default.
	w := work{creates: true, startsBuild: true, makesDefault: m.MakeOrganizationDefault.ValueBool() && m.WaitForBuild.ValueBool()}
	left, diags := r.finish(ctx, m, w, awaitedBuild{id: made.LatestBuildID()}, deadline)
	resp.Diagnostics.Append(diags...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, m)...)
	crud.KeepPlanned(&resp.State, req.Plan.Raw)
	resp.Diagnostics.Append(privatestate.SetUnfinished(ctx, resp.Private, left)...)
}

// Update sends what has changed, waits for the build, and makes the environment the organization's default. It is not crud.Update, which
// stores nothing after an error: here, some steps may be done by then.
func (r *environmentResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state environmentModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	// The wait keeps the deadline itself. What follows it must not end with updateCtx. A request in flight is completed even if the run stops.
	updateCtx, stop, deadline, diags := crud.WithTimeout(ctx, r.Client, plan.Timeouts.Update, defaultBuildTimeout)
	defer stop()
	resp.Diagnostics.Append(diags...)
	body, diags := plan.updateRequest(ctx, &state)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	w := plan.workFor(&state, privatestate.Unfinished(ctx, req.Private))
	left := w.steps() // All, until finish takes them.

	// 1. Send what has changed. After an error, nothing else is stored, although a build may run.
	build, err := r.Client.Environments.Update(updateCtx, state.ID.ValueString(), state.Scope.ValueString(), body)
	if transport.IsAmbiguous(err) || transport.IsRepeated(err) { // It may have started a build.
		resp.Diagnostics.Append(privatestate.SetUnfinished(ctx, resp.Private, left)...)
	}
	if err != nil {
		resp.Diagnostics.Append(apierror.For("update", "environment", err, refusal(body.IsRename(), body.SourceID != nil))...)
		return
	}
	// 2. Build a failed environment again.
	if w.rebuilds {
		build, err = r.Client.Environments.StartBuild(updateCtx, state.ID.ValueString(), w.latest)
		if transport.IsConflict(err) && build != "" {
			err = nil // Another build runs: wait for it.
		}
		resp.Diagnostics.Append(apierror.For("build", "environment", err, environmentAdvice)...)
	}
	// 3. Wait for the new build, if there is one, and set the default.
	if !resp.Diagnostics.HasError() {
		left, diags = r.finish(ctx, &plan, w, w.awaited(build), deadline)
		resp.Diagnostics.Append(diags...)
	}
	// 4. Store the changes even after an error, because the service has applied them.
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &plan)...)
	crud.FillFromPrior(&resp.State, req.State.Raw)
	crud.KeepPlanned(&resp.State, req.Plan.Raw)
	resp.Diagnostics.Append(privatestate.SetUnfinished(ctx, resp.Private, left)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(privatestate.ForgetImport(ctx, resp.Private)...)
	}
}

// finish takes the last steps of an apply: it waits for the build, reads the environment into m, and makes it the organization's default. It
// returns what is left to do.
func (r *environmentResource) finish(ctx context.Context, m *environmentModel, w work, awaited awaitedBuild, deadline time.Time,
) (left privatestate.Steps, diags diag.Diagnostics) {
	left = w.steps()
	if w.touchesBuild() {
		mayGoOn, problems := r.waitAndRead(ctx, m, w, awaited, deadline)
		diags.Append(problems...)
		if !mayGoOn {
			return left, diags
		}
		left.Build = false
	}
	if left.Default {
		problems := r.makeDefault(ctx, m, w)
		diags.Append(problems...)
		left.Default = len(problems) > 0
	}
	return left, diags
}

// waitAndRead waits for the build if m asks for that, and reads the environment into m, even if the run is stopping. MayGoOn is
// false if the wait failed; the default is then not set.
func (r *environmentResource) waitAndRead(ctx context.Context, m *environmentModel, w work, awaited awaitedBuild, deadline time.Time) (mayGoOn bool, diags diag.Diagnostics) {
	id, last := m.ID.ValueString(), &environments.Build{}
	var err error
	if m.WaitForBuild.ValueBool() {
		last, err = waitForBuild(ctx, r.Client, id, awaited, deadline.Sub(r.Client.Conn.Clock.Now()), nil)
	}
	last.ID = cmp.Or(last.ID, awaited.id)
	readCtx, cancel := transport.PastCancel(ctx)
	defer cancel()
	found, readErr := r.Client.Environments.GetNow(readCtx, id)
	if readErr == nil {
		diags.Append(m.FromAPI(ctx, found)...)
	} else {
		found = &environments.Environment{ID: id, Name: m.Name.ValueString()}
	}
	// The wait saw or the service named a newer build than this read shows. After a creation, awaited.before is empty, and so is the ID that
	// such a read shows.
	lacksBuild := last.ID != "" && last.ID != awaited.before && found.LatestBuildID() == awaited.before
	if readErr != nil || lacksBuild {
		m.keepBuild(last)
	}
	switch {
	case err != nil:
		diags.Append(w.notBuilt(found, last, err)...)
	case readErr != nil:
		diags.AddWarning("Environment not read back", fmt.Sprintf("The change of %s was made, but the environment could not be read afterward: %s The next refresh updates its computed attributes.",
			named(found), apierror.Sentences(readErr)))
	}
	return err == nil, diags
}

// keepBuild stores the latest build if the read does not show it. Otherwise, the state would have the earlier build, and if that had failed,
// the next apply without a refresh would start another.
func (m *environmentModel) keepBuild(latest *environments.Build) {
	m.LatestBuild, m.LatestBuildID = types.ObjectNull(buildType.AttrTypes), value.StringOrNull(latest.ID)
	m.Status, m.FailureReason = types.StringValue(environments.StateOf(environments.StatusBuilding, latest.Status)), types.StringNull()
}

// notBuilt says why a build did not succeed, and what the next apply does.
func (w work) notBuilt(found *environments.Environment, last *environments.Build, err error) (diags diag.Diagnostics) {
	next := "The next apply waits for the build, or rebuilds the environment if the build failed."
	switch {
	case w.creates:
		next = "The environment is tainted, so the next apply replaces it. To keep it instead, run terraform untaint ADDRESS, then apply, which waits for the build or rebuilds the environment."
	case wait.IsFailed(err):
		next = "The next apply rebuilds it."
	}
	summary, detail := whyNotBuilt(found, last, err)
	switch {
	case errors.Is(err, context.Canceled): // An error would taint a new environment.
		diags.AddWarning(summary, detail+" The environment is kept in the state, and the next apply waits for the build.")
	case summary != "":
		diags.AddError(summary, detail+"\n\n"+next)
	default:
		diags.Append(apierror.For("wait for the build of", "environment", err)...)
		diags.AddWarning("Build result unknown", fmt.Sprintf("The result of the build of %s is unknown. %s", named(found), next))
	}
	return diags
}

var makeAdvice = apierror.Advice{
	http.StatusForbidden: setAdvice[http.StatusForbidden],
	http.StatusConflict:  setAdvice[http.StatusConflict],
}

// makeDefault makes the environment the organization's default. After a creation, a failure is a warning, because an error would taint the
// environment.
func (r *environmentResource) makeDefault(ctx context.Context, m *environmentModel, w work) (diags diag.Diagnostics) {
	err := r.Client.Environments.SetDefault(ctx, m.ID.ValueString())
	if err == nil {
		m.IsDefault = types.BoolValue(true)
		return nil
	}
	next := "\n\nThe next apply tries again."
	if transport.StatusOf(err) == http.StatusBadRequest {
		next = "" // The service may have chosen a scope that the next plan refuses.
	}
	for _, d := range apierror.For("set", "default environment", err, makeAdvice) {
		if w.creates {
			diags.AddWarning("Environment is not the default", d.Detail()+next)
		} else {
			diags.AddAttributeError(path.Root("make_organization_default"), d.Summary(), d.Detail())
		}
	}
	return diags
}

// refusal says which argument is at fault if a request is refused.
func refusal(renames, setsSource bool) apierror.Options {
	options := apierror.Options{environmentAdvice}
	if renames {
		options = append(options, apierror.NameTaken("environment"))
	}
	if setsSource {
		options = append(options, apierror.AtStatus{http.StatusNotFound: path.Root("source_id")})
	}
	return options
}
