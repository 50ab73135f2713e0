package client

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"
)

// unnamed is a POST that creates an object without a name. It is never sent again blindly.
type unnamed[T any] struct {
	// object is for errors, such as "session on the computer 7".
	object string
	// send creates the object.
	send func(ctx context.Context) (*T, error)
	// list returns the objects among which the new one is.
	list func(ctx context.Context) ([]T, error)
	// isWanted reports that an object has what was asked for.
	isWanted  func(*T) bool
	createdAt func(*T) Millis
	existing  func(*T) ExistsError
}

// creations are those of this process whose objects could be taken for each other.
type creations[T any] struct {
	// sending is held for reading while a POST is under way, and for writing while a lost one is looked up.
	sending sync.RWMutex

	mu sync.Mutex
	// own are the IDs of what this process has created.
	own map[string]bool
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

// creationsIn returns the creations of a collection.
func creationsIn[T any](all *sync.Map, key string) *creations[T] {
	found, _ := all.LoadOrStore(key, &creations[T]{own: map[string]bool{}})
	return found.(*creations[T])
}

// createUnnamed creates the object. If responses were lost, and no more new objects are as asked for than that, they are
// what these requests created: a network that breaks loses all responses under way. Anything else is a *LostError.
func createUnnamed[T any](ctx context.Context, c *conn, beside *creations[T], n unnamed[T]) (*T, error) {
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
	isNew := func(object *T) bool { return n.isWanted(object) && provenSince(n.createdAt(object), since) }
	if at := slices.IndexFunc(lost.found, func(object T) bool { return isNew(&object) }); at >= 0 && lost.isTheirs {
		object := lost.found[at]
		lost.found = slices.Delete(lost.found, at, at+1)
		return &object, nil
	}
	found := filter(lost.found, func(object *T) bool { return madeSince(n.createdAt(object), since) })
	if wanted := filter(found, n.isWanted); len(wanted) > 0 {
		found = wanted
	}
	return nil, &LostError{Object: n.object, Found: existing(found, n.existing), Err: errors.Join(err, lost.err)}
}

// find looks for what the requests created. All looks are used: a listing may show what somebody else created first.
func (l *lostResponses[T]) find(ctx context.Context, c *conn, beside *creations[T], n unnamed[T]) {
	all, err := findAfterLoss(ctx, c, math.MaxInt, n.list)
	l.found, l.err = filter(all, func(object *T) bool { return !beside.own[n.existing(object).ID] }), err
	theirs := filter(l.found, func(object *T) bool {
		return slices.ContainsFunc(l.mayHaveCreated, func(may func(*T) bool) bool { return may(object) })
	})
	l.isTheirs = err == nil && len(theirs) <= len(l.mayHaveCreated)
	if !l.isTheirs {
		return
	}
	for i := range theirs {
		beside.own[n.existing(&theirs[i]).ID] = true
	}
}

// sendUnnamed sends the POST. Since is the service's time before it, and lost is set where the response was lost.
func sendUnnamed[T any](ctx context.Context, c *conn, beside *creations[T], n unnamed[T]) (made *T, since time.Time, lost *lostResponses[T], err error) {
	beside.sending.RLock()
	defer beside.sending.RUnlock()
	if c.serviceTime().IsZero() {
		_ = c.CheckAccess(ctx) // Its response tells the time. If it fails, so does the POST, or what it creates is named.
	}
	since = c.serviceTime()
	made, err = n.send(ctx)

	beside.mu.Lock()
	defer beside.mu.Unlock()
	switch {
	case err == nil && (beside.own[n.existing(made).ID] || !madeSince(n.createdAt(made), since.Add(-skew))):
		return nil, since, nil, &StrangerError{Object: n.object, Found: n.existing(made), Err: &AnswerError{Problem: "the object existed before"}}
	case err == nil:
		beside.own[n.existing(made).ID] = true
	case isAmbiguous(err):
		if beside.lost == nil {
			beside.lost = &lostResponses[T]{}
		}
		lost = beside.lost
		lost.mayHaveCreated = append(lost.mayHaveCreated, func(object *T) bool {
			return n.isWanted(object) && madeSince(n.createdAt(object), since)
		})
	}
	return made, since, lost, err
}

// skew is how far the clocks of one service may be apart.
const skew = 5 * time.Minute
