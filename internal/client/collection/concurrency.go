package collection

import (
	"context"
	"sync"
)

// Locks are locks by name. The zero value is ready to use.
type Locks struct{ slots sync.Map }

// Lock waits until the lock of a name is free, or until ctx is done. The caller must call unlock.
func (l *Locks) Lock(ctx context.Context, name string) (unlock func(), err error) {
	found, _ := l.slots.LoadOrStore(name, make(chan struct{}, 1))
	slot := found.(chan struct{})
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// InParallel runs work for 0 to n-1, at most so many workers at a time, and returns their errors in that order.
func InParallel(workers, n int, work func(i int) error) []error {
	errs := make([]error, n)
	var running sync.WaitGroup
	slots := make(chan struct{}, workers)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			errs[i] = work(i)
		})
	}
	running.Wait()
	return errs
}
