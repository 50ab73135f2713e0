package create

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/memo"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Ledger is the Listing that reads share, and what this process knows about the objects of a collection when it creates another one: the
// latest listing, and what it created, updated, and deleted itself. So a creation needs no request of its own. It lacks what others wrote
// since the listing.
type Ledger[T any] struct {
	*collection.Listing[T]
	conn *transport.Conn
	ref  func(*T) wire.Ref
	refs func([]T) []wire.Ref
	// locks has a lock for each name under which an object is being created.
	locks collection.Locks

	mu      sync.Mutex
	records map[string]*record[T]
}

// record is what this process knows about one collection.
type record[T any] struct {
	// listed is the latest listing, which may be in flight or have failed; nil if there is none. Unlike the listing that reads share, a
	// write of this process does not discard it.
	listed *memo.Value[*collection.Objects[T]]
	// written are the objects that this process created or updated, by ID; nil for a deleted one.
	written map[string]*T
	// patienceSince is when a name was found taken, the first one in a while.
	patienceSince time.Time
}

// NewLedger returns an empty Ledger. List requests a whole collection.
func NewLedger[T any, P wire.RecordOf[T]](c *transport.Conn, list func(ctx context.Context, key string) ([]T, error)) *Ledger[T] {
	ref := func(object *T) wire.Ref { return P(object).Ref() }
	return &Ledger[T]{Listing: collection.NewListing[T, P](c.Clock, list), conn: c, ref: ref, refs: wire.Refs[T, P], records: map[string]*record[T]{}}
}

// CheckAccess checks during a plan that objects can be created, once for the organization and once for all owners in it. A creation needs
// the same listing, so this adds no request.
func (l *Ledger[T]) CheckAccess(ctx context.Context, key string) error {
	purpose := fmt.Sprintf("%s of an owner: %t", l.ref(new(T)).Object, key != collection.Organization)
	return l.conn.CheckOnce(ctx, purpose, func(ctx context.Context) error {
		_, err := l.View(ctx, key)
		return err
	})
}

// Lock waits until this process creates no other object with a name in a collection. The caller must call unlock.
func (l *Ledger[T]) Lock(ctx context.Context, key, name string) (unlock func(), err error) {
	return l.locks.Lock(ctx, key+"/"+name)
}

// View is one listing of a collection, and all that this process wrote, also after it: the second batch of a fleet must not take the
// computers of the first one for its own.
type View[T any] struct {
	ledger *Ledger[T]
	key    string
	// snapshot is the listing. What this process writes is read when it is asked for.
	snapshot *collection.Objects[T]
}

// View returns what is known about a collection. It lists the collection if nothing is known, or if that may be out of date.
func (l *Ledger[T]) View(ctx context.Context, key string) (View[T], error) {
	return l.view(ctx, key, collection.FreshFor)
}

func (l *Ledger[T]) view(ctx context.Context, key string, maxAge time.Duration) (View[T], error) {
	listed, err := l.start(ctx, key, maxAge).Wait(ctx)
	return View[T]{ledger: l, key: key, snapshot: listed}, err
}

// start returns the latest listing. It starts another one if that is maxAge old, or has failed.
func (l *Ledger[T]) start(ctx context.Context, key string, maxAge time.Duration) *memo.Value[*collection.Objects[T]] {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.of(key)
	if k.listed == nil || k.listed.IsRead() && l.conn.Clock.Now().Sub(k.listed.ReadAt()) >= maxAge {
		k.listed = l.Start(ctx, key, maxAge)
	}
	return k.listed
}

// Find returns the objects that are wanted. What this process has written itself counts in place of what was listed.
func (v View[T]) Find(isWanted func(*T) bool) []T {
	v.ledger.mu.Lock()
	written := maps.Clone(v.ledger.of(v.key).written)
	v.ledger.mu.Unlock()
	found := collection.Filter(v.snapshot.All, func(object *T) bool {
		_, isWritten := written[v.ledger.ref(object).ID]
		return !isWritten && isWanted(object)
	})
	for _, id := range slices.Sorted(maps.Keys(written)) {
		if object := written[id]; object != nil && isWanted(object) {
			found = append(found, *object)
		}
	}
	return found
}

// CannotBeNew reports whether an object is certainly not the new one: it was listed before, or this process has created, updated, or
// deleted it.
func (v View[T]) CannotBeNew(id string) bool {
	v.ledger.mu.Lock()
	defer v.ledger.mu.Unlock()
	_, isWritten := v.ledger.of(v.key).written[id]
	return isWritten || v.snapshot.Has(id)
}

// Relist lists a collection again, and returns the listed objects that are wanted. What this process has written itself does not count
// there: after a 409 or a lost response, only the service can say what there is.
func (l *Ledger[T]) Relist(ctx context.Context, key string, isWanted func(*T) bool) ([]T, error) {
	l.Invalidate(key)
	l.mu.Lock()
	l.of(key).listed = nil
	l.mu.Unlock()
	now, err := l.View(ctx, key)
	if err != nil {
		return nil, err
	}
	return collection.Filter(now.snapshot.All, isWanted), nil
}

// of returns what is known about a collection. The caller holds mu.
func (l *Ledger[T]) of(key string) *record[T] {
	k := l.records[key]
	if k == nil {
		k = &record[T]{written: map[string]*T{}}
		l.records[key] = k
	}
	return k
}

// Begin records that a collection has no objects, because its owner is new.
func (l *Ledger[T]) Begin(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(key).listed = memo.Read(&collection.Objects[T]{}, l.conn.Clock.Now())
}

// Wrote records an object that this process created or updated, and drops the listing without it.
func (l *Ledger[T]) Wrote(key string, object *T) {
	l.Invalidate(key)
	kept := *object
	l.write(key, l.ref(object).ID, &kept)
}

// AfterWrite records the outcome of a request that was sent to create or update an object.
func (l *Ledger[T]) AfterWrite(key string, object *T, err error) (*T, error) {
	if err != nil {
		l.Invalidate(key)
		return nil, err
	}
	l.Wrote(key, object)
	return object, nil
}

// AfterDelete records the outcome of a request that deletes an object. One that was gone before does not require another listing.
func (l *Ledger[T]) AfterDelete(key, id string, err error) error {
	if !collection.IsGone(err) {
		l.Invalidate(key)
	}
	if err == nil || collection.IsGone(err) {
		l.write(key, id, nil)
	}
	return err
}

// write records an object that this process wrote; nil for a deleted one.
func (l *Ledger[T]) write(key, id string, object *T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of(key).written[id] = object
}
