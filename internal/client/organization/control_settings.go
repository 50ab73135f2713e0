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

// Setting returns a setting; nil if it does not have the type.
func Setting[T any](s *ControlSettings, name string) *T {
	var value *T
	if json.Unmarshal((*s)[name], &value) != nil {
		return nil
	}
	return value
}

// SettingList returns a setting that is a list; nil if it, or an element, does not have the type.
func SettingList[T any](s *ControlSettings, name string) []T {
	found := Setting[[]*T](s, name)
	if found == nil {
		return nil
	}
	items := make([]T, len(*found))
	for i, item := range *found {
		if item == nil {
			return nil
		}
		items[i] = *item
	}
	return items
}

// SettingMap returns a setting that is a map; nil if it, or an element, does not have the type.
func SettingMap[T any](s *ControlSettings, name string) map[string]T {
	found := Setting[map[string]*T](s, name)
	if found == nil {
		return nil
	}
	items := make(map[string]T, len(*found))
	for key, item := range *found {
		if item == nil {
			return nil
		}
		items[key] = *item
	}
	return items
}
