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
)

// UnnamedObject is a POST that creates an object without a name. It is never sent again blindly.
type UnnamedObject[T any] struct {
	// Object is for errors, such as "session on the computer 7".
	Object string
	// Send creates the object.
	Send func(ctx context.Context) (*T, error)
	// List returns the objects among which the new one is.
	List func(ctx context.Context) ([]T, error)
	// IsWanted reports that an object has what was asked for.
	IsWanted  func(*T) bool
	CreatedAt func(*T) transport.Millis
	Describe  func(*T) ExistsError
}

// Creations are those of this process whose objects could be taken for each other.
type Creations[T any] struct {
	// sending is held for reading while a POST is under way, and for writing while a lost one is looked up.
	sending sync.RWMutex

	mu sync.Mutex
	// created are the IDs of what this process has created.
	created map[string]bool
	// lost are the POSTs whose responses were lost since the last look.
	lost *lostResponses[T]
}

// lostResponses share one look at what they created. It is complete once no POST is under way.
type lostResponses[T any] struct {
	mayHaveCreated []func(*T) bool
	look           sync.Once
	// found are the new objects that nobody has been given yet.
	found []T
	err   error
	// isTheirs says that no more objects may be theirs than responses were lost.
	isTheirs bool
}

// CreationsIn returns the creations of a collection.
func CreationsIn[T any](all *sync.Map, key string) *Creations[T] {
	found, _ := all.LoadOrStore(key, &Creations[T]{created: map[string]bool{}})
	return found.(*Creations[T])
}

// Unnamed creates the object. If responses were lost, and no more new objects are as asked for than that, they are
// what these requests created: a network that breaks loses all responses under way. Anything else is a *LostError.
func Unnamed[T any](ctx context.Context, c *transport.Conn, beside *Creations[T], n UnnamedObject[T]) (*T, error) {
	made, since, lost, err := sendUnnamed(ctx, c, beside, n)
	if lost == nil {
		return made, err
	}
	beside.sending.Lock()
	defer beside.sending.Unlock()
	if beside.lost == lost {
		beside.lost = nil
	}
	lost.look.Do(func() { lost.find(ctx, c, beside, n) })
	isNew := func(object *T) bool { return n.IsWanted(object) && provenSince(n.CreatedAt(object), since) }
	if at := slices.IndexFunc(lost.found, func(object T) bool { return isNew(&object) }); at >= 0 && lost.isTheirs {
		object := lost.found[at]
		lost.found = slices.Delete(lost.found, at, at+1)
		return &object, nil
	}
	found := collection.Filter(lost.found, func(object *T) bool { return CreatedSince(n.CreatedAt(object), since) })
	if wanted := collection.Filter(found, n.IsWanted); len(wanted) > 0 {
		found = wanted
	}
	return nil, &LostError{Object: n.Object, Found: Describe(found, n.Describe), Err: errors.Join(err, lost.err)}
}

// find looks for what the requests created. All looks are used: a listing may show what somebody else created first.
func (l *lostResponses[T]) find(ctx context.Context, c *transport.Conn, beside *Creations[T], n UnnamedObject[T]) {
	all, err := FindAfterLoss(ctx, c, math.MaxInt, n.List)
	l.found, l.err = collection.Filter(all, func(object *T) bool { return !beside.created[n.Describe(object).ID] }), err
	theirs := collection.Filter(l.found, func(object *T) bool {
		return slices.ContainsFunc(l.mayHaveCreated, func(may func(*T) bool) bool { return may(object) })
	})
	l.isTheirs = err == nil && len(theirs) <= len(l.mayHaveCreated)
	if !l.isTheirs {
		return
	}
	for i := range theirs {
		beside.created[n.Describe(&theirs[i]).ID] = true
	}
}

// sendUnnamed sends the POST. Since is the service's time before it, and lost is set where the response was lost.
func sendUnnamed[T any](ctx context.Context, c *transport.Conn, beside *Creations[T], n UnnamedObject[T]) (made *T, since time.Time, lost *lostResponses[T], err error) {
	beside.sending.RLock()
	defer beside.sending.RUnlock()
	if c.ServiceTime().IsZero() {
		_ = c.CheckAccess(ctx) // Its response tells the time. If it fails, so does the POST, or what it creates is named.
	}
	since = c.ServiceTime()
	made, err = n.Send(ctx)

	beside.mu.Lock()
	defer beside.mu.Unlock()
	switch {
	case err == nil && (beside.created[n.Describe(made).ID] || !CreatedSince(n.CreatedAt(made), since.Add(-skew))):
		return nil, since, nil, &WrongObjectError{Object: n.Object, Found: n.Describe(made), Problem: "existed before"}
	case err == nil:
		beside.created[n.Describe(made).ID] = true
	case transport.IsAmbiguous(err):
		if beside.lost == nil {
			beside.lost = &lostResponses[T]{}
		}
		lost = beside.lost
		lost.mayHaveCreated = append(lost.mayHaveCreated, func(object *T) bool {
			return n.IsWanted(object) && CreatedSince(n.CreatedAt(object), since)
		})
	}
	return made, since, lost, err
}

// skew is how far the clocks of one service may be apart.
const skew = 5 * time.Minute
