package create

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
)

// looksAfterLoss are the pauses before each look for an object whose create response was lost. Their sum is transport.ListedWithin.
var looksAfterLoss = []time.Duration{0, time.Second, 2 * time.Second, 4 * time.Second}

// Search is a search for what a request created whose response was lost.
type Search[T any] struct {
	// From is when a listing may begin to have it. The zero value is when the search begins.
	From time.Time
	// WantsAll makes the search go on until all is listed. An earlier listing may have only a part of what was created.
	WantsAll bool
	// Look returns what a new listing has.
	Look func(context.Context) ([]T, error)
}

// LookAfterLoss looks until it finds something. It continues for a short time after an interrupt, so that the run knows what it created. If
// the last look fails, its error is returned with what an earlier one found.
func LookAfterLoss[T any](ctx context.Context, c *transport.Conn, s Search[T]) ([]T, error) {
	from := cmp.Or(s.From, c.Clock.Now())
	if pause := from.Sub(c.Clock.Now()); pause > 0 {
		_ = c.Clock.Sleep(ctx, pause) // After an interrupt, the search begins at once.
	}
	ctx, cancel := transport.PastCancel(ctx)
	defer cancel()
	defer c.NoteWait(ctx, runreport.WaitSearch, wire.Ref{}, "", c.Clock.Now())
	var found []T
	var lastErr error
	for _, pause := range looksAfterLoss {
		if err := c.Clock.Sleep(ctx, pause); err != nil {
			return found, errors.Join(lastErr, err)
		}
		began := c.Clock.Now() // A listing may take long, and has what there was at its beginning.
		seen, err := s.Look(ctx)
		if err == nil {
			found = seen
		}
		if err == nil && len(found) > 0 && (!s.WantsAll || began.Sub(from) >= transport.ListedWithin) {
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

// NoteFound logs and reports an object that was found after a lost response, and adds it to what WithFound returned.
func NoteFound(ctx context.Context, c *transport.Conn, found Found) {
	what := "Revoked without its value"
	if found.Revoked == "" {
		what = "Found"
		c.NoteFound(ctx, found.Ref)
	}
	LogFound(ctx, what, found.Ref)
	if all, ok := ctx.Value(foundKey{}).(*[]Found); ok {
		*all = append(*all, found)
	}
}

// LogFound logs the object of a lost response, and what became of it.
func LogFound(ctx context.Context, what string, found wire.Ref) {
	fields := map[string]any{"object": found.Object, "name": found.Name, "id": found.ID, "created_at": found.CreatedAt}
	tflog.Info(ctx, what+" after a lost response", fields)
}
