package collection

import (
	"context"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/memo"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// freshFor is how old an inventory may be before a creation lists the collection again. In the meantime, somebody else may
// create an object without a creation time.
const freshFor = 15 * time.Second

// idleFor is how long the service may be silent before a creation lists the collection again: anybody may have created an
// object since its last response.
const idleFor = 2 * time.Second

// Inventory is Shared for objects that this process creates. It also knows which objects existed before a creation, from one
// listing and its own writes, so that this costs no request per object.
type Inventory[T any] struct {
	*Shared[T]
	clock clock.Clock

	// Creating has a lock for each name under which an object is being created.
	Creating Locks

	mu    sync.Mutex
	known map[string]*known[T]
}

// Owner knows the owners of collections, whose IDs are the keys.
type Owner interface {
	// CreatedAt returns when this process created an owner, by the local clock; zero if it did not. A new owner has no objects.
	CreatedAt(id string) time.Time
	// DeletedAt returns when this process last tried to delete an owner, and with it the objects; zero if it did not.
	DeletedAt(id string) time.Time
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
}

// NewInventory returns an empty inventory; owner is nil if the collections have no owners. The other parameters are those of
// NewShared.
func NewInventory[T any, P wire.RecordOf[T]](clk clock.Clock, owner Owner, singles int, list func(ctx context.Context, key string) ([]T, error)) *Inventory[T] {
	shared := NewShared[T, P](clk, singles, list)
	shared.owner = owner
	return &Inventory[T]{Shared: shared, clock: clk, known: map[string]*known[T]{}}
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

// Snapshot returns what is known about a collection before a creation, including the objects that are wanted. It lists the
// collection if there is no listing, or if the listing may be out of date. Heard is the time of the service's last response.
func (v *Inventory[T]) Snapshot(ctx context.Context, key string, heard time.Time, isWanted func(*T) bool) (Snapshot[T], error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	k := v.knownOf(key)
	if now := v.clock.Now(); k.listed == nil || now.Sub(k.learnt) >= freshFor || now.Sub(heard) >= idleFor {
		learning := v.learn(ctx, key, k)
		v.mu.Unlock()
		l, err := learning.Wait(ctx)
		v.mu.Lock()
		if err != nil {
			return Snapshot[T]{}, err
		}
		k.listed, k.learnt = l, v.clock.Now()
	}
	return Snapshot[T]{Wanted: v.wanted(k, isWanted), mu: &v.mu, listed: k.listed, known: k}, nil
}

func (v *Inventory[T]) knownOf(key string) *known[T] {
	k := v.known[key]
	if k == nil {
		k = &known[T]{written: map[string]*T{}}
		if v.owner != nil {
			if at := v.owner.CreatedAt(key); !at.IsZero() {
				k.listed, k.learnt = &listing[T]{}, at
			}
		}
		v.known[key] = k
	}
	return k
}

// wanted returns the known objects that are wanted.
func (v *Inventory[T]) wanted(k *known[T], isWanted func(*T) bool) []T {
	found := Filter(k.listed.all, func(object *T) bool {
		if !isWanted(object) {
			return false
		}
		_, isWritten := k.written[v.ref(object).ID]
		return !isWritten
	})
	for _, object := range k.written {
		if object != nil && isWanted(object) {
			found = append(found, *object)
		}
	}
	return found
}

// learn returns the listing to wait for: the current one if it is in flight or recent, else a new one.
func (v *Inventory[T]) learn(ctx context.Context, key string, k *known[T]) *memo.Value[*listing[T]] {
	if k.learning == nil || k.learning.IsRead() {
		v.listings.DropOlder(key, idleFor)
		k.learning = v.start(ctx, key)
	}
	return k.learning
}

// Put records an object that this process created or updated.
func (v *Inventory[T]) Put(key string, object *T) {
	v.Invalidate(key)
	kept := *object
	v.write(key, v.ref(object).ID, &kept)
}

// AfterWrite records the outcome of a request that creates or updates an object.
func (v *Inventory[T]) AfterWrite(key string, object *T, err error) (*T, error) {
	if err != nil {
		v.Invalidate(key)
		return nil, err
	}
	v.Put(key, object)
	return object, nil
}

// AfterDelete records the outcome of a delete request. An object that was gone before does not require another listing.
func (v *Inventory[T]) AfterDelete(key, id string, err error) error {
	if !IsGone(err) {
		v.Invalidate(key)
	}
	if err == nil || IsGone(err) {
		v.write(key, id, nil)
	}
	return err
}

// write records an object that this process wrote; nil for a deleted one.
func (v *Inventory[T]) write(key, id string, object *T) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.knownOf(key).written[id] = object
}
