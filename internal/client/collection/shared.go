// Package collection has the caches and mutexes of the client: shared listings, the objects that existed before a creation,
// pages, and polls.
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

// Shared caches the collections of one type of object by key (the query). The first few reads of a collection are GETs of
// single objects. The next one lists the collection, and all reads within SharedLifetime share the listing. A write
// invalidates it, even while it is in flight. The inventory has the objects that existed before a creation, from one listing
// and the writes of this process, so that it costs no request per object.
type Shared[T any] struct {
	clock clock.Clock
	list  func(ctx context.Context, key string) ([]T, error)
	id    func(*T) string
	// names are the names by which Find and the inventory look up an object.
	names func(*T) []string
	// singles is the number of single GETs before a collection is listed; higher if a listing is slow.
	singles int

	// Creating has a lock for each name under which an object is being created.
	Creating locks

	mu          sync.Mutex
	collections map[string]*collection[T]
	inventories map[string]*inventory[T]
}

// collection caches the reads of a collection since the last write.
type collection[T any] struct {
	// since is the time of the first read or, after a listing, the time when the listing ended.
	since   time.Time
	reads   int
	listing *Listing[T]
	// isSecond says that this listing was started because the one before it lacked an object.
	isSecond bool
}

// Listing is the result of listing a collection. It is filled once, before done is closed, and does not change afterwards.
type Listing[T any] struct {
	done   chan struct{}
	all    []T
	ByID   map[string]*T
	byName map[string][]*T
	err    error

	// isFilled is guarded by Shared.mu.
	isFilled bool
}

// NewShared returns an empty cache. List requests a whole collection; singles is the number of single GETs before that.
func NewShared[T any](clk clock.Clock, singles int, list func(context.Context, string) ([]T, error), id func(*T) string, names func(*T) []string) *Shared[T] {
	return &Shared[T]{clock: clk, list: list, id: id, names: names, singles: singles, collections: map[string]*collection[T]{}, inventories: map[string]*inventory[T]{}}
}

// Get returns one object, from a listing if there is or should be one, else from single. The error is a *GoneError only if
// single returns 404 and a listing lacks the object: a 404 alone may have another cause.
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

// ConfirmGone turns a 404 into a *GoneError if a listing lacks the object, and into an *UnprovenGoneError if there is no
// listing. If the listing has the object, it returns the 404.
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

// Lookup returns one object from the shared listing; nil if the listing lacks it.
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

// LookupTwice is Lookup for objects that are never removed from their listing. If a listing lacks the object, it checks a
// second listing.
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

// Find returns the objects with a name from the shared listing.
func (s *Shared[T]) Find(ctx context.Context, key, name string) ([]T, error) {
	l := s.Listing(ctx, key)
	if err := l.Wait(ctx); err != nil {
		return nil, err
	}
	return copies(l.byName[name]), nil
}

// All returns all objects of the collection from the shared listing.
func (s *Shared[T]) All(ctx context.Context, key string) ([]T, error) {
	l := s.Listing(ctx, key)
	if err := l.Wait(ctx); err != nil {
		return nil, err
	}
	return slices.Clone(l.all), nil
}

// Listed returns the completed listing of a collection without requesting one; nil if there is none.
func (s *Shared[T]) Listed(key string) *Listing[T] {
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
func (s *Shared[T]) Listing(ctx context.Context, key string) *Listing[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listingLocked(ctx, key)
}

func (s *Shared[T]) listingLocked(ctx context.Context, key string) *Listing[T] {
	c := s.currentLocked(key)
	if c.listing == nil {
		c.listing = &Listing[T]{done: make(chan struct{})}
		// The listing is shared, so it must not end with the context of one reader.
		go s.fill(context.WithoutCancel(ctx), key, c, c.listing)
	}
	return c.listing
}

// ListingForRead is Listing that returns nil for the first reads of a collection: single GETs cost less than a listing.
func (s *Shared[T]) ListingForRead(ctx context.Context, key string) *Listing[T] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.currentLocked(key); c.listing == nil {
		if c.reads++; c.reads <= s.singles {
			return nil
		}
	}
	return s.listingLocked(ctx, key)
}

// currentLocked returns the cached reads of a collection, or starts over if they are too old.
func (s *Shared[T]) currentLocked(key string) *collection[T] {
	now := s.clock.Now()
	c := s.collections[key]
	if c == nil || !c.isUnderWay() && now.Sub(c.since) >= SharedLifetime {
		c = &collection[T]{since: now}
		s.collections[key] = c
	}
	return c
}

// isUnderWay reports whether the listing is in flight.
func (c *collection[T]) isUnderWay() bool { return c.listing != nil && !c.listing.isFilled }

func (s *Shared[T]) fill(ctx context.Context, key string, c *collection[T], l *Listing[T]) {
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
		// The waiters get the error, and the next read lists again.
		delete(s.collections, key)
	}
}

// Invalidate drops the cached reads of the given collections.
func (s *Shared[T]) Invalidate(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.collections, key)
	}
}

// InvalidateAll drops the cached reads of all collections.
func (s *Shared[T]) InvalidateAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.collections)
}

func (l *Listing[T]) Wait(ctx context.Context) error {
	select {
	case <-l.done:
		return l.err // Even if ctx is done, so that the result does not depend on chance.
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

// CannotList reports whether the service refuses the listing to this caller, who may still read single objects.
func CannotList(err error) bool {
	switch transport.StatusOf(err) {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}

// Nameless is for collections whose objects are not looked up by name.
func Nameless[T any](*T) []string { return nil }

// Organization is the key of a collection that exists once per organization.
const Organization = ""

// Filter returns the objects to keep in a new slice.
func Filter[T any](objects []T, keep func(*T) bool) []T {
	return slices.DeleteFunc(slices.Clone(objects), func(object T) bool { return !keep(&object) })
}

// SharedLifetime is how long reads share one listing.
const SharedLifetime = 60 * time.Second
