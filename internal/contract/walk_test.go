package contract

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

// sample returns a value that has every field of a schema. Of a choice, it follows the form with the given index.
func sample(s *openapi3.Schema, form, depth int) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Pattern != "" && s.Default != nil:
		return s.Default
	case len(s.OneOf) > 0:
		return sample(s.OneOf[form%len(s.OneOf)].Value, form, depth)
	case s.Type.Is(openapi3.TypeObject):
		fields := map[string]any{}
		for name, field := range s.Properties {
			fields[name] = sample(field.Value, form, depth+1)
		}
		if more := s.AdditionalProperties.Schema; more != nil {
			fields["any key"] = sample(more.Value, form, depth+1)
		}
		return fields
	case s.Type.Is(openapi3.TypeArray) && depth > 4: // A tree has no end.
		return []any{}
	case s.Type.Is(openapi3.TypeArray):
		return []any{sample(s.Items.Value, form+depth, depth+1)}
	case s.Type.Is(openapi3.TypeBoolean):
		return true
	case s.Type.Is(openapi3.TypeInteger), s.Type.Is(openapi3.TypeNumber):
		if s.Min != nil {
			return json.Number(strings.TrimSuffix(string(mustJSON(*s.Min)), ".0"))
		}
		return json.Number("1")
	case s.Format != "" && examples[s.Format] != "":
		return examples[s.Format]
	default:
		return "text"
	}
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// variants yields a value with one change in it, at each place and of each kind.
func variants(v any, yield func(any)) {
	for _, other := range []any{nil, true, json.Number("1.5"), json.Number("-1"), "", "other", []any{}, map[string]any{}} {
		yield(other)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			less := maps.Clone(v)
			delete(less, name)
			yield(less)
			variants(v[name], func(changed any) {
				other := maps.Clone(v)
				other[name] = changed
				yield(other)
			})
		}
		more := maps.Clone(v)
		more["colour"] = "red"
		yield(more)
	case []any:
		for i := range v {
			variants(v[i], func(changed any) {
				other := slices.Clone(v)
				other[i] = changed
				yield(other)
			})
		}
	}
}

// The walk names places, assumptions, and the closest form of a choice, which the library does not. Both have to agree about
// what is valid.
func TestWalk_agreesWithTheLibrary(t *testing.T) {
	t.Parallel()
	d, tried, valid := document(t), 0, 0
	for i := range d.routes {
		schemas := map[string]*openapi3.SchemaRef{}
		for status, response := range d.routes[i].declared.Operation.Responses.Map() {
			if media := response.Value.Content["application/json"]; media != nil && (status < "3" || i == 0) {
				schemas[status] = media.Schema
			}
		}
		if body := d.routes[i].declared.Operation.RequestBody; body != nil {
			schemas["request"] = body.Value.Content["application/json"].Schema
		}
		for name, schema := range schemas {
			compare := func(v any) {
				w := newWalker()
				w.value(schema, v, nil, "")
				err := schema.Value.VisitJSON(v, formats...)
				tried++
				if err == nil {
					valid++
				}
				if (err == nil) != (len(w.found) == 0) {
					t.Errorf("%s %s: %s\nlibrary: %v\nwalk: %v", d.routes[i].ID, name, mustJSON(v), err, w.found)
				}
			}
			for form := range 2 {
				whole := sample(schema.Value, form, 0)
				compare(whole)
				variants(whole, compare)
			}
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d values, %d of them valid", tried, valid)
	if valid*20 < tried {
		t.Errorf("only %d of %d values are valid", valid, tried)
	}
}
