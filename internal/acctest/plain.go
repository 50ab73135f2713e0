package acctest

import (
	"maps"
	"math/big"
	"reflect"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// Plain returns a value as Go values: nil, string, bool, float64, []any for lists and sets, and map[string]any for maps and objects.
// An unknown value is the text "unknown".
func Plain(t testing.TB, v tftypes.Value) any {
	t.Helper()
	if v.IsNull() {
		return nil
	}
	if !v.IsKnown() {
		return "unknown"
	}
	switch typ := v.Type(); {
	case typ.Is(tftypes.String):
		return as[string](t, v)
	case typ.Is(tftypes.Bool):
		return as[bool](t, v)
	case typ.Is(tftypes.Number):
		n := as[big.Float](t, v)
		f, _ := n.Float64()
		return f
	case typ.Is(tftypes.Map{}), typ.Is(tftypes.Object{}):
		all := map[string]any{}
		for name, one := range as[map[string]tftypes.Value](t, v) {
			all[name] = Plain(t, one)
		}
		return all
	}
	all := []any{}
	for _, one := range as[[]tftypes.Value](t, v) {
		all = append(all, Plain(t, one))
	}
	return all
}

func as[T any](t testing.TB, v tftypes.Value) T {
	t.Helper()
	var to T
	check.Must(t, v.As(&to))
	return to
}

// Plainly returns attributes as Plain does.
func Plainly(t testing.TB, attributes map[string]tftypes.Value) map[string]any {
	t.Helper()
	all := map[string]any{}
	for name, v := range attributes {
		all[name] = Plain(t, v)
	}
	return all
}

// WithoutNulls removes the null attributes from a value of Plain.
func WithoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		maps.DeleteFunc(v, func(_ string, one any) bool { return WithoutNulls(one) == nil })
	case []any:
		for _, one := range v {
			WithoutNulls(one)
		}
	}
	return v
}

// MustHave fails the test unless an object has these attributes, among others.
func MustHave(t testing.TB, object, want map[string]any) {
	t.Helper()
	for name, v := range want {
		if !reflect.DeepEqual(object[name], v) {
			t.Errorf("%s is\n%#v, want\n%#v", name, object[name], v)
		}
	}
}
