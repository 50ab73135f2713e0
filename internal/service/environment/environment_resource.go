package environment

import (
	"context"
	"net/http"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var (
	_ crud.ManagedResource                = (*environmentResource)(nil)
	_ resource.ResourceWithValidateConfig = (*environmentResource)(nil)
)

const (
	defaultBuildTimeout  = 60 * time.Minute
	defaultDeleteTimeout = 10 * time.Minute
)

var environmentAdvice = apierror.Advice{
	http.StatusForbidden: "An environment with scope \"organization\" requires the API key of a member with the Manager role or higher. " +
		"An environment with scope \"user\" requires its owner's key, and any member can create one.",
	http.StatusMethodNotAllowed: "The API documents do not say what this status means here. Ask an administrator of the organization whether it allows new environments.",
}

// NewEnvironmentResource returns the resource agentyard_environment.
func NewEnvironmentResource() resource.Resource {
	return &environmentResource{crud.ByID{Resource: crud.Resource{Name: "environment"}, Example: "env_01hzy3v7k2m4n6p8q0r2s4t6v8"}}
}

type environmentResource struct{ crud.ByID }

type environmentModel struct {
	environmentRecord
	SourceID                types.String   `tfsdk:"source_id"`
	MakeOrganizationDefault types.Bool     `tfsdk:"make_organization_default"`
	WaitForBuild            types.Bool     `tfsdk:"wait_for_build"`
	LatestBuildID           types.String   `tfsdk:"latest_build_id"`
	Timeouts                timeouts.Value `tfsdk:"timeouts"`
}

// FromAPI keeps the configured spelling of equal values. It also keeps the scope and the source if a response omits them.
func (m *environmentModel) FromAPI(ctx context.Context, e *environments.Environment) diag.Diagnostics {
	prior, spelled := *m, *e
	if known, _ := repositoriesToAPI(ctx, prior.Repositories); environments.SameRepositories(known, e.Repositories) {
		spelled.Repositories = known
	}
	spelled.ActiveRepositories = activeAsPlanned(ctx, prior.ActiveRepositories, e.ActiveRepositories)
	diags := m.environmentRecord.FromAPI(ctx, &spelled)
	m.Name = modifier.Keep(prior.Name, m.Name, wire.SameText)
	m.SetupScript = modifier.Keep(prior.SetupScript, m.SetupScript, wire.SameText)
	if e.Scope == "" && value.IsSet(prior.Scope) {
		m.Scope = prior.Scope
	}
	if e.Source != nil || m.SourceID.IsUnknown() {
		m.SourceID = value.StringOrNull(e.SourceID())
	}
	m.LatestBuildID = value.StringOrNull(e.LatestBuildID())
	return diags
}

func (m *environmentModel) OwnerOnly() bool { return m.Scope.ValueString() == environments.ScopeUser }

func (m *environmentModel) createRequest(ctx context.Context) (environments.CreateRequest, diag.Diagnostics) {
	repositories, diags := repositoriesToAPI(ctx, m.Repositories)
	scope := m.Scope.ValueString()
	if scope == "" && m.MakeOrganizationDefault.ValueBool() {
		scope = environments.ScopeOrganization // No other scope can be the default.
	}
	return environments.CreateRequest{
		Name:         m.Name.ValueString(),
		Scope:        scope,
		Repositories: repositories,
		SetupScript:  m.SetupScript.ValueString(),
		SourceID:     m.SourceID.ValueString(),
		// With a wait, the default is set after the build, because the service never unsets a default.
		MakeOrganizationDefault: m.MakeOrganizationDefault.ValueBool() && !m.WaitForBuild.ValueBool(),
	}, diags
}

func (m *environmentModel) updateRequest(ctx context.Context, state *environmentModel) (body environments.UpdateRequest, diags diag.Diagnostics) {
	body.Name, body.SourceID = value.Changed(m.Name, state.Name), value.Changed(m.SourceID, state.SourceID)
	if !m.Repositories.Equal(state.Repositories) {
		body.Repositories, diags = repositoriesToAPI(ctx, m.Repositories)
	}
	if !m.SetupScript.Equal(state.SetupScript) {
		script := value.StringPointer(m.SetupScript)
		body.SetupScript = &script
	}
	return body, diags
}

// changesBuild reports whether the plan changes a field of updateRequest that starts a build. An unknown value counts as a change.
func (m *environmentModel) changesBuild(state *environmentModel) bool {
	return !m.Repositories.Equal(state.Repositories) || !m.SetupScript.Equal(state.SetupScript) || !m.SourceID.Equal(state.SourceID)
}

func repositoriesToAPI(ctx context.Context, list types.List) ([]environments.Repository, diag.Diagnostics) {
	var models []struct {
		URL    types.String `tfsdk:"url"`
		Script types.String `tfsdk:"script"`
	}
	diags := list.ElementsAs(ctx, &models, false)
	repositories := make([]environments.Repository, len(models))
	for i, m := range models {
		repositories[i] = environments.Repository{URL: m.URL.ValueString(), Script: m.Script.ValueString()}
	}
	return repositories, diags
}

func (r *environmentResource) Schema(ctx context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := environmentResults.Resource()
	keepText := modifier.KeepEqual(wire.SameText, "Trailing whitespace is ignored.")
	attributes["name"] = schema.StringAttribute{
		Required:            true,
		MarkdownDescription: environmentResults["name"].Text + " Renaming should not start a build" + crud.Assumed("update-environment"),
		Validators:          []validator.String{value.NotEmpty()},
		PlanModifiers:       []planmodifier.String{keepText},
	}
	attributes["scope"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: environmentResults["scope"].Text + " If omitted, the service should choose" + crud.Assumed("create-environment-scope") + " Changing this forces a new environment.",
		Validators:          []validator.String{value.OneOf(environments.ScopeUser, environments.ScopeOrganization)},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown(), modifier.CreateOnlyString()},
	}
	attributes["repositories"] = schema.ListNestedAttribute{
		Required:            true,
		MarkdownDescription: "Repositories to build. May be empty" + crud.Assumed("environment-repositories") + " Terraform ignores misspelled names here, so compare the plan with what you wrote. Changing this should start a build" + crud.Assumed("update-environment") + " A different order is not a change.",
		PlanModifiers:       []planmodifier.List{keepOrder{}},
		NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: repositoryResults["url"].Text + noSecrets,
				Validators:          []validator.String{value.URI()},
				PlanModifiers:       []planmodifier.String{modifier.KeepEqual(wire.SameURL, "A trailing `.git` or slash is ignored.")},
			},
			"script": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(""),
				MarkdownDescription: repositoryResults["script"].Text + " If omitted, an empty script is sent, which the service should accept" + crud.Assumed("script") + noSecrets,
				PlanModifiers:       []planmodifier.String{keepText},
			},
		}},
	}
	attributes["setup_script"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: environmentResults["setup_script"].Text + " Changing or removing this should start a build." + noSecrets,
		Validators:          []validator.String{value.NotBlank("To use no script, omit it.")},
		PlanModifiers:       []planmodifier.String{keepText},
	}
	attributes["source_id"] = schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: "ID of the source to build from; see the data source `agentyard_environment_source_options`. If omitted, the service should choose one at creation" + crud.Assumed("create-environment-source-id") + " Changing this should start a build.",
		Validators:          []validator.String{value.NotEmpty()},
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
	attributes["make_organization_default"] = schema.BoolAttribute{
		Optional: true,
		MarkdownDescription: "Whether to make the environment the organization's default when it is created or when this changes to `true`. Conflicts with `scope = \"user\"`. Without `scope`, the scope is then `organization`. " +
			"If `wait_for_build` is `true`, this happens after the build succeeds. Later changes elsewhere are not reverted; to enforce the default, use `agentyard_default_environment`.",
	}
	attributes["wait_for_build"] = schema.BoolAttribute{
		Optional: true, Computed: true, Default: booldefault.StaticBool(true),
		MarkdownDescription: "Whether to wait for each build and fail if the build fails. Defaults to `true`.",
	}
	attributes["latest_build_id"] = schema.StringAttribute{
		Computed:            true,
		MarkdownDescription: "ID of the latest build.",
		PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages an environment: repositories, scripts, and the source to build from. The apply waits for the build and fails if the build fails. The next apply then rebuilds the environment, or replaces it if this was its first build." + mayChange + "\n\n" +
			"~> Do not put secrets in URLs or scripts. The service returns them in clear text.\n\n" +
			"**Replacing the default environment.** The service should not delete the default while the organization has other environments with `scope = \"organization\"`" + crud.Assumed("delete-environment") + " " +
			"Create the new environment and change `agentyard_default_environment` in one apply. Remove the old environment in a later apply. See [Environment builds](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/environment-builds)." + crud.Concepts,
		Attributes: attributes,
		Blocks: map[string]schema.Block{
			"timeouts": value.Timeouts(map[string]string{
				"create": "Maximum time to create the environment, including its build. Defaults to `60m`.",
				"update": "Maximum time to update the environment, including its build. Defaults to `60m`.",
				"delete": "Maximum time to delete the environment. Defaults to `10m`.",
			}),
		},
	}
}

// keepOrder keeps the prior order of repositories, because the service may return them in another one.
type keepOrder struct{}

func (keepOrder) Description(context.Context) string { return "Order is ignored." }

func (k keepOrder) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (keepOrder) PlanModifyList(ctx context.Context, req planmodifier.ListRequest, resp *planmodifier.ListResponse) {
	before, _ := repositoriesToAPI(ctx, req.StateValue)
	after, _ := repositoriesToAPI(ctx, req.PlanValue)
	isKnown := value.IsFullyKnown(ctx, req.PlanValue) // Unknown parts may differ.
	if isKnown && !req.StateValue.IsNull() && environments.SameRepositories(before, after) {
		resp.PlanValue = req.StateValue
	}
}

// noSecrets describes inputs that the service also returns in attributes and logs, where nothing marks them as sensitive.
const noSecrets = " Must not contain secrets: plans, state, and errors show it in clear text."

func (r *environmentResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var makeDefault types.Bool
	var scope types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("make_organization_default"), &makeDefault)...)
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("scope"), &scope)...)
	if makeDefault.ValueBool() && scope.ValueString() == environments.ScopeUser {
		resp.Diagnostics.Append(userScope)
	}
}

var userScope = diag.NewAttributeErrorDiagnostic(path.Root("make_organization_default"), "Invalid scope for a default environment",
	"An environment with scope \"user\" cannot be the organization's default. "+
		"Remove make_organization_default, or set scope to \"organization\", which replaces an existing environment.")

func (r *environmentResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, &r.Resource, req, resp, func(m *environmentModel) (*environments.Environment, error) {
		found, err := r.Client.Environments.Get(ctx, m.ID.ValueString())
		if left := privatestate.Unfinished(ctx, req.Private); err == nil && left != (privatestate.Steps{}) {
			// The read does not show the build yet. Without Before, only the status tells that.
			isBehind := left.Before != "" && found.LatestBuildID() == left.Before
			left.Build = left.Build && (found.IsBuilding() || isBehind)
			left.Default = left.Default && (found.IsDefault == nil || !*found.IsDefault)
			resp.Diagnostics.Append(privatestate.SetUnfinished(ctx, resp.Private, left)...)
		}
		return found, err
	})
}

func (r *environmentResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, &r.Resource, req, resp, func(m *environmentModel) error {
		ctx, stop, _, diags := crud.WithTimeout(ctx, r.Client, m.Timeouts.Delete, defaultDeleteTimeout)
		defer stop()
		resp.Diagnostics.Append(diags...)
		return r.Client.Environments.Delete(ctx, m.ID.ValueString())
	}, deleteAdvice)
}

var deleteAdvice = apierror.Advice{
	http.StatusForbidden: environmentAdvice[http.StatusForbidden],
	http.StatusConflict: "If this is the organization's default environment, make another environment the default first, then apply again. " +
		"Terraform deletes an environment before it updates agentyard_default_environment, so use two applies. Otherwise, apply again.",
}
