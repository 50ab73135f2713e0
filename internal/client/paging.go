package client

import (
	"bytes"
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

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// maxPage is how many objects the service puts on a page at most.
const maxPage = 100

// page is one answer of a paged listing.
type page[T any] struct {
	items []T
	// next is the cursor of the following page; empty at the end.
	next string
}

// paged is what one process has read of the paged listings of an operation, each named by a key (its query). A page is
// asked for when a reader has come to the end of those that are there, one at a time, and serves all readers of the
// listing that come within sharedLifetime of its first page.
type paged[T any] struct {
	clock clock.Clock
	op    operation
	fetch func(ctx context.Context, key, cursor string) (page[T], error)
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

func newPaged[T any](clk clock.Clock, op operation, fetch func(ctx context.Context, key, cursor string) (page[T], error), same func(T, T) bool) *paged[T] {
	return &paged[T]{clock: clk, op: op, fetch: fetch, same: same, listings: map[string]*pages[T]{}}
}

// all yields every object of a listing. An error is yielded once and ends it; so is a cursor that comes again, or a
// page whose only news is a cursor, because what the service meant to show after it is not known.
func (p *paged[T]) all(ctx context.Context, key string) iter.Seq2[T, error] {
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
func (p *paged[T]) listing(key string) *pages[T] {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.clock.Now()
	l := p.listings[key]
	if l == nil || now.Sub(l.startedAt) >= sharedLifetime {
		l = &pages[T]{startedAt: now, cursors: map[string]bool{}}
		p.listings[key] = l
	}
	return l
}

// after returns the objects that follow the first ones, from the next page if there are no others yet; none at the end.
func (p *paged[T]) after(ctx context.Context, key string, l *pages[T], first int) ([]T, error) {
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
			return nil, fmt.Errorf("waiting for a page of a listing that several reads share: %w", ctx.Err())
		case <-coming:
		}
	}
}

// extend adds the next page. A failure is told to those who read this listing; who comes later begins anew.
func (p *paged[T]) extend(ctx context.Context, key string, l *pages[T]) {
	got, err := p.fetch(ctx, key, l.next)
	isRepeated := len(l.cursors) > 0 && slices.EqualFunc(l.last, got.items, p.same)
	if err == nil && got.next != "" && (l.cursors[got.next] || isRepeated) {
		err = unusable(p.op, &AnswerError{Problem: "its cursor leads back to a page that was read before, so the list cannot be completed"})
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err != nil {
		l.err = err
		if p.listings[key] == l {
			delete(p.listings, key)
		}
	} else {
		l.items, l.last = append(l.items, got.items...), got.items
		l.next, l.isWhole = got.next, got.next == ""
		l.cursors[got.next] = true
	}
	close(l.coming)
	l.coming = nil
}

// discard forgets what was read of every listing.
func (p *paged[T]) discard() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.listings)
}

// newPages are the listings of an operation under /api/v0, by the size of their pages and, after a question mark, what else
// is in the query. What is kept are the pages, so that
// whoever looks for something has a whole page before him, however much others have read.
func newPages[T any, P interface {
	*T
	record
}](c *conn, op operation, envelope string) *paged[[]T] {
	fetch := func(ctx context.Context, key, cursor string) (page[[]T], error) {
		size, more, _ := strings.Cut(key, "?")
		limit, err := strconv.Atoi(size)
		if err != nil {
			return page[[]T]{}, fmt.Errorf("%s: the size of a page: %w", op.name, err)
		}
		query, err := url.ParseQuery(more)
		if err != nil {
			return page[[]T]{}, fmt.Errorf("%s: the query of a page: %w", op.name, err)
		}
		got, err := callPage[T, P](ctx, c, request{op: op, query: query}, envelope, cursor, limit)
		return page[[]T]{items: [][]T{got.items}, next: got.next}, err
	}
	return newPaged(c.Clock, op, fetch, func(objects, others []T) bool {
		return slices.EqualFunc(objects, others, func(x, y T) bool { return P(&x).identifier() == P(&y).identifier() })
	})
}

// pageSize names the listing from which so many objects are taken; 0 are all.
func pageSize(most int) string {
	if most > 0 && most < maxPage {
		return strconv.Itoa(most)
	}
	return strconv.Itoa(maxPage)
}

// gather reads pages until there are at least so many objects, or all where most is 0, each once.
func gather[T any](pages iter.Seq2[[]T, error], most int, id func(*T) string) ([]T, error) {
	gathered := []T{}
	for objects, err := range fresh(pages, id) {
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

// flat yields the objects of pages one by one, each once. A page is asked for when those before it are used up.
func flat[T any](pages iter.Seq2[[]T, error], id func(*T) string) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for objects, err := range fresh(pages, id) {
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

// fresh yields pages without what was on one before: an object may have moved to a later page meanwhile.
func fresh[T any](pages iter.Seq2[[]T, error], id func(*T) string) iter.Seq2[[]T, error] {
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
	record
}](ctx context.Context, c *conn, r request, envelope, cursor string, size int) (page[T], error) {
	if r.query == nil {
		r.query = url.Values{}
	}
	r.query.Set("limit", strconv.Itoa(size))
	if cursor != "" {
		r.query.Set("cursor", cursor)
	}
	answer, err := c.exchange(ctx, r, wantJSON)
	if err != nil {
		return page[T]{}, err
	}
	objects, err := readList[T](answer.body, envelope)
	if err != nil {
		return page[T]{}, unusable(r.op, err)
	}
	if objects == nil {
		return page[T]{}, r.strange("its " + envelope + " is null")
	}
	if objects, err = each[T, P](r, objects); err != nil {
		return page[T]{}, err
	}
	var paging struct {
		Pagination struct {
			HasMore    *bool           `json:"hasMore"`
			NextCursor json.RawMessage `json:"nextCursor"`
		} `json:"pagination"`
	}
	if err := readEnvelope(answer.body, &paging); err != nil {
		return page[T]{}, unusable(r.op, err)
	}
	next, err := r.nextPage(paging.Pagination.HasMore, paging.Pagination.NextCursor, len(objects) >= size)
	return page[T]{items: objects, next: next}, err
}

// readEnvelope reads what is around a list; nothing where the list is bare.
func readEnvelope(body []byte, into any) error {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return nil
	}
	return decode(body, "", into)
}

// nextPage is the cursor of the next page; empty at the end. What the answer does not say is nil; a page that holds less
// than was asked for is then the last. An answer that leaves open whether there is more, or where, is an error.
func (r request) nextPage(hasMore *bool, cursor json.RawMessage, isFull bool) (string, error) {
	next := ""
	if cursor != nil {
		if err := decode(cursor, "", &next); err != nil {
			return "", unusable(r.op, err)
		}
	}
	switch {
	case hasMore != nil && !*hasMore:
		return "", nil
	case next != "":
		return next, nil
	case hasMore != nil:
		return "", r.strange("it says that there are more pages, and names no cursor for the next one")
	case cursor == nil && isFull:
		return "", r.strange("it does not say whether there are more pages")
	}
	return "", nil
}
