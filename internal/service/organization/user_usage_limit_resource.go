package organization

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var _ crud.ManagedResource = (*userUsageLimitResource)(nil)

// NewUserUsageLimitResource returns the resource agentyard_user_usage_limit.
func NewUserUsageLimitResource() resource.Resource {
	return &userUsageLimitResource{byEmail{crud.Resource{Name: "user_usage_limit"}, userEmailText}}
}

type userUsageLimitResource struct{ byEmail }

type userUsageLimitModel struct {
	ID    types.String `tfsdk:"id"`
	Email types.String `tfsdk:"email"`
	Limit types.Int64  `tfsdk:"limit"`
}

// FromAPI keeps the configured spelling of the address, which is case-insensitive.
func (m *userUsageLimitModel) FromAPI(_ context.Context, l *organization.UserUsageLimit) diag.Diagnostics {
	if !strings.EqualFold(m.Email.ValueString(), l.Email) {
		m.Email = types.StringValue(l.Email)
	}
	m.ID, m.Limit = m.Email, types.Int64PointerValue(l.Limit)
	return nil
}

func (m *userUsageLimitModel) Identity() any { return &emailIdentity{Email: m.Email} }

const (
	userEmailText = "Email address of an active member of the organization. Letter case should not count"
	userLimitText = "Credits that the member can use." + noPeriod + limitRange
)

func (r *userUsageLimitResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the limit of one member: the credits that they can use, instead of the global limit." + crud.ManagersAssumed("set-user-usage-limits") + "\n\n" +
			"**Many members.** Create one resource for each member. Two resources for the same member overwrite each other. Each resource sends its own request. " +
			"To manage the limits of all members in one resource, with up to 100 limits in each request, use `agentyard_user_usage_limits`. Do not use both: it removes the limits of this resource. See [Spend governance](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/spend-governance).\n\n" +
			"~> Destroying this resource removes the limit. The global limit then applies to the member. If there is no global limit either, they have no limit. " +
			"To rename the resource or change its `for_each` key, add a `moved` block.\n\n" +
			"**Former members.** The service should remove the limit of a member who leaves the organization" + crud.Assumed("remove-member"),
		Attributes: map[string]schema.Attribute{
			"id": crud.IDAttribute("The same as `email`."),
			"email": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: userEmailText + crud.Assumed("set-user-usage-limits-email") + " Changing this forces a new limit.",
				Validators:          []validator.String{value.Email()},
				PlanModifiers:       []planmodifier.String{modifier.KeepCase(), stringplanmodifier.RequiresReplace()},
			},
			"limit": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: userLimitText,
				Validators:          limitValidators(),
			},
		},
	}
}

// ModifyPlan fails before anything is created if the service rejects the API key.
func (r *userUsageLimitResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || !req.State.Raw.IsNull() {
		return
	}
	var email types.String
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("email"), &email)...)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), email)...)
	resp.Diagnostics.Append(apierror.For("plan", "user usage limit", r.Client.Organization.CheckAccess(ctx), limitOptions)...)
}

func (r *userUsageLimitResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	crud.Create(ctx, &r.Resource, req, resp, func(ctx context.Context, m *userUsageLimitModel) (*organization.UserUsageLimit, error) {
		return r.Client.Organization.SetUserUsageLimit(ctx, m.Email.ValueString(), m.Limit.ValueInt64())
	}, limitOptions)
}

func (r *userUsageLimitResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, &r.Resource, req, resp, func(m *userUsageLimitModel) (*organization.UserUsageLimit, error) {
		return r.Client.Organization.UserUsageLimit(ctx, m.Email.ValueString())
	}, limitOptions)
}

func (r *userUsageLimitResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, &r.Resource, req, resp, func(plan, _ *userUsageLimitModel) (*organization.UserUsageLimit, error) {
		return r.Client.Organization.SetUserUsageLimit(ctx, plan.Email.ValueString(), plan.Limit.ValueInt64())
	}, limitOptions)
}

func (r *userUsageLimitResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, &r.Resource, req, resp, func(m *userUsageLimitModel) error {
		return r.Client.Organization.RemoveUserUsageLimit(ctx, m.Email.ValueString())
	}, limitOptions)
}
