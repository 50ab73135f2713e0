package contract

import (
	"encoding/json"
	"fmt"
	"strings"

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
// as they came. Of each list, only one element is left. With a status and inside of a field that the contract does not have, only those fields are left
// whose names it has elsewhere: others could be the keys of a map. It is nil if there was no JSON.
func (c *Checked) Body(around Deviation) any {
	return c.redact(c.schema, c.body, around.path)
}

// redact replaces the values. The path leads to the element of each list that is left.
func (c *Checked) redact(ref *openapi3.SchemaRef, v any, along path) any {
	for ref != nil && len(ref.Value.OneOf) > 0 {
		ref, _, _ = closest(ref.Value, v, nil, "")
	}
	for ref != nil && len(ref.Value.AllOf) == 1 { // A reference with something beside it.
		ref = ref.Value.AllOf[0]
	}
	s := &openapi3.Schema{}
	if ref != nil {
		s = ref.Value
	}
	switch v := v.(type) {
	case map[string]any:
		fields := map[string]any{}
		for name, value := range v {
			inner, key := s.AdditionalProperties.Schema, "key" // The keys of a map are values.
			switch more := s.AdditionalProperties.Has; {
			case ref == nil && !c.names[name]:
				continue
			case ref == nil:
				key = name
			case s.Properties[name] != nil:
				inner, key = s.Properties[name], name
			case more != nil && !*more:
				key = shownKey(name)
			}
			var rest path
			if len(along) > 0 && along[0].key == name {
				rest = along[1:]
			} else if _, ok := fields[key]; ok {
				continue // Of several keys that look alike, the one on the path stays.
			}
			fields[key] = c.redact(inner, value, rest)
		}
		return fields
	case []any:
		switch {
		case len(v) == 0:
			return []any{}
		case len(along) > 0 && along[0].key == "" && along[0].index < len(v):
			return []any{c.redact(s.Items, v[along[0].index], along[1:])}
		default:
			return []any{c.redact(s.Items, v[0], nil)}
		}
	case string:
		return redactText(s, v)
	case json.Number:
		switch {
		case typeOf(v) == openapi3.TypeNumber:
			return 1.5
		case s.Min != nil && *s.Min > 1:
			return *s.Min
		default:
			return 1
		}
	case bool:
		return len(s.Enum) > 0 && v // A replayed false ends a listing.
	default:
		return nil
	}
}

func redactText(s *openapi3.Schema, v string) any {
	if isNumber(v) && (s.Type.Is(openapi3.TypeInteger) || s.Type.Is(openapi3.TypeNumber)) {
		return "1"
	}
	if len(s.Enum) > 0 {
		if shown := shownWord(s, v); shown == v {
			return v
		}
		return "another"
	}
	if s.Type == nil { // The contract does not have it.
		for _, format := range []string{"uuid", "date-time"} {
			if (&openapi3.Schema{Type: &openapi3.Types{openapi3.TypeString}, Format: format}).VisitJSON(v, formats...) == nil {
				return examples[format]
			}
		}
	}
	if example, ok := examples[s.Format]; ok && s.VisitJSON(v, formats...) == nil {
		return example
	}
	return "text"
}

// looksLikeName reports a name of a field or a word of an enum: short, of ASCII letters, _ and -, and with few digits and capitals.
// Keys, IDs, and addresses do not look so. In some words, all letters are capitals.
func looksLikeName(text string) bool {
	small, capitals, digits := 0, 0, 0
	for i, r := range text {
		switch {
		case r >= 'a' && r <= 'z':
			small++
		case r >= 'A' && r <= 'Z':
			capitals++
		case i > 0 && r >= '0' && r <= '9':
			digits++
		case r != '_' && r != '-' || i == 0 && r == '-':
			return false
		}
	}
	if small == 0 {
		return len(text) <= 40 && capitals > 0 && digits == 0
	}
	return len(text) <= 40 && capitals <= 5 && digits <= 2
}

// shownKey returns the name of a field that the contract does not have if it looks like one, which begins with a small letter.
func shownKey(name string) string {
	if looksLikeName(name) && (name[0] < 'A' || name[0] > 'Z') {
		return name
	}
	return "key"
}

// shownWord returns the value of an enum if the contract has it, in whatever case, or if it looks like the words that it has: a
// person's name has capitals or blanks, which those have not.
func shownWord(s *openapi3.Schema, v any) string {
	text, ok := v.(string)
	if !ok {
		return "another " + typeOf(v)
	}
	capitals := false
	for _, known := range s.Enum {
		word := fmt.Sprint(known)
		if strings.EqualFold(word, text) {
			return text
		}
		capitals = capitals || strings.ToLower(word) != word
	}
	if !looksLikeName(text) || !capitals && strings.ToLower(text) != text {
		return "another string"
	}
	return text
}
