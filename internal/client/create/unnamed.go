package create

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Unnamed creates an object without a name. Besides the service's own errors, it returns *LostError.
//
// Nothing is listed before, so after a lost response, a new object must prove its age by the service's clock, and never by the local one.
// A network failure often loses the responses to several equal requests, and their objects are equal too: if there are no more of them
// than lost responses, each request gets one.
func Unnamed[T any](ctx context.Context, s *Sends[T], o UnnamedObject[T]) (*T, error) {
	s.conn.LearnServiceTime(ctx)
	made, since, err := s.send(ctx, o)
	if transport.IsAmbiguous(err) {
		return s.find(ctx, o, since, err)
	}
	return made, err
}

// UnnamedObject describes an object without a name.
type UnnamedObject[T any] struct {
	// Object is used in errors, such as "session on the computer 7".
	Object string
	// Place is what the object is created in, such as the ID of a computer.
	Place string
	// Body is what Send sends: equal requests create equal objects. IsWanted reports whether an object matches it.
	Body     any
	Send     func(ctx context.Context) (*T, error)
	IsWanted func(*T) bool
	// List returns the objects that may include the new one. ListedLater is added to transport.ListedWithin: how late
	// it may do so.
	List        func(ctx context.Context) ([]T, error)
	ListedLater time.Duration
}

// Sends are the requests of this process that create objects without names.
type Sends[T any] struct {
	conn *transport.Conn
	ref  func(*T) wire.Ref
	refs func([]T) []wire.Ref
	// places has the requests for each place.
	places sync.Map
}

// NewSends returns empty Sends.
func NewSends[T any, P wire.RecordOf[T]](c *transport.Conn) *Sends[T] {
	return &Sends[T]{conn: c, ref: func(object *T) wire.Ref { return P(object).Ref() }, refs: wire.Refs[T, P]}
}

// send sends the request, and counts it if its response is lost. Since is the service's time before.
func (s *Sends[T]) send(ctx context.Context, o UnnamedObject[T]) (made *T, since time.Time, err error) {
	at := s.placeOf(o.Place)
	at.inFlight.RLock()
	defer at.inFlight.RUnlock()
	since = s.conn.ServiceTime()
	made, err = o.Send(ctx)
	if err == nil && !at.give(s.ref(made).ID) {
		return nil, since, AnotherObject(o.Object, "", s.ref(made))
	}
	if transport.IsAmbiguous(err) {
		at.countLost(o.Body, 1)
	}
	return made, since, err
}

// find returns the object of a request whose response was lost. It searches when no request for the place is in flight.
func (s *Sends[T]) find(ctx context.Context, o UnnamedObject[T], since time.Time, lostErr error) (*T, error) {
	// From is taken before the lock: whoever has waited for the search of another one needs only one look.
	at, from := s.placeOf(o.Place), s.conn.Clock.Now().Add(o.ListedLater)
	at.inFlight.Lock()
	defer at.inFlight.Unlock()
	lost := at.countLost(o.Body, 0)
	defer at.countLost(o.Body, -1)

	// An early listing may have only objects that somebody else created.
	listed, lookErr := LookAfterLoss(ctx, s.conn, Search[T]{From: from, WantsAll: true, Look: o.List})
	found := collection.Filter(listed, func(object *T) bool {
		ref := s.ref(object)
		return !at.isGiven(ref.ID) && CreatedSince(ref.CreatedAt, since)
	})
	wanted := collection.Filter(found, o.IsWanted)
	proven := collection.Filter(wanted, func(object *T) bool { return ProvenSince(s.ref(object).CreatedAt, since) })
	if lookErr != nil || len(proven) == 0 || len(wanted) > lost {
		if len(wanted) > 0 {
			found = wanted
		}
		return nil, &LostError{Object: o.Object, Found: s.refs(found), Err: errors.Join(lostErr, lookErr)}
	}
	oldest := slices.MinFunc(proven, func(a, b T) int { return s.ref(&a).CreatedAt.Compare(s.ref(&b).CreatedAt) })
	at.give(s.ref(&oldest).ID)
	NoteFound(ctx, s.conn, Found{Ref: s.ref(&oldest)})
	return &oldest, nil
}

func (s *Sends[T]) placeOf(id string) *place {
	found, _ := s.places.LoadOrStore(id, &place{lost: map[string]int{}, given: map[string]bool{}})
	return found.(*place)
}

// place has what the requests for one place must know of each other.
type place struct {
	// inFlight is held for reading while a request is in flight, and for writing while the object of a lost response is searched for.
	inFlight sync.RWMutex

	mu sync.Mutex
	// lost counts the requests whose responses were lost, by their bodies.
	lost map[string]int
	// given has the IDs of the objects that a request got: they are no candidates for another one.
	given map[string]bool
}

// countLost changes the number of requests with a body whose responses were lost, and returns it.
func (p *place) countLost(body any, change int) int {
	text, _ := json.Marshal(body) // The request has encoded it too.
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost[string(text)] += change
	return p.lost[string(text)]
}

// give records that a request got an object. It returns false if another one got it before.
func (p *place) give(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	isFirst := !p.given[id]
	p.given[id] = true
	return isFirst
}

func (p *place) isGiven(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.given[id]
}
