package client

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// shared lets many reads of one collection share one listing. A collection is named by a key (its query).
//
// The first read of a collection is a plain GET of its object. The second one lists the collection, and that listing
// answers every read which meets it or follows within sharedLifetime. What the listing lacks is read by itself.
// A write discards the collection, and a listing that was under way during the write is not kept.
type shared[T any] struct {
	clock clock.Clock
	list  func(ctx context.Context, key string) ([]T, error)
	id    func(*T) string

	mu          sync.Mutex
	collections map[string]*collection[T]
}

type collection[T any] struct {
	startedAt time.Time
	listing   *listing[T]
}

// listing is filled once, before done is closed.
type listing[T any] struct {
	done chan struct{}
	all  []T
	byID map[string]*T
	err  error
}

func newShared[T any](clk clock.Clock, list func(context.Context, string) ([]T, error), id func(*T) string) *shared[T] {
	return &shared[T]{clock: clk, list: list, id: id, collections: map[string]*collection[T]{}}
}

// get returns one object of the collection, from its listing if there is or should be one, else by single.
func (s *shared[T]) get(ctx context.Context, key, id string, single func(context.Context) (*T, error)) (*T, error) {
	l := s.join(ctx, key, false)
	if l == nil {
		return single(ctx)
	}
	if err := l.wait(ctx); err != nil {
		if cannotList(err) {
			return single(ctx)
		}
		return nil, err
	}
	if found, ok := l.byID[id]; ok {
		object := *found
		return &object, nil
	}
	return single(ctx)
}

// all returns the whole collection, from a listing that others may share.
func (s *shared[T]) all(ctx context.Context, key string) ([]T, error) {
	l := s.join(ctx, key, true)
	if err := l.wait(ctx); err != nil {
		return nil, err
	}
	return append([]T(nil), l.all...), nil
}

// join returns the listing to wait for, which it starts if needed; nil if this is the collection's first read and need not be a listing.
func (s *shared[T]) join(ctx context.Context, key string, mustList bool) *listing[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	c := s.collections[key]
	if c == nil || now.Sub(c.startedAt) >= sharedLifetime {
		c = &collection[T]{startedAt: now}
		s.collections[key] = c
		if !mustList {
			return nil
		}
	}
	if c.listing == nil {
		c.listing = &listing[T]{done: make(chan struct{})}
		c.startedAt = now
		// The listing serves others too, so it does not end with the reader that happened to start it.
		go s.fill(context.WithoutCancel(ctx), key, c, c.listing)
	}
	return c.listing
}

func (s *shared[T]) fill(ctx context.Context, key string, c *collection[T], l *listing[T]) {
	defer close(l.done)
	l.all, l.err = s.list(ctx, key)
	l.byID = make(map[string]*T, len(l.all))
	for i := range l.all {
		l.byID[s.id(&l.all[i])] = &l.all[i]
	}
	if l.err != nil {
		// A failure is told to those who waited and then forgotten.
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.collections[key] == c {
			delete(s.collections, key)
		}
	}
}

// discard forgets what was read of every collection.
func (s *shared[T]) discard() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.collections)
}

func (l *listing[T]) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-l.done:
		return l.err
	}
}

// cannotList reports that the listing is refused to this caller, while a single object may not be.
func cannotList(err error) bool {
	switch StatusOf(err) {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}
