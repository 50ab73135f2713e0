package sessions

import (
	"cmp"
	"context"
	"encoding/json"
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// The operations in this file are not in the service's API documents; see x-beyond in the contract.

// Roles of messages.
const (
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
	RoleSystem    = "system"
)

const (
	// ListedLate is how long the service may omit a new message from lists.
	ListedLate = 25 * time.Second
	// newestMessages is the page size of searches. Larger pages may be too large to read, because messages have attachments.
	newestMessages = 20
)

// Message is a message in a session.
type Message struct {
	ID   string `json:"id"`
	Role string `json:"role"`
	// Content is a list of blocks.
	Content   json.RawMessage `json:"content"`
	CreatedAt wire.Millis     `json:"createdAt"`
	// Seq orders messages of the same time; 0 if the service does not return it.
	Seq     int64 `json:"seq"`
	IsError bool  `json:"isError"`
	// Visibility is "llm_only" for a message that the service adds for the agent.
	Visibility string `json:"visibility"`
}

func (m *Message) Ref() wire.Ref {
	return wire.Ref{Object: "message", ID: m.ID, CreatedAt: m.CreatedAt.Time()}
}

func (m *Message) MissingField() string { return wire.MissingIf(m.Role == "", "role") }

// block is the part of a block that the client knows.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// blocks returns the blocks of the content, which may also be plain text; nil if it has another format.
func (m *Message) blocks() []block {
	if text, ok := wire.TextOf(m.Content); ok {
		return []block{{Type: "text", Text: text}}
	}
	var blocks []block
	if json.Unmarshal(m.Content, &blocks) != nil {
		return nil
	}
	return blocks
}

// Text returns the text blocks, joined by line breaks.
func (m *Message) Text() string {
	var texts []string
	for _, b := range m.blocks() {
		if b.Type == "text" {
			texts = append(texts, b.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// isAnswer reports whether the agent waits for nothing after the message.
func (m *Message) isAnswer() bool {
	usesTool := slices.ContainsFunc(m.blocks(), func(b block) bool { return b.Type == "tool_use" })
	return m.Role == RoleAssistant && !usesTool
}

// belongsToTurn is false for a message that the service adds.
func (m *Message) belongsToTurn() bool {
	return m.Role != RoleSystem && (m.Role != RoleUser || m.Visibility != "llm_only")
}

// Attachment is an image or a file of a message.
type Attachment struct {
	// Type is "base64" or "text", and says what Data is.
	Type      string `json:"type"`
	MediaType string `json:"mediaType"`
	Data      string `json:"data"`
	// Name is the name of a file; empty for an image.
	Name string `json:"name,omitempty"`
}

// MessageRequest is the body of sendSessionMessage.
type MessageRequest struct {
	Text   string       `json:"text"`
	Images []Attachment `json:"images,omitempty"`
	Files  []Attachment `json:"files,omitempty"`
}

// isWanted reports whether a message in a list matches the request, as far as text shows.
func (b MessageRequest) isWanted(m *Message) bool {
	if m.Role != RoleUser {
		return false
	}
	isText := func(text string) bool { return strings.TrimSpace(text) == strings.TrimSpace(b.Text) }
	return isText(m.Text()) || slices.ContainsFunc(m.blocks(), func(b block) bool { return b.Type == "text" && isText(b.Text) })
}

// Send sends a message to the agent of a session once. After a lost response, it looks for the message in the session; see
// create.Unnamed.
func (c *Client) Send(ctx context.Context, id string, body MessageRequest) (*Message, error) {
	defer c.invalidateAll()
	return create.Unnamed(ctx, c.sent, create.UnnamedObject[Message]{
		Object: "message in the session " + id,
		Place:  strings.ToLower(id),
		Body:   body,
		Send:   func(ctx context.Context) (*Message, error) { return c.sendMessage(ctx, id, body) },
		List: func(ctx context.Context) ([]Message, error) {
			return collection.Gather(c.messagePages(ctx, id, RoleUser, newestMessages), 1) // The first page.
		},
		IsWanted:    body.isWanted,
		ListedLater: ListedLate,
	})
}

// sendMessage sends a message. A new session may not accept it at once.
func (c *Client) sendMessage(ctx context.Context, id string, body MessageRequest) (*Message, error) {
	type receipt struct {
		MessageID string `json:"messageId"`
	}
	r := transport.Post("sendSessionMessage", "/api/v0/sessions/{sessionId}/messages", id).With(body)
	response, err := retryNotFound(ctx, c, func() (*receipt, error) { return transport.Call[receipt](ctx, c.conn, r) })
	switch {
	case err != nil:
		return nil, err
	case response.MessageID == "":
		return nil, r.Unexpected("the field messageId is missing")
	}
	sent := &Message{ID: response.MessageID, Role: RoleUser}
	if now := c.conn.ServiceTime(); !now.IsZero() {
		sent.CreatedAt = wire.Millis(now.UnixMilli())
	}
	return sent, nil
}

// Messages returns the messages of a session with certain roles, or of all roles if there are none. The newest are last. Most
// limits them to the newest ones; 0 means all of them.
func (c *Client) Messages(ctx context.Context, id string, roles []string, most int) ([]Message, error) {
	var role string
	size := 0
	switch {
	case len(roles) == 0:
		size = most
	case len(roles) == 1 && roles[0] != RoleSystem: // The service does not filter by other roles.
		role, size = roles[0], most
	}
	found, err := retryNotFound(ctx, c, func() ([]Message, error) {
		return collection.Gather(withRoles(c.messagePages(ctx, id, role, size), roles), most)
	})
	sortMessages(found)
	if most > 0 {
		found = found[max(0, len(found)-most):]
	}
	return found, err
}

// Turn is what followed a message, as far as it is listed.
type Turn struct {
	// IsListed says whether the message itself is listed.
	IsListed bool
	// Answer ends the turn; nil if nothing does before the next message of a user.
	Answer *Message
	// IsAnsweredLater says that the agent wrote something after a later message of a user.
	IsAnsweredLater bool
}

// Turn returns what followed a message of a session.
func (c *Client) Turn(ctx context.Context, id, message string) (t Turn, err error) {
	var listed []Message
	at := -1
	for page, err := range c.messagePages(ctx, id, "", newestMessages) {
		if err != nil {
			return t, err
		}
		sortMessages(page)
		listed = slices.Concat(collection.Filter(page, (*Message).belongsToTurn), listed)
		if at = slices.IndexFunc(listed, func(m Message) bool { return m.ID == message }); at >= 0 {
			break
		}
	}
	if t.IsListed = at >= 0; !t.IsListed {
		return t, nil
	}
	turn := listed[at+1:]
	if next := slices.IndexFunc(turn, func(m Message) bool { return m.Role == RoleUser }); next >= 0 {
		t.IsAnsweredLater = slices.ContainsFunc(turn[next:], func(m Message) bool { return m.Role == RoleAssistant })
		turn = turn[:next]
	}
	if last := len(turn) - 1; last >= 0 && turn[last].isAnswer() {
		t.Answer = &turn[last]
	}
	return t, nil
}

// messagePages lists messages, newest page first. They are not cached: an agent adds messages at any time.
func (c *Client) messagePages(ctx context.Context, id, role string, most int) iter.Seq2[[]Message, error] {
	q := url.Values{}
	transport.SetIf(q, "role", role)
	pages := collection.NewPages[Message](c.conn, transport.Get("listSessionMessages", "/api/v0/sessions/{sessionId}/messages", id), "messages")
	return pages.All(ctx, collection.PageKey(most, q))
}

// withRoles drops messages of other roles.
func withRoles(pages iter.Seq2[[]Message, error], roles []string) iter.Seq2[[]Message, error] {
	return func(yield func([]Message, error) bool) {
		for page, err := range pages {
			wanted := collection.Filter(page, func(m *Message) bool { return len(roles) == 0 || slices.Contains(roles, m.Role) })
			if !yield(wanted, err) {
				return
			}
		}
	}
}

// sortMessages sorts listed messages, newest last.
func sortMessages(listed []Message) {
	slices.Reverse(listed)
	wire.Sort(listed, func(a, b *Message) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.Seq, b.Seq))
	})
}

// Children returns the sessions of a session's subagents, newest first.
func (c *Client) Children(ctx context.Context, id string) ([]Session, error) {
	r := transport.Get("listSessionChildren", "/api/v0/sessions/{sessionId}/children", id)
	found, err := retryNotFound(ctx, c, func() ([]Session, error) {
		return transport.CallList[Session](ctx, c.conn, r, "sessions", nil)
	})
	wire.SortNewestFirst(found)
	return found, err
}
