// Package collection reads the collections of the service: listings that reads share, what existed before a creation, pages, and
// polls.
package collection

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/memo"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// SharedLifetime is how long reads share one response.
const SharedLifetime = 60 * time.Second

// Organization is the key of a collection that exists once per organization.
const Organization = ""

// Shared keeps the listings of one type of object by key (the query). The first few reads of a collection are GETs of single
// objects. The next one lists the collection, and all reads within SharedLifetime share the listing. A write invalidates it, even
// while it is in flight.
type Shared[T any] struct {
	listings *memo.Memo[*listing[T]]
	list     func(ctx context.Context, key string) ([]T, error)
	ref      func(*T) wire.Ref
	// singles is the number of single GETs before a collection is listed; higher if a listing is slow.
	singles int
	// owner is nil if the collections have no owners.
	owner Owner

	mu sync.Mutex
	// reads counts the single GETs of each collection since its last listing or write.
	reads map[string]int
}

// listing is a collection as it was listed. It does not change.
type listing[T any] struct {
	all  []T
	byID map[string]*T
}

// NewShared returns an empty cache. List requests a whole collection; singles is the number of single GETs before that.
func NewShared[T any, P wire.RecordOf[T]](clk clock.Clock, singles int, list func(ctx context.Context, key string) ([]T, error)) *Shared[T] {
	return &Shared[T]{
		listings: memo.New[*listing[T]](clk, SharedLifetime),
		list:     list,
		ref:      func(object *T) wire.Ref { return P(object).Ref() },
		singles:  singles,
		reads:    map[string]int{},
	}
}

// start returns the listing of a collection, and starts one if there is none.
func (s *Shared[T]) start(ctx context.Context, key string) *memo.Value[*listing[T]] {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.startLocked(ctx, key)
}

func (s *Shared[T]) startLocked(ctx context.Context, key string) *memo.Value[*listing[T]] {
	delete(s.reads, key)
	s.dropOfDeletedOwner(key)
	return s.listings.Start(ctx, key, func(ctx context.Context) (*listing[T], error) {
		all, err := s.list(ctx, key)
		if err != nil {
			return nil, err
		}
		l := &listing[T]{all: all, byID: make(map[string]*T, len(all))}
		for i := range all {
			l.byID[s.ref(&all[i]).ID] = &all[i]
		}
		return l, nil
	})
}

func (s *Shared[T]) dropOfDeletedOwner(key string) {
	if s.owner != nil {
		if at := s.owner.DeletedAt(key); !at.IsZero() {
			s.listings.DropStartedBy(key, at)
		}
	}
}

// startForRead is start that returns nil for the first reads of a collection: single GETs cost less than a listing.
func (s *Shared[T]) startForRead(ctx context.Context, key string) *memo.Value[*listing[T]] {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listings.Current(key) == nil {
		if s.reads[key]++; s.reads[key] <= s.singles {
			return nil
		}
	}
	return s.startLocked(ctx, key)
}

func (s *Shared[T]) listed(ctx context.Context, key string) (*listing[T], error) {
	return s.start(ctx, key).Wait(ctx)
}

// find returns a copy of the object with an ID, or nil.
func (l *listing[T]) find(id string) *T {
	if l == nil || l.byID[id] == nil {
		return nil
	}
	object := *l.byID[id]
	return &object
}

// Get returns one object, from a listing if there is or should be one, else from single. If single returns 404, the error is a
// *MissingError.
func (s *Shared[T]) Get(ctx context.Context, key, id string, single func(context.Context) (*T, error)) (*T, error) {
	if started := s.startForRead(ctx, key); started != nil {
		l, err := started.Wait(ctx)
		if err != nil && !CannotList(err) {
			return nil, err
		}
		if found := l.find(id); found != nil {
			return found, nil
		}
	}
	found, err := single(ctx)
	return found, Gone(err)
}

// GetListed returns one object from the listing that Get would use; nil if Get would read it alone, or if the listing lacks it or
// fails.
func (s *Shared[T]) GetListed(ctx context.Context, key, id string) *T {
	started := s.startForRead(ctx, key)
	if started == nil {
		return nil
	}
	l, err := started.Wait(ctx)
	if err != nil {
		return nil
	}
	return l.find(id)
}

// Peek returns one object from the current listing, without a request; nil if there is none, or if it lacks the object or fails.
func (s *Shared[T]) Peek(ctx context.Context, key, id string) *T {
	s.dropOfDeletedOwner(key)
	current := s.listings.Current(key)
	if current == nil {
		return nil
	}
	l, err := current.Wait(ctx)
	if err != nil {
		return nil
	}
	return l.find(id)
}

// IsListed reports whether the cache has a listing of a collection.
func (s *Shared[T]) IsListed(key string) bool {
	current := s.listings.Current(key)
	return current != nil && current.IsRead()
}

// Lookup returns one object from the shared listing; nil if the listing lacks it.
func (s *Shared[T]) Lookup(ctx context.Context, key, id string) (*T, error) {
	l, err := s.listed(ctx, key)
	return l.find(id), err
}

// Find returns the objects that are wanted, from the shared listing.
func (s *Shared[T]) Find(ctx context.Context, key string, isWanted func(*T) bool) ([]T, error) {
	l, err := s.listed(ctx, key)
	if err != nil {
		return nil, err
	}
	return Filter(l.all, isWanted), nil
}

// FindNow is Find with a new listing.
func (s *Shared[T]) FindNow(ctx context.Context, key string, isWanted func(*T) bool) ([]T, error) {
	s.Invalidate(key)
	return s.Find(ctx, key, isWanted)
}

// All returns all objects of the collection from the shared listing.
func (s *Shared[T]) All(ctx context.Context, key string) ([]T, error) {
	l, err := s.listed(ctx, key)
	if err != nil {
		return nil, err
	}
	return slices.Clone(l.all), nil
}

// Invalidate drops the cached reads of the given collections.
func (s *Shared[T]) Invalidate(keys ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		delete(s.reads, key)
	}
	s.listings.Drop(keys...)
}

// InvalidateAll drops the cached reads of all collections.
func (s *Shared[T]) InvalidateAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.reads)
	s.listings.DropAll()
}

// CannotList reports whether the service refuses the listing to this caller, who may still read single objects.
func CannotList(err error) bool {
	switch transport.StatusOf(err) {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}

// Filter returns copies of the objects to keep.
func Filter[T any](objects []T, keep func(*T) bool) []T {
	var kept []T
	for i := range objects {
		if keep(&objects[i]) {
			kept = append(kept, objects[i])
		}
	}
	return kept
}
