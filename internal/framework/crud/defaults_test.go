package crud

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	check.Is(t, "defaults", Defaults(t.Context(), schema.Schema{Attributes: map[string]schema.Attribute{
		"bool": schema.BoolAttribute{Default: booldefault.StaticBool(false)},
		"text": schema.StringAttribute{Default: stringdefault.StaticString("")},
		"none": schema.BoolAttribute{},
		"a":    schema.Int64Attribute{},
		"b":    schema.StringAttribute{},
		"c":    schema.ListAttribute{},
	}}), map[string]tftypes.Value{
		"bool": tftypes.NewValue(tftypes.Bool, false),
		"text": tftypes.NewValue(tftypes.String, ""),
	})
}
