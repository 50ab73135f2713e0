package collection

import (
	"context"
	"slices"
	"sync"
	"time"
)

// freshFor is how old an inventory may be before a creation learns it anew. Within it somebody else may make an object
// of which the service does not tell when it was made.
const freshFor = 15 * time.Second

// idleFor is how long the service may have said nothing before a creation learns the inventory anew: what is newer than
// its last word could be anybody's.
const idleFor = 2 * time.Second

// inventory is what exists in a collection as far as this process knows: what the latest listing showed, and what this
// process has written since it began. What others did meanwhile is not in it.
type inventory[T any] struct {
	listed *listing[T]
	learnt time.Time
	// learning is the listing under way from which listed will come, whatever this process writes meanwhile.
	learning *listing[T]
	// written are the objects that this process has created or changed, by ID; nil is one that it has removed.
	written map[string]*T
	// writtenAs are the IDs of what was written under a name at some time.
	writtenAs map[string]map[string]bool
}

// Snapshot is what was known when a creation began.
type Snapshot[T any] struct {
	// Named are the objects of the name that was asked for.
	Named     []T
	listed    *listing[T]
	inventory *inventory[T]
	mu        *sync.Mutex
}

// Contains reports that an object was known before the creation began, or is one that this process wrote.
func (b Snapshot[T]) Contains(id string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, isWritten := b.inventory.written[id]
	return isWritten || b.listed.ByID[id] != nil
}

// Snapshot begins a creation: it returns what is known of a collection now, and which objects have a name. A listing comes
// first if there was none or it may be out of date. Heard is when the service last responded.
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

// namedIn returns the objects of a name.
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

// learn returns the listing to wait for: the one under way, or one that has just ended, or a new one.
func (s *Shared[T]) learn(ctx context.Context, key string, v *inventory[T]) *listing[T] {
	if v.learning == nil || v.learning.isFilled {
		if c := s.collections[key]; c != nil && !c.isUnderWay() && s.clock.Now().Sub(c.since) >= idleFor {
			delete(s.collections, key) // Its listing may be as old.
		}
		v.learning = s.listingLocked(ctx, key)
	}
	return v.learning
}

// StartEmpty takes over that a collection is new, with nothing in it: its owner was just made.
func (s *Shared[T]) StartEmpty(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := s.inventoryOf(key)
	v.listed, v.learnt = &listing[T]{}, s.clock.Now()
}

// FindNow returns the objects of a name as a listing that starts now shows them. The inventory stays as it is: what a
// request made must be told from what was there before it.
func (s *Shared[T]) FindNow(ctx context.Context, key, name string) ([]T, error) {
	s.Invalidate(key)
	return s.Find(ctx, key, name)
}

// Put takes over an object that this process has made or changed.
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

// remove takes over that this process has removed an object.
func (s *Shared[T]) remove(key, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.collections, key)
	s.inventoryOf(key).written[id] = nil
}

// markGone takes over that an object is gone without this process's doing. What was read of the collection says so, and stays.
func (s *Shared[T]) markGone(key, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inventoryOf(key).written[id] = nil
}

// AfterDelete takes over the outcome of the request that was to end an object.
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

// Forget drops all that is known of a collection, which is gone as a whole.
func (s *Shared[T]) Forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.collections, key)
	delete(s.inventories, key)
}
