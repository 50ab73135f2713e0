package emulator

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	bolt "go.etcd.io/bbolt"
)

// The states of a session.
const (
	sessionIdle    = "idle"
	sessionPending = "pending"
	sessionRunning = "running"
)

const (
	defaultSessionDelay     = 2 * time.Second
	defaultSessionListDelay = 5 * time.Second
)

// session is a session as it is stored, also after its deletion.
type session struct {
	ID, OwnerID  string
	ComputerID   string          `json:",omitempty"`
	ParentID     string          `json:",omitempty"`
	CWD          string          `json:",omitempty"`
	SystemPrompt json.RawMessage `json:",omitempty"` // Never shown.
	CreatedAt    int64
	// ChangedAt is when something changed that listings show at once.
	ChangedAt   int64
	CompletedAt int64 `json:",omitempty"`
	DeletedAt   int64 `json:",omitempty"`
	Settings    sessionSettings
	Credits     float64
	Artifacts   []SessionArtifact `json:",omitempty"`
	// Activities are what the session was doing, is doing, and will do in the turns of the agent. The first is still listed.
	Activities []sessionActivity
	// Answers are what the agent will answer to the next messages.
	Answers []SessionAnswer `json:",omitempty"`
}

// Sessions are by ID. The indexes leave out deleted ones; in each, the oldest of an owner is the first.
var (
	sessionsByOwner = index[session]{"sessions_by_owner", func(s *session) string {
		if s.DeletedAt != 0 {
			return ""
		}
		return key(s.OwnerID, fmt.Sprintf("%015d", s.CreatedAt), s.ID)
	}}
	sessionsByComputer = index[session]{"sessions_by_computer", func(s *session) string {
		if s.DeletedAt != 0 || s.ComputerID == "" {
			return ""
		}
		return key(s.ComputerID, s.OwnerID, fmt.Sprintf("%015d", s.CreatedAt), s.ID)
	}}
	sessionTable = &table[session]{"sessions", []index[session]{sessionsByOwner, sessionsByComputer}}
)

// sessionActivity is what a session does from a moment on. Listings show it late.
type sessionActivity struct {
	At           int64
	Title        string `json:",omitempty"`
	Status       string
	MessageCount int64
}

// SessionArtifact is what the agent made in a session, as listings show it.
type SessionArtifact struct {
	ID         string `json:"id"`
	Kind       string `json:"kind"`
	URL        string `json:"url,omitempty"`
	Title      string `json:"title,omitempty"`
	Provider   string `json:"provider,omitempty"`
	Action     string `json:"action,omitempty"`
	ExternalID string `json:"externalId,omitempty"`
	CreatedAt  string `json:"createdAt,omitempty"`
}

// sessionView is a session as the API shows it.
type sessionView struct {
	SessionID       string            `json:"sessionId"`
	ParentSessionID string            `json:"parent_session_id,omitempty"`
	Title           string            `json:"title,omitempty"`
	Status          string            `json:"status"`
	MessageCount    int64             `json:"messageCount"`
	CreatedAt       int64             `json:"createdAt"`
	UpdatedAt       int64             `json:"updatedAt"`
	CompletedAt     int64             `json:"completedAt,omitempty"`
	ComputerID      string            `json:"computerId,omitempty"`
	SessionSettings sessionSettings   `json:"sessionSettings,omitzero"`
	ServiceCredits  *float64          `json:"serviceCredits,omitempty"`
	Artifacts       []SessionArtifact `json:"artifacts,omitzero"`
}

func sessionArea() area {
	routes := []route{
		{operation: "listSessions", admit: sessionsServed, handle: listSessions},
		{operation: "createSession", admit: sessionsServed, handle: createSession},
		{operation: "getSession", admit: sessionsServed, handle: on((*request).session, getSession)},
		{operation: "deleteSession", admit: sessionsServed, handle: on((*request).session, deleteSession)},
		{operation: "updateSession", admit: sessionsServed, handle: updateSession},
		{operation: "interruptSession", admit: sessionsServed, handle: on((*request).session, interruptSession)},
		{operation: "listSessionMessages", admit: sessionsServed, handle: on((*request).session, listSessionMessages)},
		{operation: "sendSessionMessage", maxBody: maxMessageBody, admit: sessionsServed, handle: sendSessionMessage},
		{operation: "listSessionChildren", admit: sessionsServed, handle: on((*request).session, listSessionChildren)},
	}
	return area{routes, []anyTable{sessionTable, messageTable}}
}

// sessionsServed returns 403 unless the organization has sessions.
func sessionsServed(r *request) error {
	if r.e.switched().noSessions {
		return forbidden("Sessions are not enabled for the organization.")
	}
	return nil
}

// orDefault reads an option that is a delay: 0 means the default, less means none.
func orDefault(delay, usual time.Duration) time.Duration {
	if delay == 0 {
		return usual
	}
	return max(0, delay)
}

// at is the index of what the session does at a time.
func (s *session) at(t time.Time) int {
	at := 0
	for i := range s.Activities {
		if s.Activities[i].At <= millis(t) {
			at = i
		}
	}
	return at
}

// present is what the session does.
func (s *session) present(now time.Time) *sessionActivity { return &s.Activities[s.at(now)] }

// listed is the index of what listings show that the session does.
func (s *session) listed(e *Emulator, now time.Time) int {
	return s.at(now.Add(-orDefault(e.opts.SessionListDelay, defaultSessionListDelay)))
}

// change edits what the session does and will do, and drops activities that no listing shows any more.
func (s *session) change(e *Emulator, now time.Time, edit func(*sessionActivity)) {
	at := s.at(now)
	next := s.Activities[at]
	edit(&next)
	for i := range s.Activities[at+1:] {
		edit(&s.Activities[at+1+i])
	}
	if next == s.Activities[at] {
		return
	}
	next.At = millis(now)
	s.Activities = slices.Insert(s.Activities, at+1, next)[s.listed(e, now):]
}

// view shows a session while it does something, without what only some operations show.
func (s *session) view(a *sessionActivity) sessionView {
	return sessionView{
		SessionID: s.ID, ParentSessionID: s.ParentID, Title: a.Title, Status: a.Status, MessageCount: a.MessageCount,
		CreatedAt: s.CreatedAt, UpdatedAt: max(s.ChangedAt, a.At), CompletedAt: s.CompletedAt, ComputerID: s.ComputerID,
	}
}

// withSettings is a session while it does something, with its settings: what it does now, or what listings show.
func (r *request) withSettings(s *session, a *sessionActivity) sessionView {
	v := s.view(a)
	v.SessionSettings = s.Settings.shown(r.e.opts.ShuffleLists)
	return v
}

// listedView is the view in a listing, which has no artifacts yet.
func (r *request) listedView(s *session) sessionView {
	return r.withSettings(s, &s.Activities[s.listed(r.e, r.now)])
}

// sessionName is where a session runs.
func (r *request) sessionName(s *session) string {
	c, _ := computerTable.get(r.tx, s.ComputerID, nil) // A session outlives its computer.
	if c == nil {
		return s.ID
	}
	return "on " + c.Name
}

// save stores a session.
func (s *session) save(tx *bolt.Tx) error { return sessionTable.put(tx, s.ID, *s) }

// session finds the session of a request's path, which its creator may use, and a manager.
func (r *request) session() (*session, error) { return r.sessionOn(r.query.Get("computerId")) }

// sessionOn is session for a request that may name the computer in its body.
func (r *request) sessionOn(computerID string) (*session, error) {
	id := r.params["sessionId"]
	missing := notFound("No session with the ID %q was found.", id)
	s, err := sessionTable.get(r.tx, strings.ToLower(id), missing)
	switch {
	case err != nil:
		return nil, err
	case s.DeletedAt != 0 || millis(r.now) < s.CreatedAt+orDefault(r.e.opts.SessionDelay, defaultSessionDelay).Milliseconds():
		return nil, missing
	}
	if computerID != "" {
		c, err := r.computer(computerID)
		if err != nil {
			return nil, err
		}
		if c.ID != s.ComputerID {
			return nil, notFound("The computer %q has no session with the ID %q.", c.Name, s.ID)
		}
	}
	if s.OwnerID != r.who.ID && !r.who.manages() {
		return nil, forbidden("The session %s belongs to another member or service account; only its owner or a member with the Manager role or higher may use it.", s.ID)
	}
	return s, nil
}

// listSessions shows the caller's sessions, newest first. Only those of the page are read. A computer that the caller cannot
// reach has none: 404 is not among the statuses of this operation.
func listSessions(r *request) (reply, error) {
	computerID, reachable := "", true
	if r.query.Has("computerId") {
		computerID = strings.ToLower(r.query.Get("computerId"))
		_, err := r.computer(computerID)
		reachable = err == nil
		if err != nil && asAPIError(err).status != http.StatusNotFound {
			return reply{}, err
		}
	}
	var ids []string
	if reachable {
		ids = r.sessionsOf(computerID)
	}
	from, to, p, err := r.page(ids)
	if err != nil {
		return reply{}, err
	}
	listed, err := sessionTable.pick(r.tx, ids[from:to])
	return reply{200, values{"pagination": p, "sessions": views(listed, func(s *session) sessionView {
		v := r.listedView(s)
		v.Artifacts = append([]SessionArtifact{}, s.Artifacts...)
		return v
	})}}, err
}

// sessionsOf returns the IDs of the caller's sessions that listings show, on one computer or, with "", on all.
func (r *request) sessionsOf(computerID string) (ids []string) {
	bucket, prefix := sessionsByOwner.name, key(r.who.ID, "")
	if computerID != "" {
		bucket, prefix = sessionsByComputer.name, key(computerID, r.who.ID, "")
	}
	seen := millis(r.now.Add(-orDefault(r.e.opts.SessionListDelay, defaultSessionListDelay)))
	last := prefix + fmt.Sprintf("%015d", seen+1)
	for at, id := range entries(r.tx, bucket, prefix) {
		if at < last {
			ids = append(ids, indexed(id))
		}
	}
	slices.Reverse(ids)
	return ids
}

func createSession(r *request) (reply, error) {
	f := r.fields()
	now := millis(r.now)
	s := &session{
		ID: uuid.NewString(), OwnerID: r.who.ID, CreatedAt: now, ChangedAt: now,
		Activities: []sessionActivity{{At: now, Status: sessionIdle}},
	}
	computerID := f.text("computerId")
	s.CWD, s.Settings, s.SystemPrompt = f.text("cwd"), readSessionSettings(f), f.values["systemPrompt"]
	if err := f.done(); err != nil {
		return reply{}, err
	}
	c, err := r.computer(computerID)
	if err != nil {
		if asAPIError(err).status == http.StatusNotFound {
			err = refuse("session-computer", "No computer with the ID %q was found.", computerID)
		}
		return reply{}, err
	}
	if status := c.progressAt(r.now).status; status != statusActive {
		return reply{}, refuse("session-computer", "A session needs an active computer; %q is in status %s.", c.Name, status)
	}
	s.ComputerID = c.ID
	defaults, err := r.defaultSessionSettings()
	if err != nil {
		return reply{}, err
	}
	maps.Copy(defaults, s.Settings)
	s.Settings = defaults
	change := r.noteChange(s.ID, r.sessionName(s))
	change.Until, change.Listed = now+orDefault(r.e.opts.SessionDelay, defaultSessionDelay).Milliseconds(), now+orDefault(r.e.opts.SessionListDelay, defaultSessionListDelay).Milliseconds()
	return reply{201, r.withSettings(s, s.present(r.now))}, s.save(r.tx)
}

func getSession(r *request, s *session) (reply, error) {
	v := s.view(s.present(r.now))
	v.ServiceCredits = &s.Credits
	if !r.e.switched().noSettingsOnReads {
		v.SessionSettings = s.Settings.shown(r.e.opts.ShuffleLists)
	}
	return reply{200, v}, nil
}
