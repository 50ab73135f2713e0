// Package modifier contains the plan modifiers that several objects share.
//
// A create-only argument that the service does not return is null in the state after an import. Until the first update,
// a configured value is adopted in place, because a replacement would destroy what was just imported. At any other time,
// a change replaces the object.
package modifier

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
)

// mark is the key in private state that marks an object from its import to its first update. Its value is unread or read.
const mark = "imported"

var (
	// unread means that only the ID is known.
	unread = []byte(`"unread"`)
	read   = []byte(`"read"`)
)

// Private is the part of the framework's private state that is used here. Its own type is in an internal package.
type Private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// MarkImported marks an object that was imported by its ID only.
func MarkImported(ctx context.Context, private Private) diag.Diagnostics {
	return private.SetKey(ctx, mark, unread)
}

// IsUnread reports whether an object was imported and has not been read yet.
func IsUnread(ctx context.Context, private Private) bool {
	value, _ := private.GetKey(ctx, mark)
	return string(value) == string(unread)
}

// MarkRead marks an imported object as read.
func MarkRead(ctx context.Context, private Private) diag.Diagnostics {
	if !IsUnread(ctx, private) {
		return nil
	}
	return private.SetKey(ctx, mark, read)
}

// ForgetImport removes the mark after an update, so that no later change is adopted.
func ForgetImport(ctx context.Context, private Private) diag.Diagnostics {
	return private.SetKey(ctx, mark, nil)
}

// MayAdopt reports whether an object was imported and not updated since, and the argument has no prior value.
func MayAdopt(ctx context.Context, private Private, prior attr.Value) bool {
	value, _ := private.GetKey(ctx, mark)
	return len(value) > 0 && prior.IsNull()
}

const description = "A change replaces the object, except for the first value after an import, which is adopted."

// CreateOnlyBool returns the plan modifier for a create-only bool.
func CreateOnlyBool() planmodifier.Bool {
	return boolplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.BoolRequest, resp *boolplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !MayAdopt(ctx, req.Private, req.StateValue)
	}, description, description)
}

// CreateOnlyString returns the plan modifier for a create-only string.
func CreateOnlyString() planmodifier.String {
	return stringplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !MayAdopt(ctx, req.Private, req.StateValue)
	}, description, description)
}

// CreateOnlyList returns the plan modifier for a create-only list. A change between null and empty does not replace.
func CreateOnlyList() planmodifier.List {
	return listplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.ListRequest, resp *listplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !MayAdopt(ctx, req.Private, req.StateValue) && (req.PlanValue.IsUnknown() || len(req.StateValue.Elements())+len(req.PlanValue.Elements()) > 0)
	}, description, description)
}

// CreateOnlyMap returns the plan modifier for a create-only map. A change between null and empty does not replace.
func CreateOnlyMap() planmodifier.Map {
	return mapplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.MapRequest, resp *mapplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !MayAdopt(ctx, req.Private, req.StateValue) && (req.PlanValue.IsUnknown() || len(req.StateValue.Elements())+len(req.PlanValue.Elements()) > 0)
	}, description, description)
}
