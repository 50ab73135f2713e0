package collection

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// BatchEntry is one part of a request. A nil value removes the existing one.
type BatchEntry[V comparable] struct {
	// Key is compared case-insensitively.
	Key   string
	Value *V
}

// BatchOptions say how entries are combined and sent. All options are required.
type BatchOptions[V comparable, R any] struct {
	// Window is how long a batch stays open after the last entry. A batch with Max entries is sent immediately.
	Window time.Duration
	Max    int
	// Send sends entries with distinct keys in one request, and returns their results in the same order.
	Send func(ctx context.Context, entries []BatchEntry[V]) ([]R, error)
	// IsRefused reports whether the service rejected the whole request because an entry is invalid.
	IsRefused func(error) bool
	// Conflict is the error for a key that already has a different value in the batch.
	Conflict func(key string, first, second V) error
}

// Batcher combines the entries of concurrent callers into one request, and returns to each caller its own result. It is safe
// for concurrent use.
type Batcher[V comparable, R any] struct {
	clock   clock.Clock
	options BatchOptions[V, R]

	mu sync.Mutex
	// open is the batch that accepts new entries; nil if there is none.
	open *group[V, R]
	// latest is closed when the latest batch was sent.
	latest chan struct{}
}

type group[V comparable, R any] struct {
	items          []*item[V, R]
	lastArrival    time.Time
	closeNow       context.CancelFunc
	previous, done chan struct{}
}

type item[V comparable, R any] struct {
	BatchEntry[V]
	result R
	err    error
}

// NewBatcher returns a Batcher without an open batch.
func NewBatcher[V comparable, R any](clk clock.Clock, options BatchOptions[V, R]) *Batcher[V, R] {
	done := make(chan struct{})
	close(done)
	return &Batcher[V, R]{clock: clk, options: options, latest: done}
}

// Do adds an entry to a batch and returns the entry's own result. If a batch has a value and a removal for the same key, the
// value is sent, and both callers get its result.
func (b *Batcher[V, R]) Do(ctx context.Context, key string, value *V) (R, error) {
	g, i, err := b.join(ctx, key, value)
	if err != nil {
		var none R
		return none, err
	}
	<-g.done
	return i.result, i.err
}

// DoTogether sends entries with distinct keys in a request of their own, after all earlier batches, and calls each with their
// results, in the same order.
func (b *Batcher[V, R]) DoTogether(ctx context.Context, entries []BatchEntry[V], each func(n int, result R, err error)) {
	b.mu.Lock()
	previous, done := b.latest, make(chan struct{})
	b.latest = done
	b.mu.Unlock()
	<-previous
	var items []*item[V, R]
	for _, entry := range entries {
		items = append(items, &item[V, R]{BatchEntry: entry})
	}
	b.send(ctx, items)
	close(done)
	for n, i := range items {
		each(n, i.result, i.err)
	}
}

func (b *Batcher[V, R]) join(ctx context.Context, key string, value *V) (*group[V, R], *item[V, R], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		window, closeNow := context.WithCancel(ctx)
		b.open = &group[V, R]{closeNow: closeNow, previous: b.latest, done: make(chan struct{})}
		b.latest = b.open.done
		// Terraform cancels all calls at the same time, so the first caller's context is good for the whole batch.
		go b.run(ctx, window, b.open)
	}
	g := b.open
	at := slices.IndexFunc(g.items, func(i *item[V, R]) bool { return strings.EqualFold(i.Key, key) })
	if at < 0 {
		at = len(g.items)
		g.items = append(g.items, &item[V, R]{BatchEntry: BatchEntry[V]{Key: key, Value: value}})
	}
	i := g.items[at]
	switch {
	case i.Value == nil:
		i.Value = value
	case value != nil && *value != *i.Value:
		return nil, nil, b.options.Conflict(key, *i.Value, *value)
	}
	g.lastArrival = b.clock.Now()
	if len(g.items) >= b.options.Max {
		b.open = nil
		g.closeNow()
	}
	return g, i, nil
}

// run sends a batch when its window ends. Batches are sent in order.
func (b *Batcher[V, R]) run(ctx, window context.Context, g *group[V, R]) {
	defer g.closeNow()
	left := b.options.Window
	for left > 0 && b.clock.Sleep(window, left) == nil {
		left = b.left(g)
	}
	b.close(g)
	<-g.previous
	b.send(ctx, g.items)
	close(g.done)
}

// left returns how long a batch stays open.
func (b *Batcher[V, R]) left(g *group[V, R]) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.options.Window - b.clock.Now().Sub(g.lastArrival)
}

func (b *Batcher[V, R]) close(g *group[V, R]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == g {
		b.open = nil
	}
}

// send sends items in one request. If the service rejects the request as a whole, send retries each item alone.
func (b *Batcher[V, R]) send(ctx context.Context, items []*item[V, R]) {
	entries := make([]BatchEntry[V], len(items))
	for n, i := range items {
		entries[n] = i.BatchEntry
	}
	results, err := b.options.Send(ctx, entries)
	if err != nil && len(items) > 1 && b.options.IsRefused(err) {
		for n := range items {
			b.send(ctx, items[n:n+1])
		}
		return
	}
	for n, i := range items {
		if i.err = err; err == nil {
			i.result = results[n]
		}
	}
}
