package client

import (
	"context"
	"errors"
	"time"
)

// looksAfterLoss are the pauses before each look for an object whose creation got no answer. A service may show a new
// object late, so one look is not enough.
var looksAfterLoss = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}

// lossCheckTimeout bounds the search for an object when the caller's own context has ended already.
const lossCheckTimeout = 15 * time.Second

// creation is a POST that is never repeated blindly.
//
// How a new object is told from an older one of the same name: immediately before the POST the objects of that name
// are looked up. If there is one, nothing is sent and the caller learns its ID. If the answer to the POST is lost,
// an object of that name whose ID was not there before is the one this call made, and is adopted.
// No clock takes part in this.
type creation[T any] struct {
	// object and name are for errors.
	object, name string
	// find returns the objects that have the name now.
	find func(ctx context.Context) ([]T, error)
	// send makes the object.
	send func(ctx context.Context) (*T, error)
	// describe returns what an error tells of an object that was found.
	describe func(*T) ExistsError
}

// create runs the creation. Besides the service's own errors it returns *ExistsError and *LostError.
func create[T any](ctx context.Context, c *Client, n creation[T]) (*T, error) {
	older, err := n.find(ctx)
	if err != nil {
		return nil, err
	}
	if len(older) > 0 {
		return nil, n.exists(&older[0])
	}
	made, err := n.send(ctx)
	switch {
	case err == nil && n.describe(made).ID != "":
		return made, nil
	case err == nil:
		err = &TransportError{Err: errors.New("the answer holds no ID")}
	case IsConflict(err):
		// Somebody may have been quicker between the look and the POST.
		if found, findErr := n.find(ctx); findErr == nil && len(found) > 0 {
			return nil, n.exists(&found[0])
		}
		return nil, err
	case !isAmbiguous(err):
		return nil, err
	}
	found, findErr := findAfterLoss(ctx, c, n.find)
	if findErr != nil {
		return nil, &LostError{Object: n.object, Name: n.name, Err: errors.Join(err, findErr)}
	}
	if len(found) == 0 {
		return nil, &LostError{Object: n.object, Name: n.name, Err: err}
	}
	if len(found) > 1 {
		exists := n.exists(&found[0])
		return nil, errors.Join(&LostError{Object: n.object, Name: n.name, Err: err}, exists)
	}
	return &found[0], nil
}

// findAfterLoss looks until something is found or the looks are used up. It also works when ctx has ended, because an
// object that exists must be known before the run stops.
func findAfterLoss[T any](ctx context.Context, c *Client, find func(context.Context) ([]T, error)) ([]T, error) {
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lossCheckTimeout)
		defer cancel()
	}
	var lastErr error
	for _, pause := range looksAfterLoss {
		if err := c.clock.Sleep(ctx, pause); err != nil {
			return nil, err
		}
		found, err := find(ctx)
		if err == nil && len(found) > 0 {
			return found, nil
		}
		lastErr = err
	}
	return nil, lastErr
}

func (n creation[T]) exists(object *T) *ExistsError {
	e := n.describe(object)
	e.Object, e.Name = n.object, n.name
	return &e
}
