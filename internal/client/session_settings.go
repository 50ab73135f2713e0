package client

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Values of the settings' enumerations. The service may answer others.
var (
	ReasoningEfforts   = []string{"none", "dynamic", "off", "minimal", "low", "medium", "high", "xhigh", "max"}
	InteractionModes   = []string{"auto", "spec", "agi", "mission"}
	SessionAutonomy    = []string{"off", "low", "medium", "high"}
	AutonomyModes      = []string{"normal", "spec", "auto-low", "auto-medium", "auto-high"}
	WorktreeLifecycles = []string{"ephemeral", "persistent"}
	ToolExecutionModes = []string{"direct_only", "direct_and_script", "script_only"}
)

// SessionSettings are the settings of a session. Nil means "not told" in an answer, and "leave as it is" in a request.
type SessionSettings struct {
	Model           *string `json:"model,omitempty"`
	ReasoningEffort *string `json:"reasoningEffort,omitempty"`
	InteractionMode *string `json:"interactionMode,omitempty"`
	AutonomyLevel   *string `json:"autonomyLevel,omitempty"`
	// AutonomyMode is the deprecated form of the two before it.
	AutonomyMode            *string `json:"autonomyMode,omitempty"`
	SpecModeModel           *string `json:"specModeModel,omitempty"`
	SpecModeReasoningEffort *string `json:"specModeReasoningEffort,omitempty"`
	ProviderLock            *string `json:"providerLock,omitempty"`
	ProviderLockTimestamp   *string `json:"providerLockTimestamp,omitempty"`
	APIProviderLock         *string `json:"apiProviderLock,omitempty"`
	ArchivedAt              *string `json:"archivedAt,omitempty"`
	// Tags and the lists of tools are sent when they are empty, too: that removes all of them.
	Tags                            []SessionTag     `json:"tags,omitzero"`
	Worktree                        *SessionWorktree `json:"worktree,omitempty"`
	SetupProfileID                  *string          `json:"setupProfileId,omitempty"`
	EnabledToolIDs                  []string         `json:"enabledToolIds,omitzero"`
	DisabledToolIDs                 []string         `json:"disabledToolIds,omitzero"`
	RestrictToolIDs                 []string         `json:"restrictToolIds,omitzero"`
	CompactionModel                 *string          `json:"compactionModel,omitempty"`
	CompactionThresholdCheckEnabled *bool            `json:"compactionThresholdCheckEnabled,omitempty"`
	// ToolExecutionMode and AllowSubagentsInScripts are accepted by the creation only.
	ToolExecutionMode       *string `json:"toolExecutionMode,omitempty"`
	AllowSubagentsInScripts *bool   `json:"allowSubagentsInScripts,omitempty"`
}

// SessionTag marks a session.
type SessionTag struct {
	Name     string   `json:"name"`
	Metadata Metadata `json:"metadata,omitempty"`
}

// SessionWorktree is the Git worktree in which a session works.
type SessionWorktree struct {
	RepoRoot           string  `json:"repoRoot"`
	Branch             *string `json:"branch,omitempty"`
	Lifecycle          *string `json:"lifecycle,omitempty"`
	Path               *string `json:"path,omitempty"`
	ParentWorktreePath *string `json:"parentWorktreePath,omitempty"`
	RemovedAt          *string `json:"removedAt,omitempty"`
}

// Texts are the settings that are strings.
func (s *SessionSettings) Texts() []**string {
	return []**string{
		&s.Model, &s.ReasoningEffort, &s.InteractionMode, &s.AutonomyLevel, &s.AutonomyMode, &s.SpecModeModel, &s.SpecModeReasoningEffort,
		&s.ProviderLock, &s.ProviderLockTimestamp, &s.APIProviderLock, &s.ArchivedAt, &s.SetupProfileID, &s.CompactionModel, &s.ToolExecutionMode,
	}
}

func (s *SessionSettings) flags() []**bool {
	return []**bool{&s.CompactionThresholdCheckEnabled, &s.AllowSubagentsInScripts}
}

// ToolLists are those of tools.
func (s *SessionSettings) ToolLists() []*[]string {
	return []*[]string{&s.EnabledToolIDs, &s.DisabledToolIDs, &s.RestrictToolIDs}
}

// Texts are all but the root.
func (w *SessionWorktree) Texts() []**string {
	return []**string{&w.Branch, &w.Lifecycle, &w.Path, &w.ParentWorktreePath, &w.RemovedAt}
}

// count is how many settings are set.
func (s *SessionSettings) count() int {
	n := 0
	for _, text := range s.Texts() {
		n += oneIf(*text != nil)
	}
	for _, flag := range s.flags() {
		n += oneIf(*flag != nil)
	}
	for _, list := range s.ToolLists() {
		n += oneIf(*list != nil)
	}
	return n + oneIf(s.Tags != nil) + oneIf(s.Worktree != nil)
}

// IsEmpty reports that nothing is set.
func (s *SessionSettings) IsEmpty() bool { return s == nil || s.count() == 0 }

// Changes returns those settings that differ from the ones before, and that the service can change.
func (s *SessionSettings) Changes(prior *SessionSettings) *SessionSettings {
	changes := *s
	if prior == nil {
		prior = &SessionSettings{}
	}
	before := prior.Texts()
	for i, text := range changes.Texts() {
		if sameText(*text, *before[i]) {
			*text = nil
		}
	}
	flags := prior.flags()
	for i, flag := range changes.flags() {
		if *flag != nil && *flags[i] != nil && **flag == **flags[i] {
			*flag = nil
		}
	}
	lists := prior.ToolLists()
	for i, list := range changes.ToolLists() {
		if *lists[i] != nil && sameSet(*list, *lists[i]) {
			*list = nil
		}
	}
	if prior.Tags != nil && sameTags(changes.Tags, prior.Tags) {
		changes.Tags = nil
	}
	if changes.Worktree.holdsIn(prior.Worktree) {
		changes.Worktree = nil
	}
	changes.ToolExecutionMode, changes.AllowSubagentsInScripts = nil, nil
	return &changes
}

// HoldsIn reports that everything that is set here is so there as well, if in another form.
func (s *SessionSettings) HoldsIn(other *SessionSettings) bool {
	switch {
	case s.IsEmpty():
		return true
	case other == nil:
		return false
	}
	texts := other.Texts()
	for i, text := range s.Texts() {
		if text == &s.AutonomyMode && other.AutonomyMode == nil && *text != nil && !other.Contradicts(**text) {
			continue
		}
		if *text != nil && !sameText(*text, *texts[i]) {
			return false
		}
	}
	flags := other.flags()
	for i, flag := range s.flags() {
		if *flag != nil && (*flags[i] == nil || **flag != **flags[i]) {
			return false
		}
	}
	lists := other.ToolLists()
	for i, list := range s.ToolLists() {
		if *list != nil && !sameSet(*list, *lists[i]) {
			return false
		}
	}
	return (s.Tags == nil || sameTags(s.Tags, other.Tags)) && s.Worktree.holdsIn(other.Worktree)
}

// Keeping returns the settings of an answer as a state shall show them that knows others: what the answer leaves out stays
// as it was, and so does what it tells in another form. A deprecated mode goes where the answer has turned it into another.
func (s *SessionSettings) Keeping(known *SessionSettings) *SessionSettings {
	if s == nil || known == nil {
		return cmp.Or(s, known)
	}
	kept := *s
	texts := known.Texts()
	for i, text := range kept.Texts() {
		if *text == nil || sameText(*text, *texts[i]) {
			*text = *texts[i]
		}
	}
	if s.AutonomyMode == nil && known.AutonomyMode != nil && s.Contradicts(*known.AutonomyMode) {
		kept.AutonomyMode = nil
	}
	flags := known.flags()
	for i, flag := range kept.flags() {
		*flag = cmp.Or(*flag, *flags[i])
	}
	lists := known.ToolLists()
	for i, list := range kept.ToolLists() {
		if *list == nil || *lists[i] != nil && sameSet(*list, *lists[i]) {
			*list = *lists[i]
		}
	}
	if s.Tags == nil || known.Tags != nil && sameTags(s.Tags, known.Tags) {
		kept.Tags = known.Tags
	}
	if s.Worktree != nil && known.Worktree != nil {
		worktree := *s.Worktree
		before := known.Worktree.Texts()
		for i, text := range worktree.Texts() {
			if *text == nil || sameText(*text, *before[i]) {
				*text = *before[i]
			}
		}
		kept.Worktree = &worktree
	}
	kept.Worktree = cmp.Or(kept.Worktree, known.Worktree)
	return &kept
}

// Contradicts reports that the settings are others than the deprecated mode stands for.
func (s *SessionSettings) Contradicts(mode string) bool {
	interaction, level, _ := ModeOf(mode)
	return interaction != "" && s.InteractionMode != nil && !sameText(s.InteractionMode, &interaction) ||
		level != "" && s.AutonomyLevel != nil && *s.AutonomyLevel != level
}

// ModeOf returns the interaction mode and the autonomy level that a deprecated autonomy mode stands for; either may be empty
// where it says nothing of it. Ok is false for an unknown mode.
func ModeOf(mode string) (interaction, level string, ok bool) {
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

// sameText compares two settings: agi is the old spelling of mission, and a point in time has several forms.
func sameText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	if *a == *b || min(*a, *b) == "agi" && max(*a, *b) == "mission" {
		return true
	}
	x, errX := time.Parse(time.RFC3339, *a)
	y, errY := time.Parse(time.RFC3339, *b)
	return errX == nil && errY == nil && x.Equal(y)
}

// sameSet compares lists whose order says nothing.
func sameSet(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}

// sameTags compares tags, in whatever order the service lists them. No metadata is the same as empty metadata.
func sameTags(a, b []SessionTag) bool {
	texts := func(tags []SessionTag) []string {
		all := make([]string, len(tags))
		for i, tag := range tags {
			all[i] = tag.Name
			for _, key := range slices.Sorted(maps.Keys(tag.Metadata)) {
				all[i] += "\x00" + key + "\x00" + tag.Metadata[key]
			}
		}
		slices.Sort(all)
		return all
	}
	return slices.Equal(texts(a), texts(b))
}

// holdsIn reports that everything that is set here is so there as well.
func (w *SessionWorktree) holdsIn(other *SessionWorktree) bool {
	if w == nil || other == nil {
		return w == nil
	}
	texts := other.Texts()
	for i, text := range w.Texts() {
		if *text != nil && !sameText(*text, *texts[i]) {
			return false
		}
	}
	return w.RepoRoot == other.RepoRoot
}

func oneIf(is bool) int {
	if is {
		return 1
	}
	return 0
}
