// Package collection reads the collections of the service: listings, pages, and polls that reads share.
package collection

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/memo"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	// SharedLifetime is how long reads share one response.
	SharedLifetime = 60 * time.Second
	// FreshFor is how old a listing may be before a creation lists the collection again. In the meantime, somebody else may create
	// an object without a creation time.
	FreshFor = 15 * time.Second
)

// Organization is the key of a collection that exists once per organization.
const Organization = ""

// Objects are the objects of a collection as they were listed. They do not change.
type Objects[T any] struct {
	All  []T
	byID map[string]*T
}

// Find returns a copy of the object with an ID, or nil. The receiver may be nil.
func (o *Objects[T]) Find(id string) *T {
	if !o.Has(id) {
		return nil
	}
	object := *o.byID[id]
	return &object
}

// Has reports whether an object with an ID was listed.
func (o *Objects[T]) Has(id string) bool { return o != nil && o.byID[id] != nil }

// Listing keeps the listings of one type of object by key (the query). All reads within SharedLifetime share a listing. A write
// invalidates it, even while it is in flight.
type Listing[T any] struct {
	list   func(ctx context.Context, key string) ([]T, error)
	id     func(*T) string
	listed *memo.Memo[*Objects[T]]

	mu sync.Mutex
	// readAlone has the collections that had a GET of a single object since their last listing or write.
	readAlone map[string]bool
}

// NewListing returns an empty Listing. List requests a whole collection.
func NewListing[T any, P wire.RecordOf[T]](clk clock.Clock, list func(ctx context.Context, key string) ([]T, error)) *Listing[T] {
	return &Listing[T]{
		list: list, id: func(object *T) string { return P(object).Ref().ID },
		listed: memo.New[*Objects[T]](clk, SharedLifetime), readAlone: map[string]bool{},
	}
}

// Start returns the listing of a collection, which may be in flight. It starts one if there is none, or if that is maxAge old.
func (l *Listing[T]) Start(ctx context.Context, key string, maxAge time.Duration) *memo.Value[*Objects[T]] {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listed.DropOlder(key, maxAge)
	delete(l.readAlone, key)
	return l.listed.Start(ctx, key, func(ctx context.Context) (*Objects[T], error) {
		all, err := l.list(ctx, key)
		if err != nil {
			return nil, err
		}
		objects := &Objects[T]{All: all, byID: make(map[string]*T, len(all))}
		for i := range all {
			objects.byID[l.id(&all[i])] = &all[i]
		}
		return objects, nil
	})
}

func (l *Listing[T]) objects(ctx context.Context, key string) (*Objects[T], error) {
	return l.Start(ctx, key, SharedLifetime).Wait(ctx)
}

// Get returns one object: the first one of a collection from single, because that costs less than a listing, and the others from
// GetListed.
func (l *Listing[T]) Get(ctx context.Context, key, id string, single func(ctx context.Context, id string) (*T, error)) (*T, error) {
	if l.isFirstRead(key) {
		found, err := single(ctx, id)
		return found, Gone(err)
	}
	return l.GetListed(ctx, key, id, single)
}

// isFirstRead reports whether a collection was neither listed nor read since the last write.
func (l *Listing[T]) isFirstRead(key string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readAlone[key] || l.listed.Current(key) != nil {
		return false
	}
	l.readAlone[key] = true
	return true
}

// GetListed returns one object from the shared listing or, if that lacks it or is refused, from single. If single returns 404, the error
// is a *MissingError.
func (l *Listing[T]) GetListed(ctx context.Context, key, id string, single func(ctx context.Context, id string) (*T, error)) (*T, error) {
	found, err := l.Lookup(ctx, key, id)
	if found != nil || err != nil && !CannotList(err) {
		return found, err
	}
	found, err = single(ctx, id)
	return found, Gone(err)
}

// Peek returns one object from the current listing, without a request; nil if there is none, or if it lacks the object or fails.
func (l *Listing[T]) Peek(ctx context.Context, key, id string) *T {
	current := l.listed.Current(key)
	if current == nil {
		return nil
	}
	objects, err := current.Wait(ctx)
	if err != nil {
		return nil
	}
	return objects.Find(id)
}

// Lookup returns one object from the shared listing; nil if the listing lacks it.
func (l *Listing[T]) Lookup(ctx context.Context, key, id string) (*T, error) {
	objects, err := l.objects(ctx, key)
	return objects.Find(id), err
}

// Find returns the objects that are wanted, from the shared listing.
func (l *Listing[T]) Find(ctx context.Context, key string, isWanted func(*T) bool) ([]T, error) {
	objects, err := l.objects(ctx, key)
	if err != nil {
		return nil, err
	}
	return Filter(objects.All, isWanted), nil
}

// All returns all objects of the collection from the shared listing.
func (l *Listing[T]) All(ctx context.Context, key string) ([]T, error) {
	objects, err := l.objects(ctx, key)
	if err != nil {
		return nil, err
	}
	return slices.Clone(objects.All), nil
}

// Invalidate drops the cached reads of the given collections.
func (l *Listing[T]) Invalidate(keys ...string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		delete(l.readAlone, key)
	}
	l.listed.Drop(keys...)
}

// InvalidateAll drops the cached reads of all collections.
func (l *Listing[T]) InvalidateAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.readAlone)
	l.listed.DropAll()
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
