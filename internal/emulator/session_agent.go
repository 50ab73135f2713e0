package emulator

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	defaultAgentPhase = 2 * time.Second
	maxAgentTurn      = 30 * 24 * time.Hour
	maxToolUses       = 100
)

// SessionAnswer is what the agent of a session answers to a message.
type SessionAnswer struct {
	// Text is the answer; empty means that the agent repeats the message.
	Text string `json:"text"`
	// After is how long the agent runs; 0 means Options.AgentPhase.
	After time.Duration `json:"after"`
	// ToolUses is how often the agent uses a tool before it answers.
	ToolUses int `json:"tool_uses"`
	// IsError says that the answer reports a failure of the agent.
	IsError bool `json:"is_error"`
}

// answer reads the body of the control API.
func (b sessionAnswerBody) answer() (SessionAnswer, error) {
	answer := b.SessionAnswer
	if b.After == "" {
		return answer, nil
	}
	var err error
	if answer.After, err = clock.ParseDuration(b.After); err != nil {
		return answer, fmt.Errorf("the duration in \"after\" is wrong: %w", err)
	}
	return answer, nil
}

// ScriptAnswer queues an answer for the next message that has none. Without a queued answer, the agent repeats the message.
func (e *Emulator) ScriptAnswer(id string, a SessionAnswer) error {
	return e.editSession(id, func(_ *bolt.Tx, s *session, _ time.Time) error {
		switch {
		case a.After < 0 || a.After > maxAgentTurn:
			return fmt.Errorf("a turn cannot take %s; the maximum is 30 days", a.After)
		case a.ToolUses < 0 || a.ToolUses > maxToolUses:
			return fmt.Errorf("the number of tool uses %d is not between 0 and %d", a.ToolUses, maxToolUses)
		}
		s.Answers = append(s.Answers, a)
		return nil
	})
}

// SessionMessage is a message that a test or a person adds to a session.
type SessionMessage struct {
	// Role is user, assistant, tool or system.
	Role string `json:"role"`
	// Content are the blocks. They are not checked.
	Content []json.RawMessage `json:"content"`
	IsError bool              `json:"isError"`
}

// AddMessage adds a message to a session, which its agent does not answer.
func (e *Emulator) AddMessage(id string, m SessionMessage) error {
	return e.editSession(id, func(tx *bolt.Tx, s *session, now time.Time) error {
		if !slices.Contains([]string{messageOfUser, messageOfAssistant, messageOfTool, messageOfSystem}, m.Role) {
			return fmt.Errorf("the role %q is not user, assistant, tool or system", m.Role)
		}
		s.change(e, now, func(a *sessionActivity) { a.MessageCount++ })
		return s.addMessage(tx, message{ID: uuid.NewString(), Role: m.Role, Content: append([]json.RawMessage{}, m.Content...), IsError: m.IsError, CreatedAt: millis(now)})
	})
}

// planTurn counts the user's message and plans the agent's turn: after the turns already planned, or after one phase if the
// agent is idle.
func (s *session) planTurn(r *request, text string) error {
	phase := max(orDefault(r.e.opts.AgentPhase, defaultAgentPhase), time.Millisecond)
	answer := SessionAnswer{}
	if len(s.Answers) > 0 {
		answer, s.Answers = s.Answers[0], s.Answers[1:]
	}
	answer.Text, answer.After = cmp.Or(answer.Text, text), cmp.Or(answer.After, phase)
	s.change(r.e, r.now, func(a *sessionActivity) {
		a.MessageCount++
		a.Title = cmp.Or(a.Title, text)
	})
	last := &s.Activities[len(s.Activities)-1]
	if last.At > millis(r.now) {
		last.Status = sessionPending
	} else {
		s.plan(r.now.Add(phase), sessionPending)
	}
	begin := timeOf(s.Activities[len(s.Activities)-1].At).Add(phase)
	s.plan(begin, sessionRunning)

	said := turnOf(answer)
	for i, m := range said {
		status, at := sessionRunning, begin.Add(answer.After*time.Duration(i+1)/time.Duration(len(said)))
		if i == len(said)-1 {
			status = sessionIdle
		}
		s.plan(at, status).MessageCount++
		m.ID, m.CreatedAt = uuid.NewString(), millis(at)
		if err := s.addMessage(r.tx, m); err != nil {
			return err
		}
	}
	return nil
}

// plan adds what the session will do next.
func (s *session) plan(at time.Time, status string) *sessionActivity {
	next := s.Activities[len(s.Activities)-1]
	next.At, next.Status = millis(at), status
	s.Activities = append(s.Activities, next)
	return &s.Activities[len(s.Activities)-1]
}

// turnOf is what the agent says and does in a turn.
func turnOf(answer SessionAnswer) []message {
	var said []message
	for range answer.ToolUses {
		id := uuid.NewString()
		said = append(said,
			message{Role: messageOfAssistant, Content: []json.RawMessage{blockOf("tool_use", values{"id": id, "name": "execute", "input": values{"command": "make test"}})}},
			message{Role: messageOfTool, Content: []json.RawMessage{blockOf("tool_result", values{"toolUseId": id, "content": "ok"})}})
	}
	return append(said, message{Role: messageOfAssistant, Content: []json.RawMessage{blockOf("text", values{"text": answer.Text})}, IsError: answer.IsError})
}

// endTurns drops what the agent has not done yet. Messages that wait stay without an answer.
func (s *session) endTurns(tx *bolt.Tx, now time.Time) error {
	s.Activities = s.Activities[:s.at(now)+1]
	var planned []string
	err := messageTable.each(tx, key(s.ID, ""), func(at string, m *message) error {
		if m.CreatedAt > millis(now) {
			planned = append(planned, at)
		}
		return nil
	})
	for _, at := range planned {
		err = errors.Join(err, messageTable.remove(tx, at))
	}
	return err
}
