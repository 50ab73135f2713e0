package organization

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/unchanged"
)

var (
	_ resource.ResourceWithConfigure   = (*globalUsageLimitResource)(nil)
	_ resource.ResourceWithIdentity    = (*globalUsageLimitResource)(nil)
	_ resource.ResourceWithImportState = (*globalUsageLimitResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*globalUsageLimitResource)(nil)
	_ unchanged.Resource               = (*globalUsageLimitResource)(nil)
)

// NewGlobalUsageLimitResource returns the resource agentyard_global_usage_limit.
func NewGlobalUsageLimitResource() resource.Resource { return &globalUsageLimitResource{} }

type globalUsageLimitResource struct{ crud.Resource }

type globalUsageLimitModel struct {
	ID    types.String `tfsdk:"id"`
	Limit types.Int64  `tfsdk:"limit"`
}

// FromAPI takes over the limit.
func (m *globalUsageLimitModel) FromAPI(_ context.Context, limit *int64) diag.Diagnostics {
	m.ID, m.Limit = types.StringValue(theOrganization), types.Int64Value(*limit)
	return nil
}

// Identity is the same for every organization: the API key tells which one it is.
func (m *globalUsageLimitModel) Identity() any {
	return &crud.ID{ID: types.StringValue(theOrganization)}
}

func (r *globalUsageLimitResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_global_usage_limit"
}

func (r *globalUsageLimitResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The organization's global credit limit, which applies to every user without an `agentyard_user_usage_limit` of their own. " +
			"An organization has one, so have one of these resources. A plan that replaces a limit which somebody else has set warns and names it. " +
			"Destroying it removes the limit: users without one of their own may spend without limit then. " +
			"Give a resource whose name or `for_each` key changes a `moved` block: Terraform may otherwise remove the limit before it sets it again." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Always `" + theOrganization + "`.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"limit": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: "How much each user without a limit of their own may spend, in credits, at least 1000000.",
				Validators:          []validator.Int64{int64validator.AtLeast(client.MinUsageLimit)},
			},
		},
	}
}

func (r *globalUsageLimitResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = crud.IDSchema("Always `" + theOrganization + "`.")
}

// UnchangedDefaults is empty: the schema gives no default.
func (r *globalUsageLimitResource) UnchangedDefaults() map[string]attr.Value { return nil }

// ModifyPlan tells of a limit that a creation replaces, and of what a removal leaves.
func (r *globalUsageLimitResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case r.Client == nil:
	case req.Plan.Raw.IsNull():
		var limit types.Int64
		resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("limit"), &limit)...)
		if r.Client.LeaveGlobalUsageLimit() {
			resp.Diagnostics.Append(forgetOnly(ctx, resp.Private)...)
			resp.Diagnostics.AddWarning("Global Limit Stays", fmt.Sprintf("The organization's global limit, %s, stays: another resource in the state holds it too; this one only forgets it.", credits(limit.ValueInt64())))
			return
		}
		resp.Diagnostics.AddWarning("Global Limit Will Be Removed", fmt.Sprintf("The organization's global limit, %s, ends, unless another resource of this run sets one. "+
			"Users without a limit of their own may spend without limit then.", credits(limit.ValueInt64())))
	case req.State.Raw.IsNull():
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), theOrganization)...)
		var planned types.Int64
		resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("limit"), &planned)...)
		r.foresee(ctx, planned, &resp.Diagnostics)
	}
}

// foresee says what a plan can know of a new limit.
func (r *globalUsageLimitResource) foresee(ctx context.Context, planned types.Int64, diags *diag.Diagnostics) {
	if first, isSecond := r.Client.PlanGlobalUsageLimit(known(planned)); isSecond {
		diags.AddAttributeError(path.Root("limit"), "Two Global Limits", fmt.Sprintf("Another resource of this configuration sets the global limit to %s. "+
			"An organization has one: keep one resource for it.", amount(first, "another value")))
		return
	}
	diags.Append(apierror.For("plan", "global usage limit", r.Client.CheckGlobalUsageLimit(ctx), limitOptions)...)
	live, err := r.Client.ForeseeGlobalUsageLimit(ctx)
	switch {
	case err != nil, live == nil:
	case r.Client.HoldsGlobalUsageLimit():
		diags.AddAttributeWarning(path.Root("limit"), "Global Limit Is Held by Another Resource", fmt.Sprintf("A resource in the state holds the organization's global limit, which is %s, and this one sets %s. "+
			"If its address was changed, all is well, and a moved block makes that certain. If both resources stay, keep one of them.", credits(*live), amount(known(planned), "the new limit")))
	case !planned.Equal(types.Int64Value(*live)):
		diags.AddAttributeWarning(path.Root("limit"), "Global Limit Will Be Replaced", fmt.Sprintf("The organization has a global limit of %s already. The apply sets %s in its place, for everybody without a limit of their own, "+
			"and a destruction later removes the limit instead of restoring it. To start from what there is, import it: terraform import ADDRESS %s", credits(*live), amount(known(planned), "the new limit"), theOrganization))
	}
}

func (r *globalUsageLimitResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	crud.Create(ctx, r.Client, "global usage limit", req, resp, func(m *globalUsageLimitModel) (*int64, error) {
		return r.Client.SetGlobalUsageLimit(ctx, m.Limit.ValueInt64())
	}, limitOptions)
}

func (r *globalUsageLimitResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, r.Client, "global usage limit", req, resp, func(*globalUsageLimitModel) (*int64, error) {
		r.Client.HoldGlobalUsageLimit()
		live, err := r.Client.GlobalUsageLimit(ctx)
		if err == nil && live == nil {
			return nil, &crud.UnsetError{}
		}
		return live, err
	}, limitOptions)
}

func (r *globalUsageLimitResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, "global usage limit", req, resp, func(plan, _ *globalUsageLimitModel) (*int64, error) {
		return r.Client.SetGlobalUsageLimit(ctx, plan.Limit.ValueInt64())
	}, limitOptions)
}

func (r *globalUsageLimitResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, r.Client, "global usage limit", req, resp, func(*globalUsageLimitModel) error {
		if forgetsOnly(ctx, req.Private) {
			return nil
		}
		return r.Client.RemoveGlobalUsageLimit(ctx)
	}, limitOptions)
}

// ImportState takes the one ID that there is.
func (r *globalUsageLimitResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	given := types.StringValue(req.ID)
	if req.ID == "" && req.Identity != nil {
		resp.Diagnostics.Append(req.Identity.GetAttribute(ctx, path.Root("id"), &given)...)
	}
	if given.ValueString() != theOrganization {
		resp.Diagnostics.AddError("Invalid Import ID", fmt.Sprintf("There is one global usage limit, and its import ID is %q, got: %q.", theOrganization, given.ValueString()))
		return
	}
	crud.ImportByID(ctx, "global usage limit", theOrganization, req, resp)
}
