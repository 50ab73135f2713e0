package collection

import (
	"context"
	"encoding/json"
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

// Posts are the POSTs that create objects without names in a collection. The lock is held for reading while a POST is in flight, and
// for writing while the object of a lost response is searched for.
type Posts struct {
	sync.RWMutex

	mu   sync.Mutex
	lost map[string]int
}

// CountLost changes the number of POSTs with a body whose responses were lost, and returns it.
func (p *Posts) CountLost(body any, change int) int {
	text, _ := json.Marshal(body) // The POST has encoded it too.
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lost == nil {
		p.lost = map[string]int{}
	}
	p.lost[string(text)] += change
	return p.lost[string(text)]
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
