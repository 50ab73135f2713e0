// Package memo keeps values that are expensive to read. Callers that want the same value share one read.
package memo

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// Memo keeps one value for each key. It is safe for concurrent use.
type Memo[V any] struct {
	clock    clock.Clock
	lifetime time.Duration

	mu     sync.Mutex
	values map[string]*Value[V]
}

// Value is a value that was read, or is being read. It does not change after the read.
type Value[V any] struct {
	// done is closed when value and err are set.
	done  chan struct{}
	value V
	err   error
	// readAt is guarded by Memo.mu; zero during the read, and after an error.
	readAt time.Time
}

// Read returns a value that was read at a time.
func Read[V any](value V, at time.Time) *Value[V] {
	v := &Value[V]{done: make(chan struct{}), value: value, readAt: at}
	close(v.done)
	return v
}

// New returns an empty Memo. A lifetime of 0 means that values are kept until they are dropped.
func New[V any](clk clock.Clock, lifetime time.Duration) *Memo[V] {
	return &Memo[V]{clock: clk, lifetime: lifetime, values: map[string]*Value[V]{}}
}

// Get returns the value of a key, from read if there is none. If read fails, all callers that wait for it get its error, and the
// next call reads again.
func (m *Memo[V]) Get(ctx context.Context, key string, read func(context.Context) (V, error)) (V, error) {
	return m.Start(ctx, key, read).Wait(ctx)
}

// Start is Get that does not wait.
func (m *Memo[V]) Start(ctx context.Context, key string, read func(context.Context) (V, error)) *Value[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.current(key); v != nil {
		return v
	}
	v := &Value[V]{done: make(chan struct{})}
	m.values[key] = v
	// The read is shared, so it must not end with the context of one caller.
	go m.fill(context.WithoutCancel(ctx), key, v, read)
	return v
}

func (m *Memo[V]) fill(ctx context.Context, key string, v *Value[V], read func(context.Context) (V, error)) {
	defer close(v.done)
	v.value, v.err = read(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if v.err == nil {
		v.readAt = m.clock.Now()
	} else if m.values[key] == v {
		delete(m.values, key)
	}
}

// Current returns the value of a key, which may still be being read; nil if there is none.
func (m *Memo[V]) Current(key string) *Value[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.current(key)
}

func (m *Memo[V]) current(key string) *Value[V] {
	v := m.values[key]
	if v != nil && m.lifetime > 0 && v.isOlder(m.clock.Now(), m.lifetime) {
		delete(m.values, key)
		return nil
	}
	return v
}

func (v *Value[V]) isOlder(now time.Time, age time.Duration) bool {
	return !v.readAt.IsZero() && now.Sub(v.readAt) >= age
}

// Drop drops the values of keys, even if they are being read: the callers that wait get them, and the next call reads again.
func (m *Memo[V]) Drop(keys ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, key := range keys {
		delete(m.values, key)
	}
}

// DropOlder drops the value of a key if it was read at least so long ago.
func (m *Memo[V]) DropOlder(key string, age time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v := m.values[key]; v != nil && v.isOlder(m.clock.Now(), age) {
		delete(m.values, key)
	}
}

// DropAll drops all values.
func (m *Memo[V]) DropAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.values)
}

// IsRead reports whether the read has ended.
func (v *Value[V]) IsRead() bool {
	select {
	case <-v.done:
		return true
	default:
		return false
	}
}

// ReadAt returns when the read ended; zero after an error. It must have ended.
func (v *Value[V]) ReadAt() time.Time { return v.readAt }

// Wait returns the value, or the error of its read, or of ctx if that ends first.
func (v *Value[V]) Wait(ctx context.Context) (V, error) {
	if v.IsRead() {
		return v.value, v.err // Even if ctx is done, so that the result does not depend on chance.
	}
	select {
	case <-ctx.Done():
		var none V
		return none, fmt.Errorf("waiting for a response that several calls share: %w", ctx.Err())
	case <-v.done:
		return v.value, v.err
	}
}
