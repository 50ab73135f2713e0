package modifier

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/types"
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
		if resp.PlanValue.ValueString() != want {
			t.Errorf("%q becomes %s, want %q", plan, resp.PlanValue, want)
		}
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
