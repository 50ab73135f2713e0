package environment

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ resource.ResourceWithConfigure      = (*environmentResource)(nil)
	_ resource.ResourceWithIdentity       = (*environmentResource)(nil)
	_ resource.ResourceWithImportState    = (*environmentResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*environmentResource)(nil)
	_ resource.ResourceWithValidateConfig = (*environmentResource)(nil)
)

const (
	defaultBuildTimeout  = 60 * time.Minute
	defaultDeleteTimeout = 10 * time.Minute
)

// environmentFields says where an error about a field of the API is shown, and which fields no two objects share.
var environmentFields = apierror.Options{apierror.Fields{
	"name": path.Root("name"), "scope": path.Root("scope"), "repositories": path.Root("repositories"), "setupScript": path.Root("setup_script"),
	"sourceId": path.Root("source_id"), "makeOrganizationDefault": path.Root("make_organization_default"),
}, apierror.Unique{"name"}}

// environmentAdvice is what refusals to change an environment mean.
var environmentAdvice = apierror.Advice{
	http.StatusForbidden: "An environment of the organization is made and changed by humans with the Manager role or higher, any other by its owner. Use such a key.",
}

// creationAdvice is what refusals to create an environment of a scope mean.
func creationAdvice(scope string) apierror.Advice {
	forbidden := environmentAdvice[http.StatusForbidden]
	if scope == client.ScopeOrganization {
		forbidden = strings.TrimSuffix(forbidden, ".") + ", or set scope to \"user\"."
	}
	return apierror.Advice{
		http.StatusForbidden:        forbidden,
		http.StatusMethodNotAllowed: "The service does not allow environments to be made here. Ask who administers the organization to switch them on, or remove the environment from the configuration.",
	}
}

// NewEnvironmentResource returns the resource agentyard_environment.
func NewEnvironmentResource() resource.Resource { return &environmentResource{} }

type environmentResource struct{ crud.Resource }

type environmentModel struct {
	environmentRecord
	SourceID                types.String   `tfsdk:"source_id"`
	MakeOrganizationDefault types.Bool     `tfsdk:"make_organization_default"`
	WaitForBuild            types.Bool     `tfsdk:"wait_for_build"`
	LatestBuildID           types.String   `tfsdk:"latest_build_id"`
	Timeouts                timeouts.Value `tfsdk:"timeouts"`
}

// FromAPI takes over a record, and keeps the spelling of what is equal by meaning. The response to a creation has no source.
// A scope never changes, so it stays where the service does not return it.
func (m *environmentModel) FromAPI(ctx context.Context, e *client.Environment) diag.Diagnostics {
	prior, spelled := *m, *e
	spelled.Repositories = keepSpelling(ctx, prior.Repositories, e.Repositories)
	diags := m.environmentRecord.FromAPI(ctx, &spelled)
	m.Name = value.Keep(prior.Name, m.Name, client.SameText)
	m.SetupScript = value.Keep(prior.SetupScript, m.SetupScript, client.SameText)
	if e.Scope == "" && value.IsSet(prior.Scope) {
		m.Scope = prior.Scope
	}
	if e.Source != nil || m.SourceID.IsUnknown() {
		m.SourceID = value.StringOrNull(e.SourceID())
	}
	m.LatestBuildID = value.StringOrNull(e.LatestBuildID())
	return diags
}

// OwnerOnly reports that only the owner's API keys see the environment.
func (m *environmentModel) OwnerOnly() bool { return m.Scope.ValueString() == client.ScopeUser }

// keepSpelling returns repositories with the URLs and scripts of prior where they are equal by meaning.
func keepSpelling(ctx context.Context, prior types.List, found []client.EnvironmentRepository) []client.EnvironmentRepository {
	known, _ := repositoriesToAPI(ctx, prior) // None where prior is null or unknown.
	kept := slices.Clone(found)
	for i := range min(len(known), len(kept)) {
		if client.SameURL(known[i].URL, kept[i].URL) {
			kept[i].URL = known[i].URL
		}
		if client.SameText(known[i].Script, kept[i].Script) {
			kept[i].Script = known[i].Script
		}
	}
	return kept
}

// takeResults takes over a record, and keeps what was configured: a service may write it in another way, or somebody may
// have changed it meanwhile. The next refresh shows both.
func (m *environmentModel) takeResults(ctx context.Context, e *client.Environment) diag.Diagnostics {
	asked := *m
	diags := m.FromAPI(ctx, e)
	m.Name, m.Repositories, m.SetupScript = asked.Name, asked.Repositories, asked.SetupScript
	if value.IsSet(asked.Scope) {
		m.Scope = asked.Scope
	}
	if value.IsSet(asked.SourceID) {
		m.SourceID = asked.SourceID
	}
	return diags
}

func (m *environmentModel) createRequest(ctx context.Context) (client.CreateEnvironmentRequest, diag.Diagnostics) {
	repositories, diags := repositoriesToAPI(ctx, m.Repositories)
	return client.CreateEnvironmentRequest{
		Name:         m.Name.ValueString(),
		Scope:        m.Scope.ValueString(),
		Repositories: repositories,
		SetupScript:  m.SetupScript.ValueString(),
		SourceID:     m.SourceID.ValueString(),
		// An environment that is waited for becomes the default once it is built: the service does not let go of a default.
		MakeOrganizationDefault: m.MakeOrganizationDefault.ValueBool() && !m.WaitForBuild.ValueBool(),
	}, diags
}

// updateRequest holds what differs from the prior state.
func (m *environmentModel) updateRequest(ctx context.Context, state *environmentModel) (body client.UpdateEnvironmentRequest, diags diag.Diagnostics) {
	if !m.Name.Equal(state.Name) {
		body.Name = value.StringPointer(m.Name)
	}
	if !m.Repositories.Equal(state.Repositories) {
		body.Repositories, diags = repositoriesToAPI(ctx, m.Repositories)
	}
	if !m.SetupScript.Equal(state.SetupScript) {
		script := m.SetupScript.ValueString()
		body.SetupScript = &script
	}
	if !m.SourceID.Equal(state.SourceID) {
		body.SourceID = value.StringPointer(m.SourceID)
	}
	return body, diags
}

func repositoriesToAPI(ctx context.Context, list types.List) ([]client.EnvironmentRepository, diag.Diagnostics) {
	var models []struct {
		URL    types.String `tfsdk:"url"`
		Script types.String `tfsdk:"script"`
	}
	diags := list.ElementsAs(ctx, &models, false)
	repositories := make([]client.EnvironmentRepository, len(models))
	for i, m := range models {
		repositories[i] = client.EnvironmentRepository{URL: m.URL.ValueString(), Script: m.Script.ValueString()}
	}
	return repositories, diags
}

func (r *environmentResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_environment"
}

func (r *environmentResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := environmentResults.Resource()
	delete(attributes, "updated_at") // It would change by itself.
	keepText := value.KeepEqual(client.SameText, "Trailing blanks make no difference.")
	attributes["name"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: environmentResults["name"].Text + " Renaming is done in place and builds nothing.",
		Validators:          []validator.String{value.NotEmpty()},
		PlanModifiers:       []planmodifier.String{keepText},
	}
	attributes["scope"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: environmentResults["scope"].Text + " `organization` needs the API key of a human with the Manager role or higher. If omitted, the service chooses. A change replaces the environment.",
		Validators:          []validator.String{stringvalidator.OneOf(client.ScopeUser, client.ScopeOrganization)},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), stringplanmodifier.RequiresReplaceIf(replacesScope, scopeReplaces, scopeReplaces)},
	}
	attributes["repositories"] = schema.ListNestedAttribute{
		Required:            true,
		MarkdownDescription: "Repositories to build, each with the script that sets it up. May be empty. Changing this starts a build.",
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: repositoryResults["url"].Text + noSecrets,
				Validators:          []validator.String{value.URI()},
				PlanModifiers:       []planmodifier.String{value.KeepEqual(client.SameURL, "`.git` or a slash at the end makes no difference.")},
			},
			"script": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: repositoryResults["script"].Text + " May be empty." + noSecrets,
				PlanModifiers:       []planmodifier.String{keepText},
			},
		}},
	}
	attributes["setup_script"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: environmentResults["setup_script"].Text + " A change starts a build, and so does removing it from the configuration, which removes the script." + noSecrets,
		Validators:          []validator.String{value.NotBlank("omit it for no script")},
		PlanModifiers:       []planmodifier.String{keepText},
	}
	attributes["source_id"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: "ID of what the environment is built from; the data source `agentyard_environment_source_options` lists what there is. A change starts a build. If omitted, the service chooses, and what it chose is kept.",
		Validators:          []validator.String{value.NotEmpty()},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
	attributes["make_organization_default"] = schema.BoolAttribute{
		Optional: true,
		MarkdownDescription: "Whether the environment is made the organization's default: once, when it is created or when this becomes `true`, and after its first build has succeeded if that is waited for. " +
			"It needs `scope = \"organization\"`. It is not held: another default that is set later is no difference. Use `agentyard_default_environment` to hold it.",
	}
	attributes["wait_for_build"] = schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(true),
		MarkdownDescription: "Whether an apply waits for the build that it starts, and fails if the build does. Default `true`.",
	}
	attributes["latest_build_id"] = schema.StringAttribute{
		Computed:            true,
		MarkdownDescription: "ID of the latest build.",
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "A named environment in which sessions start: repositories, each with a script, and what they are built from. An apply waits until the build that it started has succeeded, and fails with the reason where it has not. " +
			"An environment that is left failed is rebuilt by the next apply.\n\n" +
			"The service does not delete the default environment while the organization has other organization-scope environments. To replace the default, create the new environment and " +
			"change `agentyard_default_environment` in one apply, and remove the old environment in a later one.",
		Attributes: attributes,
		Blocks: map[string]schema.Block{
			"timeouts": value.Timeouts(timeouts.Block(ctx, timeouts.Opts{
				Create: true, Update: true, Delete: true,
				CreateDescription: "How long creating may take, with the wait for the build, such as `60m` (the default).",
				UpdateDescription: "How long updating may take, with the wait for the build, such as `60m` (the default).",
				DeleteDescription: "How long deleting may take, such as `10m` (the default).",
			})),
		},
	}
}

// noSecrets is said of what the service returns in other attributes, where nothing marks it as sensitive.
const noSecrets = " It must hold no secret: the service returns scripts, URLs and parts of logs, and plans, the state and errors show them in clear. Use the secrets that the organization keeps at the service for its computers."

const scopeReplaces = "A change replaces the environment."

// replacesScope lets the configured scope be adopted after an import from a service that does not tell it.
func replacesScope(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
	resp.RequiresReplace = !adopt.Allowed(ctx, req.Private, req.StateValue)
}

func (r *environmentResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = crud.IDSchema(environmentResults["id"].Text)
}

func (r *environmentResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m environmentModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if m.MakeOrganizationDefault.ValueBool() && !m.Scope.IsUnknown() && m.Scope.ValueString() != client.ScopeOrganization {
		resp.Diagnostics.AddAttributeError(path.Root("make_organization_default"), "Not Possible in This Scope",
			"The organization's default is an environment of the organization, and the service need not choose that scope: set scope to \"organization\", or remove make_organization_default.")
	}
}

func (r *environmentResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m environmentModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	timeout, diags := m.Timeouts.Create(ctx, defaultBuildTimeout)
	resp.Diagnostics.Append(diags...)
	body, diags := m.createRequest(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	deadline := r.Client.Clock.Now().Add(timeout)
	createCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	made, err := r.Client.CreateEnvironment(createCtx, body)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("create", "environment", err, environmentFields, creationAdvice(body.Scope), atRefused(true, body.SourceID != ""), inScope(body.Scope))...)
		return
	}
	made.Status = client.EnvironmentBuilding
	// Stored at once: whatever happens from here on, the environment is known.
	resp.Diagnostics.Append(m.takeResults(ctx, made)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
	resp.Diagnostics.Append(crud.Seen(ctx, r.Client, &m, resp.Private)...)
	if resp.Diagnostics.HasError() {
		return
	}
	work := &run{
		Client: r.Client, plan: &m, deadline: deadline, configured: configured(ctx, req.Config), mayBuild: true,
		follows: m.WaitForBuild.ValueBool(), build: made.LatestBuildID(),
		makesDefault: m.MakeOrganizationDefault.ValueBool() && m.WaitForBuild.ValueBool(),
	}
	resp.Diagnostics.Append(work.finish(ctx)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &m, m.Identity())...)
	resp.Diagnostics.Append(work.left.store(ctx, resp.Private)...)
}

func (r *environmentResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var found *client.Environment
	crud.Read(ctx, r.Client, "environment", req, resp, func(m *environmentModel) (*client.Environment, error) {
		var err error
		found, err = r.Client.Environment(ctx, m.ID.ValueString())
		return found, err
	})
	if left := unfinishedOf(ctx, req.Private); found != nil && left != left.since(found) {
		resp.Diagnostics.Append(left.since(found).store(ctx, resp.Private)...)
	}
}

func (r *environmentResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state environmentModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	timeout, diags := plan.Timeouts.Update(ctx, defaultBuildTimeout)
	resp.Diagnostics.Append(diags...)
	body, diags := plan.updateRequest(ctx, &state)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	deadline := r.Client.Clock.Now().Add(timeout)
	updateCtx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()

	left := unfinishedOf(ctx, req.Private)
	work := &run{
		Client: r.Client, plan: &plan, state: &state, deadline: deadline, configured: configured(ctx, req.Config),
		makesDefault: plan.makesDefault(&state, left),
	}
	changed, err := work.start(updateCtx, body, left)
	switch {
	case err == nil:
		resp.Diagnostics.Append(work.finish(ctx)...)
	case !changed:
		left.Build = left.Build || work.left.Build
		resp.Diagnostics.Append(left.store(ctx, resp.Private)...)
		resp.Diagnostics.Append(apierror.For("update", "environment", err, environmentFields, environmentAdvice, atRefused(body.Name != nil, body.SourceID != nil), afterRename(body))...)
		return
	default:
		resp.Diagnostics.Append(apierror.For("build", "environment", err, environmentAdvice)...)
	}
	// Also after an error: what was asked for is so now, and the next plan goes on from there.
	plan.complete(&state)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &plan, plan.Identity())...)
	resp.Diagnostics.Append(work.left.store(ctx, resp.Private)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(crud.AsPlanned(&resp.State, req)...)
		resp.Diagnostics.Append(adopt.Done(ctx, resp.Private)...)
	}
}

func (r *environmentResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, r.Client, "environment", req, resp, func(m *environmentModel) error {
		timeout, diags := m.Timeouts.Delete(ctx, defaultDeleteTimeout)
		resp.Diagnostics.Append(diags...)
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		return r.Client.DeleteEnvironment(ctx, m.ID.ValueString())
	}, deleteAdvice)
}

// deleteAdvice is what refusals to delete an environment mean.
var deleteAdvice = apierror.Advice{
	http.StatusForbidden: environmentAdvice[http.StatusForbidden],
	http.StatusConflict: "If a build is running, apply again after it ends. If this is the organization's default environment, make another environment the default first, then apply again. " +
		"Terraform deletes an environment before it updates agentyard_default_environment, so use two applies.",
}

func (r *environmentResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	crud.ImportByID(ctx, "environment", "env_01hzy3v7k2m4n6p8q0r2s4t6v8", req, resp)
}

// atRefused shows what the service refuses by its status alone at the attribute that this can concern: the name or the
// source, where only one of them was sent. An environment refers to no other object.
func atRefused(name, source bool) apierror.AtStatus {
	at := apierror.AtStatus{}
	if source {
		at[http.StatusNotFound], at[http.StatusConflict] = path.Root("source_id"), path.Root("source_id")
	}
	if name {
		at[http.StatusConflict] = path.Root("name")
	}
	if name && source {
		delete(at, http.StatusConflict)
	}
	return at
}

// inScope says what else to do about an environment of the same name: it need not be in the way where no scope was asked for.
func inScope(scope string) apierror.Existing {
	return func(*client.ExistsError) string {
		if scope != "" {
			return "To keep both, choose another name."
		}
		return "To keep both, choose another name, or set scope: an environment of the other scope may have the same name."
	}
}

// afterRename says what a conflict means where nothing but the name was sent.
func afterRename(body client.UpdateEnvironmentRequest) apierror.Advice {
	if body.Name == nil || body.Builds() {
		return apierror.Advice{}
	}
	return apierror.Advice{http.StatusConflict: "Another environment of the same scope has this name. Choose another name, or rename or delete that one first."}
}

// configured tells which of the optional attributes of what is built a configuration has.
func configured(ctx context.Context, config tfsdk.Config) map[string]bool {
	has := map[string]bool{}
	for _, name := range []string{"setup_script", "source_id"} {
		var text types.String
		diags := config.GetAttribute(ctx, path.Root(name), &text)
		has[name] = !diags.HasError() && !text.IsNull()
	}
	return has
}
