// Package modifier contains the plan modifiers that several objects share.
package modifier

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// A create-only argument that the service does not return is null in the state after an import. Until the first update, a
// configured value is adopted in place, because a replacement would destroy what was just imported.
const createOnly = "A change replaces the object, except for the first value after an import, which is adopted."

// CreateOnlyBool returns the plan modifier for a create-only bool.
func CreateOnlyBool() planmodifier.Bool {
	return boolplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.BoolRequest, resp *boolplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !privatestate.MayAdopt(ctx, req.Private, req.StateValue)
	}, createOnly, createOnly)
}

// CreateOnlyString returns the plan modifier for a create-only string.
func CreateOnlyString() planmodifier.String {
	return stringplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !privatestate.MayAdopt(ctx, req.Private, req.StateValue)
	}, createOnly, createOnly)
}

// CreateOnlyList returns the plan modifier for a create-only list. A change between null and empty does not replace.
func CreateOnlyList() planmodifier.List {
	return listplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.ListRequest, resp *listplanmodifier.RequiresReplaceIfFuncResponse) {
		isEmpty := !req.PlanValue.IsUnknown() && len(req.StateValue.Elements())+len(req.PlanValue.Elements()) == 0
		resp.RequiresReplace = !isEmpty && !privatestate.MayAdopt(ctx, req.Private, req.StateValue)
	}, createOnly, createOnly)
}

// CreateOnlyMap returns the plan modifier for a create-only map. A change between null and empty does not replace.
func CreateOnlyMap() planmodifier.Map {
	return mapplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.MapRequest, resp *mapplanmodifier.RequiresReplaceIfFuncResponse) {
		isEmpty := !req.PlanValue.IsUnknown() && len(req.StateValue.Elements())+len(req.PlanValue.Elements()) == 0
		resp.RequiresReplace = !isEmpty && !privatestate.MayAdopt(ctx, req.Private, req.StateValue)
	}, createOnly, createOnly)
}

// keepEqual keeps the prior value if the configured value is an equal form of it.
type keepEqual struct {
	equal func(a, b string) bool
	text  string
}

// KeepEqual returns a plan modifier for a string that has several equal forms. It keeps the form in the state. Text
// describes in one sentence which forms are equal.
func KeepEqual(equal func(a, b string) bool, text string) planmodifier.String {
	return keepEqual{equal, text}
}

// KeepCase is KeepEqual for a case-insensitive string.
func KeepCase() planmodifier.String {
	return KeepEqual(strings.EqualFold, "Case is ignored.")
}

func (k keepEqual) Description(context.Context) string { return k.text }

func (k keepEqual) MarkdownDescription(ctx context.Context) string { return k.Description(ctx) }

func (k keepEqual) PlanModifyString(_ context.Context, req planmodifier.StringRequest, resp *planmodifier.StringResponse) {
	resp.PlanValue = Keep(req.StateValue, req.PlanValue, k.equal)
}

// keepEqualList keeps the prior list if it has equal forms of all configured elements and no others, in any order and number.
type keepEqualList struct{ keepEqual }

// KeepEqualList is KeepEqual for the strings of a list whose order has no meaning.
func KeepEqualList(equal func(a, b string) bool, text string) planmodifier.List {
	return keepEqualList{keepEqual{equal, text}}
}

func (k keepEqualList) PlanModifyList(_ context.Context, req planmodifier.ListRequest, resp *planmodifier.ListResponse) {
	if !value.IsSet(req.StateValue) || !value.IsSet(req.PlanValue) {
		return
	}
	prior, planned := req.StateValue.Elements(), req.PlanValue.Elements()
	if k.areIn(prior, planned) && k.areIn(planned, prior) {
		resp.PlanValue = req.StateValue
	}
}

// areIn reports whether a list has an equal form of each element of another.
func (k keepEqualList) areIn(list, elements []attr.Value) bool {
	return !slices.ContainsFunc(elements, func(e attr.Value) bool {
		return !slices.ContainsFunc(list, func(other attr.Value) bool {
			return value.IsSet(e) && value.IsSet(other) && k.equal(other.(types.String).ValueString(), e.(types.String).ValueString())
		})
	})
}

// Keep returns the prior value of a string if the new value is equal to it, and the new value otherwise.
func Keep(prior, now types.String, equal func(a, b string) bool) types.String {
	if value.IsSet(prior) && value.IsSet(now) && equal(prior.ValueString(), now.ValueString()) {
		return prior
	}
	return now
}
