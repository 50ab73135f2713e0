// Package create sends requests that create objects. It never sends a create request twice blindly: after a lost response, it
// returns the object if it can prove which one it is, and otherwise names the candidates in the error.
package create

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// searchTime is the sum of looksAfterLoss, the pauses before each search for an object whose create response was lost. The service may
// show a new object late, so one search is not enough.
const searchTime = 7 * time.Second

var looksAfterLoss = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}

// LookAfterLoss searches until it finds enough objects or has no more attempts.
func LookAfterLoss[T any](ctx context.Context, c *transport.Conn, enough int, find func(context.Context) ([]T, error)) ([]T, error) {
	ctx, cancel := transport.PastCancel(ctx)
	defer cancel()
	defer c.NoteWait(ctx, transport.WaitSearch, wire.Ref{}, "", c.Clock.Now())
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

// Found is an object that was found after a lost response. It may be another run's: only its name and its times fit the request.
type Found struct {
	wire.Ref
	// Revoked is the fingerprint of an API key that was revoked and created again, because its value was lost. It is empty for any other
	// object.
	Revoked string
}

type foundKey struct{}

// WithFound returns a context for creations, and what they found after lost responses, once they have ended.
func WithFound(ctx context.Context) (context.Context, *[]Found) {
	found := new([]Found)
	return context.WithValue(ctx, foundKey{}, found), found
}

// NoteFound logs an object that was found after a lost response, and adds it to what WithFound returned.
func NoteFound(ctx context.Context, found Found) {
	what := "Found"
	if found.Revoked != "" {
		what = "Revoked without its value"
	}
	LogFound(ctx, what, found.Ref)
	if all, ok := ctx.Value(foundKey{}).(*[]Found); ok {
		*all = append(*all, found)
	}
}

// LogFound logs the object of a lost response, and what became of it.
func LogFound(ctx context.Context, what string, found wire.Ref) {
	tflog.Info(ctx, what+" after a lost response", map[string]any{"object": found.Object, "name": found.Name, "id": found.ID, "created_at": found.CreatedAt})
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
