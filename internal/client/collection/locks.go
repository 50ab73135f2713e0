package collection

import (
	"context"
	"sync"
)

// locks are locks by name. The zero value is ready to use.
type locks struct{ slots sync.Map }

// Lock waits until the lock of a name is free, or until ctx is done. The caller must call release.
func (l *locks) Lock(ctx context.Context, name string) (release func(), err error) {
	found, _ := l.slots.LoadOrStore(name, make(chan struct{}, 1))
	slot := found.(chan struct{})
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
