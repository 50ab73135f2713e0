package create

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// UnnamedObject describes a POST that creates an object without a name. The POST is never repeated blindly.
type UnnamedObject[T any] struct {
	// Object is used in errors, such as "session on the computer 7".
	Object string
	// Send creates the object.
	Send func(ctx context.Context) (*T, error)
	// List returns the objects that may include the new one.
	List func(ctx context.Context) ([]T, error)
	// IsWanted reports whether an object matches the request.
	IsWanted func(*T) bool
	// ListedLate is how long List lacks a new object, if that is longer than the search takes.
	ListedLate time.Duration
}

// Creations tracks the creations of this process whose objects are indistinguishable.
type Creations[T any] struct {
	// sending is held for reading while a POST is in flight, and for writing while the object of a lost response is searched
	// for.
	sending sync.RWMutex

	mu sync.Mutex
	// created has the IDs of the objects that this process created.
	created map[string]bool
	// lost collects the POSTs whose responses were lost since the last search.
	lost *lostResponses[T]
}

// lostResponses share one search for their objects. The search starts when no POST is in flight.
type lostResponses[T any] struct {
	mayHaveCreated []func(*T) bool
	look           sync.Once
	// found are the new objects that were not returned to a caller yet.
	found []T
	err   error
	// isTheirs says that there are no more matching objects than lost responses.
	isTheirs bool
}

// CreationsIn returns the creations with a key, such as a computer's ID.
func CreationsIn[T any](all *sync.Map, key string) *Creations[T] {
	found, _ := all.LoadOrStore(key, &Creations[T]{created: map[string]bool{}})
	return found.(*Creations[T])
}

// Unnamed creates the object. After lost responses, it returns a matching new object if there are no more of them than lost
// responses: a network failure often loses all responses in flight. Otherwise, the error is a *LostError.
func Unnamed[T any, P wire.RecordOf[T]](ctx context.Context, c *transport.Conn, beside *Creations[T], n UnnamedObject[T]) (*T, error) {
	made, since, lost, err := sendUnnamed[T, P](ctx, c, beside, n)
	if lost == nil {
		return made, err
	}
	beside.sending.Lock()
	defer beside.sending.Unlock()
	if beside.lost == lost {
		beside.lost = nil
	}
	idOf := func(object *T) string { return P(object).Ref().ID }
	lost.look.Do(func() { lost.find(ctx, c, beside, n, idOf) })
	isNew := func(object *T) bool { return n.IsWanted(object) && ProvenSince(P(object).Ref().CreatedAt, since) }
	if at := lost.leastClaimed(isNew); at >= 0 && lost.isTheirs {
		object := lost.found[at]
		lost.found = slices.Delete(lost.found, at, at+1)
		Recovered(ctx, Recovery{Objects: []wire.Ref{P(&object).Ref()}})
		return &object, nil
	}
	found := collection.Filter(lost.found, func(object *T) bool { return CreatedSince(P(object).Ref().CreatedAt, since) })
	if wanted := collection.Filter(found, n.IsWanted); len(wanted) > 0 {
		found = wanted
	}
	return nil, &LostError{Object: n.Object, Found: wire.Refs[T, P](found), Err: errors.Join(err, lost.err)}
}

// find searches for the objects of the lost responses. It uses all attempts, because an early listing may show only objects
// that somebody else created.
func (l *lostResponses[T]) find(ctx context.Context, c *transport.Conn, beside *Creations[T], n UnnamedObject[T], idOf func(*T) string) {
	_ = c.Clock.Sleep(ctx, n.ListedLate) // After an interrupt, the search comes at once.
	all, err := FindAfterLoss(ctx, c, math.MaxInt, n.List)
	l.found, l.err = collection.Filter(all, func(object *T) bool { return !beside.created[idOf(object)] }), err
	theirs := collection.Filter(l.found, func(object *T) bool {
		return slices.ContainsFunc(l.mayHaveCreated, func(may func(*T) bool) bool { return may(object) })
	})
	l.isTheirs = err == nil && len(theirs) <= len(l.mayHaveCreated)
	if !l.isTheirs {
		return
	}
	for i := range theirs {
		beside.created[idOf(&theirs[i])] = true
	}
}

// leastClaimed returns the index of the new object that the fewest lost requests match, or -1: one that other requests match too
// may be theirs.
func (l *lostResponses[T]) leastClaimed(isNew func(*T) bool) int {
	least, fewest := -1, math.MaxInt
	for i := range l.found {
		claims := collection.Filter(l.mayHaveCreated, func(may *func(*T) bool) bool { return (*may)(&l.found[i]) })
		if isNew(&l.found[i]) && len(claims) < fewest {
			least, fewest = i, len(claims)
		}
	}
	return least
}

// sendUnnamed sends the POST. It returns the service's time before the POST, and sets lost if the response was lost.
func sendUnnamed[T any, P wire.RecordOf[T]](ctx context.Context, c *transport.Conn, beside *Creations[T], n UnnamedObject[T]) (made *T, since time.Time, lost *lostResponses[T], err error) {
	beside.sending.RLock()
	defer beside.sending.RUnlock()
	if c.ServiceTime().IsZero() {
		_, _ = c.Providers(ctx) // Its response has the service's time, and concurrent creations share it. If it fails, the POST fails too, or its object is named in an error.
	}
	since = c.ServiceTime()
	made, err = n.Send(ctx)

	beside.mu.Lock()
	defer beside.mu.Unlock()
	switch {
	case err == nil && beside.created[P(made).Ref().ID]:
		return nil, since, nil, &WrongObjectError{Object: n.Object, Found: P(made).Ref(), Problem: "existed before"}
	case err == nil:
		beside.created[P(made).Ref().ID] = true
	case transport.IsAmbiguous(err):
		if beside.lost == nil {
			beside.lost = &lostResponses[T]{}
		}
		lost = beside.lost
		lost.mayHaveCreated = append(lost.mayHaveCreated, func(object *T) bool {
			return n.IsWanted(object) && CreatedSince(P(object).Ref().CreatedAt, since)
		})
	}
	return made, since, lost, err
}
