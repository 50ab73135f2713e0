package crud

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/defaults"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// setDefaults sets null attributes to their defaults. They are null after an import, and in a state that is older than the
// attribute. ResourceSchema must be the schema of raw.
func setDefaults(ctx context.Context, resourceSchema any, raw *tftypes.Value) {
	s, ok := resourceSchema.(schema.Schema)
	if !ok || raw.IsNull() {
		return
	}
	values := map[string]tftypes.Value{}
	_ = raw.As(&values) // It is an object.
	for name, byDefault := range Defaults(ctx, s) {
		if values[name].IsNull() {
			values[name] = byDefault
		}
	}
	*raw = tftypes.NewValue(raw.Type(), values)
}

// Defaults returns the default values of a resource's attributes.
func Defaults(ctx context.Context, s schema.Schema) map[string]tftypes.Value {
	found := map[string]tftypes.Value{}
	for name, attribute := range s.Attributes {
		if byDefault := defaultOf(ctx, attribute); byDefault != nil && !byDefault.IsNull() {
			found[name], _ = byDefault.ToTerraformValue(ctx) // It fails only for values that do not have their type.
		}
	}
	return found
}

// defaultOf returns the default of an attribute; nil or null if there is none. It knows booleans and texts;
// TestDefaults_areAllKnown of the provider notices another kind.
func defaultOf(ctx context.Context, attribute schema.Attribute) attr.Value {
	switch a := attribute.(type) {
	case schema.BoolAttribute:
		if a.Default != nil {
			var resp defaults.BoolResponse
			a.Default.DefaultBool(ctx, defaults.BoolRequest{}, &resp)
			return resp.PlanValue
		}
	case schema.StringAttribute:
		if a.Default != nil {
			var resp defaults.StringResponse
			a.Default.DefaultString(ctx, defaults.StringRequest{}, &resp)
			return resp.PlanValue
		}
	}
	return nil
}
