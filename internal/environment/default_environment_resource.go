package environment

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/adopt"
	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/unchanged"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ resource.ResourceWithConfigure   = (*defaultEnvironmentResource)(nil)
	_ resource.ResourceWithIdentity    = (*defaultEnvironmentResource)(nil)
	_ resource.ResourceWithImportState = (*defaultEnvironmentResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*defaultEnvironmentResource)(nil)
	_ unchanged.Resource               = (*defaultEnvironmentResource)(nil)
)

const (
	// theOrganization is the ID, the identity and the import ID: an organization has one default.
	theOrganization = "organization"
	// ownDefault is the key of the private state for the environment that this resource has made the default, or that was
	// imported as such. It is empty where the resource keeps the default that it found. Any other default is somebody else's.
	ownDefault = "own_default"
)

// NewDefaultEnvironmentResource returns the resource agentyard_default_environment.
func NewDefaultEnvironmentResource() resource.Resource { return &defaultEnvironmentResource{} }

type defaultEnvironmentResource struct{ crud.Resource }

type defaultEnvironmentModel struct {
	ID                    types.String `tfsdk:"id"`
	EnvironmentID         types.String `tfsdk:"environment_id"`
	PreviousEnvironmentID types.String `tfsdk:"previous_environment_id"`
}

// FromAPI takes over the ID of the default environment.
func (m *defaultEnvironmentModel) FromAPI(_ context.Context, environmentID *string) diag.Diagnostics {
	m.ID, m.EnvironmentID = types.StringValue(theOrganization), types.StringValue(*environmentID)
	return nil
}

// Identity is the same for every organization: the API key tells which one it is.
func (m *defaultEnvironmentModel) Identity() any {
	return &crud.ID{ID: types.StringValue(theOrganization)}
}

func (r *defaultEnvironmentResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_default_environment"
}

func (r *defaultEnvironmentResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The organization's default environment. A plan that replaces a default which somebody else has set warns and names it. " +
			"An organization has one default, so have one of these resources: two that name different environments take turns with every apply and are never done, which shows as that warning in each plan. " +
			"The default can only be given to another environment, not be taken away. Destroying this resource makes the environment of `previous_environment_id` the default again. " +
			"If there is none, if it does not exist any more, or if somebody else has changed the default meanwhile, the default stays as it is, with a warning that says so. " +
			"Setting the default needs the API key of a human with the Manager role or higher.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Always `" + theOrganization + "`.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"environment_id": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "The environment that is the default. It must have the scope `organization` and a build that has succeeded: an `agentyard_environment` waits for that unless its `wait_for_build` is `false`. " +
					"If omitted, the default is what it is: where the organization has none, the service makes an environment for it, whose build is not waited for. Removed from the configuration, it keeps the present default.",
				Validators:    []validator.String{value.NotEmpty()},
				PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"previous_environment_id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "The environment that was the default right before this resource was created, and that is to be it again after a destruction. Later changes leave it. Null where there was none, where `environment_id` was the default already, and after an import.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
		},
	}
}

func (r *defaultEnvironmentResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = crud.IDSchema("Always `" + theOrganization + "`.")
}

// UnchangedDefaults is empty: the schema gives no default, and a plan that asks for no change replaces nothing.
func (r *defaultEnvironmentResource) UnchangedDefaults() map[string]attr.Value { return nil }

// ModifyPlan warns of a default that somebody else has set and that the plan replaces.
func (r *defaultEnvironmentResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.Client == nil || req.Plan.Raw.IsNull() {
		return
	}
	var plan, state defaultEnvironmentModel
	var configured types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, path.Root("environment_id"), &configured)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	isNew := req.State.Raw.IsNull()
	if !isNew {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	if resp.Diagnostics.HasError() || !isNew && plan.EnvironmentID.Equal(state.EnvironmentID) {
		return
	}
	if isNew {
		resp.Diagnostics.Append(apierror.For("plan", "default environment", r.Client.CheckEnvironments(ctx))...)
	}
	resp.Diagnostics.Append(r.checkPlanned(ctx, plan.EnvironmentID)...)
	live, err := r.Client.DefaultEnvironment(ctx)
	switch {
	case err != nil:
	case configured.IsNull(), live == "", live == plan.EnvironmentID.ValueString():
	case isNew:
		resp.Diagnostics.AddAttributeWarning(path.Root("environment_id"), willBeReplaced,
			r.replacement(ctx, live, plan.EnvironmentID)+" Destroying this resource makes what is the default now the default again, if it still exists then.")
	case live != own(ctx, req.Private, &state):
		resp.Diagnostics.AddAttributeWarning(path.Root("environment_id"), willBeReplaced,
			r.replacement(ctx, live, plan.EnvironmentID)+" Where two configurations, or two resources, set the default, they undo each other's work: leave it to one of them.")
	}
}

// checkPlanned warns where the listing shows already that the service will refuse the environment as the default.
func (r *defaultEnvironmentResource) checkPlanned(ctx context.Context, planned types.String) diag.Diagnostics {
	if planned.IsUnknown() {
		return nil
	}
	if _, err := r.Client.Environments(ctx, ""); err != nil {
		return nil // What that means, others tell.
	}
	var why string
	switch e := r.listed(ctx, planned.ValueString()); {
	case e == nil:
		why = fmt.Sprintf("No environment with the ID %s is listed for this API key.", planned.ValueString())
	case e.Scope == client.ScopeUser:
		why = fmt.Sprintf("The environment %s has the scope `user`, and the default must be one of the scope `organization`.", label(e.Name, e.ID))
	case e.LastSuccessfulBuildAt == 0 && e.Status != client.EnvironmentReady:
		why = fmt.Sprintf("No build of the environment %s has succeeded yet.", label(e.Name, e.ID))
	default:
		return nil
	}
	return diag.Diagnostics{diag.NewAttributeWarningDiagnostic(path.Root("environment_id"), "Environment Cannot Be the Default Now", why+" Unless that changes before, the service refuses it in the apply.")}
}

const willBeReplaced = "Default Environment Will Be Replaced"

// replacement says what becomes of a default that somebody else has set.
func (r *defaultEnvironmentResource) replacement(ctx context.Context, live string, planned types.String) string {
	next := "the environment that environment_id will name"
	if !planned.IsUnknown() {
		next = nameOf(ctx, r.Client, planned.ValueString())
	}
	return fmt.Sprintf("The organization's default is %s at present, which is not set by this resource. The apply makes %s the default in its place, for everybody in the organization.", nameOf(ctx, r.Client, live), next)
}

// listed returns an environment as the shared listing shows it; nil if it is not there.
func (r *defaultEnvironmentResource) listed(ctx context.Context, id string) *client.Environment {
	all, err := r.Client.Environments(ctx, "")
	if err != nil {
		return nil
	}
	for i := range all {
		if all[i].ID == id {
			return &all[i]
		}
	}
	return nil
}

// setAdvice is what refusals of a new default mean.
var setAdvice = apierror.Advice{
	http.StatusBadRequest: "The default must be an environment with the scope `organization`, which everybody can use.",
	http.StatusForbidden:  "Setting the organization's default environment needs the API key of a human with the Manager role or higher.",
	http.StatusNotFound:   "No environment has this ID, or this API key does not see it. Check environment_id, and whose key it is.",
	http.StatusConflict:   "No build of the environment has succeeded yet. If it is building, apply again when it is ready. To have Terraform wait, leave wait_for_build of its agentyard_environment at true, and refer to the id of that resource, or name it in depends_on.",
}

// atEnvironment shows at the argument that names the environment what the service refuses to do with it.
var atEnvironment = apierror.AtStatus{
	http.StatusBadRequest: path.Root("environment_id"), http.StatusNotFound: path.Root("environment_id"), http.StatusConflict: path.Root("environment_id"),
}

// Create asks what the default is right before it sets another one: that is what a destruction restores.
func (r *defaultEnvironmentResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m defaultEnvironmentModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	turn, err := r.Client.DefaultTurn(ctx)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("create", "default environment", err)...)
		return
	}
	defer turn.End()
	before, err := r.Client.DefaultEnvironmentNow(ctx)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("create", "default environment", err)...)
		return
	}
	m.PreviousEnvironmentID = value.StringOrNull(before)
	if before == m.EnvironmentID.ValueString() {
		// What was the default before that is not known, and the environment itself is nothing to go back to.
		m.PreviousEnvironmentID = types.StringNull()
	}
	wanted, mine := m.EnvironmentID.ValueString(), m.EnvironmentID.ValueString()
	switch {
	case m.EnvironmentID.IsUnknown() && before != "":
		wanted, mine = before, ""
	case m.EnvironmentID.IsUnknown():
		wanted = r.provision(ctx, &resp.Diagnostics)
		mine = wanted
	case wanted != before:
		if err := turn.Set(ctx, wanted); err != nil {
			resp.Diagnostics.Append(apierror.For("create", "default environment", err, setAdvice, atEnvironment)...)
		}
	}
	if resp.Diagnostics.HasError() {
		return
	}
	turn.Hold(wanted)
	resp.Diagnostics.Append(crud.Store(ctx, &resp.State, resp.Identity, &m, &wanted)...)
	resp.Diagnostics.Append(setOwn(ctx, resp.Private, mine)...)
}

// provision has the service make a default environment, and returns the ID of what is the default then.
func (r *defaultEnvironmentResource) provision(ctx context.Context, diags *diag.Diagnostics) string {
	err := r.Client.ProvisionDefaultEnvironment(ctx)
	made := ""
	if err == nil {
		made, err = r.Client.DefaultEnvironmentNow(context.WithoutCancel(ctx))
	}
	switch {
	case err != nil:
		diags.Append(apierror.For("create", "default environment", err, apierror.Advice{http.StatusForbidden: setAdvice[http.StatusForbidden]})...)
	case made == "":
		diags.AddError("Default Environment Is Not There Yet", "The service has answered provisionDefaultEnvironment (POST /api/v0/environments/default) with success, but lists no default environment. Apply again: no second one is made.")
	}
	return made
}

func (r *defaultEnvironmentResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, r.Client, "default environment", req, resp, func(*defaultEnvironmentModel) (*string, error) {
		live, err := r.Client.DefaultEnvironment(ctx)
		switch {
		case err != nil:
			return nil, err
		case live == "":
			return nil, &crud.UnsetError{}
		}
		if adopt.Unread(ctx, resp.Private) {
			resp.Diagnostics.Append(setOwn(ctx, resp.Private, live)...)
		}
		return &live, nil
	})
}

func (r *defaultEnvironmentResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, "default environment", req, resp, func(plan, _ *defaultEnvironmentModel) (*string, error) {
		wanted := plan.EnvironmentID.ValueString()
		if err := r.Client.SetDefaultEnvironment(ctx, wanted); err != nil {
			return nil, err
		}
		resp.Diagnostics.Append(setOwn(ctx, resp.Private, wanted)...)
		return &wanted, nil
	}, setAdvice, atEnvironment)
}

// Delete makes the previous default the default again, and leaves what it may not or cannot undo.
func (r *defaultEnvironmentResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m defaultEnvironmentModel
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	turn, err := r.Client.DefaultTurn(ctx)
	if err != nil {
		resp.Diagnostics.Append(restoring(err)...)
		return
	}
	defer turn.End()
	live, err := r.Client.DefaultEnvironmentNow(ctx)
	if err != nil {
		resp.Diagnostics.Append(restoring(err)...)
		return
	}
	if live != "" && turn.Holds(live) {
		// What takes this one's place has it as the default, as after a renaming or a replacement before the destruction.
		return
	}
	why := r.leave(ctx, live, own(ctx, req.Private, &m), m.PreviousEnvironmentID.ValueString())
	if why == "" {
		err := turn.Restore(ctx, m.PreviousEnvironmentID.ValueString())
		switch {
		case client.IsNotFound(err), client.IsConflict(err):
			why = fmt.Sprintf("The service does not take %s, which was the default before, as the default again: %s", nameOf(ctx, r.Client, m.PreviousEnvironmentID.ValueString()), apierror.Sentences(err))
		case err != nil:
			resp.Diagnostics.Append(restoring(err)...)
		}
	}
	if why != "" {
		stays := "The organization has no default environment now."
		if live != "" {
			stays = fmt.Sprintf("%s stays the organization's default. To have another one, set it at the service.", nameOf(ctx, r.Client, live))
		}
		resp.Diagnostics.AddWarning("Default Environment Was Left as It Is", why+" The resource is removed from the state. "+stays)
	}
}

func restoring(err error) diag.Diagnostics {
	return apierror.For("restore", "previous default environment", err, apierror.Advice{http.StatusForbidden: setAdvice[http.StatusForbidden]})
}

// leave says why the default is not given back to the previous environment; empty if it is.
func (r *defaultEnvironmentResource) leave(ctx context.Context, live, own, previous string) string {
	switch {
	case live == "":
		return "The default environment was removed by somebody else, so there was nothing to undo."
	case previous == live && live != own:
		return fmt.Sprintf("%s was the default before this resource was created, and is the default.", nameOf(ctx, r.Client, live))
	case own == "":
		return "This resource has not set the default that there is, so there was nothing to undo."
	case live != own:
		return fmt.Sprintf("Somebody else has changed the default since this resource set it to %s.", nameOf(ctx, r.Client, own))
	case previous == "", previous == own:
		return "What was the default before is not known, or there was none, and the service cannot take a default away."
	case r.listed(ctx, previous) == nil:
		return fmt.Sprintf("The environment %s, which was the default before, does not exist any more.", previous)
	}
	return ""
}

// ImportState takes the one ID that there is. What is the default then counts as set by this resource.
func (r *defaultEnvironmentResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	given := types.StringValue(req.ID)
	if req.ID == "" && req.Identity != nil {
		resp.Diagnostics.Append(req.Identity.GetAttribute(ctx, path.Root("id"), &given)...)
	}
	if given.ValueString() != theOrganization {
		resp.Diagnostics.AddError("Invalid Import ID", fmt.Sprintf("There is one default environment, and its import ID is %q, got: %q. The environment itself is imported as an agentyard_environment.", theOrganization, given.ValueString()))
		return
	}
	crud.ImportByID(ctx, "default environment", theOrganization, req, resp)
}

// setOwn notes which default is this resource's doing.
func setOwn(ctx context.Context, private adopt.Private, id string) diag.Diagnostics {
	encoded, err := json.Marshal(id)
	if err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("Default Environment Not Remembered", err.Error())}
	}
	return private.SetKey(ctx, ownDefault, encoded)
}

// own is the environment that this resource has made the default. A state without the note says it by itself.
func own(ctx context.Context, private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}, state *defaultEnvironmentModel) string {
	encoded, _ := private.GetKey(ctx, ownDefault)
	var id string
	if len(encoded) == 0 || json.Unmarshal(encoded, &id) != nil {
		return state.EnvironmentID.ValueString()
	}
	return id
}
