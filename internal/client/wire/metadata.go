package wire

import (
	"encoding/json"
	"errors"
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
