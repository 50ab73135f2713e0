package crud

import (
	"math/big"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/dynamicdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/float32default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/float64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int32default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/numberdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/objectdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// An attribute of any kind may have a default, and none is taken for one.
func TestDefaults(t *testing.T) {
	t.Parallel()
	text := []attr.Value{types.StringValue("a")}
	list, set := types.ListValueMust(types.StringType, text), types.SetValueMust(types.StringType, text)
	texts := types.MapValueMust(types.StringType, map[string]attr.Value{"a": text[0]})
	object := types.ObjectValueMust(map[string]attr.Type{"a": types.StringType}, map[string]attr.Value{"a": text[0]})
	number := big.NewFloat(1.5)
	kinds := map[string]struct {
		without, with schema.Attribute
		want          attr.Value
	}{
		"bool":    {schema.BoolAttribute{}, schema.BoolAttribute{Default: booldefault.StaticBool(false)}, types.BoolValue(false)},
		"dynamic": {schema.DynamicAttribute{}, schema.DynamicAttribute{Default: dynamicdefault.StaticValue(types.DynamicValue(text[0]))}, types.DynamicValue(text[0])},
		"float32": {schema.Float32Attribute{}, schema.Float32Attribute{Default: float32default.StaticFloat32(1.5)}, types.Float32Value(1.5)},
		"float64": {schema.Float64Attribute{}, schema.Float64Attribute{Default: float64default.StaticFloat64(1.5)}, types.Float64Value(1.5)},
		"int32":   {schema.Int32Attribute{}, schema.Int32Attribute{Default: int32default.StaticInt32(0)}, types.Int32Value(0)},
		"int64":   {schema.Int64Attribute{}, schema.Int64Attribute{Default: int64default.StaticInt64(0)}, types.Int64Value(0)},
		"list":    {schema.ListAttribute{}, schema.ListAttribute{Default: listdefault.StaticValue(list)}, list},
		"map":     {schema.MapAttribute{}, schema.MapAttribute{Default: mapdefault.StaticValue(texts)}, texts},
		"nested":  {schema.SingleNestedAttribute{}, schema.SingleNestedAttribute{Default: objectdefault.StaticValue(object)}, object},
		"number":  {schema.NumberAttribute{}, schema.NumberAttribute{Default: numberdefault.StaticBigFloat(number)}, types.NumberValue(number)},
		"set":     {schema.SetAttribute{}, schema.SetAttribute{Default: setdefault.StaticValue(set)}, set},
		"string":  {schema.StringAttribute{}, schema.StringAttribute{Default: stringdefault.StaticString("")}, types.StringValue("")},
	}
	s := schema.Schema{Attributes: map[string]schema.Attribute{}}
	for kind, of := range kinds {
		s.Attributes[kind], s.Attributes["no_"+kind] = of.with, of.without
	}
	found := Defaults(t.Context(), s)
	check.Is(t, "defaults", len(found), len(kinds))
	for kind, of := range kinds {
		want, err := of.want.ToTerraformValue(t.Context())
		if check.Must(t, err); !found[kind].Equal(want) {
			t.Errorf("%s: the default is %s, want %s", kind, found[kind], want)
		}
	}
}
