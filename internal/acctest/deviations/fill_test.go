package deviations

import (
	"encoding/json"

	"github.com/getkin/kin-openapi/openapi3"
)

// deepest ends recursive schemas.
const deepest = 12

// fill fills in optional fields and empty lists, so that every field of the contract is varied.
func fill(schema *openapi3.SchemaRef, v any, depth int) any {
	if schema == nil {
		return v
	}
	for _, option := range schema.Value.OneOf {
		if v != nil && matches(option.Value, v) {
			return fill(option, v, depth)
		}
	}
	switch v := v.(type) {
	case []any:
		if len(v) == 0 && depth < deepest/2 {
			return valueOf(schema, "", depth)
		}
		for i := range v {
			v[i] = fill(schema.Value.Items, v[i], depth+1)
		}
	case map[string]any:
		for name, property := range schema.Value.Properties {
			if _, ok := v[name]; ok {
				v[name] = fill(property, v[name], depth+1)
			} else {
				v[name] = valueOf(property, name, depth+1)
			}
		}
	}
	return v
}

// valueOf returns a value of a schema. The texts of the elements of a list differ.
func valueOf(ref *openapi3.SchemaRef, text string, depth int) any {
	schema := ref.Value
	switch {
	case len(schema.OneOf) > 0:
		return valueOf(schema.OneOf[0], text, depth)
	case schema.Type.Is(openapi3.TypeObject):
		object := map[string]any{}
		for name, property := range schema.Properties {
			object[name] = valueOf(property, name+text, depth+1)
		}
		return object
	case schema.Type.Is(openapi3.TypeArray) && depth > deepest/2:
		return []any{}
	case schema.Type.Is(openapi3.TypeArray):
		return []any{valueOf(schema.Items, text+"-1", depth+1), valueOf(schema.Items, text+"-2", depth+1)}
	case schema.Type.Is(openapi3.TypeBoolean):
		return true
	case schema.Type.Is(openapi3.TypeInteger), schema.Type.Is(openapi3.TypeNumber):
		return json.Number("1772366400000")
	case len(schema.Enum) > 0:
		return schema.Enum[0]
	case schema.Format == "date-time":
		return "2026-03-01T12:00:00Z"
	case schema.Format == "date":
		return "2026-03-01"
	case schema.Format == "uri":
		return "https://files.agentyard.example/" + text
	}
	return text
}
