package client

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// poller lets everything that is waited for in one collection share one request per interval: a GET while one
// object is waited for, a listing from the second on. It runs only while somebody waits.
type poller[T any] struct {
	clock    clock.Clock
	interval time.Duration
	single   func(ctx context.Context, id string) (*T, error)
	list     func(ctx context.Context, key string) ([]T, error)
	id       func(*T) string

	mu     sync.Mutex
	groups map[string]*pollGroup[T]
}

type pollGroup[T any] struct {
	waiters map[*Watch[T]]struct{}
	stop    context.CancelFunc
}

// Watch follows one object until Close.
type Watch[T any] struct {
	id      string
	answers chan pollAnswer[T]
	closed  chan struct{}
	close   func()
}

type pollAnswer[T any] struct {
	object *T
	err    error
}

func newPoller[T any](clk clock.Clock, interval time.Duration, single func(context.Context, string) (*T, error), list func(context.Context, string) ([]T, error), id func(*T) string) *poller[T] {
	return &poller[T]{clock: clk, interval: interval, single: single, list: list, id: id, groups: map[string]*pollGroup[T]{}}
}

// watch starts to follow the object id of the collection key.
func (p *poller[T]) watch(ctx context.Context, key, id string) *Watch[T] {
	w := &Watch[T]{id: id, answers: make(chan pollAnswer[T]), closed: make(chan struct{})}
	w.close = sync.OnceFunc(func() { p.leave(key, w) })

	p.mu.Lock()
	defer p.mu.Unlock()
	group := p.groups[key]
	if group == nil {
		// The polls serve whoever joins later, so they end with the last waiter and not with the first one's context.
		pollCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
		group = &pollGroup[T]{waiters: map[*Watch[T]]struct{}{}, stop: stop}
		p.groups[key] = group
		go p.run(pollCtx, key, group)
	}
	group.waiters[w] = struct{}{}
	return w
}

func (p *poller[T]) leave(key string, w *Watch[T]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(w.closed)
	group := p.groups[key]
	delete(group.waiters, w)
	if len(group.waiters) == 0 {
		group.stop()
		delete(p.groups, key)
	}
}

func (p *poller[T]) run(ctx context.Context, key string, group *pollGroup[T]) {
	for {
		if p.clock.Sleep(ctx, p.interval) != nil {
			return
		}
		p.mu.Lock()
		waiters := make([]*Watch[T], 0, len(group.waiters))
		for w := range group.waiters {
			waiters = append(waiters, w)
		}
		p.mu.Unlock()
		if len(waiters) == 0 {
			return
		}
		p.poll(ctx, key, waiters)
	}
}

// poll asks once and hands every waiter its object. It waits until each has taken it, so that nobody misses a state.
func (p *poller[T]) poll(ctx context.Context, key string, waiters []*Watch[T]) {
	answers := make(map[string]pollAnswer[T], len(waiters))
	var listErr error
	if len(waiters) > 1 {
		var all []T
		if all, listErr = p.list(ctx, key); listErr == nil {
			for i := range all {
				answers[p.id(&all[i])] = pollAnswer[T]{object: &all[i]}
			}
		} else if !cannotList(listErr) {
			tflog.Debug(ctx, "A poll failed and is repeated", map[string]any{"error": listErr.Error()})
		}
	}
	for _, w := range waiters {
		answer, ok := answers[w.id]
		switch {
		case ok:
		case listErr != nil && !cannotList(listErr):
			answer = pollAnswer[T]{err: listErr}
		default:
			answer.object, answer.err = p.single(ctx, w.id)
		}
		select {
		case w.answers <- answer:
		case <-w.closed:
		case <-ctx.Done():
			return
		}
	}
}

// Next returns the object as the next poll finds it.
func (w *Watch[T]) Next(ctx context.Context) (*T, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case answer := <-w.answers:
		return answer.object, answer.err
	}
}

// Close ends the watch. It may be called more than once.
func (w *Watch[T]) Close() { w.close() }
