package emulator

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// defaultSettings is a snapshot with every documented key. Values that look like secrets begin with "no-secret".
//
//go:embed enterprise_settings.json
var defaultSettings []byte

// controlChange is one change of the enterprise control settings, with all of them as they were after it.
type controlChange struct {
	Revision  int                        `json:"revision"`
	Settings  map[string]json.RawMessage `json:"settings"`
	User      controlUser                `json:"user"`
	UpdatedAt time.Time                  `json:"updatedAt"`
}

// Changes are by revision in ten digits.
var controlTable = &table[controlChange]{name: "control_changes"}

// latestControls returns the latest change; before the first, the default settings.
func latestControls(tx *bolt.Tx) (*controlChange, error) {
	latest, value := controlTable.bucket(tx).Cursor().Last()
	if latest != nil {
		return controlTable.decode(string(latest), value)
	}
	c := &controlChange{}
	if err := json.Unmarshal(defaultSettings, &c.Settings); err != nil {
		return nil, fmt.Errorf("read the default settings: %w", err)
	}
	return c, nil
}

// controlUser made a change. The identity provider may know the ID alone.
type controlUser struct {
	ID    string  `json:"id"`
	Email *string `json:"email"`
	Name  *string `json:"name"`
}

func (m member) controlUser() controlUser {
	u := controlUser{ID: m.ID, Email: &m.Email}
	if name := strings.TrimSpace(m.FirstName + " " + m.LastName); name != "" {
		u.Name = &name
	}
	return u
}

func listControlChanges(r *request) (reply, error) {
	revisions := controlTable.keys(r.tx, "")
	slices.Reverse(revisions)
	from, to, p, err := r.page(revisions)
	if err != nil {
		return reply{}, err
	}
	changes, err := controlTable.pick(r.tx, revisions[from:to])
	return reply{200, values{"changes": changes, "pagination": p}}, err
}

// changeControls adds a revision on top of the latest. A null removes its key.
func changeControls(tx *bolt.Tx, settings map[string]json.RawMessage, by controlUser, at time.Time) error {
	c, err := latestControls(tx)
	if err != nil {
		return err
	}
	maps.Copy(c.Settings, settings)
	maps.DeleteFunc(c.Settings, func(_ string, value json.RawMessage) bool { return string(bytes.TrimSpace(value)) == "null" })
	c.Revision, c.User, c.UpdatedAt = c.Revision+1, by, at.UTC().Truncate(time.Millisecond)
	return controlTable.put(tx, fmt.Sprintf("%010d", c.Revision), *c)
}

// firstChanges adds the history that every emulator starts with. The identity provider no longer knows the first
// user.
func firstChanges(tx *bolt.Tx, manager member, now time.Time) error {
	unknown := controlUser{ID: newID("user_", now.Add(-48*time.Hour))}
	return errors.Join(
		changeControls(tx, map[string]json.RawMessage{"maxAutonomyLevel": json.RawMessage(`"medium"`), "sessionRetentionDays": json.RawMessage("30")}, unknown, now.Add(-24*time.Hour)),
		changeControls(tx, map[string]json.RawMessage{"maxAutonomyLevel": json.RawMessage(`"high"`)}, manager.controlUser(), now),
		changeControls(tx, map[string]json.RawMessage{"sessionRetentionDays": json.RawMessage("90")}, manager.controlUser(), now),
	)
}

// ChangeEnterpriseControls makes a new revision of the enterprise control settings: the latest with other values of the
// given keys. A null removes a key. The author is the member with the email address; empty means the manager
// that every emulator begins with.
// It returns an error if there is nothing to change, a value is not JSON, or there is no such member.
func (e *Emulator) ChangeEnterpriseControls(settings map[string]json.RawMessage, email string) error {
	if len(settings) == 0 {
		return errors.New("settings must not be empty")
	}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		if !json.Valid(settings[name]) {
			return fmt.Errorf("the value of %q is not JSON", name)
		}
	}
	return e.store.db.Update(func(tx *bolt.Tx) error {
		m, err := firstManager(tx)
		if email != "" {
			m, err = memberByEmail(tx, email, fmt.Errorf("no member has the email address %q", email))
		}
		if err != nil {
			return err
		}
		return changeControls(tx, settings, m.controlUser(), e.clock.Now())
	})
}
