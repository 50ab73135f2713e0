// Package create sends requests that create objects. If a response is lost, the object is proven or named, and never created twice.
package create

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// looksAfterLoss are the pauses before each look for an object whose creation got no answer. A service may show a new
// object late, so one look is not enough.
var looksAfterLoss = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}

// NamedObject is a POST that is never repeated blindly.
//
// How a new object is told from an older one: before the POST it is known what exists. If something stands in the way,
// nothing is sent and the caller learns its ID. If the response to the POST is lost, what is found afterwards is the object
// that this call made if it was not known before, is not older than the request by the service's own clock, and is as it
// was asked for; anything else is named and not touched. The machine's clock proves nothing.
type NamedObject[T any] struct {
	// Object and Name are for errors.
	Object, Name string
	// Collection and key say where the object will be, and listedAs is what it is found by there.
	Collection    *collection.Shared[T]
	Key, ListedAs string
	// Send makes the object.
	Send func(ctx context.Context) (*T, error)
	// NameOf and createdAt are parts of an object, and isWanted reports that it has what was asked for.
	NameOf    func(*T) string
	CreatedAt func(*T) transport.Millis
	IsWanted  func(*T) bool
	// MayReplay says that the service may answer with an object that it made earlier for the same request.
	MayReplay bool
	// Describe is what an error tells of an object.
	Describe func(*T) ExistsError
}

// Named runs the creation. Besides the service's own errors it returns *ExistsError, *LostError and *WrongObjectError.
func Named[T any](ctx context.Context, c *transport.Conn, n NamedObject[T]) (*T, error) {
	// Two creations of one name would not know of each other.
	release, err := n.Collection.Creating.Lock(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	heard := c.LastResponseAt()
	if n.MayReplay {
		heard = time.Time{} // The request may have been sent before, a moment ago.
	}
	snapshot, err := n.Collection.Snapshot(ctx, n.Key, n.ListedAs, heard)
	if err != nil {
		return nil, err
	}
	if len(snapshot.Named) > 0 {
		// What is known may be out of date by now.
		if older, err := n.find(ctx); err != nil || len(older) > 0 {
			return nil, errors.Join(err, AlreadyExists(Describe(older, n.Describe)))
		}
	}
	since := c.ServiceTime()
	made, err := n.Send(ctx)
	switch {
	case err == nil:
		if problem := n.unlike(made, snapshot, since); problem != "" {
			return nil, &WrongObjectError{Object: n.Object, Name: n.Name, Found: n.Describe(made), Problem: problem}
		}
		return made, nil
	case transport.IsConflict(err):
		// Somebody was quicker.
		if found, findErr := n.find(ctx); findErr == nil && len(found) > 0 {
			return nil, AlreadyExists(Describe(found, n.Describe))
		}
		return nil, err
	case !transport.IsAmbiguous(err):
		return nil, err
	}
	found, findErr := FindAfterLoss(ctx, c, 1, n.find)
	proven := slices.DeleteFunc(slices.Clone(found), func(object T) bool {
		return snapshot.Contains(n.Describe(&object).ID) || !CreatedSince(n.CreatedAt(&object), since) || !n.IsWanted(&object)
	})
	if len(proven) == 1 {
		return &proven[0], nil
	}
	return nil, &LostError{Object: n.Object, Name: n.Name, Found: Describe(found, n.Describe), Err: errors.Join(err, findErr)}
}

// find asks the service for what send may have made.
func (n NamedObject[T]) find(ctx context.Context) ([]T, error) {
	return n.Collection.FindNow(ctx, n.Key, n.ListedAs)
}

// unlike says why the response to a creation is not the object that was asked for; empty if it is.
func (n NamedObject[T]) unlike(made *T, snapshot collection.Snapshot[T], since time.Time) string {
	switch {
	case snapshot.Contains(n.Describe(made).ID), n.MayReplay && !CreatedSince(n.CreatedAt(made), since):
		return "existed before"
	case n.NameOf(made) != n.Name:
		return fmt.Sprintf("is named %q", n.NameOf(made))
	}
	return ""
}

// FindAfterLoss looks until so many objects are found or the looks are used up.
func FindAfterLoss[T any](ctx context.Context, c *transport.Conn, enough int, find func(context.Context) ([]T, error)) ([]T, error) {
	ctx, cancel := transport.Outlive(ctx)
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

// CreatedSince reports that an object was created at or after the service's own time before it was asked for. Where the
// service tells no time of creation, or its answers have no time, nothing speaks against it.
func CreatedSince(created transport.Millis, since time.Time) bool {
	return created == 0 || since.IsZero() || !created.Time().Before(since.Truncate(time.Second))
}

// provenSince is madeSince where both times are known. Without them nothing tells an object without a name from an older one.
func provenSince(created transport.Millis, since time.Time) bool {
	return created != 0 && !since.IsZero() && CreatedSince(created, since)
}
