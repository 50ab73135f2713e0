package emulator

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

var (
	reasoningEfforts = []string{"none", "dynamic", "off", "minimal", "low", "medium", "high", "xhigh", "max"}
	interactionModes = []string{"auto", "spec", "agi", "mission"}
	autonomyLevels   = []string{"off", "low", "medium", "high"}
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
func defaultSessionSettings(tx *bolt.Tx) (sessionSettings, error) {
	defaults := sessionSettings{}
	c, err := latestControls(tx)
	if err != nil {
		return nil, err
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(c.Settings["sessionDefaultSettings"], &given) != nil {
		return defaults, nil
	}
	f := &fields{values: given, problems: &[]problem{}}
	for _, name := range []string{"model", "reasoningEffort", settingInteraction, settingLevel, "specModeModel", "specModeReasoningEffort"} {
		if problems := len(*f.problems); f.has(name) {
			if readSetting(f, name); len(*f.problems) == problems {
				defaults[name] = given[name]
			}
		}
	}
	defaults.renameMode()
	return defaults, nil
}

// settingsOf says which settings an operation takes.
type settingsOf int

const (
	onUpdate settingsOf = iota
	onCreation
)

// readSessionSettings reads the settings of a body. What the deprecated mode means is added to them.
func readSessionSettings(f *fields, operation settingsOf) sessionSettings {
	settings := sessionSettings{}
	o := f.object("sessionSettings")
	if o == nil {
		return settings
	}
	names := []string{
		"model", "reasoningEffort", settingInteraction, settingLevel, settingMode, "specModeModel", "specModeReasoningEffort", "providerLock",
		"providerLockTimestamp", "apiProviderLock", settingArchived, "tags", "worktree", "setupProfileId", "compactionModel", "compactionThresholdCheckEnabled",
	}
	names = append(names, toolLists...)
	if operation == onCreation {
		names = append(names, "toolExecutionMode", "allowSubagentsInScripts")
	}
	for _, name := range names {
		readSetting(o, name)
		if o.has(name) {
			settings[name] = o.values[name]
		}
	}
	o.unknown()
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

// readSetting reads one setting by the rules of its kind.
func readSetting(f *fields, name string) {
	switch name {
	case "reasoningEffort", "specModeReasoningEffort":
		f.enum(name, reasoningEfforts...)
	case settingInteraction:
		f.enum(name, interactionModes...)
	case settingLevel:
		f.enum(name, autonomyLevels...)
	case settingMode:
		f.enum(name, slices.Sorted(maps.Keys(autonomyModes))...)
	case "toolExecutionMode":
		f.enum(name, "direct_only", "direct_and_script", "script_only")
	case "allowSubagentsInScripts", "compactionThresholdCheckEnabled":
		f.boolean(name)
	case "providerLock", "apiProviderLock":
		f.text(name, 1, maxBody)
	case "compactionModel":
		if f.text(name, 1, maxBody) == "custom:" {
			f.problem(name, "must name a model after %q", "custom:")
		}
	case "enabledToolIds", "disabledToolIds", "restrictToolIds":
		readToolIDs(f, name)
	case "tags":
		readTags(f)
	case "worktree":
		readWorktree(f)
	default:
		f.text(name, 0, maxBody)
	}
}

// readToolIDs reads a set of tools and removes duplicates.
func readToolIDs(f *fields, name string) {
	var items []json.RawMessage
	if !f.read(name, "a list of strings", &items) {
		return
	}
	ids := []string{}
	for i, raw := range items {
		var id string
		switch {
		case string(raw) == "null" || json.Unmarshal(raw, &id) != nil:
			f.problem(fmt.Sprintf("%s[%d]", name, i), "must be a string")
		case strings.ContainsRune(id, 0):
			f.problemBy("nul-character", fmt.Sprintf("%s[%d]", name, i), "must not contain a NUL character")
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	f.values[name], _ = json.Marshal(ids) // Strings can always be encoded.
}

func readTags(f *fields) {
	tags, found := f.objects("tags")
	if !found {
		return
	}
	for _, tag := range tags {
		tag.required("name")
		tag.text("name", 1, maxBody)
		if metadata := tag.object("metadata"); metadata != nil {
			for _, name := range slices.Sorted(maps.Keys(metadata.values)) {
				metadata.text(name, 0, maxBody)
			}
		}
		tag.unknown()
	}
}

func readWorktree(f *fields) {
	w := f.object("worktree")
	if w == nil {
		return
	}
	w.required("repoRoot")
	for _, name := range []string{"branch", "path", "parentWorktreePath", "removedAt", "repoRoot"} {
		w.text(name, 0, maxBody)
	}
	w.enum("lifecycle", "ephemeral", "persistent")
	w.unknown()
}

// readSystemPrompt reads a text, or an object that adds one to a preset.
func readSystemPrompt(f *fields) json.RawMessage {
	const name = "systemPrompt"
	var raw json.RawMessage
	if !f.read(name, "a string or an object", &raw) {
		return nil
	}
	if raw[0] == '"' {
		if problems := len(*f.problems); strings.TrimSpace(f.text(name, 0, maxBody)) == "" && len(*f.problems) == problems {
			f.problem(name, "must not be blank")
		}
		return raw
	}
	if o := f.nested(name, raw); o != nil {
		o.required("type")
		o.required("preset")
		o.required("append")
		o.enum("type", "preset")
		o.enum("preset", "agent")
		o.text("append", 0, maxBody)
		o.unknown()
	}
	return raw
}
