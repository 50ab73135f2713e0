package organization

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

var _ crud.ManagedResource = (*globalUsageLimitResource)(nil)

// NewGlobalUsageLimitResource returns the resource agentyard_global_usage_limit.
func NewGlobalUsageLimitResource() resource.Resource {
	return &globalUsageLimitResource{crud.Singleton{Resource: crud.Resource{Name: "global_usage_limit"}}}
}

type globalUsageLimitResource struct{ crud.Singleton }

type globalUsageLimitModel struct {
	crud.SingletonModel
	Limit types.Int64 `tfsdk:"limit"`
}

func (m *globalUsageLimitModel) FromAPI(_ context.Context, limit *int64) diag.Diagnostics {
	m.ID, m.Limit = types.StringValue(crud.SingletonID), types.Int64Value(*limit)
	return nil
}

func (r *globalUsageLimitResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the global limit of the organization: the credits that each member without a limit of their own can use." + crud.ManagersAssumed("set-global-usage-limit") + "\n\n" +
			"**One limit.** An organization has one global limit, so use this resource once. The plan warns if creating it replaces an existing limit.\n\n" +
			"~> Destroying this resource removes the limit. Members without a limit of their own then have none. To rename the resource, add a `moved` block.\n\n" +
			"**Budgets.** To warn about exceeded budgets, see [Spend governance](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/spend-governance).",
		Attributes: map[string]schema.Attribute{
			"id": crud.SingletonAttribute(),
			"limit": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "Credits that each member without a limit of their own can use." + noPeriod + limitRange,
				Validators:          limitValidators(),
			},
		},
	}
}

// ModifyPlan warns if a new limit replaces another one.
func (r *globalUsageLimitResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() || !req.State.Raw.IsNull() {
		return
	}
	var planned types.Int64
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("limit"), &planned)...)
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), crud.SingletonID)...)
	live, err := r.Client.Organization.GlobalUsageLimitAtPlan(ctx)
	resp.Diagnostics.Append(apierror.For("plan", "global usage limit", err, globalLimitOptions)...)
	if live != nil && !planned.IsUnknown() && planned.ValueInt64() != *live {
		resp.Diagnostics.AddAttributeWarning(path.Root("limit"), "Limit will be replaced", fmt.Sprintf("The organization already has a global limit of %s credits. The apply changes it to %s credits.", phrase.Thousands(*live), phrase.Thousands(planned)))
	}
}

var globalLimitOptions = apierror.Options{needsManager, apierror.AtStatus{apierror.Denied: path.Root("limit")}}

func (r *globalUsageLimitResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	crud.Create(ctx, &r.Resource, req, resp, func(ctx context.Context, m *globalUsageLimitModel) (*int64, error) {
		return r.set(ctx, m)
	}, globalLimitOptions)
}

func (r *globalUsageLimitResource) set(ctx context.Context, m *globalUsageLimitModel) (*int64, error) {
	limit := m.Limit.ValueInt64Pointer()
	return limit, r.Client.Organization.SetGlobalUsageLimit(ctx, limit)
}

func (r *globalUsageLimitResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, &r.Resource, req, resp, func(*globalUsageLimitModel) (*int64, error) {
		live, err := r.Client.Organization.GlobalUsageLimit(ctx)
		if err == nil && live == nil {
			return nil, &crud.UnsetError{}
		}
		return live, err
	}, globalLimitOptions)
}

func (r *globalUsageLimitResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, &r.Resource, req, resp, func(plan, _ *globalUsageLimitModel) (*int64, error) {
		return r.set(ctx, plan)
	}, globalLimitOptions)
}

func (r *globalUsageLimitResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, &r.Resource, req, resp, func(*globalUsageLimitModel) error {
		return r.Client.Organization.SetGlobalUsageLimit(ctx, nil)
	}, globalLimitOptions)
}
