package emulator

import (
	"encoding/json"
	"maps"
	"slices"
)

var (
	// autonomyModes are the deprecated modes, and what each of them means; spec leaves the level as it is.
	autonomyModes = map[string]struct{ interaction, level string }{
		"normal": {"auto", "off"}, "spec": {"spec", ""}, "auto-low": {"auto", "low"}, "auto-medium": {"auto", "medium"}, "auto-high": {"auto", "high"},
	}
	// toolLists are the settings that are sets.
	toolLists = []string{"enabledToolIds", "disabledToolIds", "restrictToolIds"}
)

// The settings that have rules of their own.
const (
	settingMode        = "autonomyMode"
	settingInteraction = "interactionMode"
	settingLevel       = "autonomyLevel"
	settingArchived    = "archivedAt"
)

// sessionSettings are the settings of a session that have a value, by name. Each is replaced as a whole.
type sessionSettings map[string]json.RawMessage

// set gives a setting a text.
func (s sessionSettings) set(name, text string) {
	s[name], _ = json.Marshal(text) // A string can always be encoded.
}

// text is a setting that is a text; "" where it has no value.
func (s sessionSettings) text(name string) string {
	var text string
	_ = json.Unmarshal(s[name], &text) // Only what was read as a text is stored there.
	return text
}

// changed returns the settings with changes. A setting that contradicts the deprecated mode removes it.
func (s sessionSettings) changed(given sessionSettings) sessionSettings {
	next := maps.Clone(s)
	maps.Copy(next, given)
	_, renewed := given[settingMode]
	if !renewed && (next.text(settingInteraction) != s.text(settingInteraction) || next.text(settingLevel) != s.text(settingLevel)) {
		delete(next, settingMode)
	}
	return next
}

// shown returns the settings for a response. The tools of a list have no order.
func (s sessionSettings) shown(shuffled bool) sessionSettings {
	view := sessionSettings{}
	maps.Copy(view, s)
	for _, name := range toolLists {
		var ids []string
		if shuffled && json.Unmarshal(s[name], &ids) == nil {
			shuffle(ids)
			view[name], _ = json.Marshal(ids) // Strings can always be encoded.
		}
	}
	return view
}

// defaultSessionSettings are the organization's settings for new sessions, from the latest enterprise controls. The
// controls are a generic object, so values that are not valid settings are left out.
func (r *request) defaultSessionSettings() (sessionSettings, error) {
	defaults := sessionSettings{}
	c, err := latestControls(r.tx)
	if err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(c.Settings["sessionDefaultSettings"], &given) != nil {
		return defaults, nil
	}
	for _, name := range []string{"model", "reasoningEffort", settingInteraction, settingLevel, "specModeModel", "specModeReasoningEffort"} {
		if value, ok := given[name]; ok && r.e.doc.Allows("SessionSettings", name, value) {
			defaults[name] = value
		}
	}
	defaults.renameMode()
	return defaults, nil
}

// readSessionSettings reads the settings of a body. What the deprecated mode means is added to them.
func readSessionSettings(f *fields) sessionSettings {
	settings := sessionSettings{}
	o := f.object("sessionSettings")
	if o == nil {
		return settings
	}
	for name, value := range o.values {
		if slices.Contains(toolLists, name) { // Sets of tools.
			ids := []string{}
			for _, id := range o.texts(name) {
				if !slices.Contains(ids, id) {
					ids = append(ids, id)
				}
			}
			value, _ = json.Marshal(ids) // Strings can always be encoded.
		}
		settings[name] = value
	}
	settings.renameMode()
	if mode, found := autonomyModes[settings.text(settingMode)]; found {
		settings.derive(o, settingInteraction, mode.interaction)
		settings.derive(o, settingLevel, mode.level)
	}
	return settings
}

// renameMode replaces the deprecated spelling of an interaction mode.
func (s sessionSettings) renameMode() {
	if s.text(settingInteraction) == "agi" {
		s.set(settingInteraction, "mission")
	}
}

// derive gives a setting what the deprecated mode means, and notes a problem when the request says otherwise.
func (s sessionSettings) derive(f *fields, name, meant string) {
	if given := s.text(name); meant != "" && f.has(name) && given != meant {
		f.problemBy("autonomy-contradiction", name, "contradicts the deprecated autonomyMode %q, which means %q", s.text(settingMode), meant)
	}
	if meant != "" {
		s.set(name, meant)
	}
}
