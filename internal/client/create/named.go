// Package create sends requests that create objects. It never sends a create request twice blindly: after a lost response, it
// returns the object if it can prove which one it is, and otherwise names the candidates in the error.
package create

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// looksAfterLoss are the pauses before each search for an object whose create response was lost. The service may show a new
// object late, so one search is not enough.
var looksAfterLoss = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}

// NamedObject describes a POST that creates an object with a name. The POST is never repeated blindly.
//
// Named lists the existing objects before the POST. If one has the name, Named sends nothing and returns its ID. If the
// response to the POST is lost, Named returns the object that was not listed before, is not older than the request by the
// service's clock, and matches the request. Any other object is named in the error. The local clock is never used as proof.
type NamedObject[T any] struct {
	// Object and Name are used in errors.
	Object, Name string
	// Collection and Key are where the object will be listed, and ListedAs is the name to look it up by.
	Collection    *collection.Shared[T]
	Key, ListedAs string
	// Send creates the object.
	Send func(ctx context.Context) (*T, error)
	// NameOf and CreatedAt read an object, and IsWanted reports whether it matches the request.
	NameOf    func(*T) string
	CreatedAt func(*T) wire.Millis
	IsWanted  func(*T) bool
	// MayReplay says that the service may return an object that it created earlier for the same request. ReplayField and
	// ReplayTaken are then the Field and Taken of the error.
	MayReplay                bool
	ReplayField, ReplayTaken string
	// Describe converts an object for an error.
	Describe func(*T) ExistsError
}

// Named creates the object. Besides the service's own errors, it returns *ExistsError, *LostError, and *WrongObjectError.
func Named[T any](ctx context.Context, c *transport.Conn, n NamedObject[T]) (*T, error) {
	// Without the lock, concurrent creations with the same name could return each other's objects.
	release, err := n.Collection.Creating.Lock(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	heard := c.LastResponseAt()
	if n.MayReplay {
		heard = time.Time{} // An earlier attempt may have been sent a moment ago.
	}
	snapshot, err := n.Collection.Snapshot(ctx, n.Key, n.ListedAs, heard)
	if err != nil {
		return nil, err
	}
	if len(snapshot.Named) > 0 {
		// The snapshot may be out of date.
		if older, err := n.find(ctx); err != nil || len(older) > 0 {
			return nil, errors.Join(err, AlreadyExists(Describe(older, n.Describe)))
		}
	}
	since := c.ServiceTime()
	made, err := n.Send(ctx)
	switch {
	case err == nil:
		found := n.Describe(made)
		if n.MayReplay && snapshot.Contains(found.ID) {
			found.Field, found.Taken = n.ReplayField, n.ReplayTaken
			return nil, &found
		}
		if problem := n.unlike(made, snapshot); problem != "" {
			return nil, &WrongObjectError{Object: n.Object, Name: n.Name, Found: found, Problem: problem}
		}
		return made, nil
	case transport.IsConflict(err):
		// Somebody else created an object with the name first.
		if found, findErr := n.find(ctx); findErr == nil && len(found) > 0 {
			return nil, AlreadyExists(Describe(found, n.Describe))
		}
		return nil, err
	case !transport.IsAmbiguous(err) && !n.mayHaveActed(err):
		return nil, err
	}
	found, findErr := FindAfterLoss(ctx, c, 1, n.find)
	proven := slices.DeleteFunc(slices.Clone(found), func(object T) bool {
		return snapshot.Contains(n.Describe(&object).ID) || !CreatedSince(n.CreatedAt(&object), since) || !n.IsWanted(&object)
	})
	if len(proven) == 1 {
		Recovered(ctx, Recovery{Objects: Describe(proven, n.Describe)})
		return &proven[0], nil
	}
	return nil, &LostError{Object: n.Object, Name: n.Name, Found: Describe(found, n.Describe), Err: errors.Join(err, findErr)}
}

// mayHaveActed reports whether a request that may be repeated may have created an object despite the error: the service may have
// acted on an earlier attempt, or another server answered the last one.
func (n NamedObject[T]) mayHaveActed(err error) bool {
	return n.MayReplay && (transport.IsRepeated(err) || transport.IsForeign(err) && transport.StatusOf(err) != http.StatusTooManyRequests)
}

// find lists the objects again that Send may have created.
func (n NamedObject[T]) find(ctx context.Context) ([]T, error) {
	return n.Collection.FindNow(ctx, n.Key, n.ListedAs)
}

// unlike says why the response to a create request is not the requested object; empty if it is.
func (n NamedObject[T]) unlike(made *T, snapshot collection.Snapshot[T]) string {
	switch {
	case snapshot.Contains(n.Describe(made).ID):
		return "existed before"
	case n.NameOf(made) != n.Name:
		return fmt.Sprintf("is named %q", n.NameOf(made))
	}
	return ""
}

// FindAfterLoss searches until it finds enough objects or has no more attempts.
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

// CreatedSince reports whether an object was created at or after a time of the service's clock. If either time is unknown, it
// returns true.
func CreatedSince(created wire.Millis, since time.Time) bool {
	return created == 0 || since.IsZero() || !created.Time().Before(since.Truncate(time.Second))
}

// provenSince is CreatedSince that requires both times, because no name distinguishes the object from an older one.
func provenSince(created wire.Millis, since time.Time) bool {
	return created != 0 && !since.IsZero() && CreatedSince(created, since)
}
