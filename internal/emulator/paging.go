package emulator

import (
	"encoding/base64"
	"slices"
	"strconv"
)

// pagination is the paging part of a list answer under /api/v0.
type pagination struct {
	HasMore    bool    `json:"hasMore"`
	NextCursor *string `json:"nextCursor"`
}

// limit is how many items a request asks for.
func (r *request) limit() int {
	limit, err := strconv.Atoi(r.query.Get("limit"))
	if err != nil {
		return 20
	}
	return limit
}

// page cuts the page a request asks for out of a list, given the ID of each item in its order. The cursor names
// the last item of the page before; one that names no item of the list is refused.
func (r *request) page(ids []string) (from, to int, p pagination, err error) {
	if r.query.Has("cursor") {
		id, err := base64.RawURLEncoding.DecodeString(r.query.Get("cursor"))
		at := slices.Index(ids, string(id))
		if err != nil || at < 0 {
			return 0, 0, p, invalidBy("cursor-unknown", "The query parameter %q is not a cursor of this list.", "cursor")
		}
		from = at + 1
	}
	to = min(len(ids), from+min(r.limit(), r.e.opts.MaxPageSize))
	if to < len(ids) {
		cursor := base64.RawURLEncoding.EncodeToString([]byte(ids[to-1]))
		p = pagination{HasMore: true, NextCursor: &cursor}
	}
	return from, to, p, nil
}
