package emulator

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	// maxMessageBody is the largest message in bytes, with its images and files in Base64.
	maxMessageBody      = 48 << 20
	defaultMessageDelay = 20 * time.Second
)

// The roles of messages.
const (
	messageOfUser      = "user"
	messageOfAssistant = "assistant"
	messageOfTool      = "tool"
	messageOfSystem    = "system"
)

// message is a message of a session as it is stored. Those of the agent are stored ahead of their time.
type message struct {
	ID, Role  string
	Content   []json.RawMessage
	IsError   bool `json:",omitempty"`
	CreatedAt int64
}

// Messages are by session ID, time of creation and number.
var messageTable = &table[message]{name: "messages"}

// messageView is a message as the API shows it.
type messageView struct {
	ID        string            `json:"id"`
	Role      string            `json:"role"`
	Content   []json.RawMessage `json:"content"`
	CreatedAt int64             `json:"createdAt"`
	UpdatedAt int64             `json:"updatedAt"`
	IsError   bool              `json:"isError,omitempty"`
	Seq       int               `json:"seq"`
}

// blockOf encodes a block of a message that the emulator itself makes.
func blockOf(kind string, block values) json.RawMessage {
	block["type"] = kind
	data, _ := json.Marshal(block) // Blocks are plain values of ours.
	return data
}

// addMessage stores a message of the session.
func (s *session) addMessage(tx *bolt.Tx, m message) error {
	seq, err := messageTable.bucket(tx).NextSequence()
	return errors.Join(err, messageTable.put(tx, key(s.ID, fmt.Sprintf("%015d", m.CreatedAt), fmt.Sprintf("%010d", seq)), m))
}

// listSessionMessages shows the messages of a session, newest first.
func listSessionMessages(r *request, s *session) (reply, error) {
	role := r.query.Get("role")
	stored, err := messageTable.list(r.tx, key(s.ID, "")) // Oldest first, also those of the future.
	if err != nil {
		return reply{}, err
	}
	seen := millis(r.now.Add(-orDefault(r.e.opts.MessageDelay, defaultMessageDelay)))
	var views []messageView
	var ids []string
	for i, m := range slices.Backward(stored) {
		if m.CreatedAt <= seen && (role == "" || m.Role == role) {
			views = append(views, messageView{m.ID, m.Role, m.Content, m.CreatedAt, m.CreatedAt, m.IsError, i + 1})
			ids = append(ids, m.ID)
		}
	}
	from, to, p, err := r.page(ids)
	if err != nil {
		return reply{}, err
	}
	return reply{200, values{"messages": append([]messageView{}, views[from:to]...), "pagination": p}}, nil
}

// sendSessionMessage stores a message and plans the agent's turn.
func sendSessionMessage(r *request) (reply, error) {
	f := r.fields()
	text := f.text("text")
	content := slices.Concat([]json.RawMessage{blockOf("text", values{"text": text})}, readImages(f), readFiles(f))
	computerID := f.text("computerId")
	if err := f.done(); err != nil {
		return reply{}, err
	}
	s, err := r.sessionOn(computerID)
	if err != nil {
		return reply{}, err
	}
	if err := r.checkRunsOn(s); err != nil {
		return reply{}, err
	}
	before := s.present(r.now).Status
	r.noteChange(s.ID, r.sessionName(s))
	m := message{ID: uuid.NewString(), Role: messageOfUser, Content: content, CreatedAt: millis(r.now)}
	if err := errors.Join(s.addMessage(r.tx, m), s.planTurn(r, text)); err != nil {
		return reply{}, err
	}
	sent := values{"messageId": m.ID, "status": before, "recipientAgentStatus": sessionRunning}
	if before == sessionIdle {
		sent["status"], sent["recipientAgentStatus"] = sessionPending, sessionIdle
	}
	return reply{200, sent}, s.save(r.tx)
}

// checkRunsOn refuses a message to a session whose computer is gone or not active.
func (r *request) checkRunsOn(s *session) error {
	inactive := refuse("session-computer", "The agent of the session %s needs an active computer.", s.ID)
	c, err := computerTable.get(r.tx, s.ComputerID, inactive)
	if err == nil && c.progressAt(r.now).status != statusActive {
		err = inactive
	}
	return err
}

// readImages reads the images of a message and returns their blocks.
func readImages(f *fields) []json.RawMessage {
	var blocks []json.RawMessage
	for _, image := range f.objects("images") {
		source := map[string]string{"type": image.text("type"), "data": readBase64(image), "mediaType": image.text("mediaType")}
		blocks = append(blocks, blockOf("image", values{"source": source}))
	}
	return blocks
}

// readFiles reads the files of a message, as Base64 or as text, and returns their blocks.
func readFiles(f *fields) []json.RawMessage {
	var blocks []json.RawMessage
	for _, file := range f.objects("files") {
		source := map[string]string{"type": file.text("type"), "mediaType": file.text("mediaType"), "data": file.text("data")}
		optional := []string{"name", "path"}
		if source["type"] == "text" {
			optional = append(optional, "mime")
		} else {
			readBase64(file)
			optional = append(optional, "parsedData")
		}
		for _, name := range optional {
			if file.has(name) {
				source[name] = file.text(name)
			}
		}
		blocks = append(blocks, blockOf("document", values{"source": source}))
	}
	return blocks
}

// readBase64 reads the data of an attachment.
func readBase64(f *fields) string {
	data := f.text("data")
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		f.problemBy("attachment-data", "data", "must be standard Base64")
	}
	return data
}

// listSessionChildren shows the sessions that one started, as far as they are listed.
func listSessionChildren(r *request, s *session) (reply, error) {
	withArtifacts := r.query.Get("includeArtifacts") == "true"
	all, err := sessionsOn(r.tx, "")
	if err != nil {
		return reply{}, err
	}
	views := []sessionView{}
	seen := millis(r.now.Add(-orDefault(r.e.opts.SessionListDelay, defaultSessionListDelay)))
	for _, child := range all {
		if !strings.EqualFold(child.ParentID, s.ID) || child.CreatedAt > seen {
			continue
		}
		v := r.listedView(child)
		if withArtifacts {
			v.Artifacts = append([]SessionArtifact{}, child.Artifacts...)
		}
		views = append(views, v)
	}
	return reply{200, values{"sessions": arrange(r.e, views)}}, nil
}

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
