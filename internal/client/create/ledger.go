package create

import (
	"context"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/memo"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Ledger is what this process knows about the objects of a collection when it creates another one: the latest listing, and what it
// created, updated, and deleted itself since. So a creation needs no request of its own. It lacks what others wrote since the listing.
type Ledger[T any] struct {
	Listing *collection.Listing[T]
	conn    *transport.Conn
	ref     func(*T) wire.Ref
	// ownedSince returns when this process created the owner of a collection, who had no objects then; nil if there are no owners.
	ownedSince func(key string) time.Time
	// locks has a lock for each name under which an object is being created.
	locks collection.Locks
	// changes are the changes of objects that are under way, by ID: a context each, which ends with it.
	changes sync.Map

	mu    sync.Mutex
	known map[string]*known[T]
}

// known is what this process knows about one collection.
type known[T any] struct {
	// latest is the latest listing that succeeded, and next the one that will replace it, or nil. A write of this process discards neither.
	latest, next *memo.Value[*collection.Objects[T]]
	// written are the objects that this process created or updated, by ID; nil for a deleted one.
	written map[string]*T
	// takenSince is when a creation found its name taken, the first one in a while.
	takenSince time.Time
}

// NewLedger returns a Ledger beside a listing. OwnedSince may be nil, and its time may be zero.
func NewLedger[T any, P wire.RecordOf[T]](c *transport.Conn, l *collection.Listing[T], ownedSince func(key string) time.Time) *Ledger[T] {
	return &Ledger[T]{Listing: l, conn: c, ref: func(object *T) wire.Ref { return P(object).Ref() }, ownedSince: ownedSince, known: map[string]*known[T]{}}
}

// Lock waits until this process creates no other object with a name in a collection. The caller must call unlock.
func (l *Ledger[T]) Lock(ctx context.Context, key, name string) (unlock func(), err error) {
	return l.locks.Lock(ctx, key+"/"+name)
}

// Before is what was known when a creation started.
type Before[T any] struct {
	// Named are the objects that have the name.
	Named []T

	listed *collection.Objects[T]
	ledger *Ledger[T]
	key    string
}

// Has reports whether an object is certainly not the new one: it existed before, or this process has written it, also after the creation
// started.
func (b Before[T]) Has(id string) bool {
	_, isWritten := b.ledger.own(b.key, id)
	return isWritten || b.listed.Has(id)
}

// Before returns what is known about a collection, with the objects that have a name. It lists the collection if nothing is known, or
// if that may be out of date.
func (l *Ledger[T]) Before(ctx context.Context, key string, hasName func(*T) bool) (Before[T], error) {
	listed, err := l.listedAfter(ctx, key, l.conn.Clock.Now().Add(-collection.FreshFor))
	if err != nil {
		return Before[T]{}, err
	}
	return Before[T]{Named: l.named(key, listed, hasName), listed: listed, ledger: l, key: key}, nil
}

// named returns the objects with a name among the listed ones and those that this process wrote.
func (l *Ledger[T]) named(key string, listed *collection.Objects[T], hasName func(*T) bool) []T {
	l.mu.Lock()
	defer l.mu.Unlock()
	written := l.of(key).written
	named := collection.Filter(listed.All, func(object *T) bool {
		_, isWritten := written[l.ref(object).ID]
		return !isWritten && hasName(object)
	})
	for _, object := range written {
		if object != nil && hasName(object) {
			named = append(named, *object)
		}
	}
	return named
}

// looksWhileTaken are when a collection is listed again after a creation found its name taken.
var looksWhileTaken = []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second, 10 * time.Second}

// UntilFree waits until a listing has none of the objects that prevent a creation, and otherwise returns them: a listing may be out of
// date, and the same run may delete them, as with a resource that was renamed without a moved block. A plan says nothing about such a
// name, because only Terraform knows what the same apply deletes, renames, or moves. An interrupted wait returns them with its error.
func (l *Ledger[T]) UntilFree(ctx context.Context, key string, isTaken func(*T) bool) (taken []T, err error) {
	for _, look := range l.looks(key) {
		if err := l.conn.Clock.Sleep(ctx, look.Sub(l.conn.Clock.Now())); err != nil {
			return taken, err
		}
		listed, err := l.listedAfter(ctx, key, look)
		if err != nil {
			return nil, err
		}
		taken = collection.Filter(listed.All, func(object *T) bool {
			own, isWritten := l.own(key, l.ref(object).ID)
			isDeleted := isWritten && own == nil
			return isTaken(object) && !isDeleted
		})
		if len(taken) == 0 {
			return nil, nil
		}
	}
	return taken, nil
}

// looks returns when to list a collection for a name that is taken. A collection has ten seconds for all such names, and all who wait
// share its listings. Who comes later looks once, and those who come within a second share that look.
func (l *Ledger[T]) looks(key string) []time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, now := l.of(key), l.conn.Clock.Now()
	patience := looksWhileTaken[len(looksWhileTaken)-1]
	if now.Sub(k.takenSince) >= patience+collection.FreshFor {
		k.takenSince = now
	}
	var looks []time.Time
	for _, after := range looksWhileTaken {
		if look := k.takenSince.Add(after); !look.Before(now) {
			looks = append(looks, look)
		}
	}
	if len(looks) == 0 {
		return []time.Time{now.Add(-time.Second)}
	}
	return looks
}

// listedAfter returns the objects of a collection from a listing that ended after a time.
func (l *Ledger[T]) listedAfter(ctx context.Context, key string, at time.Time) (*collection.Objects[T], error) {
	return l.startAfter(ctx, key, at).Wait(ctx)
}

// startAfter returns the listing for listedAfter: the latest one if it suffices, else the next one, which all share that need it.
func (l *Ledger[T]) startAfter(ctx context.Context, key string, at time.Time) *memo.Value[*collection.Objects[T]] {
	l.mu.Lock()
	defer l.mu.Unlock()
	k := l.of(key)
	if k.next != nil && k.next.IsRead() {
		if !k.next.ReadAt().Before(k.latest.ReadAt()) {
			k.latest = k.next
		}
		k.next = nil
	}
	if k.latest.ReadAt().After(at) {
		return k.latest
	}
	if k.next == nil {
		k.next = l.Listing.Start(ctx, key, l.conn.Clock.Now().Sub(at))
	}
	return k.next
}

// of returns what is known about a collection. The caller holds mu.
func (l *Ledger[T]) of(key string) *known[T] {
	k := l.known[key]
	if k == nil {
		var emptyAt time.Time
		if l.ownedSince != nil {
			emptyAt = l.ownedSince(key)
		}
		k = &known[T]{latest: memo.Read(&collection.Objects[T]{}, emptyAt), written: map[string]*T{}}
		l.known[key] = k
	}
	return k
}

// own returns what this process wrote of an object: nil if it deleted the object.
func (l *Ledger[T]) own(key, id string) (object *T, isWritten bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	object, isWritten = l.of(key).written[id]
	return object, isWritten
}

// Wrote records an object that this process created or updated, and drops the listing without it.
func (l *Ledger[T]) Wrote(key string, object *T) {
	l.Listing.Invalidate(key)
	kept := *object
	l.write(key, l.ref(object).ID, &kept)
}

// AfterUpdate records the outcome of a request that updates an object.
func (l *Ledger[T]) AfterUpdate(key string, object *T, err error) (*T, error) {
	if err != nil {
		l.Listing.Invalidate(key)
		return nil, err
	}
	l.Wrote(key, object)
	return object, nil
}

// AfterDelete records the outcome of a request that deletes an object. One that was gone before does not require another listing.
func (l *Ledger[T]) AfterDelete(key, id string, err error) error {
	if !collection.IsGone(err) {
		l.Listing.Invalidate(key)
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
