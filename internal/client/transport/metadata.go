package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Metadata is what an organization keeps about a member. A value that is no string is its JSON.
type Metadata map[string]string

// UnmarshalJSON takes values of any type.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	var values map[string]json.RawMessage
	if err := json.Unmarshal(data, &values); err != nil {
		return fmt.Errorf("read metadata: %w", err)
	}
	*m = make(Metadata, len(values))
	for key, value := range values {
		(*m)[key] = TextOrJSON(value)
	}
	return nil
}

// TextOrJSON returns the text of a JSON string, and any other decoded value as JSON.
func TextOrJSON(raw json.RawMessage) string {
	if text, ok := TextOf(raw); ok {
		return text
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, raw) // It is valid: it was decoded.
	return compact.String()
}
