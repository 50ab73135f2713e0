package client

import (
	"context"
	"time"
)

// freshFor is how old an inventory may be before a creation learns it anew. Within it somebody else may make an object
// of which the service does not tell when it was made.
const freshFor = 15 * time.Second

// idleFor is how long the service may have said nothing before a creation learns the inventory anew: what is newer than
// its last word could be anybody's.
const idleFor = 2 * time.Second

// inventory is what exists in a collection as far as this process knows: what a listing told, and what this process has
// made, changed and removed since. What others did meanwhile is not in it.
type inventory[T any] struct {
	byID   map[string]T
	byName map[string]map[string]bool
	// since counts the creations that had begun when an object became known, own are those that this process wrote.
	since  map[string]int
	own    map[string]bool
	begun  int
	learnt time.Time
	names  func(*T) []string
}

func (v *inventory[T]) put(id string, object T) {
	since, known := v.since[id]
	v.drop(id)
	if !known {
		since = v.begun
	}
	v.byID[id], v.since[id] = object, since
	for _, name := range v.names(&object) {
		if v.byName[name] == nil {
			v.byName[name] = map[string]bool{}
		}
		v.byName[name][id] = true
	}
}

func (v *inventory[T]) drop(id string) {
	object, ok := v.byID[id]
	if !ok {
		return
	}
	for _, name := range v.names(&object) {
		delete(v.byName[name], id)
	}
	delete(v.byID, id)
	delete(v.since, id)
}

// before is what was known when a creation began.
type before[T any] struct {
	// named are the objects of the name that was asked for.
	named  []T
	begun  int
	shared *shared[T]
	key    string
}

// knows reports that an object was known before the creation began, or is another one that this process wrote.
func (b before[T]) knows(id string) bool {
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	v := b.shared.inventories[b.key]
	if v == nil {
		return false
	}
	since, ok := v.since[id]
	return v.own[id] || ok && since <= b.begun
}

// known begins a creation: it returns what the inventory of a collection knows now, and which objects have a name. The
// inventory is learned from a listing first if there is none or it may be out of date. Heard is when the service last answered anything.
func (s *shared[T]) known(ctx context.Context, key, name string, heard time.Time) (before[T], error) {
	for learned := false; ; learned = true {
		s.mu.Lock()
		v, now := s.inventories[key], s.clock.Now()
		if v != nil && (learned || now.Sub(v.learnt) < freshFor && now.Sub(heard) < idleFor) {
			b := before[T]{begun: v.begun, shared: s, key: key}
			for id := range v.byName[name] {
				b.named = append(b.named, v.byID[id])
			}
			v.begun++
			s.mu.Unlock()
			return b, nil
		}
		l := s.learn(ctx, key)
		s.mu.Unlock()
		if err := l.wait(ctx); err != nil {
			return before[T]{}, err
		}
	}
}

// learn returns the listing from which the inventory will have been learned once it is there: the one under way, on which
// this process's own writes have no bearing, or one that has just ended, or a new one.
func (s *shared[T]) learn(ctx context.Context, key string) *listing[T] {
	if l := s.learning[key]; l != nil {
		return l
	}
	if c := s.collections[key]; c != nil && !c.isUnderWay() && s.clock.Now().Sub(c.since) >= idleFor {
		delete(s.collections, key) // Its listing may be as old.
	}
	l := s.joinLocked(ctx, key, true)
	if l.isFilled {
		s.learnLocked(key, l)
	} else {
		l.written = map[string]*T{}
		s.learning[key] = l
	}
	return l
}

// begin takes over that a collection is new, with nothing in it: its owner was just made.
func (s *shared[T]) begin(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.learnLocked(key, &listing[T]{})
}

// learnLocked takes over a listing. What this process has made since it was asked for is not in it, and what it has changed
// or removed may be in it as it was.
func (s *shared[T]) learnLocked(key string, l *listing[T]) {
	v := s.inventories[key]
	if v == nil {
		v = &inventory[T]{byID: map[string]T{}, byName: map[string]map[string]bool{}, since: map[string]int{}, own: map[string]bool{}, names: s.names}
		s.inventories[key] = v
	}
	for id := range v.byID {
		if l.byID[id] == nil && v.since[id] < l.asked {
			v.drop(id)
		}
	}
	for id, object := range l.byID {
		if _, isWritten := l.written[id]; !isWritten {
			v.put(id, *object)
		}
	}
	for id, object := range l.written {
		if object != nil {
			v.put(id, *object)
			v.own[id] = true
		}
	}
	v.learnt = s.clock.Now()
}

// anew returns the objects of a name as a listing that starts now shows them. The inventory stays as it is: what a
// request made must be told from what was there before it.
func (s *shared[T]) anew(ctx context.Context, key, name string) ([]T, error) {
	s.discard(key)
	return s.find(ctx, key, name)
}

// wrote takes over an object that this process has made or changed.
func (s *shared[T]) wrote(key string, object *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.collections, key)
	if l := s.learning[key]; l != nil {
		kept := *object
		l.written[s.id(object)] = &kept
	}
	if v := s.inventories[key]; v != nil {
		v.put(s.id(object), *object)
		v.own[s.id(object)] = true
	}
}

// removed takes over that this process has removed an object.
func (s *shared[T]) removed(key, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.collections, key)
	s.drop(key, id)
}

// vanished takes over that an object is gone without this process's doing. What was read of the collection says so, and stays.
func (s *shared[T]) vanished(key, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(key, id)
}

func (s *shared[T]) drop(key, id string) {
	if l := s.learning[key]; l != nil {
		l.written[id] = nil
	}
	if v := s.inventories[key]; v != nil {
		v.drop(id)
	}
}

// ended takes over the outcome of the request that was to end an object.
func (s *shared[T]) ended(key, id string, err error) {
	switch {
	case err == nil:
		s.removed(key, id)
	case IsGone(err):
		s.vanished(key, id)
	default:
		s.discard(key)
	}
}

// forget drops all that is known of a collection, which is gone as a whole.
func (s *shared[T]) forget(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.collections, key)
	delete(s.inventories, key)
	delete(s.learning, key)
}
