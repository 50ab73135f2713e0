// Package modifier holds the plan modifiers that several objects share.
//
// An imported object keeps what only a creation accepts and the service does not return. Such an
// argument is null in the state after an import; the value that is configured then is taken over in place, because
// replacing would destroy what was just imported. At any other time a change of it replaces the object.
package modifier

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	// mark is the key of the private state that follows an object from its import to its first update. It holds unread,
	// or the time of the import's own read.
	mark = "imported"
	// adoptedWithin is for how long after that read arguments are adopted where no update ends it.
	adoptedWithin = 24 * time.Hour
)

// unread says that only the ID is known.
var unread = []byte(`"unread"`)

// Private is the part of the framework's private state that is used here; its type cannot be named outside.
type Private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// MarkImported marks an object whose ID alone was imported.
func MarkImported(ctx context.Context, private Private) diag.Diagnostics {
	return private.SetKey(ctx, mark, unread)
}

// IsUnread reports that an object was imported and has not been read yet.
func IsUnread(ctx context.Context, private Private) bool {
	value, _ := private.GetKey(ctx, mark)
	return string(value) == string(unread)
}

// MarkRead notes that a read is done. An object that was imported a day ago and not updated since is not just imported any more.
func MarkRead(ctx context.Context, private Private) diag.Diagnostics {
	return read(ctx, private, clock.System.Now())
}

func read(ctx context.Context, private Private, now time.Time) diag.Diagnostics {
	value, diags := private.GetKey(ctx, mark)
	var imported time.Time
	switch {
	case len(value) == 0:
	case string(value) == string(unread):
		since, err := json.Marshal(now.UTC())
		if err != nil {
			diags.AddError("Import Not Remembered", err.Error())
			return diags
		}
		diags.Append(private.SetKey(ctx, mark, since)...)
	case json.Unmarshal(value, &imported) != nil || now.Sub(imported) > adoptedWithin:
		diags.Append(ForgetImport(ctx, private)...)
	}
	return diags
}

// ForgetImport ends the time in which arguments are adopted.
func ForgetImport(ctx context.Context, private Private) diag.Diagnostics {
	return private.SetKey(ctx, mark, nil)
}

// MayAdopt reports that an object was just imported and not updated since, so that an argument whose prior value is null is adopted.
func MayAdopt(ctx context.Context, private Private, prior attr.Value) bool {
	value, _ := private.GetKey(ctx, mark)
	return len(value) > 0 && prior.IsNull()
}

const description = "A change replaces the object, except for the first value after an import, which is adopted."

// CreateOnlyBool is the plan modifier of a create-only bool.
func CreateOnlyBool() planmodifier.Bool {
	return boolplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.BoolRequest, resp *boolplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !MayAdopt(ctx, req.Private, req.StateValue)
	}, description, description)
}

// CreateOnlyString is the plan modifier of a create-only string.
func CreateOnlyString() planmodifier.String {
	return stringplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.StringRequest, resp *stringplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !MayAdopt(ctx, req.Private, req.StateValue)
	}, description, description)
}

// CreateOnlyList is the plan modifier of a create-only list.
func CreateOnlyList() planmodifier.List {
	return listplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.ListRequest, resp *listplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !MayAdopt(ctx, req.Private, req.StateValue)
	}, description, description)
}

// CreateOnlyMap is the plan modifier of a create-only map.
func CreateOnlyMap() planmodifier.Map {
	return mapplanmodifier.RequiresReplaceIf(func(ctx context.Context, req planmodifier.MapRequest, resp *mapplanmodifier.RequiresReplaceIfFuncResponse) {
		resp.RequiresReplace = !MayAdopt(ctx, req.Private, req.StateValue)
	}, description, description)
}
