package emulator

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// deleteSession keeps the record, as the service does until the session can no longer be restored.
func deleteSession(r *request, s *session) (reply, error) {
	s.DeletedAt = millis(r.now)
	r.noteChange(s.ID, r.sessionName(s))
	return reply{status: 204}, s.save(r.tx)
}

func updateSession(r *request) (reply, error) {
	f := r.fields()
	given := readSessionSettings(f)
	if err := f.done(); err != nil {
		return reply{}, err
	}
	s, err := r.session()
	if err != nil {
		return reply{}, err
	}
	if len(given) > 0 {
		s.Settings = s.Settings.changed(given)
		s.ChangedAt = millis(r.now)
		r.noteChange(s.ID, r.sessionName(s))
	}
	return reply{200, r.withSettings(s, s.present(r.now))}, s.save(r.tx)
}

func interruptSession(r *request, s *session) (reply, error) {
	if err := s.endTurns(r.tx, r.now); err != nil {
		return reply{}, err
	}
	s.change(r.e, r.now, func(a *sessionActivity) { a.Status = sessionIdle })
	return reply{200, values{"status": s.present(r.now).Status}}, s.save(r.tx)
}

// SessionChange is a change of a session by the agent or another person. Nil fields stay as they are. A change of the status,
// the title, or the number of messages ends the turns of the agent.
type SessionChange struct {
	// Status is idle, pending, or running.
	Status *string `json:"status"`
	// An empty Title, ParentSessionID or ComputerID removes the value. The IDs are not checked.
	Title           *string  `json:"title"`
	ParentSessionID *string  `json:"parentSessionId"`
	ComputerID      *string  `json:"computerId"`
	MessageCount    *int64   `json:"messageCount"`
	ServiceCredits  *float64 `json:"serviceCredits"`
	// ArchivedAt is the setting of this name; empty removes it.
	ArchivedAt *string `json:"archivedAt"`
	// CompletedAt is in Unix milliseconds; 0 removes it.
	CompletedAt *int64 `json:"completedAt"`
	// Artifacts are all that listings show from now on.
	Artifacts []SessionArtifact `json:"artifacts"`
}

// ChangeSession changes a session as the agent or another person would: a new session stays idle until it is changed.
// It returns an error if there is no such session or a value is not valid.
func (e *Emulator) ChangeSession(id string, c SessionChange) error {
	return e.editSession(id, func(tx *bolt.Tx, s *session, now time.Time) error {
		if err := c.check(); err != nil {
			return err
		}
		if c.Status != nil || c.Title != nil || c.MessageCount != nil {
			if err := s.endTurns(tx, now); err != nil {
				return err
			}
		}
		c.apply(e, s, now)
		return nil
	})
}

// editSession changes a session that exists, and stores it.
func (e *Emulator) editSession(id string, change func(tx *bolt.Tx, s *session, now time.Time) error) error {
	return edit(e, sessionTable, strings.ToLower(id), "session", func(r *request, s *session) error {
		if s.DeletedAt != 0 {
			return fmt.Errorf("session %s does not exist", id)
		}
		return change(r.tx, s, r.now)
	})
}

// check returns an error if a value is not valid.
func (c *SessionChange) check() error {
	switch {
	case c.Status != nil && !slices.Contains([]string{sessionIdle, sessionPending, sessionRunning}, *c.Status):
		return fmt.Errorf("the status %q is not idle, pending, or running", *c.Status)
	case c.MessageCount != nil && *c.MessageCount < 0:
		return fmt.Errorf("the number of messages %d is negative", *c.MessageCount)
	case c.ServiceCredits != nil && *c.ServiceCredits < 0:
		return fmt.Errorf("the number of credits %g is negative", *c.ServiceCredits)
	}
	for _, a := range c.Artifacts {
		if a.ID == "" || a.Kind == "" {
			return errors.New("each artifact must have an ID and a kind")
		}
		if _, err := time.Parse(time.RFC3339, a.CreatedAt); a.CreatedAt != "" && err != nil {
			return fmt.Errorf("the time %q of an artifact is not in RFC 3339", a.CreatedAt)
		}
	}
	return nil
}

func (c *SessionChange) apply(e *Emulator, s *session, now time.Time) {
	s.change(e, now, func(a *sessionActivity) {
		replace(&a.Status, c.Status)
		replace(&a.Title, c.Title)
		replace(&a.MessageCount, c.MessageCount)
	})
	if c.ParentSessionID != nil || c.ComputerID != nil || c.ArchivedAt != nil || c.CompletedAt != nil || c.ServiceCredits != nil || c.Artifacts != nil {
		s.ChangedAt = millis(now)
	}
	replace(&s.ParentID, c.ParentSessionID)
	replace(&s.ComputerID, c.ComputerID)
	replace(&s.CompletedAt, c.CompletedAt)
	replace(&s.Credits, c.ServiceCredits)
	if c.Artifacts != nil {
		s.Artifacts = c.Artifacts
	}
	if c.ArchivedAt != nil {
		s.Settings.set(settingArchived, *c.ArchivedAt)
		if *c.ArchivedAt == "" {
			delete(s.Settings, settingArchived)
		}
	}
}

// replace sets a value unless the new one is nil.
func replace[T any](value, by *T) {
	if by != nil {
		*value = *by
	}
}

// AllowSessions enables or disables sessions for the organization. While disabled, all their operations return 403.
func (e *Emulator) AllowSessions(allowed bool) {
	e.program(func(s *switches) { s.noSessions = !allowed })
}

// SessionSettingsOnReads says whether reads of one session show its settings. By default they do, as is documented; reported answers of
// the service lacked them.
func (e *Emulator) SessionSettingsOnReads(on bool) {
	e.program(func(s *switches) { s.noSettingsOnReads = !on })
}

// Session is a session as the emulator keeps it, with what the API never shows.
type Session struct {
	ID, OwnerID, ComputerID string
	// CWD and SystemPrompt are what the creation gave; a missing prompt is empty.
	CWD          string
	SystemPrompt json.RawMessage
	// Settings are all that have a value, by name.
	Settings map[string]json.RawMessage
}

// Sessions returns all sessions that are not deleted, also those that are not listed yet, oldest first.
func (e *Emulator) Sessions() ([]Session, error) {
	var list []Session
	err := e.store.db.View(func(tx *bolt.Tx) error {
		stored, err := sessionsOn(tx, "")
		for _, s := range stored {
			list = append(list, Session{s.ID, s.OwnerID, s.ComputerID, s.CWD, s.SystemPrompt, s.Settings})
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	return list, nil
}

// sessionsOn returns the sessions on a computer that are not deleted, or with "" all of them, oldest first.
func sessionsOn(tx *bolt.Tx, computerID string) ([]*session, error) {
	ids := sessionsByOwner.keys(tx, "")
	if computerID != "" {
		ids = sessionsByComputer.keys(tx, key(computerID, ""))
	}
	sessions, err := sessionTable.pick(tx, ids)
	slices.SortFunc(sessions, func(a, b *session) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), strings.Compare(a.ID, b.ID))
	})
	return sessions, err
}

// archiveSessions archives the sessions of a computer that is deleted. One that is archived already stays as it is.
func archiveSessions(tx *bolt.Tx, computerID string, now time.Time) error {
	sessions, err := sessionsOn(tx, computerID)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		if s.Settings[settingArchived] != nil {
			continue
		}
		s.Settings.set(settingArchived, now.UTC().Format(time.RFC3339))
		s.ChangedAt = millis(now)
		if err := s.save(tx); err != nil {
			return err
		}
	}
	return nil
}
