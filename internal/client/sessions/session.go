package sessions

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Statuses of a session.
const (
	StatusIdle    = "idle"
	StatusPending = "pending"
	StatusRunning = "running"
)

// Session is a conversation with an agent on a computer.
type Session struct {
	ID string `json:"sessionId"`
	// ParentSessionID is the ID of the session that started this one as a subagent.
	ParentSessionID string      `json:"parent_session_id"`
	Title           string      `json:"title"`
	Status          string      `json:"status"`
	MessageCount    int64       `json:"messageCount"`
	CreatedAt       wire.Millis `json:"createdAt"`
	UpdatedAt       wire.Millis `json:"updatedAt"`
	CompletedAt     wire.Millis `json:"completedAt"`
	// ComputerID is empty if the session is not connected to a computer, or if the service does not return it.
	ComputerID string `json:"computerId"`
	// Settings are nil if the response has none, which is common for the read of a single session.
	Settings *Settings `json:"sessionSettings"`
	// ServiceCredits are the credits that the session and its subagents have consumed; nil in listings.
	ServiceCredits *float64 `json:"serviceCredits"`
}

// Ref names the computer, because a session has no name.
func (s *Session) Ref() wire.Ref {
	object := "session"
	if s.ComputerID != "" {
		object += " on the computer " + s.ComputerID
	}
	return wire.Ref{Object: object, ID: s.ID, CreatedAt: s.CreatedAt.Time()}
}

func (s *Session) MissingField() string { return wire.MissingIf(s.Status == "", "status") }

// isUntouched reports whether nothing has happened in a session since its creation. A new session may be pending.
func (s *Session) isUntouched() bool {
	return s.ParentSessionID == "" && s.Title == "" && s.MessageCount == 0 && (s.Status == StatusIdle || s.Status == StatusPending)
}

// SystemPrompt replaces the agent's preset prompt, or is appended to it.
type SystemPrompt struct {
	// Exactly one of the two is set.
	Text, Append *string
}

// MarshalJSON encodes Text as a string, and Append as an object with the preset.
func (p SystemPrompt) MarshalJSON() ([]byte, error) {
	if p.Text != nil {
		return json.Marshal(*p.Text)
	}
	return json.Marshal(struct {
		Type   string  `json:"type"`
		Preset string  `json:"preset"`
		Append *string `json:"append"`
	}{"preset", "agent", p.Append})
}

// CreateRequest is the body of createSession.
type CreateRequest struct {
	ComputerID string `json:"computerId"`
	// Cwd is the working directory; if empty, the service chooses one.
	Cwd          string        `json:"cwd,omitempty"`
	Settings     *Settings     `json:"sessionSettings,omitempty"`
	SystemPrompt *SystemPrompt `json:"systemPrompt,omitempty"`
}

// isWanted reports whether a session matches the request, as far as a response shows. Responses have nothing of a request
// beyond its settings.
func (b CreateRequest) isWanted(s *Session) bool {
	return !b.isElsewhere(s) && s.isUntouched() && b.Settings.HoldsIn(s.Settings) && !b.isExceededBy(s.Settings)
}

// isExceededBy reports whether settings have a value that was not requested and cannot be a default of the organization.
func (b CreateRequest) isExceededBy(returned *Settings) bool {
	requested := b.Settings.fields()
	defaults := []string{
		"model", "reasoningEffort", "interactionMode", "autonomyLevel", "autonomyMode",
		"specModeModel", "specModeReasoningEffort", "compactionModel", "toolExecutionMode",
	}
	for name, v := range returned.fields() {
		list, isList := v.([]any)
		isEmpty := v == "" || v == false || isList && len(list) == 0
		if requested[name] == nil && !isEmpty && !slices.Contains(defaults, name) {
			return true
		}
	}
	return false
}

// isElsewhere reports whether a session is on a different computer than requested.
func (b CreateRequest) isElsewhere(s *Session) bool {
	return s.ComputerID != "" && !strings.EqualFold(s.ComputerID, b.ComputerID)
}
