package collection

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// MaxPageSize is how many objects the service puts on a page at most.
const MaxPageSize = 100

// Page is one answer of a paged listing.
type Page[T any] struct {
	Items []T
	// Next is the cursor of the following page; empty at the end.
	Next string
}

// Paged is what one process has read of the paged listings of an operation, each named by a key (its query). A page is
// asked for when a reader has come to the end of those that are there, one at a time, and serves all readers of the
// listing that come within SharedLifetime of its first page.
type Paged[T any] struct {
	clock clock.Clock
	op    transport.Operation
	fetch func(ctx context.Context, key, cursor string) (Page[T], error)
	// same reports whether two items show the same.
	same func(T, T) bool

	mu       sync.Mutex
	listings map[string]*pages[T]
}

// pages is what was read of one listing.
type pages[T any] struct {
	startedAt time.Time
	// items only grows, so that readers may go through what is there without a lock.
	items   []T
	next    string
	cursors map[string]bool
	// last are those of the last page.
	last []T
	// coming is closed when the page that is under way has come; nil if none is.
	coming  chan struct{}
	isWhole bool
	err     error
}

func NewPaged[T any](clk clock.Clock, op transport.Operation, fetch func(ctx context.Context, key, cursor string) (Page[T], error), same func(T, T) bool) *Paged[T] {
	return &Paged[T]{clock: clk, op: op, fetch: fetch, same: same, listings: map[string]*pages[T]{}}
}

// All yields every object of a listing. An error is yielded once and ends it; so is a cursor that comes again, or a
// page whose only news is a cursor, because what the service meant to show after it is not known.
func (p *Paged[T]) All(ctx context.Context, key string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		l := p.listing(key)
		for at := 0; ; {
			items, err := p.after(ctx, key, l, at)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			if len(items) == 0 {
				return
			}
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			at += len(items)
		}
	}
}

// listing returns what was read of a listing, or begins anew.
func (p *Paged[T]) listing(key string) *pages[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	l := p.listings[key]
	if l == nil || now.Sub(l.startedAt) >= SharedLifetime {
		l = &pages[T]{startedAt: now, cursors: map[string]bool{}}
		p.listings[key] = l
	}
	return l
}

// after returns the objects that follow the first ones, from the next page if there are no others yet; none at the end.
func (p *Paged[T]) after(ctx context.Context, key string, l *pages[T], first int) ([]T, error) {
	for {
		p.mu.Lock()
		items, coming := l.items[first:], l.coming
		isOver, err := l.isWhole || l.err != nil, l.err
		if len(items) == 0 && !isOver && coming == nil {
			coming = make(chan struct{})
			l.coming = coming
			// The page serves others too, so it does not end with the reader that happened to want it.
			go p.extend(context.WithoutCancel(ctx), key, l)
		}
		p.mu.Unlock()
		switch {
		case len(items) > 0:
			return items, nil
		case isOver:
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for a page of a list: %w", ctx.Err())
		case <-coming:
		}
	}
}

// extend adds the next page. A failure is told to those who read this listing; who comes later begins anew.
func (p *Paged[T]) extend(ctx context.Context, key string, l *pages[T]) {
	got, err := p.fetch(ctx, key, l.next)
	isRepeated := len(l.cursors) > 0 && slices.EqualFunc(l.last, got.Items, p.same)
	if err == nil && got.Next != "" && (l.cursors[got.Next] || isRepeated) {
		err = transport.NewTransportError(p.op, &transport.ResponseError{Problem: "its cursor leads back to an earlier page, so the list cannot be completed"})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		l.err = err
		if p.listings[key] == l {
			delete(p.listings, key)
		}
	} else {
		l.items, l.last = append(l.items, got.Items...), got.Items
		l.next, l.isWhole = got.Next, got.Next == ""
		l.cursors[got.Next] = true
	}
	close(l.coming)
	l.coming = nil
}

// Invalidate forgets what was read of every listing.
func (p *Paged[T]) Invalidate() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.listings)
}

// NewPages are the listings of an operation under /api/v0. A key is the page size and, after a question mark, the rest of
// the query.
func NewPages[T any, P interface {
	*T
	transport.Record
}](c *transport.Conn, op transport.Operation, envelope string) *Paged[[]T] {
	fetch := func(ctx context.Context, key, cursor string) (Page[[]T], error) {
		size, more, _ := strings.Cut(key, "?")
		limit, err := strconv.Atoi(size)
		if err != nil {
			return Page[[]T]{}, fmt.Errorf("%s: the size of a page: %w", op.Name, err)
		}
		query, err := url.ParseQuery(more)
		if err != nil {
			return Page[[]T]{}, fmt.Errorf("%s: the query of a page: %w", op.Name, err)
		}
		got, err := callPage[T, P](ctx, c, transport.Request{Op: op, Query: query}, envelope, cursor, limit)
		return Page[[]T]{Items: [][]T{got.Items}, Next: got.Next}, err
	}
	return NewPaged(c.Clock, op, fetch, func(objects, others []T) bool {
		return slices.EqualFunc(objects, others, func(x, y T) bool { return P(&x).Identifier() == P(&y).Identifier() })
	})
}

// PageSize names the listing from which so many objects are taken; 0 are all.
func PageSize(most int) string {
	if most > 0 && most < MaxPageSize {
		return strconv.Itoa(most)
	}
	return strconv.Itoa(MaxPageSize)
}

// Gather reads pages until there are at least so many objects, or all where most is 0, each once.
func Gather[T any](pages iter.Seq2[[]T, error], most int, id func(*T) string) ([]T, error) {
	gathered := []T{}
	for objects, err := range withoutRepeats(pages, id) {
		if err != nil {
			return nil, err
		}
		gathered = append(gathered, objects...)
		if most > 0 && len(gathered) >= most {
			break
		}
	}
	return gathered, nil
}

// Flatten yields the objects of pages one by one, each once. A page is asked for when those before it are used up.
func Flatten[T any](pages iter.Seq2[[]T, error], id func(*T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for objects, err := range withoutRepeats(pages, id) {
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, object := range objects {
				if !yield(object, nil) {
					return
				}
			}
		}
	}
}

// withoutRepeats yields pages without what was on one before: an object may have moved to a later page meanwhile.
func withoutRepeats[T any](pages iter.Seq2[[]T, error], id func(*T) string) iter.Seq2[[]T, error] {
	return func(yield func([]T, error) bool) {
		seen := map[string]bool{}
		for objects, err := range pages {
			var others []T
			for _, object := range objects {
				if !seen[id(&object)] {
					seen[id(&object)] = true
					others = append(others, object)
				}
			}
			if !yield(others, err) {
				return
			}
		}
	}
}

// callPage asks for a page of a listing under /api/v0, which is in an envelope of that name.
func callPage[T any, P interface {
	*T
	transport.Record
}](ctx context.Context, c *transport.Conn, r transport.Request, envelope, cursor string, size int) (Page[T], error) {
	if r.Query == nil {
		r.Query = url.Values{}
	}
	r.Query.Set("limit", strconv.Itoa(size))
	if cursor != "" {
		r.Query.Set("cursor", cursor)
	}
	response, err := c.Exchange(ctx, r, transport.OnlyJSON)
	if err != nil {
		return Page[T]{}, err
	}
	objects, err := transport.ReadList[T](response.Body, envelope)
	if err != nil {
		return Page[T]{}, transport.NewTransportError(r.Op, err)
	}
	if objects == nil {
		return Page[T]{}, r.Unexpected("the field " + envelope + " is null")
	}
	if objects, err = transport.CheckObjects[T, P](r, objects); err != nil {
		return Page[T]{}, err
	}
	var paging struct {
		Pagination struct {
			HasMore    *bool           `json:"hasMore"`
			NextCursor json.RawMessage `json:"nextCursor"`
		} `json:"pagination"`
	}
	if err := transport.ReadEnvelope(response.Body, &paging); err != nil {
		return Page[T]{}, transport.NewTransportError(r.Op, err)
	}
	next, err := NextPage(r, paging.Pagination.HasMore, paging.Pagination.NextCursor, size-len(objects))
	return Page[T]{Items: objects, Next: next}, err
}

// NextPage is the cursor of the next page; empty at the end. What the response does not say is nil; a page with room for
// more objects is then the last. A response that leaves open whether there is more, or where, is an error.
func NextPage(r transport.Request, hasMore *bool, cursor json.RawMessage, room int) (string, error) {
	next := ""
	if cursor != nil {
		if err := transport.Decode(cursor, "", &next); err != nil {
			return "", transport.NewTransportError(r.Op, err)
		}
	}
	switch {
	case hasMore != nil && !*hasMore:
		return "", nil
	case next != "":
		return next, nil
	case hasMore != nil:
		return "", r.Unexpected("it reports more pages but has no cursor for the next one")
	case cursor == nil && room <= 0:
		return "", r.Unexpected("it does not report whether there are more pages")
	}
	return "", nil
}
