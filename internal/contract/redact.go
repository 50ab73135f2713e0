package contract

import (
	"encoding/json"

	"github.com/getkin/kin-openapi/openapi3"
)

// examples have the format that a field has in the contract, and replace its value.
var examples = map[string]string{
	"uuid":      "00000000-0000-4000-8000-000000000000",
	"date-time": "2026-01-01T00:00:00Z",
	"date":      "2026-01-01",
	"uri":       "https://example.com/text",
	"email":     "text@example.com",
}

// Body returns the answer's body around a deviation, without values: its types, the words of enums, and names of fields are
// as they came. Of each list, only one element is left. It is nil if there was no JSON.
func (c *Checked) Body(around Deviation) any {
	if c.schema == nil {
		return nil
	}
	return redact(c.schema, c.body, around.path)
}

// redact replaces the values. The path leads to the element of each list that is left.
func redact(ref *openapi3.SchemaRef, v any, along path) any {
	for ref != nil && len(ref.Value.OneOf) > 0 {
		ref, _, _ = closest(ref.Value, v, nil, "")
	}
	var s *openapi3.Schema
	if ref != nil {
		s = ref.Value
	}
	switch v := v.(type) {
	case map[string]any:
		fields := map[string]any{}
		for name, value := range v {
			var inner *openapi3.SchemaRef
			key := shownKey(name)
			switch {
			case s == nil:
			case s.Properties[name] != nil:
				inner, key = s.Properties[name], name
			case s.AdditionalProperties.Schema != nil, s.AdditionalProperties.Has != nil && *s.AdditionalProperties.Has:
				inner, key = s.AdditionalProperties.Schema, "key" // The keys of a map are values.
			}
			var rest path
			if len(along) > 0 && along[0].key == name {
				rest = along[1:]
			} else if _, ok := fields[key]; ok {
				continue // Of several keys that look alike, the one on the path stays.
			}
			fields[key] = redact(inner, value, rest)
		}
		return fields
	case []any:
		var items *openapi3.SchemaRef
		if s != nil {
			items = s.Items
		}
		switch {
		case len(v) == 0:
			return v
		case len(along) > 0 && along[0].key == "" && along[0].index < len(v):
			return []any{redact(items, v[along[0].index], along[1:])}
		default:
			return []any{redact(items, v[0], nil)}
		}
	case string:
		return redactText(s, v)
	case json.Number:
		switch {
		case typeOf(v) == openapi3.TypeNumber:
			return 1.5
		case s != nil && s.Min != nil && *s.Min > 1:
			return *s.Min
		default:
			return 1
		}
	default:
		return v
	}
}

func redactText(s *openapi3.Schema, v string) any {
	if s == nil {
		return "text"
	}
	if len(s.Enum) > 0 {
		for _, known := range s.Enum {
			if known == v {
				return v
			}
		}
		if shown := shownWord(v); shown == v {
			return v
		}
		return "another"
	}
	if example, ok := examples[s.Format]; ok && s.VisitJSON(v, options.SchemaValidationOptions...) == nil {
		return example
	}
	return "text"
}
