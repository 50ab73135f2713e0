package crud

import (
	"context"
	"errors"

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
	byDefault, err := Defaults(ctx, s)
	if err := errors.Join(err, raw.As(&values)); err != nil {
		return diag.Diagnostics{diag.NewErrorDiagnostic("State cannot be stored", err.Error())}
	}
	for name, value := range byDefault {
		if values[name].IsNull() {
			values[name] = value
		}
	}
	*raw = tftypes.NewValue(raw.Type(), values)
	return nil
}

// Defaults returns the default values of a resource's attributes. It knows only the kind of default that the provider's objects have.
func Defaults(ctx context.Context, s schema.Schema) (map[string]tftypes.Value, error) {
	found := map[string]tftypes.Value{}
	for name, attribute := range s.Attributes {
		a, isBool := attribute.(schema.BoolAttribute)
		if !isBool || a.Default == nil {
			continue
		}
		var resp defaults.BoolResponse
		a.Default.DefaultBool(ctx, defaults.BoolRequest{Path: path.Root(name)}, &resp)
		if err := Failure(resp.Diagnostics); err != nil {
			return nil, err
		}
		found[name] = tftypes.NewValue(tftypes.Bool, resp.PlanValue.ValueBoolPointer())
	}
	return found, nil
}
