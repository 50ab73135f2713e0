// Package create sends requests that create objects. It never sends a create request twice blindly: after a lost response, it
// returns the object if it can prove which one it is, and otherwise names the candidates in the error.
package create

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// looksAfterLoss are the pauses before each search for an object whose create response was lost. The service may show a new
// object late, so one search is not enough.
var looksAfterLoss = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}

// looksWhileTaken are the pauses before further searches for an object that has the name of a new one: ten seconds in all.
var looksWhileTaken = []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}

// NamedObject describes a POST that creates an object with a name. The POST is never repeated blindly.
//
// Named lists the existing objects before the POST. If one has the name for ten seconds, Named sends nothing and returns its ID. If the
// response to the POST is lost, Named returns the object that was not listed before, is not older than the request by the
// service's clock, and matches the request. Any other object is named in the error. The local clock is never used as proof.
type NamedObject[T any] struct {
	// Object and Name are used in errors.
	Object, Name string
	// Inventory and Key are where the object will be listed.
	Inventory *collection.Collection[T]
	Key       string
	// HasName reports whether an object has the name that the new object would have.
	HasName func(*T) bool
	// Send creates the object, and IsWanted reports whether an object matches the request.
	Send     func(ctx context.Context) (*T, error)
	IsWanted func(*T) bool
	// MayReplay says that the service may return an object that it created earlier for the same request. Field and Taken are then
	// those of the error.
	MayReplay    bool
	Field, Taken string
}

// Named creates the object. Besides the service's own errors, it returns *ExistsError, *LostError, and *WrongObjectError.
func Named[T any, P wire.RecordOf[T]](ctx context.Context, c *transport.Conn, n NamedObject[T]) (*T, error) {
	// Without the lock, concurrent creations with the same name could return each other's objects.
	release, err := n.Inventory.Creating.Lock(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	snapshot, err := n.Inventory.Snapshot(ctx, n.Key, n.HasName)
	if err != nil {
		return nil, err
	}
	if len(snapshot.Wanted) > 0 {
		if older, err := UntilFree(ctx, c, n.find); err != nil || len(older) > 0 {
			return nil, errors.Join(err, AlreadyExists(wire.Refs[T, P](older)))
		}
	}
	since := c.ServiceTime()
	made, err := n.Send(ctx)
	switch {
	case err == nil:
		return made, n.check(P(made).Ref(), snapshot)
	case transport.IsConflict(err):
		// Somebody else created an object with the name first.
		if found, findErr := n.find(ctx); findErr == nil && len(found) > 0 {
			return nil, AlreadyExists(wire.Refs[T, P](found))
		}
		return nil, err
	case !transport.IsAmbiguous(err) && !n.mayHaveActed(err):
		return nil, err
	}
	found, findErr := FindAfterLoss(ctx, c, 1, n.find)
	proven := collection.Filter(found, func(object *T) bool {
		ref := P(object).Ref()
		return !snapshot.Contains(ref.ID) && CreatedSince(ref.CreatedAt, since) && n.IsWanted(object)
	})
	if len(proven) == 1 {
		Recovered(ctx, Recovery{Objects: wire.Refs[T, P](proven)})
		return &proven[0], nil
	}
	return nil, &LostError{Object: n.Object, Name: n.Name, Found: wire.Refs[T, P](found), Err: errors.Join(err, findErr)}
}

// mayHaveActed reports whether a request that may be repeated may have created an object despite the error: the service may have
// acted on an earlier attempt, or another server answered the last one.
func (n NamedObject[T]) mayHaveActed(err error) bool {
	return n.MayReplay && (transport.IsRepeated(err) || transport.IsForeign(err) && transport.StatusOf(err) != http.StatusTooManyRequests)
}

// find lists the objects again that Send may have created.
func (n NamedObject[T]) find(ctx context.Context) ([]T, error) {
	return n.Inventory.FindNow(ctx, n.Key, n.HasName)
}

// check returns an error if the response to a create request is not the requested object.
func (n NamedObject[T]) check(made wire.Ref, snapshot collection.Snapshot[T]) error {
	problem := ""
	switch isOld := snapshot.Contains(made.ID); {
	case isOld && n.MayReplay:
		return &ExistsError{Found: []wire.Ref{made}, Field: n.Field, Taken: n.Taken}
	case isOld:
		problem = "existed before"
	case made.Name != n.Name:
		problem = fmt.Sprintf("is named %q", made.Name)
	default:
		return nil
	}
	return &WrongObjectError{Object: n.Object, Name: n.Name, Found: made, Problem: problem}
}

// UntilFree searches for objects that have the name of a new one, until there are none or ten seconds have passed: the listing may be
// out of date, and the same run may delete them, as with a resource that was renamed without a moved block.
func UntilFree[T any](ctx context.Context, c *transport.Conn, find func(context.Context) ([]T, error)) ([]T, error) {
	found, err := find(ctx)
	for _, pause := range looksWhileTaken {
		if err != nil || len(found) == 0 || c.Clock.Sleep(ctx, pause) != nil {
			break
		}
		found, err = find(ctx)
	}
	return found, err
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
func CreatedSince(created, since time.Time) bool {
	return created.IsZero() || since.IsZero() || !created.Before(since.Truncate(time.Second))
}

// ProvenSince is CreatedSince that requires both times, because no name distinguishes the object from an older one.
func ProvenSince(created, since time.Time) bool {
	return !created.IsZero() && !since.IsZero() && CreatedSince(created, since)
}
