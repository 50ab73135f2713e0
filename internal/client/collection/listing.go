// Package collection reads the collections of the service: listings, pages, and polls that reads share.
package collection

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/memo"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
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
	list func(ctx context.Context, key string) ([]T, error)
	id   func(*T) string
	// firstAlone says that the first read of a collection is a GET of a single object, because that costs less than a listing.
	firstAlone bool
	listed     *memo.Memo[*Objects[T]]

	mu sync.Mutex
	// readAlone has the collections that had such a GET since their last listing or write.
	readAlone map[string]bool
}

// NewListing returns an empty Listing. List requests a whole collection.
func NewListing[T any, P wire.RecordOf[T]](clk clock.Clock, firstAlone bool, list func(ctx context.Context, key string) ([]T, error)) *Listing[T] {
	return &Listing[T]{
		list: list, id: func(object *T) string { return P(object).Ref().ID }, firstAlone: firstAlone,
		listed: memo.New[*Objects[T]](clk, SharedLifetime), readAlone: map[string]bool{},
	}
}

// Start returns the listing of a collection, which may be in flight. It starts one if there is none, or if that is maxAge old.
func (l *Listing[T]) Start(ctx context.Context, key string, maxAge time.Duration) *memo.Value[*Objects[T]] {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listed.DropOlder(key, maxAge)
	return l.start(ctx, key)
}

// start returns the listing of a collection, and starts one if there is none. The caller holds mu.
func (l *Listing[T]) start(ctx context.Context, key string) *memo.Value[*Objects[T]] {
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

// startForRead is Start that returns nil if the read should be a GET of a single object.
func (l *Listing[T]) startForRead(ctx context.Context, key string) *memo.Value[*Objects[T]] {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.firstAlone && !l.readAlone[key] && l.listed.Current(key) == nil {
		l.readAlone[key] = true
		return nil
	}
	return l.start(ctx, key)
}

func (l *Listing[T]) objects(ctx context.Context, key string) (*Objects[T], error) {
	return l.Start(ctx, key, SharedLifetime).Wait(ctx)
}

// Get returns one object, from a listing if there is or should be one, else from single. If single returns 404, the error is a
// *MissingError.
func (l *Listing[T]) Get(ctx context.Context, key, id string, single func(context.Context) (*T, error)) (*T, error) {
	if started := l.startForRead(ctx, key); started != nil {
		objects, err := started.Wait(ctx)
		if err != nil && !CannotList(err) {
			return nil, err
		}
		if found := objects.Find(id); found != nil {
			return found, nil
		}
	}
	found, err := single(ctx)
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

// FindNow is Find with a new listing.
func (l *Listing[T]) FindNow(ctx context.Context, key string, isWanted func(*T) bool) ([]T, error) {
	l.Invalidate(key)
	return l.Find(ctx, key, isWanted)
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

// MissingError says that the service does not have an object.
type MissingError struct {
	// Err says what the service returned, such as its 404.
	Err error
	// IsNew says that the object was created a moment ago, and may be visible later.
	IsNew bool
}

func (e *MissingError) Error() string {
	if e.IsNew {
		return "a new object may not be visible yet: " + e.Err.Error()
	}
	return "the object does not exist: " + e.Err.Error()
}

func (e *MissingError) Unwrap() error { return e.Err }

// Gone turns the service's own 404 for an object into a *MissingError: the object does not exist. Any other error stays.
func Gone(err error) error {
	var missing *MissingError
	if !transport.IsNotFound(err) || errors.As(err, &missing) {
		return err
	}
	return &MissingError{Err: err}
}

// IsGone reports whether an object is known to no longer exist.
func IsGone(err error) bool {
	var missing *MissingError
	return errors.As(err, &missing) && !missing.IsNew
}

// IsNew reports whether an object is missing but may be visible later.
func IsNew(err error) bool {
	var missing *MissingError
	return errors.As(err, &missing) && missing.IsNew
}
