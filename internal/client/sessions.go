package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Statuses of a session.
const (
	SessionIdle    = "idle"
	SessionPending = "pending"
	SessionRunning = "running"
)

const (
	// maxListed is how many sessions of a computer are listed for reads. What is not among them is read alone.
	maxListed = 1000
	// youngFor is for how long after its creation a session that is not found may still appear.
	youngFor = time.Minute
	// readsWaitFor is how long at most a read waits for a young session: one that was deleted does not appear either.
	readsWaitFor = 30 * time.Second
	// appearsWithin is how long a session is waited for of which nobody knows when it was made.
	appearsWithin = 10 * time.Second
	// appearsPause is the pause between two looks for a session that may still appear.
	appearsPause = 2 * time.Second
)

var (
	// opListSessions takes a minute or more where nobody has asked for a while.
	opListSessions = operation{name: "listSessions", method: http.MethodGet, route: "/api/v0/sessions", slow: true, warmsUp: true}
	sessionRoute   = "/api/v0/sessions/{sessionId}"

	errUnlisted = errors.New("the computer has no listing")
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

// isExceededBy reports that settings hold something that was not asked for, and that no default of the organization or the
// service gives: somebody else has asked for it.
func (b CreateSessionRequest) isExceededBy(told *SessionSettings) bool {
	if told == nil {
		return false
	}
	asked := cmp.Or(b.Settings, &SessionSettings{})
	defaults := []**string{
		&told.Model, &told.ReasoningEffort, &told.InteractionMode, &told.AutonomyLevel, &told.SpecModeModel, &told.SpecModeReasoningEffort,
		&told.CompactionModel, &told.ToolExecutionMode,
	}
	texts := asked.Texts()
	for i, text := range told.Texts() {
		if *texts[i] == nil && *text != nil && **text != "" && !slices.Contains(defaults, text) {
			return true
		}
	}
	flags := asked.flags()
	for i, flag := range told.flags() {
		if *flags[i] == nil && *flag != nil && **flag {
			return true
		}
	}
	lists := asked.ToolLists()
	for i, list := range told.ToolLists() {
		if *lists[i] == nil && len(*list) > 0 {
			return true
		}
	}
	return asked.Tags == nil && len(told.Tags) > 0 || asked.Worktree == nil && told.Worktree != nil
}

// isElsewhere reports that a session is on another computer than the one that was asked for.
func (b CreateSessionRequest) isElsewhere(s *Session) bool {
	return s.ComputerID != "" && !strings.EqualFold(s.ComputerID, b.ComputerID)
}

// UpdateSessionRequest is the body of updateSession.
type UpdateSessionRequest struct {
	Settings *SessionSettings `json:"sessionSettings,omitempty"`
}

// computerKey is a computer's ID as it names what is known of the computer's sessions, and as the service is asked for them.
// Upper and lower case make no difference: it is the spelling in which the ID was met first.
func (c *Client) computerKey(id string) string {
	spelling, _ := c.computerSpellings.LoadOrStore(strings.ToLower(id), id)
	return spelling.(string)
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
func (c *Client) Sessions(ctx context.Context, computer string, most int) ([]Session, error) {
	found, err := gather(c.sessionPages.all(ctx, sessionPages(c.computerKey(computer), most)), most, (*Session).identifier)
	if err != nil || most == 0 {
		return found, err
	}
	return found[:min(most, len(found))], nil
}

// EachSession is Sessions for who may stop early: a page is asked for when those before it are used up. Most is how many
// are wanted at most, if that is known; more are yielded to who goes on.
func (c *Client) EachSession(ctx context.Context, computer string, most int) iter.Seq2[Session, error] {
	return flat(c.sessionPages.all(ctx, sessionPages(c.computerKey(computer), most)), (*Session).identifier)
}

// listSessionsForReads asks the service for a computer's sessions, at most maxListed of them.
func (c *Client) listSessionsForReads(ctx context.Context, computer string) ([]Session, error) {
	found, err := gather(newPages[Session](c, opListSessions, "sessions").all(ctx, sessionPages(computer, 0)), maxListed, (*Session).identifier)
	if computer != "" && IsNotFound(err) {
		c.unlisted.Store(computer, true)
	}
	if timedOut(err) {
		c.tooSlow.Store(computer, err)
	}
	return found, err
}

// timedOut reports that the time of single attempts ran out, by their own bound or a gateway's, not that of the caller.
func timedOut(err error) bool {
	var transport *TransportError
	return errors.As(err, &transport) && transport.Timeout == "request_timeout" || StatusOf(err) == http.StatusGatewayTimeout
}

// listedBy names the listing in which the sessions of a computer are: that of all sessions where the computer is gone, or is
// another owner's of which this key sees nothing.
func (c *Client) listedBy(computer string) string {
	if _, unlisted := c.unlisted.Load(computer); unlisted {
		return ""
	}
	return computer
}

// Session reads one session of a computer. Many reads in a short time share a listing of the computer's sessions, which is
// the only answer that always has the settings. One that does not exist is a *GoneError; CreatedAt, which may be zero, is
// known of the session: a young one may not show yet, and is waited for.
func (c *Client) Session(ctx context.Context, id, computer string, createdAt time.Time) (*Session, error) {
	computer = c.computerKey(computer)
	read := func(key string) (*Session, error) {
		if slow, isSlow := c.tooSlow.Load(key); isSlow {
			return c.sessionUnlisted(ctx, id, key, slow.(error))
		}
		found, err := c.sessions.get(ctx, key, id, func(ctx context.Context) (*Session, error) {
			if c.listedBy(computer) != key {
				return nil, errUnlisted // The other listing is looked at first, which has the settings.
			}
			return c.SessionAlone(ctx, id, key)
		})
		if slow, isSlow := c.tooSlow.Load(key); isSlow && timedOut(err) {
			return c.sessionUnlisted(ctx, id, key, slow.(error))
		}
		return found, err
	}
	if err := c.waitForYoung(ctx, id, computer, createdAt); err != nil {
		return nil, err
	}
	for {
		key := c.listedBy(computer)
		found, err := read(key)
		if now := c.listedBy(computer); now != key {
			found, err = read(now)
		}
		if err = c.sessionGone(ctx, id, c.listedBy(computer), createdAt, err); !IsGone(err) || !c.isYoung(createdAt) || !c.clock.Now().Before(c.youngWait(computer)) {
			return found, err
		}
		c.sessions.discard(computer, "")
		if err := c.clock.Sleep(ctx, appearsPause); err != nil {
			return nil, err
		}
	}
}

// sessionUnlisted reads a session alone because its listing takes too long.
func (c *Client) sessionUnlisted(ctx context.Context, id, computer string, listing error) (*Session, error) {
	found, err := c.SessionAlone(ctx, id, computer)
	if IsNotFound(err) {
		return nil, &UnprovenGoneError{Err: err, Listing: listing}
	}
	return found, err
}

// youngWait is until when reads wait for young sessions of a computer: the wait is one for all of them, however many there are.
func (c *Client) youngWait(computer string) time.Time {
	c.youngWaitsMu.Lock()
	defer c.youngWaitsMu.Unlock()
	now := c.clock.Now()
	if until, isKnown := c.youngWaits[computer]; isKnown && now.Before(until.Add(youngFor)) {
		return until
	}
	if c.youngWaits == nil {
		c.youngWaits = map[string]time.Time{}
	}
	c.youngWaits[computer] = now.Add(readsWaitFor)
	return c.youngWaits[computer]
}

// waitForYoung waits until the listing that reads share shows a young session, which would otherwise be read alone, like all
// that were made with it. The error is that of a listing without which nothing is known of the session, or the context's.
func (c *Client) waitForYoung(ctx context.Context, id, computer string, createdAt time.Time) error {
	for c.isYoung(createdAt) {
		key := c.listedBy(computer)
		if _, isSlow := c.tooSlow.Load(key); isSlow || key == "" {
			return nil // The session may well be in no listing.
		}
		l := c.sessions.join(ctx, key, true)
		switch err := l.wait(ctx); {
		case cannotList(err), timedOut(err):
			return nil
		case err != nil:
			return err
		case l.byID[id] != nil, len(l.all) >= maxListed, !c.isYoung(createdAt), !c.clock.Now().Before(c.youngWait(computer)):
			return nil
		}
		if err := c.clock.Sleep(ctx, appearsPause); err != nil {
			return err
		}
		c.sessions.outdate(key, l)
	}
	return nil
}

// sessionGone completes the error of a session that is not found. Reads share a listing that may have an end, and a
// computer that is gone has no listing. Where sessions come the newest first, as far as was seen, those after a page of older
// ones than createdAt, which may be zero, are not looked at.
func (c *Client) sessionGone(ctx context.Context, id, computer string, createdAt time.Time, err error) error {
	var gone *GoneError
	var unproven *UnprovenGoneError
	var notFound error
	switch {
	case errors.As(err, &gone):
		if l := c.sessions.listedNow(computer); l != nil && len(l.all) < maxListed && l.byID[id] == nil {
			return err
		}
		notFound = gone.Err
	case errors.As(err, &unproven) && computer != "" && IsNotFound(unproven.Listing):
		notFound, computer = unproven.Err, ""
	default:
		return err
	}
	last, isOrdered := Millis(math.MaxInt64), !createdAt.IsZero()
	for sessions, listErr := range c.sessionPages.all(ctx, sessionPages(computer, 0)) {
		if listErr != nil {
			return &UnprovenGoneError{Err: notFound, Listing: listErr}
		}
		for _, s := range sessions {
			if s.ID == id {
				return notFound
			}
			isOrdered = isOrdered && s.CreatedAt != 0 && s.CreatedAt <= last
			last = s.CreatedAt
		}
		if isOrdered && len(sessions) > 0 && sessions[0].CreatedAt.Time().Before(createdAt.Truncate(time.Second)) {
			break
		}
	}
	return &GoneError{Err: notFound}
}

// isYoung reports that something that was made at a time may still be about to appear, by the service's own clock or, where
// its answers tell no time, by this machine's.
func (c *Client) isYoung(createdAt time.Time) bool {
	now := c.serviceTime()
	if now.IsZero() {
		now = c.clock.Now()
	}
	return !createdAt.IsZero() && now.Before(createdAt.Add(youngFor))
}

// SessionAlone reads one session from the service itself; computer may be empty. The answer may lack the settings.
func (c *Client) SessionAlone(ctx context.Context, id, computer string) (*Session, error) {
	var found *Session
	err := asOnComputer(c.listedBy(c.computerKey(computer)), func(query url.Values) (err error) {
		found, err = one[Session](ctx, c, request{
			op:    operation{name: "getSession", method: http.MethodGet, route: sessionRoute},
			path:  []string{id},
			query: query,
			noun:  "session",
		}, id)
		return err
	})
	return found, err
}

// asOnComputer sends a request for a session of a computer and, where that is not found, for the session wherever it is: its
// computer may be gone, or another owner's, of which this key sees nothing.
func asOnComputer(computer string, send func(query url.Values) error) error {
	err := send(sessionQuery(computer))
	if computer != "" && IsNotFound(err) {
		err = send(sessionQuery(""))
	}
	return err
}

// SessionWhole reads one session with everything that the service tells of it: what its own answer lacks is taken from the
// listing. A new one shows late, and still later there, so that it is waited for for a short time. One that does not exist is a
// *GoneError.
func (c *Client) SessionWhole(ctx context.Context, id, computer string) (*Session, error) {
	computer = c.computerKey(computer)
	var found *Session
	err := c.onceVisible(ctx, time.Time{}, func() (err error) {
		found, err = c.SessionAlone(ctx, id, computer)
		return err
	})
	switch {
	case IsNotFound(err):
		return nil, c.sessionGone(ctx, id, c.listedBy(computer), time.Time{}, c.sessions.confirmGone(ctx, c.listedBy(computer), id, err))
	case err != nil || found.Settings != nil:
		return found, err
	case found.ComputerID != "":
		computer = c.computerKey(found.ComputerID)
	}
	id = found.ID // The service takes any case of letters, and lists one.
	for until := c.clock.Now().Add(readsWaitFor); ; {
		key := c.listedBy(computer)
		listed, err := c.sessions.lookUp(ctx, key, id)
		switch {
		case c.listedBy(computer) != key:
			continue
		case cannotList(err):
			return found, nil
		case err != nil:
			return nil, err
		case listed != nil:
			found.Settings = listed.Settings
			return found, nil
		case key == "" || !c.isYoung(found.CreatedAt.Time()) || !c.clock.Now().Before(until):
			return found, nil // Another owner's session is in no listing.
		}
		c.sessions.discard(computer, "")
		if err := c.clock.Sleep(ctx, appearsPause); err != nil {
			return nil, err
		}
	}
}

// onceVisible repeats a request as long as the service does not find the session, which a young one is not at first.
func (c *Client) onceVisible(ctx context.Context, createdAt time.Time, send func() error) error {
	patience := appearsWithin
	if !createdAt.IsZero() {
		patience = youngFor
	}
	for until := c.clock.Now().Add(patience); ; {
		err := send()
		isHopeless := !createdAt.IsZero() && !c.isYoung(createdAt)
		if !IsNotFound(err) || isHopeless || !c.clock.Now().Before(until) {
			return err
		}
		if sleepErr := c.clock.Sleep(ctx, appearsPause); sleepErr != nil {
			return errors.Join(err, sleepErr)
		}
	}
}

// CreateSession makes a session and reconciles a lost answer; see unnamed. An answer with nothing but the ID is completed.
func (c *Client) CreateSession(ctx context.Context, body CreateSessionRequest) (*Session, error) {
	if body.Settings.IsEmpty() {
		body.Settings = nil
	}
	untold, err := json.Marshal(CreateSessionRequest{Cwd: body.Cwd, SystemPrompt: body.SystemPrompt})
	if err != nil {
		return nil, fmt.Errorf("createSession: the request cannot be encoded: %w", err)
	}
	key, asks := c.computerKey(body.ComputerID), 0
	if body.Settings != nil {
		asks = body.Settings.count()
	}
	made, err := createUnnamed(ctx, c, &c.sessionGates, unnamed[Session]{
		object: "session on the computer " + body.ComputerID,
		among:  key,
		untold: string(untold),
		asks:   asks,
		known:  c.sessions,
		key:    key,
		send:   func(ctx context.Context) (*Session, error) { return c.sendSession(ctx, body) },
		find: func(ctx context.Context) ([]Session, error) {
			all, err := c.listSessionsForReads(ctx, key)
			return filter(all, func(s *Session) bool { return s.ParentSessionID == "" }), err
		},
		createdAt: func(s *Session) Millis { return s.CreatedAt },
		isAmong:   func(s *Session) bool { return !body.isElsewhere(s) },
		isWanted:  body.isWanted,
		existing:  (*Session).existing,
	})
	c.forgetSessions(key)
	if err == nil && body.isElsewhere(made) {
		return nil, &StrangerError{Object: "session", Found: made.existing(), Err: &AnswerError{Problem: "the session is not on the computer " + body.ComputerID}}
	}
	return made, err
}

// sendSession makes a session. An answer that has the ID and not the whole session is completed by a read.
func (c *Client) sendSession(ctx context.Context, body CreateSessionRequest) (*Session, error) {
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
	var whole *Session
	err = c.onceVisible(ctx, time.Time{}, func() (err error) {
		whole, err = c.SessionAlone(ctx, made.ID, body.ComputerID)
		return err
	})
	if err != nil {
		// It exists, and its ID must not be lost. The next refresh completes it.
		whole = &Session{ID: made.ID, Status: SessionIdle, CreatedAt: made.CreatedAt, ComputerID: cmp.Or(made.ComputerID, body.ComputerID)}
	}
	whole.Settings = cmp.Or(whole.Settings, made.Settings)
	return whole, nil
}

// UpdateSession changes the settings that are set. CreatedAt is when the session was made, if that is known: a young one
// may not be found yet, and is waited for.
func (c *Client) UpdateSession(ctx context.Context, id, computer string, createdAt time.Time, settings *SessionSettings) (*Session, error) {
	computer = c.computerKey(computer)
	defer c.forgetSessions(computer)
	var updated *Session
	err := c.onceVisible(ctx, createdAt, func() (err error) {
		updated, err = changed(ctx, c, request{
			op:   operation{name: "updateSession", method: http.MethodPatch, route: sessionRoute},
			path: []string{id},
			body: UpdateSessionRequest{Settings: settings},
			noun: "session",
		}, id, func(ctx context.Context) (*Session, error) { return c.sessionNow(ctx, id, computer) },
			func(s *Session) bool { return settings.HoldsIn(s.Settings) })
		return err
	})
	return updated, err
}

// sessionNow reads a session with its settings from a listing of its own, or alone where that lacks it.
func (c *Client) sessionNow(ctx context.Context, id, computer string) (*Session, error) {
	all, err := c.listSessionsForReads(ctx, c.listedBy(computer))
	if err != nil && !cannotList(err) {
		return nil, err
	}
	for i := range all {
		if all[i].ID == id {
			return &all[i], nil
		}
	}
	return c.SessionAlone(ctx, id, computer)
}

// DeleteSession deletes a session softly: the service keeps it for a while. For one that is gone already the error is a
// *GoneError; a young one that is not found yet is waited for.
func (c *Client) DeleteSession(ctx context.Context, id, computer string, createdAt time.Time) error {
	computer = c.computerKey(computer)
	defer c.forgetSessions(computer)
	err := c.onceVisible(ctx, createdAt, func() error {
		return asOnComputer(c.listedBy(computer), func(query url.Values) error {
			return c.callNoAnswer(ctx, request{
				op:    operation{name: "deleteSession", method: http.MethodDelete, route: sessionRoute},
				path:  []string{id},
				query: query,
			})
		})
	})
	if !IsNotFound(err) {
		c.sessions.ended(computer, id, err)
		return err
	}
	// A listing lags behind, so that one which shows the session is followed by others.
	for _, pause := range looksAfterLoss {
		if sleepErr := c.clock.Sleep(ctx, pause); sleepErr != nil {
			return errors.Join(err, sleepErr)
		}
		c.sessionPages.discard()
		key := c.listedBy(computer)
		gone := c.sessionGone(ctx, id, key, createdAt, c.sessions.confirmGone(ctx, key, id, err))
		if IsGone(gone) {
			c.sessions.vanished(computer, id)
			return gone
		}
	}
	return err
}

// forgetSessions drops what was read of the sessions of a computer, and of all of them.
func (c *Client) forgetSessions(computer string) {
	c.sessions.discard(computer, "")
	c.sessionPages.discard()
}

// InterruptSession interrupts the agent of a session and returns the status that follows. An idle session stays as it is.
func (c *Client) InterruptSession(ctx context.Context, id string) (string, error) {
	type outcome struct {
		Status string `json:"status"`
	}
	var answer *outcome
	r := request{
		op:   operation{name: "interruptSession", method: http.MethodPost, route: sessionRoute + "/interrupt", repeatable: true},
		path: []string{id},
	}
	err := c.onceVisible(ctx, time.Time{}, func() (err error) {
		answer, err = call[outcome](ctx, c, r)
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
