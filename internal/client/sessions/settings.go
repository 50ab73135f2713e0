package sessions

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Values of the settings' enumerations. The service may return others.
var (
	ReasoningEfforts   = []string{"none", "dynamic", "off", "minimal", "low", "medium", "high", "xhigh", "max"}
	InteractionModes   = []string{"auto", "spec", "agi", "mission"}
	AutonomyLevels     = []string{"off", "low", "medium", "high"}
	AutonomyModes      = []string{"normal", "spec", "auto-low", "auto-medium", "auto-high"}
	WorktreeLifecycles = []string{"ephemeral", "persistent"}
	ToolExecutionModes = []string{"direct_only", "direct_and_script", "script_only"}
)

// Settings are the settings of a session. Nil means "not returned" in a response, and "keep" in a request.
type Settings struct {
	Model           *string `json:"model,omitempty"`
	ReasoningEffort *string `json:"reasoningEffort,omitempty"`
	InteractionMode *string `json:"interactionMode,omitempty"`
	AutonomyLevel   *string `json:"autonomyLevel,omitempty"`
	// AutonomyMode is deprecated in favor of InteractionMode and AutonomyLevel.
	AutonomyMode            *string `json:"autonomyMode,omitempty"`
	SpecModeModel           *string `json:"specModeModel,omitempty"`
	SpecModeReasoningEffort *string `json:"specModeReasoningEffort,omitempty"`
	ProviderLock            *string `json:"providerLock,omitempty"`
	ProviderLockTimestamp   *string `json:"providerLockTimestamp,omitempty"`
	APIProviderLock         *string `json:"apiProviderLock,omitempty"`
	ArchivedAt              *string `json:"archivedAt,omitempty"`
	// Empty lists of tags and tools are sent, because they remove all of them.
	Tags                            []Tag     `json:"tags,omitzero"`
	Worktree                        *Worktree `json:"worktree,omitempty"`
	SetupProfileID                  *string   `json:"setupProfileId,omitempty"`
	EnabledToolIDs                  []string  `json:"enabledToolIds,omitzero"`
	DisabledToolIDs                 []string  `json:"disabledToolIds,omitzero"`
	RestrictToolIDs                 []string  `json:"restrictToolIds,omitzero"`
	CompactionModel                 *string   `json:"compactionModel,omitempty"`
	CompactionThresholdCheckEnabled *bool     `json:"compactionThresholdCheckEnabled,omitempty"`
	// ToolExecutionMode and AllowSubagentsInScripts can only be set at creation.
	ToolExecutionMode       *string `json:"toolExecutionMode,omitempty"`
	AllowSubagentsInScripts *bool   `json:"allowSubagentsInScripts,omitempty"`
}

// Tag is a tag of a session.
type Tag struct {
	Name     string        `json:"name"`
	Metadata wire.Metadata `json:"metadata,omitzero"`
}

// Worktree is the Git worktree in which a session works.
type Worktree struct {
	RepoRoot           string  `json:"repoRoot"`
	Branch             *string `json:"branch,omitempty"`
	Lifecycle          *string `json:"lifecycle,omitempty"`
	Path               *string `json:"path,omitempty"`
	ParentWorktreePath *string `json:"parentWorktreePath,omitempty"`
	RemovedAt          *string `json:"removedAt,omitempty"`
}

// fields returns the settings that are set, by their names in the API.
func (s *Settings) fields() map[string]any {
	fields := map[string]any{}
	if s != nil {
		text, _ := json.Marshal(s) // Strings, booleans, and lists can always be encoded.
		_ = json.Unmarshal(text, &fields)
	}
	return fields
}

func fromFields(fields map[string]any) *Settings {
	s := &Settings{}
	text, _ := json.Marshal(fields)
	_ = json.Unmarshal(text, s)
	return s
}

func (s *Settings) IsEmpty() bool { return len(s.fields()) == 0 }

// isCreateOnly reports whether a setting cannot be changed after creation.
func isCreateOnly(name string) bool {
	return name == "toolExecutionMode" || name == "allowSubagentsInScripts"
}

// Changes returns the settings that differ from the prior ones and that the service can change.
func (s *Settings) Changes(prior *Settings) *Settings {
	changes, before := s.fields(), prior.fields()
	maps.DeleteFunc(changes, func(name string, v any) bool {
		return isCreateOnly(name) || before[name] != nil && holdsIn(v, before[name])
	})
	return fromFields(changes)
}

// HoldsIn reports whether other has every setting that is set in s, perhaps in another form.
func (s *Settings) HoldsIn(other *Settings) bool { return len(s.NotIn(other)) == 0 }

// NotIn returns the API's names of the settings in s that other lacks or has with another value.
func (s *Settings) NotIn(other *Settings) []string {
	wanted, found := s.fields(), other.fields()
	maps.DeleteFunc(wanted, func(name string, v any) bool {
		return other != nil && (holdsIn(v, found[name]) || name == "autonomyMode" && other.means(s.AutonomyMode))
	})
	return slices.Sorted(maps.Keys(wanted))
}

// Keeping returns the settings in the form of the previous ones where both mean the same. A setting that a response lacks is
// unset. Only if the response has no settings at all, the previous ones are kept.
func (s *Settings) Keeping(previous *Settings) *Settings {
	if s == nil || previous == nil {
		return cmp.Or(s, previous)
	}
	kept := s.fields()
	for name, v := range previous.fields() {
		if name == "restrictToolIds" && kept[name] == nil {
			continue // An empty list may allow no tools, and a missing one allows all of them.
		}
		isUnsaid := kept[name] == nil && isCreateOnly(name) || name == "autonomyMode" && s.means(previous.AutonomyMode)
		if isUnsaid || isSame(v, kept[name]) {
			kept[name] = v
		}
	}
	return fromFields(kept)
}

// means reports whether the settings lack the deprecated mode but do not contradict it.
func (s *Settings) means(mode *string) bool {
	return s != nil && s.AutonomyMode == nil && mode != nil && !s.Contradicts(*mode)
}

// Contradicts reports whether the settings differ from a deprecated autonomy mode.
func (s *Settings) Contradicts(mode string) bool {
	interaction, level, _ := modeOf(mode)
	return interaction != "" && s.InteractionMode != nil && !sameText(*s.InteractionMode, interaction) ||
		level != "" && s.AutonomyLevel != nil && *s.AutonomyLevel != level
}

// modeOf returns the interaction mode and autonomy level of a deprecated autonomy mode; either may be empty if the mode does
// not set it. Ok is false for an unknown mode.
func modeOf(mode string) (interaction, level string, ok bool) {
	switch mode {
	case "normal":
		return "auto", "off", true
	case "auto-low":
		return "auto", "low", true
	case "auto-medium":
		return "auto", "medium", true
	case "auto-high":
		return "auto", "high", true
	case "spec":
		return "spec", "", true
	}
	return "", "", false
}

// isSame reports whether two values of a setting mean the same; b may be nil.
func isSame(a, b any) bool { return holdsIn(a, b) && (b == nil || holdsIn(b, a)) }

// holdsIn reports whether another value of a setting contains this one. The order of a list does not matter, and an empty list
// equals none.
func holdsIn(a, b any) bool {
	switch a := a.(type) {
	case string:
		other, isText := b.(string)
		return isText && sameText(a, other)
	case []any:
		others, _ := b.([]any)
		return areIn(a, others) && areIn(others, a)
	case map[string]any:
		other, _ := b.(map[string]any)
		for name, v := range a {
			if !holdsIn(v, other[name]) {
				return false
			}
		}
		return true
	}
	return a == b
}

func areIn(values, others []any) bool {
	for _, v := range values {
		if !slices.ContainsFunc(others, func(other any) bool { return isSame(v, other) }) {
			return false
		}
	}
	return true
}

// sameText compares two settings: agi is the old name of mission, and a time may have several forms.
func sameText(a, b string) bool {
	if a == b || min(a, b) == "agi" && max(a, b) == "mission" {
		return true
	}
	x, errX := time.Parse(time.RFC3339, a)
	y, errY := time.Parse(time.RFC3339, b)
	return errX == nil && errY == nil && x.Equal(y)
}
