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
	listed   *collection.Objects[T]
	listedAt time.Time
	// relisting will replace listed. A write of this process does not discard it.
	relisting *memo.Value[*collection.Objects[T]]
	// takenSince is when a creation found its name taken, the first one in a while.
	takenSince time.Time
	// written are the objects that this process created or updated, by ID; nil for a deleted one.
	written map[string]*T
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
	Named  []T
	mu     *sync.Mutex
	listed *collection.Objects[T]
	known  *known[T]
}

// Has reports whether an object was known before the creation started, or was written by this process since.
func (b Before[T]) Has(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, isWritten := b.known.written[id]
	return isWritten || b.listed.Has(id)
}

// Before returns what is known about a collection, with the objects that have a name. It lists the collection if nothing is known, or
// if that may be out of date.
func (l *Ledger[T]) Before(ctx context.Context, key string, hasName func(*T) bool) (Before[T], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, err := l.listedWithin(ctx, key, collection.FreshFor)
	if err != nil {
		return Before[T]{}, err
	}
	return Before[T]{Named: l.named(k, hasName), mu: &l.mu, listed: k.listed, known: k}, nil
}

// listedWithin returns what is known from a listing that is younger than maxAge. All who need one share it. The caller holds mu.
func (l *Ledger[T]) listedWithin(ctx context.Context, key string, maxAge time.Duration) (*known[T], error) {
	k := l.of(key)
	if k.listed != nil && l.conn.Clock.Now().Sub(k.listedAt) < maxAge {
		return k, nil
	}
	if k.relisting == nil || k.relisting.IsRead() {
		k.relisting = l.Listing.Start(ctx, key, maxAge)
	}
	listing := k.relisting
	l.mu.Unlock()
	listed, err := listing.Wait(ctx)
	l.mu.Lock()
	if err == nil && !listing.ReadAt().Before(k.listedAt) {
		k.listed, k.listedAt = listed, listing.ReadAt()
	}
	return k, err
}

// looksWhileTaken are when a collection is listed again after a creation found its name taken.
var looksWhileTaken = []time.Duration{0, time.Second, 3 * time.Second, 6 * time.Second, 10 * time.Second}

// UntilFree waits until a listing has none of the objects that prevent a creation, and otherwise returns them: a listing may be out of
// date, and the same run may delete them, as with a resource that was renamed without a moved block. A collection has ten seconds for
// all names that are taken, and all who wait share its listings. Who comes later looks once. A plan says nothing about such a name, because only Terraform knows
// what the same apply deletes, renames, or moves.
func (l *Ledger[T]) UntilFree(ctx context.Context, key string, isTaken func(*T) bool) (taken []T, err error) {
	now := l.conn.Clock.Now
	asked, since := now(), l.takenSince(key)
	for _, look := range looksWhileTaken {
		if l.conn.Clock.Sleep(ctx, since.Add(look).Sub(now())) != nil {
			return taken, nil
		}
		taken, err = l.listedAfter(ctx, key, since.Add(look), isTaken)
		if err == nil && len(taken) == 0 { // The caller may know more than an older listing.
			taken, err = l.listedAfter(ctx, key, asked, isTaken)
		}
		if err != nil || len(taken) == 0 {
			return nil, err
		}
	}
	return l.listedAfter(ctx, key, asked, isTaken) // All looks may be over.
}

// listedAfter returns the objects that are wanted from a listing that ended after a time, without those that this process deleted.
func (l *Ledger[T]) listedAfter(ctx context.Context, key string, at time.Time, isWanted func(*T) bool) ([]T, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, err := l.listedWithin(ctx, key, l.conn.Clock.Now().Sub(at))
	if err != nil {
		return nil, err
	}
	return collection.Filter(k.listed.All, func(object *T) bool {
		own, isWritten := k.written[l.ref(object).ID]
		return isWanted(object) && (own != nil || !isWritten)
	}), nil
}

// takenSince returns when the patience for names that are taken began. It begins again after a while without it.
func (l *Ledger[T]) takenSince(key string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, now := l.of(key), l.conn.Clock.Now()
	if now.Sub(k.takenSince) >= looksWhileTaken[len(looksWhileTaken)-1]+collection.FreshFor {
		k.takenSince = now
	}
	return k.takenSince
}

// of returns what is known about a collection. The caller holds mu.
func (l *Ledger[T]) of(key string) *known[T] {
	k := l.known[key]
	if k == nil {
		k = &known[T]{written: map[string]*T{}}
		if l.ownedSince != nil {
			if at := l.ownedSince(key); !at.IsZero() {
				k.listed, k.listedAt = &collection.Objects[T]{}, at
			}
		}
		l.known[key] = k
	}
	return k
}

// named returns the known objects that have a name. The caller holds mu.
func (l *Ledger[T]) named(k *known[T], hasName func(*T) bool) []T {
	found := collection.Filter(k.listed.All, func(object *T) bool {
		_, isWritten := k.written[l.ref(object).ID]
		return !isWritten && hasName(object)
	})
	for _, object := range k.written {
		if object != nil && hasName(object) {
			found = append(found, *object)
		}
	}
	return found
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
