package environment

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// ModifyPlan checks the access of a new environment, and plans builds: those of changes, and those that an
// environment needs that is not ready although nothing was changed.
func (r *environmentResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	resp.Diagnostics.Append(warnOfDefault(ctx, req)...)
	if req.Plan.Raw.IsNull() {
		return
	}
	var config, plan environmentModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if req.State.Raw.IsNull() {
		resp.Diagnostics.Append(apierror.For("plan", "environment", r.Client.Environments.CheckAccess(ctx), environmentFields)...)
		resp.Diagnostics.Append(r.checkSource(ctx, &plan, nil)...)
		return
	}
	var state environmentModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.checkSource(ctx, &plan, &state)...)
	left := unfinishedOf(ctx, req.Private)
	changes := plan.changesBuild(&state)
	failed := state.Status.ValueString() == environments.StatusFailed
	waits := plan.mayWait() && plan.waitsOn(&state, left)
	switch {
	case failed && !changes:
		resp.Diagnostics.Append(toldRebuild(&state)...)
	case waits && !changes && left.Build:
		resp.Diagnostics.Append(told(&state, "Apply Waits for an Earlier Build",
			fmt.Sprintf("build %s had not ended when an earlier apply stopped waiting. This apply waits for it", state.LatestBuildID.ValueString()))...)
	}
	if left.Default && plan.makesDefault(&state, left) {
		resp.Diagnostics.Append(told(&state, "Apply Sets the Default Environment", "an earlier apply could not make it the organization's default. This apply tries again")...)
	}
	if changes || failed || waits {
		plan.expectBuild(&state)
	}
	if plan.makesDefault(&state, left) && !state.IsDefault.ValueBool() {
		plan.IsDefault = types.BoolUnknown()
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &plan)...)
}

// warnOfDefault warns of a plan that deletes or replaces the organization's default environment.
func warnOfDefault(ctx context.Context, req resource.ModifyPlanRequest) diag.Diagnostics {
	if req.State.Raw.IsNull() {
		return nil
	}
	var state environmentModel
	if diags := req.State.Get(ctx, &state); diags.HasError() || !state.IsDefault.ValueBool() {
		return diags
	}
	if !req.Plan.Raw.IsNull() {
		var scope types.String // The only argument that replaces.
		if diags := req.Plan.GetAttribute(ctx, path.Root("scope"), &scope); diags.HasError() || !value.IsSet(scope) || !value.IsSet(state.Scope) || scope.Equal(state.Scope) {
			return diags
		}
	}
	return diag.Diagnostics{diag.NewWarningDiagnostic("Default Environment Will Be Deleted", fmt.Sprintf(
		"Environment %s was the organization's default at the last refresh. The service may refuse to delete it while other environments with scope \"organization\" exist. "+
			"To keep a default, make another environment the default before you apply this plan.", label(state.Name.ValueString(), state.ID.ValueString())))}
}

// changesBuild reports that what is built differs from the prior state. What is not known yet may differ.
func (m *environmentModel) changesBuild(state *environmentModel) bool {
	return !m.Repositories.Equal(state.Repositories) || !m.SetupScript.Equal(state.SetupScript) || !m.SourceID.Equal(state.SourceID)
}

// mayWait reports that an apply waits for the build that it starts, as far as is known.
func (m *environmentModel) mayWait() bool {
	return m.WaitForBuild.ValueBool() || m.WaitForBuild.IsUnknown()
}

// makesDefault reports that an update is to make the environment the organization's default, as far as is known.
func (m *environmentModel) makesDefault(state *environmentModel, left unfinished) bool {
	wanted := m.MakeOrganizationDefault.ValueBool() || m.MakeOrganizationDefault.IsUnknown()
	return wanted && (left.Default || !state.MakeOrganizationDefault.ValueBool())
}

// waitsOn reports that there is a build to wait for that was started before: a run has left it, whatever the stored status
// is, or the environment is to become the default, which it cannot before a build has succeeded.
func (m *environmentModel) waitsOn(state *environmentModel, left unfinished) bool {
	return left.Build || state.Status.ValueString() == environments.StatusBuilding && m.makesDefault(state, left)
}

// expectBuild plans the results that a build changes as unknown, and keeps the others, which nobody asked to change.
func (m *environmentModel) expectBuild(state *environmentModel) {
	// The status is not known either where the build is waited for: an interruption leaves it at building.
	m.LatestBuild, m.LatestBuildID, m.Status = types.ObjectUnknown(buildType.AttrTypes), types.StringUnknown(), types.StringUnknown()
	if !m.SourceID.Equal(state.SourceID) {
		m.Source = types.ObjectUnknown(sourceType.AttrTypes)
	}
	if !state.FailureReason.IsNull() {
		m.FailureReason = types.StringUnknown()
	}
	if !m.mayWait() {
		return
	}
	m.LastSuccessfulBuildAt = types.StringUnknown()
	if !m.Repositories.Equal(state.ActiveRepositories) {
		m.ActiveRepositories = types.ListUnknown(repositoryType)
	}
	if m.Source.IsUnknown() || !m.Source.Equal(state.ActiveSource) {
		m.ActiveSource = types.ObjectUnknown(sourceType.AttrTypes)
	}
}

// toldRebuild says why an environment is built again although nothing was changed.
func toldRebuild(state *environmentModel) diag.Diagnostics {
	var reason string
	if text := state.FailureReason.ValueString(); text != "" {
		reason = ": " + strings.TrimSuffix(text, ".")
	}
	return told(state, "Apply Rebuilds Failed Environments",
		fmt.Sprintf("its latest build (%s) failed%s. This apply starts a new build", state.LatestBuildID.ValueString(), reason))
}

// told says why something is planned although nothing was changed.
func told(state *environmentModel, summary, why string) diag.Diagnostics {
	return diag.Diagnostics{diag.NewWarningDiagnostic(summary, fmt.Sprintf("Environment %q (%s): %s.", state.Name.ValueString(), state.ID.ValueString(), why))}
}

func label(name, id string) string { return fmt.Sprintf("%q (%s)", name, id) }

// named names an environment at the start of a sentence.
func named(e *environments.Environment) string { return "Environment " + label(e.Name, e.ID) }

// nameOf names an environment as the shared listing shows it, or by its ID alone.
func nameOf(ctx context.Context, c *client.Client, id string) string {
	all, err := c.Environments.List(ctx, "")
	at := slices.IndexFunc(all, func(e environments.Environment) bool { return e.ID == id })
	if err != nil || at < 0 {
		return id
	}
	return label(all[at].Name, id)
}

// checkSource refuses in the plan what a source does not support, where the source is known. State is nil for a new
// environment. If the options cannot be listed the service decides.
func (r *environmentResource) checkSource(ctx context.Context, plan, state *environmentModel) diag.Diagnostics {
	if state != nil && plan.SourceID.Equal(state.SourceID) {
		if !plan.changesBuild(state) {
			return nil
		}
		return unsupported(sourceFromState(state.Source), plan)
	}
	if !value.IsSet(plan.SourceID) {
		return nil
	}
	options, err := r.Client.Environments.SourceOptions(ctx)
	if err != nil || len(options.Providers)+len(options.UnavailableProviders) == 0 {
		return nil
	}
	var known []string
	for _, provider := range options.Providers {
		for _, source := range provider.Sources {
			if source.ID == plan.SourceID.ValueString() {
				return unsupported(source, plan)
			}
			known = append(known, source.ID)
		}
	}
	there := ""
	if len(known) > 0 {
		there = " Available sources: " + phrase.Names(known, 10) + "."
	}
	var missing []string
	for _, provider := range options.UnavailableProviders {
		missing = append(missing, provider.Name)
	}
	summary, detail := "Unknown Source", fmt.Sprintf("Source %q does not exist.%s", plan.SourceID.ValueString(), there)
	if len(missing) > 0 {
		summary = "Source Not Available"
		detail = fmt.Sprintf("Source %q is not available.%s Sources of these providers are currently unavailable: %s. Choose an available source, or plan again later.",
			plan.SourceID.ValueString(), there, phrase.Names(missing, 10))
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(path.Root("source_id"), summary, detail+" The data source agentyard_environment_source_options lists all sources.")}
}

// unsupported says what of a plan a source does not support.
func unsupported(source environments.SourceOption, plan *environmentModel) diag.Diagnostics {
	var diags diag.Diagnostics
	if !source.SupportsRepositories && len(plan.Repositories.Elements()) > 0 {
		diags.AddAttributeError(path.Root("repositories"), "Repositories Not Supported",
			fmt.Sprintf("Source %q (%s) does not support repositories. Set repositories to [], or choose another source_id from the data source agentyard_environment_source_options.", source.Name, source.ID))
	}
	if !source.SupportsSetupScripts && value.IsSet(plan.SetupScript) {
		diags.AddAttributeError(path.Root("setup_script"), "Setup Script Not Supported",
			fmt.Sprintf("Source %q (%s) does not support setup scripts. Remove setup_script, or choose another source_id from the data source agentyard_environment_source_options.", source.Name, source.ID))
	}
	return diags
}

// sourceFromState is what the present source supports: everything, if that is not known.
func sourceFromState(source types.Object) environments.SourceOption {
	supports := func(name string) bool {
		b, ok := source.Attributes()[name].(types.Bool)
		return !ok || b.IsNull() || b.IsUnknown() || b.ValueBool()
	}
	text := func(name string) string {
		s, _ := source.Attributes()[name].(types.String)
		return s.ValueString()
	}
	return environments.SourceOption{ID: text("id"), Name: text("name"), SupportsRepositories: supports("supports_repositories"), SupportsSetupScripts: supports("supports_setup_scripts")}
}
