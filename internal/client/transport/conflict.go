package transport

import (
	"context"
	"time"
)

const (
	// renameTime is how long an update with a new name is retried after a 409.
	renameTime  = 10 * time.Second
	renamePause = 500 * time.Millisecond
)

// RetryConflict repeats send after a 409, until limit is over. Before each pause, it calls resolve with the 409, and returns
// its error.
func (c *Conn) RetryConflict(ctx context.Context, limit, pause time.Duration, send func() error, resolve func(error) error) error {
	for deadline := c.Clock.Now().Add(limit); ; {
		err := send()
		if !IsConflict(err) || !c.Clock.Now().Before(deadline) {
			return err
		}
		if err := resolve(err); err != nil {
			return err
		}
		if c.Clock.Sleep(ctx, pause) != nil {
			return err
		}
	}
}

// Rename sends an update. If it has a name, a 409 is retried, because the same apply may free the name a moment later.
func (c *Conn) Rename(ctx context.Context, name *string, send func() error) error {
	if name == nil {
		return send()
	}
	return c.RetryConflict(ctx, renameTime, renamePause, send, func(error) error { return nil })
}
