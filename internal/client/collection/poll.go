package collection

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// maxAlone is how many objects are read at the same time if each of them takes its own request.
const maxAlone = 8

// Poller lets all waiters for objects of one collection share their requests. It polls when the first waiter is due, on behalf
// of all current waiters, and is idle if there are none.
type Poller[T any] struct {
	clock  clock.Clock
	source PollSource[T]

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
	// ManyIsAll says that Many is one request that returns all objects. Waiters that arrive before it is sent, which may take
	// long under a rate limit, share its response.
	ManyIsAll bool
	ID        func(*T) string
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
func NewPoller[T any](clk clock.Clock, source PollSource[T]) *Poller[T] {
	return &Poller[T]{clock: clk, source: source, groups: map[string]*pollGroup[T]{}}
}

// Watch returns a watch of the object id of the collection key. It sends nothing before Next.
func (p *Poller[T]) Watch(key, id string) *Watch[T] {
	return &Watch[T]{poller: p, key: key, id: id, close: sync.OnceFunc(func() { p.source.AfterWait(key) })}
}

// Next returns the object from the next poll, which starts after pause at the latest.
func (w *Watch[T]) Next(ctx context.Context, pause time.Duration) (*T, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	d := &demand[T]{ctx: ctx, id: w.id, due: w.poller.clock.Now().Add(pause), result: make(chan pollResult[T], 1)}
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

// remove wakes the group, which ends if no waiter is left.
func (p *Poller[T]) remove(group *pollGroup[T], d *demand[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(group.demands, d)
	group.wake()
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
		due := group.earliest()
		pause := due.Sub(p.clock.Now())
		if pause <= 0 {
			demands := group.take()
			p.mu.Unlock()
			p.look(group, demands)
			continue
		}
		ctx, wake := context.WithCancel(context.Background())
		group.sleepsUntil, group.wake = due, wake
		p.mu.Unlock()
		_ = p.clock.Sleep(ctx, pause)
		wake()
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

// look reads the objects for the waiters: in one request if there are several waiters, then alone for those without a result.
func (p *Poller[T]) look(group *pollGroup[T], demands []*demand[T]) {
	read := p.source.Single
	if len(demands) > 1 {
		demands = p.readTogether(group, demands)
		if p.source.AfterMany != nil {
			read = p.source.AfterMany
		}
	}
	p.readAlone(demands, read)
}

// readTogether serves the waiters with one request, and returns those without a result.
func (p *Poller[T]) readTogether(group *pollGroup[T], demands []*demand[T]) []*demand[T] {
	ctx, sharing, cancel := sharedContext(demands)
	defer cancel()
	if p.source.ManyIsAll {
		ctx = transport.BeforeSending(ctx, func() {
			sharing.join(func() []context.Context {
				late := p.takeWaiting(group)
				demands = append(demands, late...)
				return contextsOf(late)
			})
		})
	}
	all, err := p.source.Many(ctx, group.key, idsOf(demands))
	if err != nil {
		tflog.Debug(ctx, "A look at several objects failed", map[string]any{"error": err.Error()})
	}
	found := make(map[string]*T, len(all))
	for i := range all {
		found[p.source.ID(&all[i])] = &all[i]
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
				if d.ctx.Err() != nil {
					continue
				}
				object, err := read(d.ctx, d.id)
				d.result <- pollResult[T]{object: object, err: err}
			}
		}()
	}
}

// takeWaiting removes and returns the waiters for the next poll.
func (p *Poller[T]) takeWaiting(group *pollGroup[T]) []*demand[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	return group.take()
}

// waiters are those who share one response. The request is canceled when the last of them has left.
type waiters struct {
	count  atomic.Int64
	cancel context.CancelFunc
}

// join adds waiters, unless all waiters have already left.
func (w *waiters) join(others func() []context.Context) {
	if w.count.Add(1) > 1 { // Counts as a waiter, so that the request is not canceled meanwhile.
		w.add(others())
	}
	w.leave()
}

func (w *waiters) add(contexts []context.Context) {
	w.count.Add(int64(len(contexts)))
	for _, ctx := range contexts {
		context.AfterFunc(ctx, w.leave)
	}
}

func (w *waiters) leave() {
	if w.count.Add(-1) == 0 {
		w.cancel()
	}
}

// sharedContext returns a context that is done when the last waiter has left.
func sharedContext[T any](demands []*demand[T]) (context.Context, *waiters, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(demands[0].ctx))
	sharing := &waiters{cancel: cancel}
	sharing.add(contextsOf(demands))
	return ctx, sharing, cancel
}

func contextsOf[T any](demands []*demand[T]) []context.Context {
	contexts := make([]context.Context, len(demands))
	for i, d := range demands {
		contexts[i] = d.ctx
	}
	return contexts
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
