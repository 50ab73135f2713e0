// Package collection owns every cache and mutex of the client: shared listings, what existed before a creation, pages, and polls.
package collection

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// Shared is what one process knows of the collections of one kind of object. A collection is named by a key (its query).
//
// For reads, the first few of a collection are plain GETs of their objects. The next one lists the collection, and that
// listing answers every read which meets it or follows within SharedLifetime. A write discards it, and a listing that was
// under way during the write is not kept.
//
// For creations, the inventory is what existed before them. It is learned once, by a listing, and then kept up to date
// with what this process writes, so that it costs nothing per object; whoever must be sure asks anew.
type Shared[T any] struct {
	clock clock.Clock
	list  func(ctx context.Context, key string) ([]T, error)
	id    func(*T) string
	// names are what find and inventory find an object by.
	names func(*T) []string
	// singles is how many reads of a collection are GETs before it is listed: more where a listing is slow.
	singles int

	// Creating holds a lock for every name under which something is being created.
	Creating locks

	mu          sync.Mutex
	collections map[string]*collection[T]
	inventories map[string]*inventory[T]
}

// collection is what was read of a collection since the last write.
type collection[T any] struct {
	// since is when it was begun or, once it is listed, when its listing ended.
	since   time.Time
	reads   int
	listing *listing[T]
	// isSecond says that it is the second listing in a row, made because the first one lacked something.
	isSecond bool
}

// listing is filled once, before done is closed, and never changed afterwards.
type listing[T any] struct {
	done   chan struct{}
	all    []T
	ByID   map[string]*T
	byName map[string][]*T
	err    error

	// isFilled belongs to shared.mu.
	isFilled bool
}

func NewShared[T any](clk clock.Clock, singles int, list func(context.Context, string) ([]T, error), id func(*T) string, names func(*T) []string) *Shared[T] {
	return &Shared[T]{clock: clk, list: list, id: id, names: names, singles: singles, collections: map[string]*collection[T]{}, inventories: map[string]*inventory[T]{}}
}

// Get returns one object of the collection, from its listing if there is or should be one, else by single. An object is
// gone, which is a *GoneError, where single answers 404 and a listing lacks it: a 404 alone may have another cause.
func (s *Shared[T]) Get(ctx context.Context, key, id string, single func(context.Context) (*T, error)) (*T, error) {
	l := s.ListingForRead(ctx, key)
	if l == nil {
		found, err := single(ctx)
		if !transport.IsNotFound(err) {
			return found, err
		}
		l = s.Listing(ctx, key)
	}
	listErr := l.Wait(ctx)
	if listErr != nil && !CannotList(listErr) {
		return nil, listErr
	}
	if found, ok := l.ByID[id]; ok {
		object := *found
		return &object, nil
	}
	found, err := single(ctx)
	switch {
	case !transport.IsNotFound(err):
		return found, err
	case listErr != nil:
		return nil, &UnprovenGoneError{Err: err, Listing: listErr}
	}
	return nil, &GoneError{Err: err}
}

// ConfirmGone turns a 404 into a *GoneError where a listing lacks the object, and into another one where a listing shows it or none can be had.
func (s *Shared[T]) ConfirmGone(ctx context.Context, key, id string, notFound error) error {
	for _, anew := range []bool{false, true} {
		if anew {
			s.Invalidate(key)
		}
		l := s.Listing(ctx, key)
		if err := l.Wait(ctx); err != nil {
			return &UnprovenGoneError{Err: notFound, Listing: err}
		}
		if l.ByID[id] == nil {
			return &GoneError{Err: notFound}
		}
	}
	return notFound
}

// Lookup returns one object as the shared listing shows it; nil if it is not there.
func (s *Shared[T]) Lookup(ctx context.Context, key, id string) (*T, error) {
	l := s.Listing(ctx, key)
	if err := l.Wait(ctx); err != nil {
		return nil, err
	}
	found, ok := l.ByID[id]
	if !ok {
		return nil, nil
	}
	object := *found
	return &object, nil
}

// LookupTwice is Lookup for objects that are never removed from their listing: one that lacks an object is followed by a
// second one before that is believed.
func (s *Shared[T]) LookupTwice(ctx context.Context, key, id string) (*T, error) {
	found, err := s.Lookup(ctx, key, id)
	if err != nil || found != nil {
		return found, err
	}
	s.mu.Lock()
	if c := s.collections[key]; c == nil || !c.isSecond {
		s.collections[key] = &collection[T]{since: s.clock.Now(), isSecond: true}
	}
	s.mu.Unlock()
	return s.Lookup(ctx, key, id)
}

// Find returns the objects of a name as the shared listing shows them.
func (s *Shared[T]) Find(ctx context.Context, key, name string) ([]T, error) {
	l := s.Listing(ctx, key)
	if err := l.Wait(ctx); err != nil {
		return nil, err
	}
	return copies(l.byName[name]), nil
}

// All returns the whole collection, from a listing that others may share.
func (s *Shared[T]) All(ctx context.Context, key string) ([]T, error) {
	l := s.Listing(ctx, key)
	if err := l.Wait(ctx); err != nil {
		return nil, err
	}
	return slices.Clone(l.all), nil
}

// Listed returns the present listing of a collection, without asking for one; nil if there is none.
func (s *Shared[T]) Listed(key string) *listing[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.collections[key]
	if c == nil || c.listing == nil {
		return nil
	}
	select {
	case <-c.listing.done:
		return c.listing
	default:
		return nil
	}
}

// Listing returns the listing of a collection, and starts one if there is none.
func (s *Shared[T]) Listing(ctx context.Context, key string) *listing[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listingLocked(ctx, key)
}

func (s *Shared[T]) listingLocked(ctx context.Context, key string) *listing[T] {
	c := s.currentLocked(key)
	if c.listing == nil {
		c.listing = &listing[T]{done: make(chan struct{})}
		// The listing serves others too, so it does not end with the reader that happened to start it.
		go s.fill(context.WithoutCancel(ctx), key, c, c.listing)
	}
	return c.listing
}

// ListingForRead returns nil for the first reads of a collection that is not listed yet: they cost less than a listing.
func (s *Shared[T]) ListingForRead(ctx context.Context, key string) *listing[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.currentLocked(key); c.listing == nil {
		if c.reads++; c.reads <= s.singles {
			return nil
		}
	}
	return s.listingLocked(ctx, key)
}

// currentLocked returns what was read of a collection, or starts over if that is too old.
func (s *Shared[T]) currentLocked(key string) *collection[T] {
	now := s.clock.Now()
	c := s.collections[key]
	if c == nil || !c.isUnderWay() && now.Sub(c.since) >= SharedLifetime {
		c = &collection[T]{since: now}
		s.collections[key] = c
	}
	return c
}

// isUnderWay reports that the collection is being listed, however long that takes.
func (c *collection[T]) isUnderWay() bool { return c.listing != nil && !c.listing.isFilled }

func (s *Shared[T]) fill(ctx context.Context, key string, c *collection[T], l *listing[T]) {
	defer close(l.done)
	l.all, l.err = s.list(ctx, key)
	l.ByID, l.byName = make(map[string]*T, len(l.all)), make(map[string][]*T, len(l.all))
	for i := range l.all {
		object := &l.all[i]
		l.ByID[s.id(object)] = object
		for _, name := range s.names(object) {
			l.byName[name] = append(l.byName[name], object)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	l.isFilled, c.since = true, s.clock.Now()
	if l.err != nil && s.collections[key] == c {
		// Only those who waited get the error.
		delete(s.collections, key)
	}
}

// Invalidate forgets what was read of the given collections.
func (s *Shared[T]) Invalidate(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.collections, key)
	}
}

// InvalidateAll forgets what was read of every collection.
func (s *Shared[T]) InvalidateAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.collections)
}

func (l *listing[T]) Wait(ctx context.Context) error {
	select {
	case <-l.done:
		return l.err // Also if ctx has ended: the result must not depend on chance.
	default:
	}
	select {
	case <-ctx.Done():
		return fmt.Errorf("waiting for a list: %w", ctx.Err())
	case <-l.done:
		return l.err
	}
}

func copies[T any](objects []*T) []T {
	all := make([]T, len(objects))
	for i, object := range objects {
		all[i] = *object
	}
	return all
}

// CannotList reports that the listing is refused to this caller, while a single object may not be.
func CannotList(err error) bool {
	switch transport.StatusOf(err) {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}

// Nameless is for collections in which nobody looks for a name.
func Nameless[T any](*T) []string { return nil }

// Organization is the key of a collection of which the organization has one.
const Organization = ""

func Filter[T any](objects []T, keep func(*T) bool) []T {
	return slices.DeleteFunc(slices.Clone(objects), func(object T) bool { return !keep(&object) })
}

// SharedLifetime is how long one listing answers the reads of a collection.
const SharedLifetime = 60 * time.Second
