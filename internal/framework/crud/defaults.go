package crud

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/defaults"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// setDefaults sets null attributes to their defaults. They are null after an import, and in a state that is older than the
// attribute. ResourceSchema must be the schema of raw.
func setDefaults(ctx context.Context, resourceSchema any, raw *tftypes.Value) diag.Diagnostics {
	s, ok := resourceSchema.(schema.Schema)
	if !ok || raw.IsNull() {
		return nil
	}
	var values map[string]tftypes.Value
	if err := raw.As(&values); err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("State cannot be stored", err.Error())}
	}
	var diags diag.Diagnostics
	for name, attribute := range s.Attributes {
		if !values[name].IsNull() {
			continue
		}
		value, found := defaultOf(ctx, name, attribute)
		diags.Append(found...)
		if value == nil {
			continue
		}
		set, err := value.ToTerraformValue(ctx)
		if err != nil {
			diags.AddAttributeError(path.Root(name), "State cannot be stored", err.Error())
			continue
		}
		values[name] = set
	}
	*raw = tftypes.NewValue(raw.Type(), values)
	return diags
}

// Defaults returns the default values of a resource's attributes.
func Defaults(ctx context.Context, s schema.Schema) (map[string]tftypes.Value, error) {
	found := map[string]tftypes.Value{}
	for name, attribute := range s.Attributes {
		value, diags := defaultOf(ctx, name, attribute)
		if err := Failure(diags); err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		encoded, err := value.ToTerraformValue(ctx)
		if err != nil {
			return nil, err
		}
		found[name] = encoded
	}
	return found, nil
}

// defaultOf knows only the kind of default that the provider's objects have.
func defaultOf(ctx context.Context, name string, attribute schema.Attribute) (attr.Value, diag.Diagnostics) {
	a, isBool := attribute.(schema.BoolAttribute)
	if !isBool || a.Default == nil {
		return nil, nil
	}
	var resp defaults.BoolResponse
	a.Default.DefaultBool(ctx, defaults.BoolRequest{Path: path.Root(name)}, &resp)
	return resp.PlanValue, resp.Diagnostics
}
