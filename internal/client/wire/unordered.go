package wire

import (
	"encoding/json"
	"slices"
	"strings"
)

// Unordered is a list whose order has no meaning. It is sorted when it is decoded, because a changing order would show up as
// drift.
type Unordered[T any] []T

// UnmarshalJSON sorts the elements by their JSON, which begins with their first field.
func (u *Unordered[T]) UnmarshalJSON(data []byte) error {
	var elements []T
	if err := json.Unmarshal(data, &elements); err != nil {
		return err
	}
	slices.SortStableFunc(elements, func(a, b T) int {
		x, _ := json.Marshal(a) // What was decoded can be encoded.
		y, _ := json.Marshal(b)
		return strings.Compare(string(x), string(y))
	})
	*u = elements
	return nil
}
