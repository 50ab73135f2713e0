// Package create sends requests that create objects. It never sends a create request twice blindly: after a lost response, it
// returns the object if it can prove which one it is, and otherwise names the candidates in the error.
package create

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// searchTime is the sum of looksAfterLoss, the pauses before each search for an object whose create response was lost. The service may
// show a new object late, so one search is not enough.
const searchTime = 7 * time.Second

var looksAfterLoss = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}

// looksWhileTaken are the pauses before further searches for an object that has the name of a new one: ten seconds in all.
var looksWhileTaken = []time.Duration{time.Second, 2 * time.Second, 3 * time.Second, 4 * time.Second}

// Object describes a POST that creates an object.
//
// With a name, the existing objects are listed before the POST. If one has the name for ten seconds, nothing is sent. Creations with
// one name run one after the other. Without a name, nothing is listed before, so a new object must prove its age by the service's
// clock. The local clock is never used as proof.
type Object[T any] struct {
	// Object and Name are used in errors, such as "computer" and "ci", or "session on the computer 7" without a name.
	Object, Name string
	// In and Key are where this process records the object.
	In  *collection.Collection[T]
	Key string
	// HasName reports whether an object has the name that the new object would have; nil without a name.
	HasName func(*T) bool
	// Body is the body of the request that Send sends, and IsWanted reports whether an object matches it.
	Body     any
	Send     func(ctx context.Context) (*T, error)
	IsWanted func(*T) bool
	// List returns the objects that may include the new one; with a name, it lists In. ListedLate is how long it may lack the object, if
	// that is longer than the search takes.
	List       func(ctx context.Context) ([]T, error)
	ListedLate time.Duration
}

// Once creates the object. Besides the service's own errors, it returns *ExistsError and *LostError.
//
// After a lost response, it returns the new object that matches the request. Without names, a network failure often loses the responses to
// several equal requests, and their objects are equal too. If there are no more of them than lost responses, each request gets one.
func Once[T any, P wire.RecordOf[T]](ctx context.Context, c *transport.Conn, n Object[T]) (made *T, err error) {
	if n.HasName != nil {
		release, err := n.In.Creating.Lock(ctx, n.Key+"/"+n.Name)
		if err != nil {
			return nil, err
		}
		defer release()
		n.List = func(ctx context.Context) ([]T, error) { return n.In.FindNow(ctx, n.Key, n.HasName) }
	}
	defer func() {
		if err != nil {
			n.In.Invalidate(n.Key)
		}
	}()
	before, err := n.before(ctx, c)
	if err == nil && len(before.Wanted) > 0 {
		var older []T
		older, err = UntilFree(ctx, c, n.List)
		err = errors.Join(err, AlreadyExists(wire.Refs[T, P](older)))
	}
	if err != nil {
		return nil, err
	}
	since := c.ServiceTime()
	made, err = send[T, P](ctx, n, before)
	if n.HasName != nil && transport.IsConflict(err) {
		// Somebody else created an object with the name first.
		if found, findErr := n.List(ctx); findErr == nil && len(found) > 0 {
			return nil, AlreadyExists(wire.Refs[T, P](found))
		}
	}
	if !transport.IsAmbiguous(err) {
		return made, err
	}
	lostAt, most, enough := c.Clock.Now(), 1, 1
	if n.HasName == nil {
		posts := before.Posts()
		posts.Lock() // The search starts when no POST is in flight.
		defer posts.Unlock()
		most = posts.CountLost(n.Body, 0)
		defer posts.CountLost(n.Body, -1)
		_ = c.Clock.Sleep(ctx, n.ListedLate-c.Clock.Now().Sub(lostAt)) // After an interrupt, the search comes at once.
		if c.Clock.Now().Sub(lostAt) < n.ListedLate+searchTime {
			enough = math.MaxInt // An early listing may show only objects that somebody else created.
		}
	}
	found, findErr := FindAfterLoss(ctx, c, enough, n.List)
	found = collection.Filter(found, func(object *T) bool {
		ref := P(object).Ref()
		return !before.Contains(ref.ID) && (n.HasName != nil || CreatedSince(ref.CreatedAt, since))
	})
	wanted := collection.Filter(found, func(object *T) bool { return n.IsWanted(object) && CreatedSince(P(object).Ref().CreatedAt, since) })
	proven := wanted
	if n.HasName == nil {
		proven = collection.Filter(wanted, func(object *T) bool { return ProvenSince(P(object).Ref().CreatedAt, since) })
		if len(wanted) > 0 {
			found = wanted
		}
	}
	if len(proven) == 0 || len(wanted) > most || n.HasName == nil && findErr != nil {
		return nil, &LostError{Object: n.Object, Name: n.Name, Found: wire.Refs[T, P](found), Err: errors.Join(err, findErr)}
	}
	oldest := slices.MinFunc(proven, func(a, b T) int { return P(&a).Ref().CreatedAt.Compare(P(&b).Ref().CreatedAt) })
	n.In.Put(n.Key, &oldest)
	LogFound(ctx, "Found", P(&oldest).Ref())
	return &oldest, nil
}

// before returns what is known before the POST.
func (n Object[T]) before(ctx context.Context, c *transport.Conn) (collection.Snapshot[T], error) {
	if n.HasName != nil {
		return n.In.Snapshot(ctx, n.Key, n.HasName)
	}
	if c.ServiceTime().IsZero() {
		_, _ = c.Providers(ctx) // Its response has the service's time, and concurrent creations share it. If it fails, the POST fails too, or its object is named in an error.
	}
	return n.In.Written(n.Key), nil
}

// send sends the POST. What this process made is no candidate for another lost response.
func send[T any, P wire.RecordOf[T]](ctx context.Context, n Object[T], before collection.Snapshot[T]) (*T, error) {
	if n.HasName == nil {
		before.Posts().RLock()
		defer before.Posts().RUnlock()
	}
	made, err := n.Send(ctx)
	if n.HasName == nil && transport.IsAmbiguous(err) {
		before.Posts().CountLost(n.Body, 1)
	}
	if err != nil {
		return nil, err
	}
	if ref := P(made).Ref(); before.Contains(ref.ID) || n.HasName != nil && ref.Name != n.Name {
		return nil, AnotherObject(n.Object, n.Name, ref)
	}
	n.In.Put(n.Key, made)
	return made, nil
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

// LogFound logs the objects of a lost response, and what became of them. A warning would be false nearly always: they could be those of somebody else only if
// another run had created the same in the same second.
func LogFound(ctx context.Context, what string, objects ...wire.Ref) {
	for _, found := range objects {
		tflog.Info(ctx, what+" after a lost response", map[string]any{"object": found.Object, "name": found.Name, "id": found.ID, "created_at": found.CreatedAt})
	}
}

// ExistsError says that nothing was created because this run found objects with the same name that it had not created.
type ExistsError struct {
	// Found are the objects; at least one.
	Found []wire.Ref
	// Field is the API's field at fault; empty if it is the name.
	Field string
}

// AlreadyExists returns an *ExistsError for objects that already exist, or nil if there are none.
func AlreadyExists(found []wire.Ref) error {
	if len(found) == 0 {
		return nil
	}
	return &ExistsError{Found: found}
}

func (e *ExistsError) Error() string {
	first, others := e.Found[0], e.Found[1:]
	text := fmt.Sprintf("the %s %s already exists", first.Object, first)
	if len(others) > 0 {
		text += ", and so do others: " + List(others)
	}
	return text
}

// LostError says that the outcome of a create request is unknown: its response was lost, or does not say whether the service
// acted.
type LostError struct {
	Object, Name string
	// Found are the new objects. The request or somebody else may have created them.
	Found []wire.Ref
	// Err says why the outcome is unknown and, if it applies, why the search for the object failed.
	Err error
}

// AnotherObject is the error for a response that has another object than the one that a request should have created.
func AnotherObject(object, name string, found wire.Ref) error {
	return &LostError{Object: object, Name: name, Found: []wire.Ref{found}, Err: errors.New("the response has another object")}
}

func (e *LostError) Error() string {
	result, object := "no such "+e.Object+" was found", e.Object
	if len(e.Found) > 0 {
		result = "it may have created " + List(e.Found)
	}
	if e.Name != "" {
		object = fmt.Sprintf("%s %q", e.Object, e.Name)
	}
	return fmt.Sprintf("the request to create the %s has an unknown outcome, and %s: %s", object, result, strings.ReplaceAll(e.Err.Error(), "\n", "; "))
}

func (e *LostError) Unwrap() error { return e.Err }

// List names objects for an error, at most 20 of them.
func List(found []wire.Ref) string {
	const most = 20
	var names []string
	for _, ref := range found[:min(most, len(found))] {
		names = append(names, ref.String())
	}
	text := strings.Join(names, ", ")
	if len(found) > most {
		text += fmt.Sprintf(" and %d more", len(found)-most)
	}
	return text
}
