// Package modifier contains the plan modifiers that several objects share.
package modifier

import (
	"context"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
)

// A create-only argument that the service does not return is null in the state after an import. Until the first update, a
// configured value is adopted in place, because a replacement would destroy what was just imported.
const description = "A change replaces the object, except for the first value after an import, which is adopted."

// CreateOnlyBool returns the plan modifier for a create-only bool.
func CreateOnlyBool() planmodifier.Bool {
	return boolplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.BoolRequest, resp *boolplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !privatestate.MayAdopt(ctx, req.Private, req.StateValue)
	}, description, description)
}

// CreateOnlyString returns the plan modifier for a create-only string.
func CreateOnlyString() planmodifier.String {
	return stringplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !privatestate.MayAdopt(ctx, req.Private, req.StateValue)
	}, description, description)
}

// CreateOnlyList returns the plan modifier for a create-only list. A change between null and empty does not replace.
func CreateOnlyList() planmodifier.List {
	return listplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.ListRequest, resp *listplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !privatestate.MayAdopt(ctx, req.Private, req.StateValue) && (req.PlanValue.IsUnknown() || len(req.StateValue.Elements())+len(req.PlanValue.Elements()) > 0)
	}, description, description)
}

// CreateOnlyMap returns the plan modifier for a create-only map. A change between null and empty does not replace.
func CreateOnlyMap() planmodifier.Map {
	return mapplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.MapRequest, resp *mapplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !privatestate.MayAdopt(ctx, req.Private, req.StateValue) && (req.PlanValue.IsUnknown() || len(req.StateValue.Elements())+len(req.PlanValue.Elements()) > 0)
	}, description, description)
}
