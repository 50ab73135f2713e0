package collection

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/url"
	"strconv"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/memo"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// MaxPageSize is the largest page size of the service.
const MaxPageSize = 100

// maxPages is how many pages a listing may have: the next one may never be the last one.
const maxPages = 10_000

// Page is one response of a paged listing.
type Page[C any] struct {
	// Content is what a reader gets: a list, or a report with rows. It may be empty before the end: a service may filter a page after it has
	// cut it.
	Content C
	// Next is the cursor of the next page; empty at the end.
	Next string
}

// Paged keeps the paged listings of one operation by key (the query). It requests a page only when a reader has used up the
// pages before it. All readers that start within SharedLifetime of the first one share the pages.
type Paged[C any] struct {
	clock clock.Clock
	op    transport.Operation
	fetch func(ctx context.Context, key, cursor string) (Page[C], error)
	// listings have the pages of each listing by cursor.
	listings *memo.Memo[*memo.Memo[Page[C]]]
}

// NewPaged returns an empty cache for the listings of op. Fetch requests one page of the listing with a key.
func NewPaged[C any](clk clock.Clock, op transport.Operation, fetch func(ctx context.Context, key, cursor string) (Page[C], error)) *Paged[C] {
	return &Paged[C]{clock: clk, op: op, fetch: fetch, listings: memo.New[*memo.Memo[Page[C]]](clk, SharedLifetime)}
}

// All yields the content of each page. An error is yielded once and ends the iteration, and the next reader starts a new listing.
func (p *Paged[C]) All(ctx context.Context, key string) iter.Seq2[C, error] {
	return func(yield func(C, error) bool) {
		listing := p.listings.Start(ctx, key, func(context.Context) (*memo.Memo[Page[C]], error) { return memo.New[Page[C]](p.clock, 0), nil })
		cursors := map[string]bool{}
		for cursor := ""; ; {
			page, err := p.page(ctx, key, listing, cursor)
			if cursors[page.Next] || len(cursors) == maxPages {
				err = transport.Request{Op: p.op}.Unexpected("its cursor leads back to an earlier page, or never to the last one")
			}
			if err != nil {
				p.listings.Drop(key)
				page = Page[C]{}
			}
			if !yield(page.Content, err) || page.Next == "" {
				return
			}
			cursor = page.Next
			cursors[cursor] = true
		}
	}
}

// page returns one page of a listing, which readers share.
func (p *Paged[C]) page(ctx context.Context, key string, listing *memo.Value[*memo.Memo[Page[C]]], cursor string) (Page[C], error) {
	pages, err := listing.Wait(ctx)
	if err != nil {
		return Page[C]{}, err
	}
	return pages.Get(ctx, cursor, func(ctx context.Context) (Page[C], error) { return p.fetch(ctx, key, cursor) })
}

// Invalidate drops all cached listings.
func (p *Paged[C]) Invalidate() { p.listings.DropAll() }

// DropOld drops a listing that is too old for a creation to rely on.
func (p *Paged[C]) DropOld(key string) { p.listings.DropOlder(key, FreshFor) }

// NewPages returns the listings of a request under /api/v0. A key is the query; see PageKey.
func NewPages[T any, P wire.RecordOf[T]](c *transport.Conn, r transport.Request, envelope string) *Paged[[]T] {
	return NewPaged(c.Clock, r.Op, func(ctx context.Context, key, cursor string) (Page[[]T], error) {
		query, err := url.ParseQuery(key)
		if err != nil {
			return Page[[]T]{}, fmt.Errorf("%s: the query of a page: %w", r.Op.Name, err)
		}
		return callPage[T, P](ctx, c, r.Where(query), envelope, cursor)
	})
}

// PageKey returns the key of a listing: its query, with the page size for so many objects; 0 means all objects.
func PageKey(most int, query url.Values) string {
	key := url.Values{"limit": {PageSize(most)}}
	maps.Copy(key, query)
	return key.Encode()
}

// PageSize returns the page size for so many objects; 0 means all objects.
func PageSize(most int) string {
	if most > 0 {
		return strconv.Itoa(min(most, MaxPageSize))
	}
	return strconv.Itoa(MaxPageSize)
}

// Gather reads pages until it has at least so many objects; 0 means all objects. It takes each object once: one may move to a later
// page during a listing.
func Gather[T any, P wire.RecordOf[T]](pages iter.Seq2[[]T, error], most int) ([]T, error) {
	gathered, seen := []T{}, map[string]bool{}
	for objects, err := range pages {
		if err != nil {
			return nil, err
		}
		for i := range objects {
			if id := P(&objects[i]).Ref().ID; !seen[id] {
				seen[id] = true
				gathered = append(gathered, objects[i])
			}
		}
		if most > 0 && len(gathered) >= most {
			break
		}
	}
	return gathered, nil
}

// callPage requests one page of a listing under /api/v0, whose objects are in a field named by envelope.
func callPage[T any, P wire.RecordOf[T]](ctx context.Context, c *transport.Conn, r transport.Request, envelope, cursor string) (Page[[]T], error) {
	if cursor != "" {
		r.Query.Set("cursor", cursor)
	}
	var paging struct {
		Pagination struct {
			HasMore    *bool           `json:"hasMore"`
			NextCursor json.RawMessage `json:"nextCursor"`
		} `json:"pagination"`
	}
	objects, err := transport.CallList[T, P](ctx, c, r, envelope, &paging)
	if err == nil && objects == nil {
		err = r.Unexpected("the field " + envelope + " is null")
	}
	if err != nil {
		return Page[[]T]{}, err
	}
	size, _ := strconv.Atoi(r.Query.Get("limit")) // PageKey has set it.
	next, err := NextPage(r, "pagination", paging.Pagination.HasMore, paging.Pagination.NextCursor, size-len(objects))
	return Page[[]T]{Content: objects, Next: next}, err
}

// NextPage returns the cursor of the next page; empty at the end. Field is the one that has both values, for errors. A response with
// neither value is the last page if it has room for more objects. A response that is unclear about the next page is an error.
func NextPage(r transport.Request, field string, hasMore *bool, cursor json.RawMessage, room int) (string, error) {
	next := ""
	if cursor != nil {
		if err := wire.Decode(cursor, "", &next); err != nil {
			return "", transport.NewTransportError(r.Op, err)
		}
	}
	switch {
	case hasMore != nil && !*hasMore:
		return "", nil
	case next != "":
		return next, nil
	case hasMore != nil:
		return "", r.Unexpected("the field " + field + " reports more pages but has no cursor for the next one")
	case cursor == nil && room <= 0:
		return "", r.Unexpected("the field " + field + " does not report whether there are more pages")
	}
	return "", nil
}
