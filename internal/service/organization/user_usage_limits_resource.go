package organization

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

var (
	_ crud.ManagedResource                = (*userUsageLimitsResource)(nil)
	_ resource.ResourceWithValidateConfig = (*userUsageLimitsResource)(nil)
)

// NewUserUsageLimitsResource returns the resource agentyard_user_usage_limits.
func NewUserUsageLimitsResource() resource.Resource {
	return &userUsageLimitsResource{crud.Singleton{Resource: crud.Resource{Name: "user_usage_limits"}}}
}

type userUsageLimitsResource struct{ crud.Singleton }

type userUsageLimitsModel struct {
	crud.SingletonModel
	Limits types.Map `tfsdk:"limits"`
}

// FromAPI keeps the spelling of the addresses, which are case-insensitive.
func (m *userUsageLimitsModel) FromAPI(_ context.Context, all *organization.UsageLimits) diag.Diagnostics {
	m.ID = types.StringValue(crud.SingletonID)
	m.Limits = types.MapValueMust(types.Int64Type, overridesLike(m.Limits, all))
	return nil
}

// overridesLike returns the limits of all users who have their own, with the spelling of the addresses in like.
func overridesLike(like types.Map, all *organization.UsageLimits) map[string]attr.Value {
	overrides := map[string]attr.Value{}
	for _, user := range all.Users {
		if user.Limit != nil {
			overrides[user.Email] = types.Int64Value(*user.Limit)
		}
	}
	return respell(overrides, like.Elements())
}

// respell returns limits by email address, with the spelling of the addresses in like.
func respell(limits, like map[string]attr.Value) map[string]attr.Value {
	spellings, respelled := map[string]string{}, map[string]attr.Value{}
	for email := range like {
		spellings[strings.ToLower(email)] = email
	}
	for _, email := range slices.Sorted(maps.Keys(limits)) {
		spelling := cmp.Or(spellings[strings.ToLower(email)], email)
		spellings[strings.ToLower(email)], respelled[spelling] = spelling, limits[email]
	}
	return respelled
}

// limitChanges returns the limits to set. Nil removes one. Prior has the spelling of planned.
func limitChanges(prior, planned map[string]attr.Value) map[string]*int64 {
	changes := map[string]*int64{}
	for email := range prior {
		changes[email] = nil
	}
	for email, limit := range planned {
		if limit.Equal(prior[email]) {
			delete(changes, email)
		} else if n, ok := limit.(types.Int64); ok {
			changes[email] = n.ValueInt64Pointer()
		}
	}
	return changes
}

func (r *userUsageLimitsResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Manages the limits of all members who have one of their own, in one resource." + crud.ManagersAssumed("set-user-usage-limits") + "\n\n" +
			"~> This resource removes the limit of every member who is not in `limits`. The plan shows these limits. Use the resource once, and without any `agentyard_user_usage_limit`: " +
			"otherwise, they change each other's limits in every apply.\n\n" +
			"**Errors.** If the service refuses the limit of a member, the apply sets the others and fails. If this is the first apply, the state stays empty, and the next apply sets all limits again.\n\n" +
			"**Former members.** The service should remove the limit of a member who leaves the organization" + crud.Assumed("remove-member") + " Also remove the member from `limits`: the service should refuse the address of somebody who is not a member" + crud.Assumed("set-user-usage-limits") + " See [Spend governance](https://registry.terraform.io/providers/agentyard/agentyard/latest/docs/guides/spend-governance).\n\n" +
			"**Destroy.** Destroying this resource removes all limits in it. The global limit then applies to these members. If there is no global limit either, they have no limit. To rename the resource, add a `moved` block.\n\n" +
			"**Migration.** You can replace `agentyard_user_usage_limit` resources with this one in one apply. It sets the limits in `limits` and removes all others.\n\n" +
			"**Requests.** One request sets up to 100 limits.",
		Attributes: map[string]schema.Attribute{
			"id": crud.SingletonAttribute(),
			"limits": schema.MapAttribute{
				Required:    true,
				ElementType: types.Int64Type,
				MarkdownDescription: "Credits that each member can use, by the email address of a member of the organization. Letter case should not count" + crud.Assumed("set-user-usage-limits-email") + " " +
					"An empty map removes the limits of all members." + noPeriod + limitRange,
				Validators: []validator.Map{mapvalidator.KeysAre(value.Email()), mapvalidator.ValueInt64sAre(limitValidators()...)},
			},
		},
	}
}

// ValidateConfig rejects two spellings of one address.
func (r *userUsageLimitsResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config userUsageLimitsModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	spellings := map[string]string{}
	for _, email := range slices.Sorted(maps.Keys(config.Limits.Elements())) {
		at := path.Root("limits").AtMapKey(email)
		if other, ok := spellings[strings.ToLower(email)]; ok {
			resp.Diagnostics.AddAttributeError(at, "Duplicate email address", fmt.Sprintf("%s is the same address as %q. Email addresses are case-insensitive. Keep one of them.", at, other))
		}
		spellings[strings.ToLower(email)] = email
	}
}

// ModifyPlan ignores the case of addresses, and warns if a creation changes or removes limits.
func (r *userUsageLimitsResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return
	}
	var planned, prior types.Map
	resp.Diagnostics.Append(req.Plan.GetAttribute(ctx, path.Root("limits"), &planned)...)
	if !req.State.Raw.IsNull() {
		resp.Diagnostics.Append(req.State.GetAttribute(ctx, path.Root("limits"), &prior)...)
		if !planned.IsUnknown() && len(limitChanges(respell(prior.Elements(), planned.Elements()), planned.Elements())) == 0 {
			resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("limits"), prior)...)
		}
		return
	}
	resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, path.Root("id"), crud.SingletonID)...)
	all, err := r.Client.Organization.UsageLimitsAtPlan(ctx)
	resp.Diagnostics.Append(apierror.For("plan", "user usage limits", err, limitOptions)...)
	if all != nil && !planned.IsUnknown() {
		present := overridesLike(planned, all)
		maps.DeleteFunc(present, func(email string, _ attr.Value) bool { return r.Client.Organization.HasSetLimit(email) }) // The apply keeps them.
		warnAllReplaced(present, planned.Elements(), &resp.Diagnostics)
	}
}

// Create sends limits that do not change too: in the same apply, an agentyard_user_usage_limit may be destroyed.
func (r *userUsageLimitsResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var plan userUsageLimitsModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	all, err := r.Client.Organization.UsageLimits(ctx)
	if err != nil {
		resp.Diagnostics.Append(apierror.For("create", "user usage limits", err, limitOptions)...)
		return
	}
	planned := plan.Limits.Elements()
	others := overridesLike(plan.Limits, all)
	maps.DeleteFunc(others, func(email string, _ attr.Value) bool { return planned[email] != nil })
	changes := limitChanges(others, planned)
	if failed := r.Client.Organization.SetUserUsageLimits(ctx, changes); len(failed) > 0 {
		// A state would be tainted. The next apply would remove all limits before it sets them again.
		resp.Diagnostics.Append(limitErrors("create", failed)...)
		if done := len(changes) - len(failed); done > 0 {
			resp.Diagnostics.AddWarning("Limits not in the state", fmt.Sprintf("The service has changed %s, but the resource is not in the state. "+
				"Correct the errors and apply again: the apply sets all limits again. If you instead remove the resource from the configuration, these limits stay.", phrase.Count(done, "limit")))
		}
		return
	}
	plan.ID = types.StringValue(crud.SingletonID)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &plan)...)
	resp.Diagnostics.Append(crud.RecordReader(ctx, r.Client, resp.Private)...)
}

func (r *userUsageLimitsResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	crud.Read(ctx, &r.Resource, req, resp, func(*userUsageLimitsModel) (*organization.UsageLimits, error) {
		return r.Client.Organization.UsageLimits(ctx)
	}, limitOptions)
}

// Update sends only what changes. After an error, the state has what was set.
func (r *userUsageLimitsResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var plan, state userUsageLimitsModel
	resp.Diagnostics.Append(req.Plan.Get(ctx, &plan)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	if resp.Diagnostics.HasError() {
		return
	}
	held := plan.Limits.Elements()
	prior := respell(state.Limits.Elements(), held)
	failed := r.Client.Organization.SetUserUsageLimits(ctx, limitChanges(prior, held))
	for email := range failed {
		delete(held, email)
		if limit, ok := prior[email]; ok {
			held[email] = limit
		}
	}
	plan.Limits = types.MapValueMust(types.Int64Type, held)
	resp.Diagnostics.Append(limitErrors("update", failed)...)
	resp.Diagnostics.Append(crud.Save(ctx, &resp.State, resp.Identity, &plan)...)
}

func (r *userUsageLimitsResource) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var state userUsageLimitsModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	resp.Diagnostics.Append(limitErrors("delete", r.Client.Organization.SetUserUsageLimits(ctx, limitChanges(state.Limits.Elements(), nil)))...)
}

// limitErrors reports each user whose limit was refused at their address, and any other error once.
func limitErrors(verb string, failed map[string]error) diag.Diagnostics {
	var diags diag.Diagnostics
	var unset []string
	for _, email := range slices.Sorted(maps.Keys(failed)) {
		if !organization.IsAboutUser(failed[email]) {
			unset = append(unset, email)
			continue
		}
		at := path.Root("limits").AtMapKey(email)
		diags.Append(apierror.For(verb, "user usage limits", failed[email], limitOptionsAt(at), apierror.AtStatus{http.StatusBadRequest: at, http.StatusUnprocessableEntity: at})...)
	}
	if len(unset) > 0 {
		err := fmt.Errorf("%w\n\nThe limits of these members may be unchanged: %s", failed[unset[0]], phrase.Names(unset, phrase.MaxNamed))
		diags.Append(apierror.For(verb, "user usage limits", err, limitOptions)...)
	}
	return diags
}

// warnAllReplaced warns about the limits that a creation changes or removes. Present has the spelling of planned.
func warnAllReplaced(present, planned map[string]attr.Value, diags *diag.Diagnostics) {
	var replaced []string
	for _, email := range slices.Sorted(maps.Keys(present)) {
		limit, ok := planned[email]
		switch {
		case !ok:
			replaced = append(replaced, fmt.Sprintf("%s (%s to none)", email, phrase.Thousands(present[email])))
		case !limit.IsUnknown() && !limit.Equal(present[email]):
			replaced = append(replaced, fmt.Sprintf("%s (%s to %s)", email, phrase.Thousands(present[email]), phrase.Thousands(limit)))
		}
	}
	if len(replaced) > 0 {
		diags.AddAttributeWarning(path.Root("limits"), "Limits will be replaced", "The apply changes existing limits, in credits: "+phrase.Names(replaced, phrase.MaxNamed)+".")
	}
}
