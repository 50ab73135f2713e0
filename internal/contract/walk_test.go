package contract

import (
	"encoding/json"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// examples have the format that a field has in the contract.
var examples = map[string]string{
	"uuid":      "00000000-0000-4000-8000-000000000000",
	"date-time": "2026-01-01T00:00:00Z",
	"date":      "2026-01-01",
	"uri":       "https://example.com/text",
	"email":     "text@example.com",
}

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
