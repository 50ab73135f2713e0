package emulator

import (
	"errors"
	"fmt"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// maxAhead is how far ahead the clock can be. It keeps every time within the range of the API's formats.
const maxAhead = 100 * 365 * 24 * time.Hour

// clockBody moves the clock.
type clockBody struct{ Advance, To string }

func (e *Emulator) clockView() values {
	return values{"time": e.clock.Now().UTC(), "ahead": e.clock.By().String()}
}

// moveClock moves the emulator's time forward. A restart keeps it, so that no object has a creation time in the future.
func (e *Emulator) moveClock(in clockBody) error {
	return e.store.db.Update(func(tx *bolt.Tx) error {
		by, err := in.distance(e.clock.Now())
		switch {
		case err != nil:
			return err
		case by > maxAhead-e.clock.By():
			return badRequest("The clock can be at most 36500 days ahead; it is already ahead by %s.", e.clock.By())
		}
		ahead := e.clock.By() + by
		if err := errors.Join(metaAhead.put(tx, "ahead", ahead), e.store.writeClock(ahead)); err != nil {
			return err
		}
		e.clock.Advance(by)
		return nil
	})
}

func (s *store) writeClock(ahead time.Duration) error {
	if err := os.WriteFile(s.clock, []byte(ahead.String()), 0o600); err != nil {
		return fmt.Errorf("write how far the clock is ahead: %w", err)
	}
	return nil
}

// distance is how far to move the clock.
func (b clockBody) distance(now time.Time) (time.Duration, error) {
	if (b.Advance == "") == (b.To == "") {
		return 0, badRequest(`Give either "advance", a duration such as "30d", or "to", a time such as "2027-01-31T08:00:00Z".`)
	}
	if b.Advance != "" {
		by, err := clock.ParseDuration(b.Advance)
		switch {
		case err != nil:
			return 0, badRequest("The duration in \"advance\" is wrong: %v.", err)
		case by < 0:
			return 0, badRequest("The clock never goes back, so \"advance\" cannot be %s.", b.Advance)
		}
		return by, nil
	}
	to, err := time.Parse(time.RFC3339, b.To)
	switch {
	case err != nil:
		return 0, badRequest("The time in \"to\" is wrong: %q is not in RFC 3339, such as 2027-01-31T08:00:00Z.", b.To)
	case to.Before(now):
		return 0, badRequest("The clock never goes back, and \"to\" is before the current time %s.", now.UTC().Format(time.RFC3339))
	}
	return to.Sub(now), nil
}
