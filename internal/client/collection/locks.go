package collection

import (
	"context"
	"sync"
)

// Locks are locks by name. The zero value is ready to use.
type Locks struct{ slots sync.Map }

// Lock waits until the lock of a name is free, or until ctx is done. The caller must call release.
func (l *Locks) Lock(ctx context.Context, name string) (release func(), err error) {
	found, _ := l.slots.LoadOrStore(name, make(chan struct{}, 1))
	slot := found.(chan struct{})
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
