package client

import (
	"context"
	"iter"
)

// page is one answer of a paged listing.
type page[T any] struct {
	items []T
	// next is the cursor of the following page; empty at the end.
	next string
}

// pages yields every object of a paged listing, fetching a page only when the one before it is used up.
// An error is yielded once and ends the listing. A cursor that comes again ends it too.
func pages[T any](ctx context.Context, fetch func(ctx context.Context, cursor string) (page[T], error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		cursor := ""
		seen := map[string]bool{}
		for {
			got, err := fetch(ctx, cursor)
			if err != nil {
				var zero T
				yield(zero, err)
				return
			}
			for _, item := range got.items {
				if !yield(item, nil) {
					return
				}
			}
			if got.next == "" || seen[got.next] {
				return
			}
			cursor = got.next
			seen[cursor] = true
		}
	}
}
