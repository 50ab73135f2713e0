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
		text, ok := TextOf(value)
		if !ok {
			var compact bytes.Buffer
			if err := json.Compact(&compact, value); err != nil {
				return fmt.Errorf("read metadata: %w", err)
			}
			text = compact.String()
		}
		(*m)[key] = text
	}
	return nil
}
