package organization

import "encoding/json"

// ControlSettings has enterprise control settings, or the fields of one, by name. The service may add, remove, and rename them,
// so a value that is missing or has another type than documented is nil.
type ControlSettings map[string]json.RawMessage

// Values returns the settings after the change.
func (c *ControlChange) Values() *ControlSettings {
	all := ControlSettings{}
	_ = json.Unmarshal(c.Settings, &all) // Settings of another type have no known values.
	return &all
}

// Setting returns a setting; nil if it does not have the type. A null in a list or a map is the zero value.
func Setting[T any](s *ControlSettings, name string) (value T) {
	if json.Unmarshal((*s)[name], &value) != nil {
		var none T
		return none
	}
	return value
}
