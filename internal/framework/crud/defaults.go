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

// defaultOf returns the default of an attribute, of any kind that the framework has; null if there is none.
func defaultOf(ctx context.Context, attribute schema.Attribute) attr.Value {
	switch a := attribute.(type) {
	case interface{ BoolDefaultValue() defaults.Bool }:
		return answer(ctx, a.BoolDefaultValue(), defaults.Bool.DefaultBool).PlanValue
	case interface{ DynamicDefaultValue() defaults.Dynamic }:
		return answer(ctx, a.DynamicDefaultValue(), defaults.Dynamic.DefaultDynamic).PlanValue
	case interface{ Float32DefaultValue() defaults.Float32 }:
		return answer(ctx, a.Float32DefaultValue(), defaults.Float32.DefaultFloat32).PlanValue
	case interface{ Float64DefaultValue() defaults.Float64 }:
		return answer(ctx, a.Float64DefaultValue(), defaults.Float64.DefaultFloat64).PlanValue
	case interface{ Int32DefaultValue() defaults.Int32 }:
		return answer(ctx, a.Int32DefaultValue(), defaults.Int32.DefaultInt32).PlanValue
	case interface{ Int64DefaultValue() defaults.Int64 }:
		return answer(ctx, a.Int64DefaultValue(), defaults.Int64.DefaultInt64).PlanValue
	case interface{ ListDefaultValue() defaults.List }:
		return answer(ctx, a.ListDefaultValue(), defaults.List.DefaultList).PlanValue
	case interface{ MapDefaultValue() defaults.Map }:
		return answer(ctx, a.MapDefaultValue(), defaults.Map.DefaultMap).PlanValue
	case interface{ NumberDefaultValue() defaults.Number }:
		return answer(ctx, a.NumberDefaultValue(), defaults.Number.DefaultNumber).PlanValue
	case interface{ ObjectDefaultValue() defaults.Object }:
		return answer(ctx, a.ObjectDefaultValue(), defaults.Object.DefaultObject).PlanValue
	case interface{ SetDefaultValue() defaults.Set }:
		return answer(ctx, a.SetDefaultValue(), defaults.Set.DefaultSet).PlanValue
	case interface{ StringDefaultValue() defaults.String }:
		return answer(ctx, a.StringDefaultValue(), defaults.String.DefaultString).PlanValue
	}
	return nil
}

// answer asks a default for its value, which is null without a default. One that fails also fails in each plan, which reports it.
func answer[Default, Request, Response any](ctx context.Context, from Default, ask func(Default, context.Context, Request, *Response)) (response Response) {
	if any(from) != nil {
		var request Request
		ask(from, ctx, request, &response)
	}
	return response
}
