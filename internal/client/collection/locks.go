package collection

import (
	"context"
	"sync"
)

// locks are locks by name. The zero value is ready to use.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

// Lock waits until the lock of a name is free, or until ctx is done. The caller must call release.
func (l *locks) Lock(ctx context.Context, name string) (release func(), err error) {
	for {
		l.mu.Lock()
		taken, ok := l.held[name]
		if !ok {
			if l.held == nil {
				l.held = map[string]chan struct{}{}
			}
			mine := make(chan struct{})
			l.held[name] = mine
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				delete(l.held, name)
				l.mu.Unlock()
				close(mine)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-taken:
		}
	}
}
