package acctest

import (
	"math/big"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// valueOf converts plain Go values to a value of the type. Absent attributes are null, and tftypes.UnknownValue is unknown.
func valueOf(t testing.TB, typ tftypes.Type, v any) tftypes.Value {
	t.Helper()
	if v == nil || v == tftypes.UnknownValue {
		return tftypes.NewValue(typ, v)
	}
	switch typ := typ.(type) {
	case tftypes.Object:
		given, ok := v.(map[string]any)
		if !ok {
			t.Fatalf("%v is not an object", v)
		}
		attributes := make(map[string]tftypes.Value, len(typ.AttributeTypes))
		for name, attribute := range typ.AttributeTypes {
			attributes[name] = valueOf(t, attribute, given[name])
		}
		for name := range given {
			if _, ok := typ.AttributeTypes[name]; !ok {
				t.Fatalf("there is no attribute %q", name)
			}
		}
		return tftypes.NewValue(typ, attributes)
	case tftypes.List:
		return tftypes.NewValue(typ, elements(t, typ.ElementType, v))
	case tftypes.Set:
		return tftypes.NewValue(typ, elements(t, typ.ElementType, v))
	case tftypes.Map:
		entries := map[string]tftypes.Value{}
		for key, entry := range v.(map[string]any) {
			entries[key] = valueOf(t, typ.ElementType, entry)
		}
		return tftypes.NewValue(typ, entries)
	}
	if n, ok := v.(int); ok {
		v = big.NewFloat(float64(n))
	}
	return tftypes.NewValue(typ, v)
}

func elements(t testing.TB, typ tftypes.Type, v any) []tftypes.Value {
	var out []tftypes.Value
	for _, element := range v.([]any) {
		out = append(out, valueOf(t, typ, element))
	}
	return out
}

// Arguments returns the names of a resource's arguments.
func (p *Process) Arguments(typeName string) (names []string) {
	for _, attribute := range p.schemas[typeName].Block.Attributes {
		if attribute.Required || attribute.Optional {
			names = append(names, attribute.Name)
		}
	}
	return names
}

// Unknown returns the attributes that the planned state leaves unknown, without the keys of elements.
func (o Outcome) Unknown(t testing.TB) (names []string) {
	t.Helper()
	check.Must(t, tftypes.Walk(o.Planned, func(path *tftypes.AttributePath, v tftypes.Value) (bool, error) {
		if v.IsKnown() {
			return true, nil
		}
		var parts []string
		for _, step := range path.Steps() {
			if name, ok := step.(tftypes.AttributeName); ok {
				parts = append(parts, string(name))
			}
		}
		names = append(names, strings.Join(parts, "."))
		return false, nil
	}))
	return names
}

// ForgetPrivate removes the private state, which states of other versions may lack.
func (i *Instance) ForgetPrivate() { i.private = nil }
