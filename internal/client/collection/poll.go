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

// maxAlone is how many objects of one look are asked for at a time where each takes a request of its own.
const maxAlone = 8

// Poller lets all who wait for objects of one collection share their looks at the service. It looks when the first of
// them wants it to: for all who wait at that moment, and for nobody else. It rests while nobody does.
type Poller[T any] struct {
	clock  clock.Clock
	source PollSource[T]

	mu     sync.Mutex
	groups map[string]*pollGroup[T]
}

// PollSource says how a poller looks.
type PollSource[T any] struct {
	// Single reads one object: where only one is waited for, or many did not return it.
	Single func(ctx context.Context, id string) (*T, error)
	// AfterMany takes the place of single for what many was refused or did not return; nil means single.
	AfterMany func(ctx context.Context, id string) (*T, error)
	// Many reads objects of the collection key. It may return others than those of ids, too.
	Many func(ctx context.Context, key string, ids []string) ([]T, error)
	// ManyIsAll says that many is one request, whose answer holds whatever there is. Until it is sent, which may take long
	// under a limit on requests, it takes along those who come.
	ManyIsAll bool
	ID        func(*T) string
	// AfterWait is called when a wait for an object of the collection key has ended.
	AfterWait func(key string)
}

// pollGroup is what is waited for in one collection. It is there while somebody waits for the next look.
type pollGroup[T any] struct {
	demands map[*demand[T]]struct{}
	// wake ends the group's sleep, which lasts until sleepsUntil.
	wake        context.CancelFunc
	sleepsUntil time.Time
}

// demand is one waiter's wish for a look.
type demand[T any] struct {
	// ctx is done when the waiter has its response or has left.
	ctx context.Context
	id  string
	due time.Time
	// result has room for the only result, so that handing it over never blocks.
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

func NewPoller[T any](clk clock.Clock, source PollSource[T]) *Poller[T] {
	return &Poller[T]{clock: clk, source: source, groups: map[string]*pollGroup[T]{}}
}

// Watch returns a watch of the object id of the collection key. Nothing is asked for before its Next.
func (p *Poller[T]) Watch(key, id string) *Watch[T] {
	return &Watch[T]{poller: p, key: key, id: id, close: sync.OnceFunc(func() { p.source.AfterWait(key) })}
}

// Next returns the object as the next look finds it, which comes after pause at the latest.
func (w *Watch[T]) Next(ctx context.Context, pause time.Duration) (*T, error) {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	d := &demand[T]{ctx: ctx, id: w.id, due: w.poller.clock.Now().Add(pause), result: make(chan pollResult[T], 1)}
	w.poller.add(w.key, d)
	select {
	case <-ctx.Done():
		w.poller.remove(w.key, d)
		return nil, ctx.Err()
	case result := <-d.result:
		return result.object, result.err
	}
}

// Close says that the wait has ended, however it did. It may be called more than once.
func (w *Watch[T]) Close() { w.close() }

func (p *Poller[T]) add(key string, d *demand[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	group := p.groups[key]
	if group == nil {
		group = &pollGroup[T]{demands: map[*demand[T]]struct{}{}, wake: func() {}, sleepsUntil: d.due}
		p.groups[key] = group
		go p.run(key, group)
	}
	group.demands[d] = struct{}{}
	if d.due.Before(group.sleepsUntil) {
		group.wake()
	}
}

func (p *Poller[T]) remove(key string, d *demand[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	group := p.groups[key]
	if group == nil {
		return
	}
	delete(group.demands, d)
	if len(group.demands) == 0 {
		group.wake()
	}
}

// run looks whenever the first demand of the group is due, until there is none.
func (p *Poller[T]) run(key string, group *pollGroup[T]) {
	for {
		p.mu.Lock()
		if len(group.demands) == 0 {
			delete(p.groups, key)
			p.mu.Unlock()
			return
		}
		due := group.earliest()
		pause := due.Sub(p.clock.Now())
		if pause <= 0 {
			demands := group.take()
			p.mu.Unlock()
			p.look(key, demands)
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

// look answers the demands: together if there are several, and what that leaves open each by itself.
func (p *Poller[T]) look(key string, demands []*demand[T]) {
	read := p.source.Single
	if len(demands) > 1 {
		demands = p.readTogether(key, demands)
		if p.source.AfterMany != nil {
			read = p.source.AfterMany
		}
	}
	p.readAlone(demands, read)
}

// readTogether answers the demands with one request and returns those it did not answer.
func (p *Poller[T]) readTogether(key string, demands []*demand[T]) []*demand[T] {
	ctx, those, cancel := whileAnyWaits(demands)
	defer cancel()
	if p.source.ManyIsAll {
		ctx = transport.BeforeSending(ctx, func() {
			those.takeIn(func() []context.Context {
				late := p.takeWaiting(key)
				demands = append(demands, late...)
				return contextsOf(late)
			})
		})
	}
	all, err := p.source.Many(ctx, key, idsOf(demands))
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

// readAlone answers each demand with a request of its own, a few at a time. It does not wait for the answers, so that
// one that hangs delays nobody else's next look.
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

// takeWaiting takes those over who wait for the next look.
func (p *Poller[T]) takeWaiting(key string) []*demand[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	if group := p.groups[key]; group != nil {
		return group.take()
	}
	return nil
}

// audience are those who wait for one answer. When the last of them has left, nobody needs it any more.
type audience struct {
	waiting atomic.Int64
	leave   context.CancelFunc
}

// takeIn adds others, unless all have left already.
func (a *audience) takeIn(others func() []context.Context) {
	if a.waiting.Add(1) > 1 { // Nobody is the last while others come.
		a.add(others())
	}
	a.left()
}

func (a *audience) add(waiters []context.Context) {
	a.waiting.Add(int64(len(waiters)))
	for _, ctx := range waiters {
		context.AfterFunc(ctx, a.left)
	}
}

func (a *audience) left() {
	if a.waiting.Add(-1) == 0 {
		a.leave()
	}
}

// whileAnyWaits returns a context that is done when the last of the waiters has left, and not when the first does.
func whileAnyWaits[T any](demands []*demand[T]) (context.Context, *audience, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(demands[0].ctx))
	those := &audience{leave: cancel}
	those.add(contextsOf(demands))
	return ctx, those, cancel
}

func contextsOf[T any](demands []*demand[T]) []context.Context {
	contexts := make([]context.Context, len(demands))
	for i, d := range demands {
		contexts[i] = d.ctx
	}
	return contexts
}

// idsOf returns the IDs waited for, each once.
func idsOf[T any](demands []*demand[T]) []string {
	ids := make([]string, 0, len(demands))
	for _, d := range demands {
		ids = append(ids, d.id)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
