package collection

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
)

// maxAlone is how many objects are read at the same time if each of them takes its own request.
const maxAlone = 8

// Poller lets all waiters for objects of one collection share their polls: a waiter that is due takes the latest poll if it started
// after the waiter's own last look. Otherwise, it starts one for all.
type Poller[T any] struct {
	conn   *transport.Conn
	source PollSource[T]
	id     func(*T) string
	alone  chan struct{}

	mu sync.Mutex
	// waiting has the IDs of all watches of a collection.
	waiting map[string][]string
	latest  map[string]*poll[T]
}

// poll is one request for all that wait.
type poll[T any] struct {
	started time.Time
	// done is closed when the others are set.
	done  chan struct{}
	found map[string]*T
	err   error
}

// PollSource says how a poller reads objects.
type PollSource[T any] struct {
	// Single reads one object: for a lone waiter, or if Many is refused or did not return the object.
	Single func(ctx context.Context, id string) (*T, error)
	// Many reads objects of the collection key. It may also return other objects.
	Many func(ctx context.Context, key string, ids []string) ([]T, error)
	// AfterWait is called when a wait for an object of the collection key ends. It may be nil.
	AfterWait func(key string)
	// Status is what the report of a run says about an object after a wait. It may be nil.
	Status func(*T) string
}

// Watch follows one object until Close.
type Watch[T any] struct {
	poller  *Poller[T]
	key, id string
	began   time.Time
	// seen is the poll of the last look, and state what the object was at that time.
	seen  *poll[T]
	state string
	// ctx is the context of the last look, for the report of the run.
	ctx   context.Context
	close func()
}

// NewPoller returns an idle Poller.
func NewPoller[T any, P wire.RecordOf[T]](conn *transport.Conn, source PollSource[T]) *Poller[T] {
	return &Poller[T]{
		conn: conn, source: source, id: func(object *T) string { return P(object).Ref().ID },
		latest: map[string]*poll[T]{}, alone: make(chan struct{}, maxAlone), waiting: map[string][]string{},
	}
}

// Watch returns a watch of the object id of the collection key. It sends nothing before Next.
func (p *Poller[T]) Watch(key, id string) *Watch[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting[key] = append(p.waiting[key], id)
	w := &Watch[T]{poller: p, key: key, id: id, began: p.conn.Clock.Now()}
	w.close = sync.OnceFunc(func() {
		if w.ctx != nil {
			p.conn.NoteWait(w.ctx, runreport.WaitStatus, wire.Ref{ID: id}, w.state, w.began)
		}
		p.leave(key, id)
	})
	return w
}

// Next returns the object after a pause, from a request that started after the last look.
func (w *Watch[T]) Next(ctx context.Context, pause time.Duration) (*T, error) {
	w.ctx = ctx
	object, err := w.look(ctx, pause)
	if err == nil && w.poller.source.Status != nil {
		w.state = w.poller.source.Status(object)
	}
	return object, err
}

func (w *Watch[T]) look(ctx context.Context, pause time.Duration) (*T, error) {
	p := w.poller
	if err := p.conn.Clock.Sleep(ctx, pause); err != nil {
		return nil, err
	}
	found, err := w.share(ctx)
	if err != nil && !CannotList(err) {
		return nil, err
	}
	if object := found[w.id]; object != nil {
		own := *object
		return &own, nil
	}
	select {
	case p.alone <- struct{}{}:
		defer func() { <-p.alone }()
		return p.source.Single(ctx, w.id)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// share returns the objects of the latest poll that this watch has not seen, or nothing if nobody else waits. There is one poll at a
// time: whoever comes after it was started shares the next one.
func (w *Watch[T]) share(ctx context.Context) (map[string]*T, error) {
	for {
		latest := w.poller.start(ctx, w.key, w.seen)
		if latest == nil {
			return nil, nil
		}
		w.seen = latest
		select {
		case <-latest.done:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !latest.started.Before(w.began) { // An older poll may be older than the object.
			return latest.found, latest.err
		}
	}
}

// start returns the latest poll of a collection. If that is the one seen, it starts another, unless there is only one watch.
func (p *Poller[T]) start(ctx context.Context, key string, seen *poll[T]) *poll[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if latest := p.latest[key]; latest != nil && latest != seen {
		return latest
	}
	if len(p.waiting[key]) < 2 {
		return nil
	}
	next := &poll[T]{done: make(chan struct{}), started: p.conn.Clock.Now()}
	p.latest[key] = next
	ids := slices.Compact(slices.Sorted(slices.Values(p.waiting[key])))
	go func() {
		defer close(next.done)
		var all []T
		// Others share it, so it must not end with the context of one of them.
		all, next.err = p.source.Many(context.WithoutCancel(ctx), key, ids)
		if next.err != nil {
			return
		}
		next.found = make(map[string]*T, len(all))
		for i := range all {
			next.found[p.id(&all[i])] = &all[i]
		}
	}()
	return next
}

// Close ends the wait. It may be called more than once.
func (w *Watch[T]) Close() { w.close() }

func (p *Poller[T]) leave(key, id string) {
	p.mu.Lock()
	at := slices.Index(p.waiting[key], id)
	p.waiting[key] = slices.Delete(p.waiting[key], at, at+1)
	if len(p.waiting[key]) == 0 {
		delete(p.waiting, key)
		delete(p.latest, key)
	}
	p.mu.Unlock()
	if p.source.AfterWait != nil {
		p.source.AfterWait(key)
	}
}
