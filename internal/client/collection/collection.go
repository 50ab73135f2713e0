// Package collection reads the collections of the service: listings that reads share, what existed before a creation, pages, and
// polls.
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
	// freshFor is how old a listing may be before a creation lists the collection again. In the meantime, somebody else may create
	// an object without a creation time.
	freshFor = 15 * time.Second
)

// Organization is the key of a collection that exists once per organization.
const Organization = ""

// Collection keeps the listings of one type of object by key (the query). The first few reads of a collection are GETs of single
// objects. The next one lists the collection, and all reads within SharedLifetime share the listing. A write invalidates it, even
// while it is in flight.
//
// It also knows which objects existed before a creation, from one listing and the writes of this process, so that this costs no
// request per object.
type Collection[T any] struct {
	clock    clock.Clock
	listings *memo.Memo[*listing[T]]
	list     func(ctx context.Context, key string) ([]T, error)
	ref      func(*T) wire.Ref
	// singles is the number of single GETs before a collection is listed; higher if a listing is slow.
	singles int
	// ownedSince returns when this process created the owner of a collection; nil if there are no owners.
	ownedSince func(key string) time.Time

	// Creating has a lock for each name under which an object is being created.
	Creating Locks

	mu sync.Mutex
	// reads counts the single GETs of each collection since its last listing or write.
	reads map[string]int
	known map[string]*known[T]
}

// listing is a collection as it was listed. It does not change.
type listing[T any] struct {
	all  []T
	byID map[string]*T
}

// known is what this process knows about a collection: the latest listing, and the process's own writes. It does not have
// what others wrote since that listing.
type known[T any] struct {
	listed *listing[T]
	learnt time.Time
	// learning is the listing that will replace listed. A write of this process does not discard it.
	learning *memo.Value[*listing[T]]
	// written are the objects that this process created or updated, by ID; nil for a deleted object.
	written map[string]*T
	posts   Posts
}

// New returns an empty collection. List requests a whole collection; singles is the number of single GETs before that. OwnedSince
// returns when this process created the collection's owner, who had no objects then; it may be nil, and its time may be zero.
func New[T any, P wire.RecordOf[T]](clk clock.Clock, singles int, ownedSince func(key string) time.Time, list func(ctx context.Context, key string) ([]T, error)) *Collection[T] {
	return &Collection[T]{
		clock: clk, listings: memo.New[*listing[T]](clk, SharedLifetime), list: list, ref: func(object *T) wire.Ref { return P(object).Ref() },
		singles: singles, ownedSince: ownedSince, reads: map[string]int{}, known: map[string]*known[T]{},
	}
}

// start returns the listing of a collection, and starts one if there is none. The caller holds mu.
func (c *Collection[T]) start(ctx context.Context, key string) *memo.Value[*listing[T]] {
	delete(c.reads, key)
	return c.listings.Start(ctx, key, func(ctx context.Context) (*listing[T], error) {
		all, err := c.list(ctx, key)
		if err != nil {
			return nil, err
		}
		l := &listing[T]{all: all, byID: make(map[string]*T, len(all))}
		for i := range all {
			l.byID[c.ref(&all[i]).ID] = &all[i]
		}
		return l, nil
	})
}

// startForRead is start that returns nil for the first reads of a collection: single GETs cost less than a listing.
func (c *Collection[T]) startForRead(ctx context.Context, key string) *memo.Value[*listing[T]] {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listings.Current(key) == nil {
		if c.reads[key]++; c.reads[key] <= c.singles {
			return nil
		}
	}
	return c.start(ctx, key)
}

func (c *Collection[T]) listed(ctx context.Context, key string) (*listing[T], error) {
	c.mu.Lock()
	started := c.start(ctx, key)
	c.mu.Unlock()
	return started.Wait(ctx)
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
func (c *Collection[T]) Get(ctx context.Context, key, id string, single func(context.Context) (*T, error)) (*T, error) {
	if started := c.startForRead(ctx, key); started != nil {
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

// Peek returns one object from the current listing, without a request; nil if there is none, or if it lacks the object or fails.
func (c *Collection[T]) Peek(ctx context.Context, key, id string) *T {
	current := c.listings.Current(key)
	if current == nil {
		return nil
	}
	l, err := current.Wait(ctx)
	if err != nil {
		return nil
	}
	return l.find(id)
}

// Lookup returns one object from the shared listing; nil if the listing lacks it.
func (c *Collection[T]) Lookup(ctx context.Context, key, id string) (*T, error) {
	l, err := c.listed(ctx, key)
	return l.find(id), err
}

// Find returns the objects that are wanted, from the shared listing.
func (c *Collection[T]) Find(ctx context.Context, key string, isWanted func(*T) bool) ([]T, error) {
	l, err := c.listed(ctx, key)
	if err != nil {
		return nil, err
	}
	return Filter(l.all, isWanted), nil
}

// FindNow is Find with a new listing.
func (c *Collection[T]) FindNow(ctx context.Context, key string, isWanted func(*T) bool) ([]T, error) {
	c.Invalidate(key)
	return c.Find(ctx, key, isWanted)
}

// All returns all objects of the collection from the shared listing.
func (c *Collection[T]) All(ctx context.Context, key string) ([]T, error) {
	l, err := c.listed(ctx, key)
	if err != nil {
		return nil, err
	}
	return slices.Clone(l.all), nil
}

// Invalidate drops the cached reads of the given collections.
func (c *Collection[T]) Invalidate(keys ...string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range keys {
		delete(c.reads, key)
	}
	c.listings.Drop(keys...)
}

// InvalidateAll drops the cached reads of all collections.
func (c *Collection[T]) InvalidateAll() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.reads)
	c.listings.DropAll()
}

// Snapshot is what was known when a creation started.
type Snapshot[T any] struct {
	// Wanted are the wanted objects.
	Wanted []T
	mu     *sync.Mutex
	listed *listing[T]
	known  *known[T]
}

// Contains reports whether an object was known before the creation started, or was written by this process.
func (b Snapshot[T]) Contains(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, isWritten := b.known.written[id]
	return isWritten || b.listed.byID[id] != nil
}

// Posts are the POSTs for the collection that create objects without names.
func (b Snapshot[T]) Posts() *Posts { return &b.known.posts }

// Written is a Snapshot that has only what this process wrote.
func (c *Collection[T]) Written(key string) Snapshot[T] {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Snapshot[T]{mu: &c.mu, listed: &listing[T]{}, known: c.knownOf(key)}
}

// Snapshot returns what is known about a collection before a creation, including the objects that are wanted. It lists the
// collection if there is no listing, or if the listing may be out of date.
func (c *Collection[T]) Snapshot(ctx context.Context, key string, isWanted func(*T) bool) (Snapshot[T], error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := c.knownOf(key)
	if k.listed == nil || c.clock.Now().Sub(k.learnt) >= freshFor {
		if k.learning == nil || k.learning.IsRead() {
			c.listings.DropOlder(key, freshFor)
			k.learning = c.start(ctx, key)
		}
		learning := k.learning
		c.mu.Unlock()
		l, err := learning.Wait(ctx)
		c.mu.Lock()
		if err != nil {
			return Snapshot[T]{}, err
		}
		k.listed, k.learnt = l, c.clock.Now()
	}
	return Snapshot[T]{Wanted: c.wanted(k, isWanted), mu: &c.mu, listed: k.listed, known: k}, nil
}

func (c *Collection[T]) knownOf(key string) *known[T] {
	k := c.known[key]
	if k == nil {
		k = &known[T]{written: map[string]*T{}}
		if c.ownedSince != nil {
			if at := c.ownedSince(key); !at.IsZero() {
				k.listed, k.learnt = &listing[T]{}, at
			}
		}
		c.known[key] = k
	}
	return k
}

// wanted returns the known objects that are wanted.
func (c *Collection[T]) wanted(k *known[T], isWanted func(*T) bool) []T {
	found := Filter(k.listed.all, func(object *T) bool {
		if !isWanted(object) {
			return false
		}
		_, isWritten := k.written[c.ref(object).ID]
		return !isWritten
	})
	for _, object := range k.written {
		if object != nil && isWanted(object) {
			found = append(found, *object)
		}
	}
	return found
}

// Put records an object that this process created or updated.
func (c *Collection[T]) Put(key string, object *T) {
	c.Invalidate(key)
	kept := *object
	c.write(key, c.ref(object).ID, &kept)
}

// AfterWrite records the outcome of a request that creates or updates an object.
func (c *Collection[T]) AfterWrite(key string, object *T, err error) (*T, error) {
	if err != nil {
		c.Invalidate(key)
		return nil, err
	}
	c.Put(key, object)
	return object, nil
}

// AfterDelete records the outcome of a delete request. An object that was gone before does not require another listing.
func (c *Collection[T]) AfterDelete(key, id string, err error) error {
	if !IsGone(err) {
		c.Invalidate(key)
	}
	if err == nil || IsGone(err) {
		c.write(key, id, nil)
	}
	return err
}

// write records an object that this process wrote; nil for a deleted one.
func (c *Collection[T]) write(key, id string, object *T) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.knownOf(key).written[id] = object
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
