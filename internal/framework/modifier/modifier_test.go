package modifier

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/privatestate"
)

func TestKeepEqual(t *testing.T) {
	t.Parallel()
	m := KeepEqual(strings.HasPrefix, "A beginning is as good as the whole.")
	if text := m.Description(t.Context()); text != "A beginning is as good as the whole." || m.MarkdownDescription(t.Context()) != text {
		t.Errorf("it says %q", text)
	}
	for plan, want := range map[string]string{"ab": "abc", "abc": "abc", "abcd": "abcd", "b": "b"} {
		resp := &planmodifier.StringResponse{PlanValue: types.StringValue(plan)}
		m.PlanModifyString(t.Context(), planmodifier.StringRequest{StateValue: types.StringValue("abc"), PlanValue: resp.PlanValue}, resp)
		check.Is(t, "the plan of "+plan, resp.PlanValue.ValueString(), want)
	}
}

func TestKeepEqualList(t *testing.T) {
	t.Parallel()
	list := func(elements ...attr.Value) types.List { return types.ListValueMust(types.StringType, elements) }
	a, b, upper, unknown := types.StringValue("a"), types.StringValue("b"), types.StringValue("A"), types.StringUnknown()
	for name, tc := range map[string]struct{ state, plan, want types.List }{
		"equal elements":     {list(a, b), list(upper, b), list(a, b)},
		"another order":      {list(a, b), list(b, upper), list(a, b)},
		"one less":           {list(a, b), list(b), list(b)},
		"another element":    {list(a, b), list(upper, upper), list(upper, upper)},
		"repeated elements":  {list(a, b), list(b, upper, a), list(a, b)},
		"one more":           {list(a), list(upper, b), list(upper, b)},
		"an unknown element": {list(a), list(unknown), list(unknown)},
		"not known yet":      {list(a), types.ListUnknown(types.StringType), types.ListUnknown(types.StringType)},
		"a creation":         {types.ListNull(types.StringType), list(upper), list(upper)},
		"removed":            {list(a), types.ListNull(types.StringType), types.ListNull(types.StringType)},
	} {
		resp := &planmodifier.ListResponse{PlanValue: tc.plan}
		KeepEqualList(strings.EqualFold, "Case is ignored.").PlanModifyList(t.Context(), planmodifier.ListRequest{StateValue: tc.state, PlanValue: tc.plan}, resp)
		if !resp.PlanValue.Equal(tc.want) {
			t.Errorf("%s: got %s, want %s", name, resp.PlanValue, tc.want)
		}
	}
}

// Null and empty are equal, but not unknown.
func TestModifiers_nullAndEmpty(t *testing.T) {
	t.Parallel()
	replaces := func(before, after types.List) bool {
		var resp planmodifier.ListResponse
		CreateOnlyList().PlanModifyList(t.Context(), planmodifier.ListRequest{State: stateWith(t, true, before), Plan: tfsdk.Plan(stateWith(t, true, after)), StateValue: before, PlanValue: after}, &resp)
		return resp.RequiresReplace
	}
	replacesMap := func(before, after types.Map) bool {
		var resp planmodifier.MapResponse
		CreateOnlyMap().PlanModifyMap(t.Context(), planmodifier.MapRequest{State: stateWith(t, true, before), Plan: tfsdk.Plan(stateWith(t, true, after)), StateValue: before, PlanValue: after}, &resp)
		return resp.RequiresReplace
	}
	none, empty, noMap, emptyMap := types.ListNull(types.StringType), types.ListValueMust(types.StringType, nil), types.MapNull(types.StringType), types.MapValueMust(types.StringType, nil)
	if replaces(none, empty) || replaces(empty, none) || replacesMap(noMap, emptyMap) || replacesMap(emptyMap, noMap) {
		t.Error("null and empty differ")
	}
	if !replaces(none, types.ListUnknown(types.StringType)) || !replacesMap(emptyMap, types.MapUnknown(types.StringType)) {
		t.Error("an unknown value is equal")
	}
}

// stateWith returns the state of an object with one attribute, or an empty state.
func stateWith(t *testing.T, exists bool, v attr.Value) tfsdk.State {
	t.Helper()
	typ := tftypes.Object{AttributeTypes: map[string]tftypes.Type{"x": v.Type(t.Context()).TerraformType(t.Context())}}
	s := tfsdk.State{Schema: schema.Schema{}, Raw: tftypes.NewValue(typ, nil)}
	if exists {
		value, err := v.ToTerraformValue(t.Context())
		check.Must(t, err)
		s.Raw = tftypes.NewValue(typ, map[string]tftypes.Value{"x": value})
	}
	return s
}

// fresh returns an empty value of a type that is in an internal package, such as the framework's private state.
func fresh[T any](*T) *T { return new(T) }

// A change of a create-only argument replaces the object, unless the object was just imported and had no value.
func TestPlanModifiers(t *testing.T) {
	t.Parallel()
	raw := func(value types.String) tftypes.Value {
		text := tftypes.NewValue(tftypes.String, nil)
		if !value.IsNull() {
			text = tftypes.NewValue(tftypes.String, value.ValueString())
		}
		return tftypes.NewValue(tftypes.Object{AttributeTypes: map[string]tftypes.Type{"a": tftypes.String}}, map[string]tftypes.Value{"a": text})
	}
	none, x, y := types.StringNull(), types.StringValue("x"), types.StringValue("y")
	for name, tc := range map[string]struct {
		prior, planned types.String
		isImported     bool
		isReplaced     bool
	}{
		"a change":                 {x, y, false, true},
		"a value for the first":    {none, y, false, true},
		"a value that is removed":  {x, none, false, true},
		"no change":                {x, x, false, false},
		"a change after an import": {x, y, true, true},
		"adopted after an import":  {none, y, true, false},
		"none after an import":     {none, none, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			req := planmodifier.StringRequest{
				State: tfsdk.State{Raw: raw(tc.prior)}, Plan: tfsdk.Plan{Raw: raw(tc.planned)}, StateValue: tc.prior, PlanValue: tc.planned, ConfigValue: tc.planned,
			}
			if req.Private = fresh(req.Private); tc.isImported {
				privatestate.MarkImported(t.Context(), req.Private)
			}
			resp := planmodifier.StringResponse{PlanValue: req.PlanValue}
			CreateOnlyString().PlanModifyString(t.Context(), req, &resp)
			if resp.RequiresReplace != tc.isReplaced || !resp.PlanValue.Equal(tc.planned) || resp.Diagnostics.HasError() {
				t.Errorf("replaced %v, planned %v, %v", resp.RequiresReplace, resp.PlanValue, resp.Diagnostics)
			}
		})
	}
}
