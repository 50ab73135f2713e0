package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// sessionsClient calls the operations on sessions.
type sessionsClient struct {
	*conn

	sessions     *shared[Session]
	sessionPages *paged[[]Session]
	// sessionCreations are by computer; see creationsIn.
	sessionCreations sync.Map
}

func newSessions(conn *conn) *sessionsClient {
	c := &sessionsClient{conn: conn}
	c.sessions = newShared(conn.Clock, 0, c.listSessionsForReads, (*Session).identifier, nameless[Session])
	c.sessionPages = newPages[Session](conn, opListSessions, "sessions")
	return c
}

// Statuses of a session.
const (
	SessionIdle    = "idle"
	SessionPending = "pending"
	SessionRunning = "running"
)

const (
	// maxListed is how many sessions of a computer are listed for reads. Others are read one by one.
	maxListed = 1000
	// youngFor is for how long after its creation the service may answer 404 for a session.
	youngFor = time.Minute
	// notFoundPatience is for how long a call repeats a request for a session that is not found but may be young.
	notFoundPatience = 2500 * time.Millisecond
	notFoundPause    = 2 * time.Second
)

var (
	// opListSessions takes a minute or more where nobody has asked for a while.
	opListSessions = operation{name: "listSessions", method: http.MethodGet, route: "/api/v0/sessions", slow: true, warmsUp: true}
	sessionRoute   = "/api/v0/sessions/{sessionId}"
)

// Session is a conversation with an agent on a computer.
type Session struct {
	ID string `json:"sessionId"`
	// ParentSessionID is the session that started this one as a subagent.
	ParentSessionID string `json:"parent_session_id"`
	Title           string `json:"title"`
	Status          string `json:"status"`
	MessageCount    int64  `json:"messageCount"`
	CreatedAt       Millis `json:"createdAt"`
	UpdatedAt       Millis `json:"updatedAt"`
	CompletedAt     Millis `json:"completedAt"`
	// ComputerID is empty where the session is connected to no computer, or the service does not tell.
	ComputerID string `json:"computerId"`
	// Settings are nil where the answer has none, as that of a single read often has.
	Settings *SessionSettings `json:"sessionSettings"`
	// ServiceCredits are the credits that the session and its subagents have consumed; nil in listings.
	ServiceCredits *float64 `json:"serviceCredits"`
}

func (s *Session) identifier() string { return s.ID }

func (s *Session) missing() string {
	if s.Status == "" {
		return "status"
	}
	return ""
}

// existing is what an error tells of a session.
func (s *Session) existing() ExistsError {
	object := "session"
	if s.ComputerID != "" {
		object += " on the computer " + s.ComputerID
	}
	return ExistsError{Object: object, ID: s.ID, ImportID: s.ID, CreatedAt: s.CreatedAt.Time()}
}

// isUntouched reports that nothing has happened in a session since it was made. A new one may be pending.
func (s *Session) isUntouched() bool {
	return s.ParentSessionID == "" && s.Title == "" && s.MessageCount == 0 && (s.Status == SessionIdle || s.Status == SessionPending)
}

// SystemPrompt is what a session's agent is told: a text of one's own, or what is appended to the agent's preset.
type SystemPrompt struct {
	// Text takes the place of the preset. Append is added to it; one of the two is nil.
	Text, Append *string
}

// MarshalJSON writes a text as it is, and an addition with the preset.
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

// CreateSessionRequest is the body of createSession.
type CreateSessionRequest struct {
	ComputerID string `json:"computerId"`
	// Cwd is the working directory; the service chooses where it is empty.
	Cwd          string           `json:"cwd,omitempty"`
	Settings     *SessionSettings `json:"sessionSettings,omitempty"`
	SystemPrompt *SystemPrompt    `json:"systemPrompt,omitempty"`
}

// isWanted reports that a session is what the request asked for, as far as its record tells. What was asked for beyond
// settings is in no record.
func (b CreateSessionRequest) isWanted(s *Session) bool {
	return !b.isElsewhere(s) && s.isUntouched() && b.Settings.HoldsIn(s.Settings) && !b.isExceededBy(s.Settings)
}

// isExceededBy reports that settings hold something that nobody asked for and that is no default of the organization.
func (b CreateSessionRequest) isExceededBy(told *SessionSettings) bool {
	asked := b.Settings.fields()
	defaults := []string{
		"model", "reasoningEffort", "interactionMode", "autonomyLevel", "specModeModel", "specModeReasoningEffort", "compactionModel", "toolExecutionMode",
	}
	for name, v := range told.fields() {
		list, isList := v.([]any)
		isEmpty := v == "" || v == false || isList && len(list) == 0
		if asked[name] == nil && !isEmpty && !slices.Contains(defaults, name) {
			return true
		}
	}
	return false
}

// isElsewhere reports that a session is on another computer than the one that was asked for.
func (b CreateSessionRequest) isElsewhere(s *Session) bool {
	return s.ComputerID != "" && !strings.EqualFold(s.ComputerID, b.ComputerID)
}

// UpdateSessionRequest is the body of updateSession.
type UpdateSessionRequest struct {
	Settings *SessionSettings `json:"sessionSettings,omitempty"`
}

func sessionQuery(computer string) url.Values {
	q := url.Values{}
	setIf(q, "computerId", computer)
	return q
}

// sessionPages names the listing of a computer's sessions, or of all, from which so many are taken; 0 are all.
func sessionPages(computer string, most int) string {
	return pageSize(most) + "?" + sessionQuery(computer).Encode()
}

// Sessions returns the sessions of the API key's owner, as the service orders them, of one computer or of all; most 0 is
// all of them. Many calls in a short time share the pages.
func (c *sessionsClient) Sessions(ctx context.Context, computer string, most int) ([]Session, error) {
	found, err := gather(c.sessionPages.all(ctx, sessionPages(computer, most)), most, (*Session).identifier)
	if err != nil || most == 0 {
		return found, err
	}
	return found[:min(most, len(found))], nil
}

// EachSession is Sessions for who may stop early: a page is asked for when those before it are used up. Most is how many
// are wanted at most, if that is known; more are yielded to who goes on.
func (c *sessionsClient) EachSession(ctx context.Context, computer string, most int) iter.Seq2[Session, error] {
	return flat(c.sessionPages.all(ctx, sessionPages(computer, most)), (*Session).identifier)
}

// listSessionsForReads lists a computer's sessions, at most maxListed. If the computer cannot be listed, as after its deletion,
// it lists the sessions of all computers.
func (c *sessionsClient) listSessionsForReads(ctx context.Context, computer string) ([]Session, error) {
	pages := newPages[Session](c.conn, opListSessions, "sessions").all(ctx, sessionPages(computer, 0))
	found, err := gather(pages, maxListed, (*Session).identifier)
	if computer != "" && cannotList(err) && !IsForeign(err) {
		return c.listSessionsForReads(ctx, "")
	}
	return found, err
}

// NotYetVisibleError says that the service answers 404 for a session that it created less than a minute ago.
type NotYetVisibleError struct {
	// Err is the 404.
	Err error
}

func (e *NotYetVisibleError) Error() string {
	return "the service may not show the session yet, which is less than a minute old: " + e.Err.Error()
}

func (e *NotYetVisibleError) Unwrap() error { return e.Err }

// Session reads one session of a computer, from a listing that the reads of a plan share: only listings always have the
// settings. A session that is not listed is read alone. If it does not exist, the error is a *GoneError, or for a young
// session a *NotYetVisibleError.
func (c *sessionsClient) Session(ctx context.Context, id, computer string, createdAt time.Time) (*Session, error) {
	found, err := c.sessions.get(ctx, computer, id, func(ctx context.Context) (*Session, error) {
		read := c.sessionAlone
		if c.isYoung(createdAt) {
			read = c.getSession // One request is enough: a 404 tells nothing of a young session.
		}
		found, err := read(ctx, id, computer)
		if err == nil {
			found.ServiceCredits = nil // Listings have none, and a plan must not depend on what was listed.
		}
		return found, err
	})
	var gone *GoneError
	if errors.As(err, &gone) && c.isYoung(createdAt) {
		return nil, &NotYetVisibleError{gone.Err}
	}
	return found, err
}

// SessionWithSettings reads one session by itself, and its settings from the listing where its own response lacks them.
// The listing may lack a young session. If the session does not exist, the error is a *GoneError.
func (c *sessionsClient) SessionWithSettings(ctx context.Context, id, computer string) (*Session, error) {
	found, err := c.sessionOfAnyAge(ctx, id, computer, time.Time{})
	switch {
	case IsNotFound(err):
		return nil, c.sessions.confirmGone(ctx, computer, id, err)
	case err != nil || found.Settings != nil:
		return found, err
	}
	listed, err := c.sessions.lookUp(ctx, cmp.Or(found.ComputerID, computer), found.ID)
	switch {
	case err != nil && !cannotList(err):
		return nil, err
	case listed != nil:
		found.Settings = listed.Settings
	}
	return found, nil // The session of another owner is in no listing.
}

// sessionOfAnyAge is sessionAlone that waits a little for a session that may be young.
func (c *sessionsClient) sessionOfAnyAge(ctx context.Context, id, computer string, createdAt time.Time) (found *Session, err error) {
	err = c.retryNotFound(ctx, createdAt, func() (err error) {
		found, err = c.sessionAlone(ctx, id, computer)
		return err
	})
	return found, err
}

// sessionAlone reads one session from its own address. The response may lack the settings.
func (c *sessionsClient) sessionAlone(ctx context.Context, id, computer string) (found *Session, err error) {
	err = onComputer(computer, func(computer string) (err error) {
		found, err = c.getSession(ctx, id, computer)
		return err
	})
	return found, err
}

// getSession sends one request.
func (c *sessionsClient) getSession(ctx context.Context, id, computer string) (*Session, error) {
	return one[Session](ctx, c.conn, request{
		op:    operation{name: "getSession", method: http.MethodGet, route: sessionRoute},
		path:  []string{id},
		query: sessionQuery(computer),
		noun:  "session",
	}, id)
}

// onComputer sends a request for a session of a computer. The computer may be gone, so a 404 is followed by a request that
// names no computer.
func onComputer(computer string, send func(computer string) error) error {
	err := send(computer)
	if computer != "" && IsNotFound(err) {
		err = send("")
	}
	return err
}

// retryNotFound repeats a request for a short time if it does not find a session that is young, or of unknown age.
func (c *sessionsClient) retryNotFound(ctx context.Context, createdAt time.Time, send func() error) error {
	for until := c.Clock.Now().Add(notFoundPatience); ; {
		err := send()
		left := until.Sub(c.Clock.Now())
		if !IsNotFound(err) || left <= 0 || !createdAt.IsZero() && !c.isYoung(createdAt) {
			return err
		}
		if sleepErr := c.Clock.Sleep(ctx, min(notFoundPause, left)); sleepErr != nil {
			return fmt.Errorf("waiting for the session to be visible: %w", sleepErr)
		}
	}
}

// isYoung compares with the service's own clock, or with the local one if no response tells the time.
func (c *sessionsClient) isYoung(createdAt time.Time) bool {
	return cmp.Or(c.serviceTime(), c.Clock.Now()).Before(createdAt.Add(youngFor))
}

// CreateSession makes a session and reconciles a lost answer; see unnamed. An answer with nothing but the ID is completed.
func (c *sessionsClient) CreateSession(ctx context.Context, body CreateSessionRequest) (*Session, error) {
	if body.Settings.IsEmpty() {
		body.Settings = nil
	}
	key := body.ComputerID
	made, err := createUnnamed(ctx, c.conn, creationsIn[Session](&c.sessionCreations, strings.ToLower(key)), unnamed[Session]{
		object: "session on the computer " + body.ComputerID,
		send:   func(ctx context.Context) (*Session, error) { return c.sendSession(ctx, body) },
		list: func(ctx context.Context) ([]Session, error) {
			all, err := c.listSessionsForReads(ctx, key)
			return filter(all, func(s *Session) bool { return s.ParentSessionID == "" && !body.isElsewhere(s) }), err
		},
		isWanted:  body.isWanted,
		createdAt: func(s *Session) Millis { return s.CreatedAt },
		existing:  (*Session).existing,
	})
	c.forgetSessions(key)
	if err == nil && body.isElsewhere(made) {
		return nil, &StrangerError{Object: "session", Found: made.existing(), Err: &AnswerError{Problem: "the session is not on the computer " + body.ComputerID}}
	}
	return made, err
}

// sendSession makes a session. An answer that has the ID and not the whole session is completed by a read.
func (c *sessionsClient) sendSession(ctx context.Context, body CreateSessionRequest) (*Session, error) {
	r := request{op: operation{name: "createSession", method: http.MethodPost, route: opListSessions.route}, body: body, noun: "session"}
	answer, err := c.exchange(ctx, r, wantJSON)
	if err != nil {
		return nil, err
	}
	var made Session
	err = decode(answer.body, r.noun, &made)
	switch {
	case made.ID == "":
		return nil, r.strange("it holds no ID")
	case err == nil && made.missing() == "":
		return &made, nil
	}
	ctx, cancel := outlive(ctx, afterStop)
	defer cancel()
	createdAt := cmp.Or(made.CreatedAt.Time(), c.serviceTime(), c.Clock.Now())
	whole, err := c.sessionOfAnyAge(ctx, made.ID, body.ComputerID, createdAt)
	if err != nil {
		// It exists, and its ID must not be lost. The next refresh completes it.
		whole = &Session{ID: made.ID, Status: SessionIdle, CreatedAt: Millis(createdAt.UnixMilli()), ComputerID: cmp.Or(made.ComputerID, body.ComputerID)}
	}
	whole.Settings = cmp.Or(whole.Settings, made.Settings)
	return whole, nil
}

// UpdateSession changes the settings that are set. CreatedAt may be zero.
func (c *sessionsClient) UpdateSession(ctx context.Context, id, computer string, createdAt time.Time, settings *SessionSettings) (*Session, error) {
	defer c.forgetSessions(computer)
	var updated *Session
	err := c.retryNotFound(ctx, createdAt, func() (err error) {
		updated, err = changed(ctx, c.conn, request{
			op:   operation{name: "updateSession", method: http.MethodPatch, route: sessionRoute},
			path: []string{id},
			body: UpdateSessionRequest{Settings: settings},
			noun: "session",
		}, id, func(ctx context.Context) (*Session, error) {
			c.forgetSessions(computer)
			return c.Session(ctx, id, computer, createdAt)
		}, func(s *Session) bool { return settings.HoldsIn(s.Settings) })
		return err
	})
	return updated, err
}

// DeleteSession deletes a session softly: the service keeps it for a while. If it is gone already, the error is a *GoneError.
func (c *sessionsClient) DeleteSession(ctx context.Context, id, computer string, createdAt time.Time) error {
	defer c.forgetSessions(computer)
	var isLost bool // An attempt got no response. If it deleted the session, later ones answer 404.
	err := c.retryNotFound(ctx, createdAt, func() error {
		return onComputer(computer, func(computer string) error {
			err := c.callNoAnswer(ctx, request{
				op:    operation{name: "deleteSession", method: http.MethodDelete, route: sessionRoute},
				path:  []string{id},
				query: sessionQuery(computer),
			})
			isLost = isLost || isRepeated(err)
			return err
		})
	})
	switch {
	case IsNotFound(err) && isLost:
		err = nil
	case IsNotFound(err):
		err = c.sessions.confirmGone(ctx, computer, id, err)
	}
	c.sessions.ended(computer, id, err)
	return err
}

// forgetSessions drops what was read of the sessions of a computer, and of all of them.
func (c *sessionsClient) forgetSessions(computer string) {
	c.sessions.discard(computer, "")
	c.sessionPages.discard()
}

// InterruptSession interrupts the agent of a session and returns the status that follows. An idle session stays as it is.
func (c *sessionsClient) InterruptSession(ctx context.Context, id string) (string, error) {
	type outcome struct {
		Status string `json:"status"`
	}
	var answer *outcome
	r := request{
		op:   operation{name: "interruptSession", method: http.MethodPost, route: sessionRoute + "/interrupt", repeatable: true},
		path: []string{id},
	}
	err := c.retryNotFound(ctx, time.Time{}, func() (err error) {
		answer, err = call[outcome](ctx, c.conn, r)
		return err
	})
	c.sessions.discardAll()
	c.sessionPages.discard()
	switch {
	case err != nil:
		return "", err
	case answer.Status == "":
		return "", r.strange("it has no status")
	}
	return answer.Status, nil
}
