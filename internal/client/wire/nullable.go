package wire

import "encoding/json"

// Nullable is a required field that may be null: a missing one must not look like an unset value.
type Nullable[T any] struct {
	IsPresent bool
	Value     *T
}

// UnmarshalJSON is called only for a field that is present.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	n.IsPresent = true
	return json.Unmarshal(data, &n.Value)
}
