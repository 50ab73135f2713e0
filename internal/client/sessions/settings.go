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
	WorktreeLifecycles = []string{"ephemeral", "persistent"}
	ToolExecutionModes = []string{"direct_only", "direct_and_script", "script_only"}
)

// Settings are the settings of a session. Nil means "not returned" in a response, and "keep" in a request. The names of the
// fields in JSON are the API's, and the other ones are those of the attributes.
type Settings struct {
	Model           *string `json:"model,omitempty" tfsdk:"model"`
	ReasoningEffort *string `json:"reasoningEffort,omitempty" tfsdk:"reasoning_effort"`
	InteractionMode *string `json:"interactionMode,omitempty" tfsdk:"interaction_mode"`
	AutonomyLevel   *string `json:"autonomyLevel,omitempty" tfsdk:"autonomy_level"`
	// AutonomyMode is deprecated in favor of InteractionMode and AutonomyLevel, and never sent.
	AutonomyMode            *string `json:"autonomyMode,omitempty" tfsdk:"autonomy_mode"`
	SpecModeModel           *string `json:"specModeModel,omitempty" tfsdk:"spec_mode_model"`
	SpecModeReasoningEffort *string `json:"specModeReasoningEffort,omitempty" tfsdk:"spec_mode_reasoning_effort"`
	ProviderLock            *string `json:"providerLock,omitempty" tfsdk:"provider_lock"`
	ProviderLockTimestamp   *string `json:"providerLockTimestamp,omitempty" tfsdk:"provider_lock_timestamp"`
	APIProviderLock         *string `json:"apiProviderLock,omitempty" tfsdk:"api_provider_lock"`
	ArchivedAt              *string `json:"archivedAt,omitempty" tfsdk:"archived_at"`
	// Empty lists of tags and tools are sent, because they remove all of them.
	Tags                            []Tag     `json:"tags,omitzero" tfsdk:"tags"`
	Worktree                        *Worktree `json:"worktree,omitempty" tfsdk:"worktree"`
	SetupProfileID                  *string   `json:"setupProfileId,omitempty" tfsdk:"setup_profile_id"`
	EnabledToolIDs                  []string  `json:"enabledToolIds,omitzero" tfsdk:"enabled_tool_ids"`
	DisabledToolIDs                 []string  `json:"disabledToolIds,omitzero" tfsdk:"disabled_tool_ids"`
	RestrictToolIDs                 []string  `json:"restrictToolIds,omitzero" tfsdk:"restrict_tool_ids"`
	CompactionModel                 *string   `json:"compactionModel,omitempty" tfsdk:"compaction_model"`
	CompactionThresholdCheckEnabled *bool     `json:"compactionThresholdCheckEnabled,omitempty" tfsdk:"compaction_threshold_check_enabled"`
	// ToolExecutionMode and AllowSubagentsInScripts can only be set at creation.
	ToolExecutionMode       *string `json:"toolExecutionMode,omitempty" tfsdk:"tool_execution_mode"`
	AllowSubagentsInScripts *bool   `json:"allowSubagentsInScripts,omitempty" tfsdk:"allow_subagents_in_scripts"`
}

// Tag is a tag of a session.
type Tag struct {
	Name     string        `json:"name" tfsdk:"name"`
	Metadata wire.Metadata `json:"metadata,omitzero" tfsdk:"metadata"`
}

// Worktree is the Git worktree in which a session works.
type Worktree struct {
	RepoRoot           string  `json:"repoRoot" tfsdk:"repo_root"`
	Branch             *string `json:"branch,omitempty" tfsdk:"branch"`
	Lifecycle          *string `json:"lifecycle,omitempty" tfsdk:"lifecycle"`
	Path               *string `json:"path,omitempty" tfsdk:"path"`
	ParentWorktreePath *string `json:"parentWorktreePath,omitempty" tfsdk:"parent_worktree_path"`
	RemovedAt          *string `json:"removedAt,omitempty" tfsdk:"removed_at"`
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
func (s *Settings) HoldsIn(other *Settings) bool {
	wanted := s.fields()
	return len(wanted) == 0 || other != nil && holdsIn(wanted, any(other.fields()))
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
		if kept[name] == nil && isCreateOnly(name) || isSame(v, kept[name]) {
			kept[name] = v
		}
	}
	return fromFields(kept)
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
