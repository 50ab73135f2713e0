package environment

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ crud.ManagedResource = (*defaultEnvironmentResource)(nil)

// NewDefaultEnvironmentResource returns the resource agentyard_default_environment.
func NewDefaultEnvironmentResource() resource.Resource {
	return &defaultEnvironmentResource{crud.Singleton{Resource: crud.Resource{Name: "default_environment"}}}
}

type defaultEnvironmentResource struct{ crud.Singleton }

type defaultEnvironmentModel struct {
	crud.SingletonModel
	EnvironmentID types.String `tfsdk:"environment_id"`
}

func (m *defaultEnvironmentModel) FromAPI(_ context.Context, environmentID *string) diag.Diagnostics {
	m.ID, m.EnvironmentID = types.StringValue(crud.SingletonID), types.StringValue(*environmentID)
	return nil
}

func (r *defaultEnvironmentResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the organization's default environment. An organization has one default, so use this resource once." + crud.ManagersAssumed("set-default-environment") + "\n\n" +
			"**Destroy.** Destroying this resource leaves the default unchanged. See [Environment builds](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/environment-builds#promote-a-new-default).",
		Attributes: map[string]schema.Attribute{
			"id": crud.SingletonAttribute(),
			"environment_id": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "ID of the default environment. The service should accept only one with the scope `organization`" + crud.Assumed("default-scope") + " If it is being built and was never ready, the apply waits up to 60 minutes. " +
					"If omitted, the current default is kept. If there is none, the service creates one; the apply does not wait for its build.",
				Validators:    []validator.String{value.NotEmpty()},
				PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
		},
	}
}

// ModifyPlan checks the access of a new resource.
func (r *defaultEnvironmentResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if !req.Plan.Raw.IsNull() && req.State.Raw.IsNull() {
		resp.Diagnostics.Append(apierror.For("plan", "default environment", r.Client.Environments.CheckAccess(ctx))...)
	}
}

var setAdvice = apierror.Advice{
	http.StatusBadRequest: "Set environment_id to an environment with scope \"organization\".",
	http.StatusForbidden:  "Setting the default environment requires the API key of a member with the Manager role or higher.",
	http.StatusNotFound:   "The environment does not exist, or the provider's API key cannot see it. Check environment_id.",
	http.StatusConflict:   "The environment has no successful build. If a build is running, apply again after it ends. Otherwise, build it again, then apply again.",
}

var atEnvironment = apierror.AtStatus{
	apierror.Denied: path.Root("environment_id"), http.StatusBadRequest: path.Root("environment_id"), http.StatusNotFound: path.Root("environment_id"), http.StatusConflict: path.Root("environment_id"),
}

func (r *defaultEnvironmentResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	crud.Create(ctx, &r.Resource, req, resp, func(ctx context.Context, m *defaultEnvironmentModel) (*string, error) {
		live, err := r.Client.Environments.DefaultUncached(ctx)
		wanted := m.EnvironmentID.ValueString()
		switch {
		case err != nil:
			return nil, err
		case wanted == "" && live == "":
			live, err = r.Client.Environments.ProvisionDefault(ctx)
			return &live, err
		case wanted == "" || wanted == live:
			return &live, nil
		}
		return &wanted, r.set(ctx, wanted)
	}, setAdvice, atEnvironment)
}

// set sets the default. If the environment is being built, it waits for the build, because the service accepts no other default.
func (r *defaultEnvironmentResource) set(ctx context.Context, id string) error {
	err := r.Client.Environments.SetDefault(ctx, id)
	if !transport.IsConflict(err) {
		return err
	}
	e, readErr := r.Client.Environments.GetUncached(ctx, id)
	if readErr != nil || !e.IsBuilding() {
		return err
	}
	if last, waitErr := waitForBuild(ctx, r.Client, id, awaitedBuild{}, defaultBuildTimeout, nil); waitErr != nil {
		return buildError(ctx, r.Client, e, last, waitErr)
	}
	return r.Client.Environments.SetDefault(ctx, id)
}

func (r *defaultEnvironmentResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, &r.Resource, req, resp, func(*defaultEnvironmentModel) (*string, error) {
		live, err := r.Client.Environments.Default(ctx, collection.Organization)
		switch {
		case err != nil:
			return nil, err
		case live == "":
			return nil, &crud.UnsetError{}
		}
		return &live, nil
	})
}

func (r *defaultEnvironmentResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, &r.Resource, req, resp, func(plan, _ *defaultEnvironmentModel) (*string, error) {
		wanted := plan.EnvironmentID.ValueString()
		return &wanted, r.set(ctx, wanted)
	}, setAdvice, atEnvironment)
}

// Delete sends no request, because the service cannot unset a default.
func (r *defaultEnvironmentResource) Delete(_ context.Context, _ resource.DeleteRequest, resp *resource.DeleteResponse) {
	resp.Diagnostics.AddWarning("Default environment only removed from state",
		"The organization's default environment is not changed by this resource, which was only removed from the state. To use another default, set it at the service.")
}

func (r *defaultEnvironmentResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	form := `always "organization" (to import the environment itself, use agentyard_environment)`
	r.Import(ctx, "id", form, func(id string) bool { return id == crud.SingletonID }, req, resp)
}
