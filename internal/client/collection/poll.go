package collection

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// maxAlone is how many objects are read at the same time if each of them takes its own request.
const maxAlone = 8

// Poller lets all waiters for objects of one collection share their requests. It polls when the first waiter is due, on behalf
// of all current waiters, and is idle if there are none.
type Poller[T any] struct {
	conn   *transport.Conn
	source PollSource[T]
	id     func(*T) string

	mu     sync.Mutex
	groups map[string]*pollGroup[T]
}

// PollSource says how a poller reads objects.
type PollSource[T any] struct {
	// Single reads one object: for a lone waiter, or if Many did not return the object.
	Single func(ctx context.Context, id string) (*T, error)
	// AfterMany replaces Single if Many failed or did not return the object; nil means Single.
	AfterMany func(ctx context.Context, id string) (*T, error)
	// Many reads objects of the collection key. It may also return other objects.
	Many func(ctx context.Context, key string, ids []string) ([]T, error)
	// AfterWait is called when a wait for an object of the collection key ends.
	AfterWait func(key string)
}

// pollGroup has the waiters of one collection. It exists while there are any.
type pollGroup[T any] struct {
	key     string
	demands map[*demand[T]]struct{}
	// wake ends the group's sleep early; otherwise, the group sleeps until sleepsUntil.
	wake        context.CancelFunc
	sleepsUntil time.Time
}

// demand is one waiter's request for a poll.
type demand[T any] struct {
	// ctx is done when the waiter has its result or has left.
	ctx context.Context
	id  string
	due time.Time
	// result is buffered, so that delivering the only result never blocks.
	result chan pollResult[T]
}

type pollResult[T any] struct {
	object *T
	err    error
}

// Watch follows one object until Close.
type Watch[T any] struct {
	poller  *Poller[T]
	key, id string
	close   func()
}

// NewPoller returns an idle Poller.
func NewPoller[T any, P wire.RecordOf[T]](conn *transport.Conn, source PollSource[T]) *Poller[T] {
	return &Poller[T]{conn: conn, source: source, id: func(object *T) string { return P(object).Ref().ID }, groups: map[string]*pollGroup[T]{}}
}

// Watch returns a watch of the object id of the collection key. It sends nothing before Next.
func (p *Poller[T]) Watch(key, id string) *Watch[T] {
	return &Watch[T]{poller: p, key: key, id: id, close: sync.OnceFunc(func() { p.source.AfterWait(key) })}
}

// Next returns the object from the next poll, which starts after pause at the latest.
func (w *Watch[T]) Next(ctx context.Context, pause time.Duration) (*T, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	d := &demand[T]{ctx: ctx, id: w.id, due: w.poller.conn.Clock.Now().Add(pause), result: make(chan pollResult[T], 1)}
	group := w.poller.add(w.key, d)
	select {
	case <-ctx.Done():
		w.poller.remove(group, d)
		return nil, ctx.Err()
	case result := <-d.result:
		return result.object, result.err
	}
}

// Close ends the wait. It may be called more than once.
func (w *Watch[T]) Close() { w.close() }

func (p *Poller[T]) add(key string, d *demand[T]) *pollGroup[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	group := p.groups[key]
	if group == nil {
		group = &pollGroup[T]{key: key, demands: map[*demand[T]]struct{}{}, wake: func() {}, sleepsUntil: d.due}
		p.groups[key] = group
		go p.run(group)
	}
	group.demands[d] = struct{}{}
	if d.due.Before(group.sleepsUntil) {
		group.wake()
	}
	return group
}

// remove ends the group if no waiter is left.
func (p *Poller[T]) remove(group *pollGroup[T], d *demand[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(group.demands, d)
	if len(group.demands) == 0 {
		group.wake()
	}
}

// run polls whenever the first waiter of the group is due, until there are no waiters.
func (p *Poller[T]) run(group *pollGroup[T]) {
	for {
		p.mu.Lock()
		if len(group.demands) == 0 {
			delete(p.groups, group.key)
			p.mu.Unlock()
			return
		}
		ctx, wake := context.WithCancel(context.Background())
		group.sleepsUntil, group.wake = group.earliest(), wake
		pause := group.sleepsUntil.Sub(p.conn.Clock.Now())
		p.mu.Unlock()
		if pause > 0 {
			_ = p.conn.Clock.Sleep(ctx, pause)
		} else {
			p.poll(ctx, group)
		}
		wake()
	}
}

// poll reads the objects for all waiters, including those that arrive until the rate limit allows the request.
func (p *Poller[T]) poll(ctx context.Context, group *pollGroup[T]) {
	turn, err := p.conn.AwaitTurn(ctx)
	if ctx.Err() != nil {
		turn.PassBack()
		return // All waiters have left.
	}
	p.mu.Lock()
	demands := group.take()
	p.mu.Unlock()
	switch {
	case len(demands) == 0:
		turn.PassBack()
	case err != nil:
		for _, d := range demands {
			d.result <- pollResult[T]{err: err}
		}
	case len(demands) > 1:
		read := p.source.Single
		if p.source.AfterMany != nil {
			read = p.source.AfterMany
		}
		p.readAlone(p.readTogether(turn, group.key, demands), read) //nolint:contextcheck // It has the contexts of its waiters.
	default:
		go func() {
			defer turn.PassBack() // The waiter may have left.
			readOne(demands[0], func(ctx context.Context, id string) (*T, error) {
				return p.source.Single(transport.WithTurn(ctx, turn), id)
			})
		}()
	}
}

func (g *pollGroup[T]) earliest() time.Time {
	var first time.Time
	for d := range g.demands {
		if first.IsZero() || d.due.Before(first) {
			first = d.due
		}
	}
	return first
}

func (g *pollGroup[T]) take() []*demand[T] {
	taken := make([]*demand[T], 0, len(g.demands))
	for d := range g.demands {
		taken = append(taken, d)
	}
	clear(g.demands)
	return taken
}

// readTogether serves the waiters with one request, and returns those without a result.
func (p *Poller[T]) readTogether(turn *transport.Turn, key string, demands []*demand[T]) []*demand[T] {
	ctx, cancel := sharedContext(demands)
	defer cancel()
	all, err := p.source.Many(transport.WithTurn(ctx, turn), key, idsOf(demands))
	turn.PassBack() // Many may have sent no request.
	if err != nil {
		tflog.Debug(ctx, "A look at several objects failed", map[string]any{"error": err.Error()})
	}
	found := make(map[string]*T, len(all))
	for i := range all {
		found[p.id(&all[i])] = &all[i]
	}
	var open []*demand[T]
	for _, d := range demands {
		object, ok := found[d.id]
		switch {
		case err != nil && !CannotList(err):
			d.result <- pollResult[T]{err: err}
		case err == nil && ok:
			own := *object
			d.result <- pollResult[T]{object: &own}
		default:
			open = append(open, d)
		}
	}
	return open
}

// readAlone serves each waiter with its own request, a few at a time. It does not wait for the responses, so that a slow one
// does not delay the next poll of others.
func (p *Poller[T]) readAlone(demands []*demand[T], read func(context.Context, string) (*T, error)) {
	queue := make(chan *demand[T], len(demands))
	for _, d := range demands {
		queue <- d
	}
	close(queue)
	for range min(len(demands), maxAlone) {
		go func() {
			for d := range queue {
				readOne(d, read)
			}
		}()
	}
}

func readOne[T any](d *demand[T], read func(context.Context, string) (*T, error)) {
	if d.ctx.Err() == nil {
		object, err := read(d.ctx, d.id)
		d.result <- pollResult[T]{object: object, err: err}
	}
}

// sharedContext returns a context that is done when the last waiter has left.
func sharedContext[T any](demands []*demand[T]) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(demands[0].ctx))
	var waiting atomic.Int64
	waiting.Store(int64(len(demands)))
	for _, d := range demands {
		context.AfterFunc(d.ctx, func() {
			if waiting.Add(-1) == 0 {
				cancel()
			}
		})
	}
	return ctx, cancel
}

// idsOf returns the distinct IDs of the demands.
func idsOf[T any](demands []*demand[T]) []string {
	ids := make([]string, 0, len(demands))
	for _, d := range demands {
		ids = append(ids, d.id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
