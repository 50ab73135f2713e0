package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
)

// Metadata is what an organization keeps about a member. A value that is not a string is kept as JSON.
type Metadata map[string]string

// UnmarshalJSON accepts values of any type.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	var values map[string]json.RawMessage
	if json.Unmarshal(data, &values) != nil {
		return errors.New("the metadata is not an object")
	}
	*m = make(Metadata, len(values))
	for key, value := range values {
		(*m)[key] = TextOrJSON(value)
	}
	return nil
}

// TextOrJSON returns the text of a JSON string, and the JSON of any other value.
func TextOrJSON(raw json.RawMessage) string {
	if text, ok := TextOf(raw); ok {
		return text
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, raw) // Decoded JSON is valid.
	return compact.String()
}

// Messages joins the messages of a list of strings or objects.
func Messages(items []json.RawMessage) string {
	var messages []string
	for _, item := range items {
		text, ok := TextOf(item)
		if !ok {
			var object map[string]json.RawMessage
			_ = json.Unmarshal(item, &object)
			text, _ = TextOf(object["message"])
		}
		if text != "" {
			messages = append(messages, text)
		}
	}
	return strings.Join(messages, "; ")
}

// TextOf returns a JSON string; ok is false for any other value, including null.
func TextOf(raw json.RawMessage) (text string, ok bool) {
	var decoded *string
	if json.Unmarshal(raw, &decoded) != nil || decoded == nil {
		return "", false
	}
	return *decoded, true
}
