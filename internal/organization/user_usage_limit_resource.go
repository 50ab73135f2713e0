package organization

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/identityschema"
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
	_ resource.ResourceWithConfigure   = (*userUsageLimitResource)(nil)
	_ resource.ResourceWithIdentity    = (*userUsageLimitResource)(nil)
	_ resource.ResourceWithImportState = (*userUsageLimitResource)(nil)
	_ resource.ResourceWithModifyPlan  = (*userUsageLimitResource)(nil)
	_ unchanged.Resource               = (*userUsageLimitResource)(nil)
)

// NewUserUsageLimitResource returns the resource agentyard_user_usage_limit.
func NewUserUsageLimitResource() resource.Resource { return &userUsageLimitResource{} }

type userUsageLimitResource struct{ crud.Resource }

type userUsageLimitModel struct {
	ID    types.String `tfsdk:"id"`
	Email types.String `tfsdk:"email"`
	Limit types.Int64  `tfsdk:"limit"`
}

// userUsageLimitIdentity is the identity.
type userUsageLimitIdentity struct {
	Email types.String `tfsdk:"email"`
}

// FromAPI takes over a limit. The address stays spelled as it was configured or imported: case makes no difference in it.
func (m *userUsageLimitModel) FromAPI(_ context.Context, l *client.UserUsageLimit) diag.Diagnostics {
	if !strings.EqualFold(m.Email.ValueString(), l.Email) {
		m.Email = types.StringValue(l.Email)
	}
	m.ID, m.Limit = m.Email, types.Int64PointerValue(l.Limit)
	return nil
}

// Identity is the address.
func (m *userUsageLimitModel) Identity() any { return &userUsageLimitIdentity{Email: m.Email} }

func (r *userUsageLimitResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_user_usage_limit"
}

const (
	userEmailText = "Email address of an active member of the organization. Upper and lower case make no difference."
	userLimitText = "How much the user may spend, in credits, at least 1000000."
)

func (r *userUsageLimitResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The credit limit of one user, which holds for them in place of the organization's `agentyard_global_usage_limit`. " +
			"Destroying it removes the limit: the global limit applies to the user then or, if there is none, they may spend without limit; the plan says which it is at present. " +
			"The limits of one apply share requests, up to 100 in each. Have one resource for each user. " +
			"A user who leaves the organization loses the limit. " +
			"Give a resource whose name or `for_each` key changes a `moved` block: Terraform may otherwise remove the limit before it sets it again." + managersOnly,
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "The same as `email`.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"email": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: userEmailText + " Another address replaces the resource.",
				Validators:          []validator.String{value.Email()},
				PlanModifiers:       []planmodifier.String{value.KeepCase(), stringplanmodifier.RequiresReplace()},
			},
			"limit": schema.Int64Attribute{
				Required:            true,
				MarkdownDescription: userLimitText,
				Validators:          []validator.Int64{int64validator.AtLeast(client.MinUsageLimit)},
			},
		},
	}
}

func (r *userUsageLimitResource) IdentitySchema(_ context.Context, _ resource.IdentitySchemaRequest, resp *resource.IdentitySchemaResponse) {
	resp.IdentitySchema = identityschema.Schema{Attributes: map[string]identityschema.Attribute{
		"email": identityschema.StringAttribute{RequiredForImport: true, Description: userEmailText},
	}}
}

// UnchangedDefaults is empty: the schema gives no default.
func (r *userUsageLimitResource) UnchangedDefaults() map[string]attr.Value { return nil }

// ModifyPlan tells of a limit that a creation replaces, of a second one for the same user, and of what applies once a limit is removed.
func (r *userUsageLimitResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if r.Client == nil {
		return
	}
	var plan, state userUsageLimitModel
	if !req.Plan.Raw.IsNull() {
		resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	}
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	}
	switch {
	case resp.Diagnostics.HasError():
	case req.State.Raw.IsNull():
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), plan.Email)...)
		r.foresee(ctx, &plan, &resp.Diagnostics)
	case req.Plan.Raw.IsNull(), !plan.Email.Equal(state.Email):
		if r.Client.LeaveUserUsageLimit(state.Email.ValueString()) {
			resp.Diagnostics.Append(forgetOnly(ctx, resp.Private)...)
			r.tellForgetting(&state, &resp.Diagnostics)
			return
		}
		r.tellRemoval(ctx, &state, &resp.Diagnostics)
	}
}

// foresee says what a plan can know of a new limit.
func (r *userUsageLimitResource) foresee(ctx context.Context, plan *userUsageLimitModel, diags *diag.Diagnostics) {
	if plan.Email.IsUnknown() {
		return
	}
	email, planned := plan.Email.ValueString(), known(plan.Limit)
	if first, isSecond := r.Client.PlanUserUsageLimit(email, planned); isSecond {
		diags.AddAttributeError(path.Root("email"), "Two Limits for One User", fmt.Sprintf("Another resource of this configuration limits %s to %s. "+
			"Each user has one limit: keep one resource for it. Upper and lower case make no difference in an address.", email, amount(first, "another value")))
		return
	}
	diags.Append(apierror.For("plan", "user usage limit", r.Client.CheckUsageLimits(ctx), limitOptions)...)
	limits, err := r.Client.ForeseeUsageLimits(ctx)
	if err != nil || limits == nil || limits.Of(email) == nil {
		return
	}
	isEqual, isHeld := planned != nil && *planned == *limits.Of(email), r.Client.HoldsUserUsageLimit(email)
	if isEqual && !isHeld {
		return
	}
	present, next := credits(*limits.Of(email)), amount(planned, "the new limit")
	summary := "Limits Will Be Replaced"
	// Terraform may not have read yet what the state holds of this user.
	detail := fmt.Sprintf("%s has a limit of %s already, in place of which the apply sets %s. All is well if that is the limit of a resource whose address or for_each key was changed. "+
		"If it is that of another resource which stays, the two undo each other's work with every apply: keep one of them. "+
		"If somebody else has set it, a destruction later removes the limit instead of restoring it; to start from what there is, import it: terraform import ADDRESS %s", email, present, next, email)
	if isHeld {
		summary = "Limits Are Held by Other Resources"
		detail = fmt.Sprintf("A resource in the state holds the limit of %s, which is %s. If its address or for_each key was changed, the apply sets %s, and all is well. "+
			"If both resources stay, they undo each other's work with every apply: keep one of them.", email, present, next)
	}
	if isEqual {
		detail = fmt.Sprintf("A resource in the state holds the limit of %s, which is %s, as this one is to set it. If its address or for_each key was changed, nothing is lost, and a moved block makes that certain. "+
			"If both resources stay, keep one of them.", email, present)
	}
	diags.AddAttributeWarning(path.Root("email"), summary, detail)
}

// tellRemoval says what applies to a user once their limit is removed.
func (r *userUsageLimitResource) tellRemoval(ctx context.Context, state *userUsageLimitModel, diags *diag.Diagnostics) {
	email := state.Email.ValueString()
	limits, err := r.Client.ForeseeUsageLimits(ctx)
	if err != nil || limits == nil {
		return // What that means, the removal tells.
	}
	// What the same run does to the global limit is not known here.
	then := "At present the organization has no global limit, without which they may spend without limit."
	if limits.Global != nil {
		then = fmt.Sprintf("What applies then is the global limit, which is %s at present.", credits(*limits.Global))
	}
	diags.AddWarning("Limits Will Be Removed", fmt.Sprintf("The limit of %s, %s, ends, unless another resource of this run sets one for the same user. %s", email, credits(state.Limit.ValueInt64()), then))
}

// tellForgetting says that a limit outlives its resource.
func (r *userUsageLimitResource) tellForgetting(state *userUsageLimitModel, diags *diag.Diagnostics) {
	email := state.Email.ValueString()
	diags.AddWarning("Limits Stay", fmt.Sprintf("The limit of %s, %s, stays: another resource in the state holds it too; this one only forgets it.", email, credits(state.Limit.ValueInt64())))
}

func (r *userUsageLimitResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	crud.Create(ctx, r.Client, "user usage limit", req, resp, func(m *userUsageLimitModel) (*client.UserUsageLimit, error) {
		return r.Client.SetUserUsageLimit(ctx, m.Email.ValueString(), m.Limit.ValueInt64())
	}, limitOptions)
}

func (r *userUsageLimitResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, r.Client, "user usage limit", req, resp, func(m *userUsageLimitModel) (*client.UserUsageLimit, error) {
		return r.Client.UserUsageLimit(ctx, m.Email.ValueString())
	}, limitOptions)
}

func (r *userUsageLimitResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	crud.Update(ctx, "user usage limit", req, resp, func(plan, _ *userUsageLimitModel) (*client.UserUsageLimit, error) {
		return r.Client.SetUserUsageLimit(ctx, plan.Email.ValueString(), plan.Limit.ValueInt64())
	}, limitOptions)
}

func (r *userUsageLimitResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	crud.Delete(ctx, r.Client, "user usage limit", req, resp, func(m *userUsageLimitModel) error {
		if forgetsOnly(ctx, req.Private) {
			return nil
		}
		return r.Client.RemoveUserUsageLimit(ctx, m.Email.ValueString())
	}, limitOptions)
}

// ImportState takes the address.
func (r *userUsageLimitResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	given := types.StringValue(req.ID)
	if req.ID == "" && req.Identity != nil {
		resp.Diagnostics.Append(req.Identity.GetAttribute(ctx, path.Root("email"), &given)...)
	}
	if !value.IsEmail(given.ValueString()) {
		resp.Diagnostics.AddError("Invalid Import ID", fmt.Sprintf("The import ID of a user usage limit is the user's email address, such as avery@agentyard.example, got: %q.", given.ValueString()))
		return
	}
	resource.ImportStatePassthroughWithIdentity(ctx, path.Root("email"), path.Root("email"), req, resp)
	resp.Diagnostics.Append(adopt.Imported(ctx, resp.Private)...)
}
