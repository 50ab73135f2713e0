package environment

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// ModifyPlan checks the access of a new environment, and plans builds for changes and for environments that are not ready.
func (r *environmentResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var sourceID types.String // As configured.
	var plan environmentModel
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("source_id"), &sourceID)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if req.State.Raw.IsNull() {
		resp.Diagnostics.Append(apierror.For("plan", "environment", r.Client.Environments.CheckAccess(ctx))...)
		resp.Diagnostics.Append(r.checkSource(ctx, sourceID, &plan, nil)...)
		return
	}
	var state environmentModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.checkSource(ctx, sourceID, &plan, &state)...)
	left := privatestate.Unfinished(ctx, req.Private)
	w := plan.workFor(&state, left)
	if w.makesDefault && plan.MakeOrganizationDefault.ValueBool() && plan.Scope.ValueString() == environments.ScopeUser {
		resp.Diagnostics.Append(userScope)
	}
	name, latest := wire.Ref{Name: state.Name.ValueString(), ID: state.ID.ValueString()}, state.LatestBuildID.ValueString()
	switch {
	case w.rebuilds:
		resp.Diagnostics.AddWarning("Latest build failed", fmt.Sprintf("The latest build of environment %s (%s) failed: %s. Unless this apply replaces the environment, it starts a new build.",
			name, latest, strings.TrimSuffix(cmp.Or(state.failure(), "the service gave no reason"), ".")))
	case w.waits && left.Build && plan.WaitForBuild.ValueBool():
		resp.Diagnostics.AddWarning("Earlier build has not ended", fmt.Sprintf("Build %[2]s of environment %[1]s has not ended, and an earlier apply may have started it. Unless this apply replaces the environment, it waits for the build.", name, latest))
	}
	if w.touchesBuild() {
		plan.expectBuild(ctx, &state)
	}
	if w.makesDefault && !state.IsDefault.ValueBool() {
		plan.IsDefault = types.BoolUnknown()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// work is what an apply does besides its request for changes. It follows from the plan, the state, and what an earlier apply left, so a plan
// and its apply agree. In a plan, an unknown value counts as a change. At most one of startsBuild, rebuilds, waits, leavesBuild is true.
type work struct {
	creates      bool // The environment is new, so an error taints it.
	startsBuild  bool // The request for changes starts a build.
	rebuilds     bool // The latest build failed, and the request starts no other, so the apply starts one.
	waits        bool // A build runs that this apply did not start, and waits for.
	leavesBuild  bool // An earlier apply started a build that the state does not show yet. A later apply waits for it.
	makesDefault bool
	latest       string // The latest build in the state.
}

// touchesBuild reports whether the latest build may be another one after the apply.
func (w work) touchesBuild() bool { return w.startsBuild || w.rebuilds || w.waits }

// steps are what is left of the work until it is done.
func (w work) steps() privatestate.Steps {
	left := privatestate.Steps{Build: w.touchesBuild() || w.leavesBuild, Default: w.makesDefault}
	if w.startsBuild || w.rebuilds || w.leavesBuild {
		left.Before = w.latest
	}
	return left
}

// awaited returns the build to wait for: the one that the service named when the work started it, if it did, or the latest in the state.
func (w work) awaited(named string) awaitedBuild {
	if !w.startsBuild && !w.rebuilds {
		return awaitedBuild{id: w.latest}
	}
	if named == w.latest {
		named = "" // The change may have started none.
	}
	return awaitedBuild{id: named, before: w.latest}
}

// workFor returns what the apply of plan m does, given the state and what an earlier apply left.
func (m *environmentModel) workFor(state *environmentModel, left privatestate.Steps) work {
	w := work{startsBuild: m.changesBuild(state), latest: state.LatestBuildID.ValueString()}
	w.rebuilds = !w.startsBuild && state.state() == environments.StatusFailed
	if value.MayBeTrue(m.MakeOrganizationDefault) {
		isTurnedOn := !state.MakeOrganizationDefault.ValueBool()
		w.makesDefault = isTurnedOn || left.Default
	}
	if !w.startsBuild && value.MayBeTrue(m.WaitForBuild) && state.state() == environments.StatusBuilding {
		w.waits = left.Build || w.makesDefault || !state.WaitForBuild.ValueBool() // A rename does not wait for somebody else's build.
	}
	w.leavesBuild = !w.touchesBuild() && left.Build && left.Before == w.latest
	return w
}

// state is the environment's status, by its latest build.
func (m *environmentModel) state() string {
	build, _ := m.LatestBuild.Attributes()["status"].(types.String)
	return environments.StateOf(m.Status.ValueString(), build.ValueString())
}

// failure is why the latest build failed. Right after the apply in which it failed, only the build has the reason.
func (m *environmentModel) failure() string {
	ofBuild, _ := m.LatestBuild.Attributes()["failure_reason"].(types.String)
	return cmp.Or(m.FailureReason.ValueString(), ofBuild.ValueString())
}

// expectBuild plans the results that a build may change as unknown. What the plan decides stays known, because an unknown value can force the
// replacement of whatever uses it. Without a wait, the apply ends before the build does. A build that fails is an error, not a result.
func (m *environmentModel) expectBuild(ctx context.Context, state *environmentModel) {
	m.LatestBuild, m.LatestBuildID, m.Status = types.ObjectUnknown(buildType.AttrTypes), types.StringUnknown(), types.StringUnknown()
	if !state.FailureReason.IsNull() {
		m.FailureReason = types.StringUnknown()
	}
	if !m.SourceID.Equal(state.SourceID) {
		m.Source = types.ObjectUnknown(sourceType.AttrTypes)
	}
	if !value.MayBeTrue(m.WaitForBuild) {
		return
	}
	m.LastSuccessfulBuildAt = types.StringUnknown()
	m.ActiveRepositories = m.activeAfterBuild(ctx)
	if active := state.ActiveSource.Attributes()["id"]; active == nil || !active.Equal(m.SourceID) {
		m.ActiveSource = types.ObjectUnknown(sourceType.AttrTypes)
	}
}

// activeAfterBuild returns the active repositories after a build, whether it succeeds or fails.
func (m *environmentModel) activeAfterBuild(ctx context.Context) types.List {
	active, _ := repositoriesToAPI(ctx, m.ActiveRepositories)
	planned, _ := repositoriesToAPI(ctx, m.Repositories)
	isKnown := value.IsFullyKnown(ctx, m.Repositories) && !m.ActiveRepositories.IsNull()
	switch {
	case !isKnown || !haveSameURLs(active, planned):
		return types.ListUnknown(repositoryType)
	case environments.SameRepositories(active, planned):
		return m.ActiveRepositories
	}
	var parts []attr.Value
	for _, repository := range active {
		part := map[string]attr.Value{"url": types.StringValue(repository.URL), "script": types.StringUnknown()}
		parts = append(parts, types.ObjectValueMust(repositoryType.AttrTypes, part))
	}
	return types.ListValueMust(repositoryType, parts)
}

// activeAsPlanned returns the active repositories that a response has in the prior order and spelling. The URLs in a plan with unknown scripts
// are decided: Terraform rejects any others.
func activeAsPlanned(ctx context.Context, prior types.List, found []environments.Repository) []environments.Repository {
	known, _ := repositoriesToAPI(ctx, prior)
	isDecided := !value.IsFullyKnown(ctx, prior)
	if len(known) == 0 || !isDecided && !haveSameURLs(known, found) {
		return found
	}
	rest := slices.Clone(found)
	for i := range known {
		at := slices.IndexFunc(rest, func(r environments.Repository) bool { return wire.SameURL(r.URL, known[i].URL) })
		if at >= 0 {
			known[i].Script = rest[at].Script
			rest = slices.Delete(rest, at, at+1)
		}
	}
	return known
}

func haveSameURLs(a, b []environments.Repository) bool {
	return wire.SameInAnyOrder(a, b, func(x, y environments.Repository) bool { return wire.SameURL(x.URL, y.URL) })
}

// checkSource rejects options that a configured source does not support. State is nil for a new environment. An unchanged
// source is not checked, because a destroy also plans the configuration and must not fail. If the sources cannot be listed,
// the service decides.
func (r *environmentResource) checkSource(ctx context.Context, configured types.String, plan, state *environmentModel) diag.Diagnostics {
	if !value.IsSet(configured) || state != nil && !plan.changesBuild(state) {
		return nil
	}
	options, err := r.Client.Environments.SourceOptions(ctx)
	if err != nil || len(options.Providers)+len(options.UnavailableProviders) == 0 {
		return nil
	}
	var known []string
	for _, provider := range options.Providers {
		for _, source := range provider.Sources {
			if source.ID == configured.ValueString() {
				return unsupported(source, plan)
			}
			known = append(known, source.ID)
		}
	}
	if state != nil && configured.Equal(state.SourceID) {
		return nil // It is no longer offered, but still in use.
	}
	there := ""
	if len(known) > 0 {
		there = " Available sources: " + phrase.Names(known, 10) + "."
	}
	var missing []string
	for _, provider := range options.UnavailableProviders {
		missing = append(missing, provider.Name)
	}
	summary, detail := "Unknown source", fmt.Sprintf("Source %q does not exist.%s", configured.ValueString(), there)
	if len(missing) > 0 {
		summary = "Source not available"
		detail = fmt.Sprintf("Source %q is not available.%s Sources of these providers are currently unavailable: %s. Choose an available source, or plan again later.",
			configured.ValueString(), there, phrase.Names(missing, 10))
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("source_id"), summary, detail+" The data source agentyard_environment_source_options lists all sources.")}
}

func unsupported(source environments.SourceOption, plan *environmentModel) diag.Diagnostics {
	var diags diag.Diagnostics
	if !*source.SupportsRepositories && len(plan.Repositories.Elements()) > 0 {
		diags.AddAttributeError(path.Root("repositories"), "Repositories not supported",
			fmt.Sprintf("Source %q (%s) does not support repositories. Set repositories to [], or choose another source_id from the data source agentyard_environment_source_options.", source.Name, source.ID))
	}
	if !*source.SupportsSetupScripts && value.IsSet(plan.SetupScript) {
		diags.AddAttributeError(path.Root("setup_script"), "Setup script not supported",
			fmt.Sprintf("Source %q (%s) does not support setup scripts. Remove setup_script, or choose another source_id from the data source agentyard_environment_source_options.", source.Name, source.ID))
	}
	return diags
}
