package collection

import (
	"context"
	"slices"
	"sync"
	"time"
)

// freshFor is how old an inventory may be before a creation lists the collection again. In the meantime, somebody else may
// create an object without a creation time.
const freshFor = 15 * time.Second

// idleFor is how long the service may be silent before a creation lists the collection again: anybody may have created an
// object since its last response.
const idleFor = 2 * time.Second

// inventory is what this process knows about a collection: the latest listing, and the process's own writes. It does not have
// what others wrote since that listing.
type inventory[T any] struct {
	listed *Listing[T]
	learnt time.Time
	// learning is the listing in flight that will replace listed. A write of this process does not discard it.
	learning *Listing[T]
	// written are the objects that this process created or updated, by ID; nil for a deleted object.
	written map[string]*T
	// writtenAs are the IDs of the objects that this process wrote under each name.
	writtenAs map[string]map[string]bool
}

// Snapshot is what was known when a creation started.
type Snapshot[T any] struct {
	// Named are the objects with the requested name.
	Named     []T
	listed    *Listing[T]
	inventory *inventory[T]
	mu        *sync.Mutex
}

// Contains reports whether an object was known before the creation started, or was written by this process.
func (b Snapshot[T]) Contains(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, isWritten := b.inventory.written[id]
	return isWritten || b.listed.ByID[id] != nil
}

// Snapshot returns what is known about a collection before a creation, including the objects with a name. It lists the
// collection if there is no listing, or if the listing may be out of date. Heard is the time of the service's last response.
func (s *Shared[T]) Snapshot(ctx context.Context, key, name string, heard time.Time) (Snapshot[T], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.inventoryOf(key)
	if now := s.clock.Now(); v.listed == nil || now.Sub(v.learnt) >= freshFor || now.Sub(heard) >= idleFor {
		l := s.learn(ctx, key, v)
		s.mu.Unlock()
		err := l.Wait(ctx)
		s.mu.Lock()
		if err != nil {
			return Snapshot[T]{}, err
		}
		v.listed, v.learnt = l, s.clock.Now()
	}
	return Snapshot[T]{Named: s.namedIn(v, name), listed: v.listed, inventory: v, mu: &s.mu}, nil
}

func (s *Shared[T]) inventoryOf(key string) *inventory[T] {
	if s.inventories[key] == nil {
		s.inventories[key] = &inventory[T]{written: map[string]*T{}, writtenAs: map[string]map[string]bool{}}
	}
	return s.inventories[key]
}

// namedIn returns the objects with a name.
func (s *Shared[T]) namedIn(v *inventory[T], name string) []T {
	var found []T
	for _, object := range v.listed.byName[name] {
		if _, isWritten := v.written[s.id(object)]; !isWritten {
			found = append(found, *object)
		}
	}
	for id := range v.writtenAs[name] {
		if object := v.written[id]; object != nil && slices.Contains(s.names(object), name) {
			found = append(found, *object)
		}
	}
	return found
}

// learn returns the listing to wait for: the current one if it is in flight or recent, else a new one.
func (s *Shared[T]) learn(ctx context.Context, key string, v *inventory[T]) *Listing[T] {
	if v.learning == nil || v.learning.isFilled {
		if c := s.collections[key]; c != nil && !c.isUnderWay() && s.clock.Now().Sub(c.since) >= idleFor {
			delete(s.collections, key) // Its listing may be as old.
		}
		v.learning = s.listingLocked(ctx, key)
	}
	return v.learning
}

// StartEmpty records that a collection is empty because its owner was just created.
func (s *Shared[T]) StartEmpty(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.inventoryOf(key)
	v.listed, v.learnt = &Listing[T]{}, s.clock.Now()
}

// FindNow returns the objects with a name from a new listing. It does not update the inventory, which must keep what existed
// before a request.
func (s *Shared[T]) FindNow(ctx context.Context, key, name string) ([]T, error) {
	s.Invalidate(key)
	return s.Find(ctx, key, name)
}

// Put records an object that this process created or updated.
func (s *Shared[T]) Put(key string, object *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.collections, key)
	v, id, kept := s.inventoryOf(key), s.id(object), *object
	v.written[id] = &kept
	for _, name := range s.names(object) {
		if v.writtenAs[name] == nil {
			v.writtenAs[name] = map[string]bool{}
		}
		v.writtenAs[name][id] = true
	}
}

// remove records that this process deleted an object.
func (s *Shared[T]) remove(key, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.collections, key)
	s.inventoryOf(key).written[id] = nil
}

// markGone records that an object was already gone. The cached listing agrees with that, so it is kept.
func (s *Shared[T]) markGone(key, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inventoryOf(key).written[id] = nil
}

// AfterDelete records the outcome of a delete request.
func (s *Shared[T]) AfterDelete(key, id string, err error) {
	switch {
	case err == nil:
		s.remove(key, id)
	case IsGone(err):
		s.markGone(key, id)
	default:
		s.Invalidate(key)
	}
}

// Forget drops everything that is known about a deleted collection.
func (s *Shared[T]) Forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.collections, key)
	delete(s.inventories, key)
}
