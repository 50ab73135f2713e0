package collection

import (
	"context"
	"sync"
)

// locks are locks by name. The zero value is ready.
type locks struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

// Lock waits until nobody else holds the name's lock, or until ctx is done. The caller calls the function it returns to release it.
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
