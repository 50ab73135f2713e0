// Package batch gathers what many callers hand in at about the same time into one request, and gives each its own result.
package batch

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// returning is how many windows after the last arrival a batch is closed while some may come again.
const returning = 4

// Entry is one part of a request.
type Entry[V any] struct {
	Key   string
	Value V
}

// Options say how entries are gathered and sent. All of them are needed.
type Options[V, R any] struct {
	// Window is how long after the last arrival a batch is closed, Max how many entries close it at once. While fewer callers
	// wait than once did, it is held open longer: those who are missing may be on their way with their next entry.
	Window time.Duration
	Max    int
	// Send carries out entries, of which no two have the same key, and returns their results in their order. Its context ends
	// when those of all callers have ended: a request that nobody wants any more need not be repeated.
	Send func(ctx context.Context, entries []Entry[V]) ([]R, error)
	// Refused reports an error that says that nothing was done because some entry is at fault.
	Refused func(error) bool
	// Removal reports a value that takes away what another value of the key sets.
	Removal func(V) bool
	Equal   func(a, b V) bool
}

// ConflictError says that an entry was not sent because another value for its key was handed in first.
type ConflictError[V any] struct {
	Key string
	// First is the value that is sent.
	First V
}

func (e *ConflictError[V]) Error() string {
	return fmt.Sprintf("two different values for %q meet in one request, of which only the first is sent", e.Key)
}

// Batcher gathers entries. It is safe for concurrent use.
type Batcher[V, R any] struct {
	clock   clock.Clock
	options Options[V, R]

	mu sync.Mutex
	// open takes new entries; nil while there are none.
	open *group[V, R]
	// ended is closed when the batch that was closed last has its answer.
	ended chan struct{}
	// callers is how many wait for a result, and most how many did at once.
	callers, most int
}

// group is a batch: first open, then closed, then sent, then ended.
type group[V, R any] struct {
	items    []*item[V, R]
	last     time.Time
	closeNow context.CancelFunc
	sent     bool
	// waiting is how many callers' contexts have not ended, and stop ends that of the request.
	waiting        int
	stop           context.CancelFunc
	earlier, ended chan struct{}
}

// item is one entry, with the values of all who wait for it.
type item[V, R any] struct {
	key    string
	values []*V
	result R
	err    error
}

// New returns a batcher on a clock.
func New[V, R any](clk clock.Clock, options Options[V, R]) *Batcher[V, R] {
	ended := make(chan struct{})
	close(ended)
	return &Batcher[V, R]{clock: clk, options: options, ended: ended}
}

// Do sends an entry together with others and returns its own result. Equal values of a key share an entry; of a value
// and a removal the value is sent, for both; a second value is a *ConflictError. If ctx ends before the entry is sent,
// it is not sent. If ctx ends later, the result is waited for, because it takes effect.
func (b *Batcher[V, R]) Do(ctx context.Context, key string, value V) (R, error) {
	var none R
	if err := ctx.Err(); err != nil {
		return none, err
	}
	g, i, err := b.join(ctx, key, &value)
	if err != nil {
		return none, err
	}
	defer b.done()
	select {
	case <-g.ended:
	case <-ctx.Done():
		if b.leave(g, i, &value) {
			return none, ctx.Err()
		}
		<-g.ended
	}
	return i.result, i.err
}

func (b *Batcher[V, R]) join(ctx context.Context, key string, value *V) (*group[V, R], *item[V, R], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.open
	if g == nil {
		// The request serves others too, so it does not end with the caller that happened to come first.
		sendCtx, stop := context.WithCancel(context.WithoutCancel(ctx))
		window, closeNow := context.WithCancel(sendCtx)
		g = &group[V, R]{closeNow: closeNow, stop: stop, ended: make(chan struct{})}
		b.open = g
		go b.run(sendCtx, window, g)
	}
	at := slices.IndexFunc(g.items, func(i *item[V, R]) bool { return i.key == key })
	if at < 0 {
		at = len(g.items)
		g.items = append(g.items, &item[V, R]{key: key})
	} else if first := b.valueOf(g.items[at]); !b.options.Removal(first) && !b.options.Removal(*value) && !b.options.Equal(first, *value) {
		return nil, nil, &ConflictError[V]{Key: key, First: first}
	}
	g.items[at].values = append(g.items[at].values, value)
	g.waiting++
	g.last = b.clock.Now()
	b.callers++
	b.most = max(b.most, b.callers)
	if len(g.items) >= b.options.Max {
		b.close(g)
	}
	return g, g.items[at], nil
}

func (b *Batcher[V, R]) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.callers--
}

// window is how long after the last arrival the open batch is closed.
func (b *Batcher[V, R]) window() time.Duration {
	if b.callers < b.most {
		return b.options.Window * returning
	}
	return b.options.Window
}

// valueOf returns what is sent for an item: a value rather than a removal.
func (b *Batcher[V, R]) valueOf(i *item[V, R]) V {
	at := slices.IndexFunc(i.values, func(v *V) bool { return !b.options.Removal(*v) })
	return *i.values[max(at, 0)]
}

// close lets a group take no more entries, and puts it in the queue, so that no entry overtakes an earlier one of its key.
func (b *Batcher[V, R]) close(g *group[V, R]) {
	b.open = nil
	g.earlier, b.ended = b.ended, g.ended
	g.closeNow()
}

// leave takes a caller out, unless its entry was sent.
func (b *Batcher[V, R]) leave(g *group[V, R], i *item[V, R], value *V) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	g.waiting--
	if g.sent {
		if g.waiting == 0 {
			g.stop()
		}
		return false
	}
	b.most-- // Who gives up does not come again.
	i.values = slices.DeleteFunc(i.values, func(v *V) bool { return v == value })
	g.items = slices.DeleteFunc(g.items, func(i *item[V, R]) bool { return len(i.values) == 0 })
	return true
}

func (b *Batcher[V, R]) run(sendCtx, window context.Context, g *group[V, R]) {
	b.mu.Lock()
	for b.open == g {
		left := b.window() - b.clock.Now().Sub(g.last)
		if left <= 0 {
			b.close(g)
			break
		}
		b.mu.Unlock()
		_ = b.clock.Sleep(window, min(left, b.options.Window)) // It ends early when the group is full.
		b.mu.Lock()
	}
	b.mu.Unlock()
	<-g.earlier
	b.mu.Lock()
	g.sent = true
	b.mu.Unlock()
	b.send(sendCtx, g.items)
	g.stop()
	close(g.ended)
}

// send sends items in one request. If it is refused as a whole, each is sent again alone, so that only those at fault fail.
func (b *Batcher[V, R]) send(ctx context.Context, items []*item[V, R]) {
	if len(items) == 0 {
		return
	}
	entries := make([]Entry[V], len(items))
	for n, i := range items {
		entries[n] = Entry[V]{Key: i.key, Value: b.valueOf(i)}
	}
	results, err := b.options.Send(ctx, entries)
	if err == nil && len(results) != len(items) {
		err = fmt.Errorf("the answer to a request with %d entries has %d results", len(items), len(results))
	}
	if err != nil && len(items) > 1 && b.options.Refused(err) {
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
