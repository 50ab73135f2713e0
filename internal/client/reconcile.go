package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// looksAfterLoss are the pauses before each look for an object whose creation got no answer. A service may show a new
// object late, so one look is not enough.
var looksAfterLoss = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}

// creation is a POST that is never repeated blindly.
//
// How a new object is told from an older one: before the POST it is known what exists. If something stands in the way,
// nothing is sent and the caller learns its ID. If the answer to the POST is lost, what is found afterwards is the object
// that this call made if it was not known before, is not older than the request by the service's own clock, and is as it
// was asked for; anything else is named and not touched. The machine's clock proves nothing.
type creation[T any] struct {
	// object and name are for errors.
	object, name string
	// collection and key say where the object will be, and listedAs is what it is found by there.
	collection    *shared[T]
	key, listedAs string
	// send makes the object.
	send func(ctx context.Context) (*T, error)
	// nameOf and createdAt are parts of an object, and isWanted reports that it has what was asked for.
	nameOf    func(*T) string
	createdAt func(*T) Millis
	isWanted  func(*T) bool
	// mayReplay says that the service may answer with an object that it made earlier for the same request.
	mayReplay bool
	// existing is what an error tells of an object.
	existing func(*T) ExistsError
}

// create runs the creation. Besides the service's own errors it returns *ExistsError, *LostError and *StrangerError.
func create[T any](ctx context.Context, c *conn, n creation[T]) (*T, error) {
	// Two creations of one name would not know of each other.
	release, err := n.collection.creating.lock(ctx, n.name)
	if err != nil {
		return nil, err
	}
	defer release()
	heard := c.lastHeard()
	if n.mayReplay {
		heard = time.Time{} // The request may have been sent before, a moment ago.
	}
	known, err := n.collection.known(ctx, n.key, n.listedAs, heard)
	if err != nil {
		return nil, err
	}
	if len(known.named) > 0 {
		// What is known may be out of date by now.
		if older, err := n.find(ctx); err != nil || len(older) > 0 {
			return nil, errors.Join(err, inTheWay(existing(older, n.existing)))
		}
	}
	since := c.serviceTime()
	made, err := n.send(ctx)
	switch {
	case err == nil:
		if problem := n.unlike(made, known, since); problem != "" {
			return nil, &StrangerError{Object: n.object, Name: n.name, Found: n.existing(made), Err: &AnswerError{Problem: problem}}
		}
		return made, nil
	case IsConflict(err):
		// Somebody was quicker.
		if found, findErr := n.find(ctx); findErr == nil && len(found) > 0 {
			return nil, inTheWay(existing(found, n.existing))
		}
		return nil, err
	case !isAmbiguous(err):
		return nil, err
	}
	found, findErr := findAfterLoss(ctx, c, 1, n.find)
	proven := slices.DeleteFunc(slices.Clone(found), func(object T) bool {
		return known.knows(n.existing(&object).ID) || !madeSince(n.createdAt(&object), since) || !n.isWanted(&object)
	})
	if len(proven) == 1 {
		return &proven[0], nil
	}
	return nil, &LostError{Object: n.object, Name: n.name, Found: existing(found, n.existing), Err: errors.Join(err, findErr)}
}

// find asks the service for what send may have made.
func (n creation[T]) find(ctx context.Context) ([]T, error) {
	return n.collection.anew(ctx, n.key, n.listedAs)
}

// unlike says why the answer to a creation is not the object that was asked for; empty if it is.
func (n creation[T]) unlike(made *T, known before[T], since time.Time) string {
	switch {
	case known.knows(n.existing(made).ID), n.mayReplay && !madeSince(n.createdAt(made), since):
		return "the object existed before"
	case n.nameOf(made) != n.name:
		return fmt.Sprintf("the object is named %q", n.nameOf(made))
	}
	return ""
}

// findAfterLoss looks until so many objects are found or the looks are used up.
func findAfterLoss[T any](ctx context.Context, c *conn, enough int, find func(context.Context) ([]T, error)) ([]T, error) {
	ctx, cancel := outlive(ctx, afterStop)
	defer cancel()
	var found []T
	var lastErr error
	for _, pause := range looksAfterLoss {
		if err := c.Clock.Sleep(ctx, pause); err != nil {
			return found, errors.Join(lastErr, err)
		}
		seen, err := find(ctx)
		if err == nil {
			found = seen
		}
		if err == nil && len(found) >= enough {
			return found, nil
		}
		lastErr = err
	}
	return found, lastErr
}

// madeSince reports that an object was created at or after the service's own time before it was asked for. Where the
// service tells no time of creation, or its answers have no time, nothing speaks against it.
func madeSince(created Millis, since time.Time) bool {
	return created == 0 || since.IsZero() || !created.Time().Before(since.Truncate(time.Second))
}

// provenSince is madeSince where both times are known. Without them nothing tells an object without a name from an older one.
func provenSince(created Millis, since time.Time) bool {
	return created != 0 && !since.IsZero() && madeSince(created, since)
}
