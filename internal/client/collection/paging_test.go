package collection

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// book is a paged listing of numbers, by cursor. The request of a missing page fails.
type book struct {
	pages map[string]Page[[]int]
	// came has an entry for each request; open counts the requests in flight, and widest is the maximum of open.
	came         []string
	mu           sync.Mutex
	open, widest int
}

var errBroken = errors.New("the page is broken")

func (b *book) fetch(ctx context.Context, key, cursor string) (Page[[]int], error) {
	b.mu.Lock()
	b.came = append(b.came, key+"/"+cursor)
	if len(b.came) > maxPages+1 {
		panic("the listing does not end")
	}
	b.open++
	b.widest = max(b.widest, b.open)
	p, ok := b.pages[cursor]
	b.mu.Unlock()
	_ = clock.System.Sleep(ctx, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open--
	if !ok {
		return p, errBroken
	}
	return p, nil
}

func (b *book) paged() *Paged[[]int] {
	return NewPaged(clock.System, transport.Operation{Name: "listNumbers", Method: "GET", Route: "/numbers"}, b.fetch)
}

// read reads at most so many numbers; 0 means all.
func read(ctx context.Context, p *Paged[[]int], key string, most int) string {
	got, n := "", 0
	for page, err := range p.All(ctx, key) {
		if err != nil {
			var answer *wire.ResponseError
			switch {
			case errors.As(err, &answer):
				return got + "circle"
			case errors.Is(err, errBroken):
				return got + "broken"
			case errors.Is(err, context.Canceled):
				return got + "canceled"
			}
			return got + err.Error()
		}
		for _, number := range page {
			got += fmt.Sprint(number, " ")
			if n++; n == most {
				return got
			}
		}
	}
	return got
}

// emptyPages are pages without objects, and the last page.
func emptyPages(n int) map[string]Page[[]int] {
	pages := map[string]Page[[]int]{fmt.Sprint("p", n): {}}
	for i := range n {
		pages[strings.TrimPrefix(fmt.Sprint("p", i), "p0")] = Page[[]int]{Next: fmt.Sprint("p", i+1)}
	}
	return pages
}

func TestPaged(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pages   map[string]Page[[]int]
		most    int
		want    string
		fetched int
	}{
		"two pages":       {map[string]Page[[]int]{"": {Content: []int{1, 2}, Next: "a"}, "a": {Content: []int{3}, Next: ""}}, 0, "1 2 3 ", 2},
		"empty":           {map[string]Page[[]int]{"": {}}, 0, "", 1},
		"an empty page":   {map[string]Page[[]int]{"": {Content: []int{1}, Next: "a"}, "a": {Next: "b"}, "b": {Content: []int{2}, Next: ""}}, 0, "1 2 ", 3},
		"broken half-way": {map[string]Page[[]int]{"": {Content: []int{1}, Next: "a"}, "a": {Content: []int{2}, Next: "b"}}, 0, "1 2 broken", 3},
		"circle":          {map[string]Page[[]int]{"": {Content: []int{1}, Next: "a"}, "a": {Content: []int{2}, Next: "a"}}, 0, "1 circle", 2},
		"long way round":  {map[string]Page[[]int]{"": {Content: []int{1}, Next: "a"}, "a": {Content: []int{2}, Next: "b"}, "b": {Content: []int{3}, Next: "c"}, "c": {Content: []int{4}, Next: "a"}}, 0, "1 2 3 circle", 4},
		"empty for ever":  {emptyPages(maxPages + 2), 0, "circle", maxPages + 1},
		"empty for long":  {emptyPages(maxPages - 1), 0, "", maxPages},
		"enough":          {map[string]Page[[]int]{"": {Content: []int{1, 2}, Next: "a"}, "a": {Content: []int{3}, Next: ""}}, 2, "1 2 ", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &book{pages: tc.pages}
			if got := read(t.Context(), b.paged(), "", tc.most); got != tc.want || len(b.came) != tc.fetched {
				t.Errorf("got %q in %d requests, want %q in %d", got, len(b.came), tc.want, tc.fetched)
			}
		})
	}
}

func TestPaged_readersShareTheirPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &book{pages: map[string]Page[[]int]{"": {Content: []int{1, 2}, Next: "a"}, "a": {Content: []int{3}, Next: "b"}, "b": {Content: []int{4}, Next: ""}}}
		p, begun := b.paged(), clock.System.Now()
		var wait sync.WaitGroup
		for n := range 5 {
			wait.Go(func() {
				check.Is(t, fmt.Sprint("reader ", n), read(t.Context(), p, "q", n), []string{"1 2 3 4 ", "1 ", "1 2 ", "1 2 3 ", "1 2 3 4 "}[n])
			})
		}
		wait.Wait()
		if len(b.came) != 3 || b.widest != 1 {
			t.Errorf("%v, %d at once", b.came, b.widest)
		}
		if read(t.Context(), p, "q", 0); len(b.came) != 3 {
			t.Errorf("a later reader fetched again: %v", b.came)
		}
		if read(t.Context(), p, "other", 1); len(b.came) != 4 {
			t.Errorf("another query was answered by this one: %v", b.came)
		}
		_ = clock.System.Sleep(t.Context(), SharedLifetime-clock.System.Now().Sub(begun))
		if read(t.Context(), p, "q", 1); len(b.came) != 5 {
			t.Errorf("an old listing was not read anew: %v", b.came)
		}
		p.Invalidate()
		if read(t.Context(), p, "q", 1); len(b.came) != 6 {
			t.Errorf("a discarded listing was not read anew: %v", b.came)
		}
	})
}

func TestPaged_failureIsForgotten(t *testing.T) {
	t.Parallel()
	b := &book{pages: map[string]Page[[]int]{"": {Content: []int{1}, Next: "a"}}}
	p := b.paged()
	check.Is(t, "read", read(t.Context(), p, "", 0), "1 broken")
	b.pages["a"] = Page[[]int]{Content: []int{2}, Next: ""}
	check.Is(t, "after the failure", read(t.Context(), p, "", 0), "1 2 ")
	check.Is(t, "pages that were read", len(b.came), 4)
}

// A canceled reader does not cancel the page of another reader.
func TestPaged_readerIsStopped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &book{pages: map[string]Page[[]int]{"": {Content: []int{1}, Next: "a"}, "a": {Content: []int{2}, Next: ""}}}
		p := b.paged()
		stopped, stop := context.WithCancel(t.Context())
		stop()
		check.Is(t, "read", read(stopped, p, "", 0), "canceled")
		if got := read(t.Context(), p, "", 0); got != "1 2 " || len(b.came) != 2 {
			t.Errorf("got %q after %v", got, b.came)
		}
	})
}

type listedRow struct {
	ID string `json:"id"`
}

func (n *listedRow) Ref() wire.Ref { return wire.Ref{ID: n.ID} }

func (n *listedRow) MissingField() string { return "" }

// rows are pages of rows by their IDs; the page "!" fails. Asked counts the requested pages.
func rows(asked *int, pages ...string) iter.Seq2[[]listedRow, error] {
	return func(yield func([]listedRow, error) bool) {
		for _, ids := range pages {
			*asked++
			var found []listedRow
			for _, id := range strings.Split(ids, "") {
				found = append(found, listedRow{ID: id})
			}
			var err error
			if ids == "!" {
				found, err = nil, errBroken
			}
			if !yield(found, err) {
				return
			}
		}
	}
}

func TestGather(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pages []string
		most  int
		want  string
		asked int
	}{
		"all":                    {[]string{"ab", "cd", "e"}, 0, "abcde", 3},
		"each once":              {[]string{"ab", "bc", "cab", "d"}, 0, "abcd", 4},
		"no page more than used": {[]string{"ab", "cd", "!"}, 3, "abcd", 2},
		"nor when it is used up": {[]string{"ab", "cd"}, 2, "ab", 1},
		"none if one is broken":  {[]string{"ab", "!", "cd"}, 0, "!", 2},
	} {
		asked, got := 0, ""
		found, err := Gather(rows(&asked, tc.pages...), tc.most)
		for _, row := range found {
			got += row.ID
		}
		if err != nil {
			got += "!"
		}
		if got != tc.want || asked != tc.asked {
			t.Errorf("%s: %s of %d pages, want %s of %d", name, got, asked, tc.want, tc.asked)
		}
	}
}

func TestCallPage(t *testing.T) {
	t.Parallel()
	const short, full = `[{"id":"1"}]`, `[{"id":"1"},{"id":"2"}]`
	for body, want := range map[string]string{
		`{"users":` + short + `,"pagination":{"hasMore":true,"nextCursor":"x"}}`:  "1 then x",
		`{"users":` + short + `,"pagination":{"hasMore":false,"nextCursor":"x"}}`: "1 then ",
		`{"users":[],"pagination":{"nextCursor":"x"}}`:                            " then x",
		`{"users":[],"pagination":{"hasMore":false,"nextCursor":null}}`:           " then ",
		`{"users":` + short + `}`:                                                 "1 then ",
		`{"users":` + short + `,"extra":{}}`:                                      "1 then ",
		`{"users":` + short + `,"pagination":null}`:                               "1 then ",
		short: "1 then ",
		`{"users":` + full + `,"pagination":{"hasMore":false}}`:                "12 then ",
		`{"users":` + full + `,"pagination":{"nextCursor":null}}`:              "12 then ",
		`{"users":` + full + `,"pagination":{"hasMore":null,"nextCursor":""}}`: "12 then ",
		`{"users":` + full + `}`:                                               "does not report whether there are more pages",
		`{"users":` + full + `,"pagination":null}`:                             "does not report whether there are more pages",
		`{"users":` + full + `,"pagination":{}}`:                               "does not report whether there are more pages",
		`{"users":` + full + `,"pagination":{"hasMore":null}}`:                 "does not report whether there are more pages",
		`{"users":[{"id":"1"},{"id":"2"},{"id":"3"}],"pagination":{"page":1}}`: "does not report whether there are more pages",
		full: "does not report whether there are more pages",
		`{"users":null,"pagination":{"hasMore":false,"nextCursor":null}}`:         "the field users is null",
		`{"users":` + short + `,"pagination":{"hasMore":true,"nextCursor":null}}`: "has no cursor",
		`{"users":` + short + `,"pagination":{"hasMore":true}}`:                   "has no cursor",
		`{"users":` + short + `,"pagination":"x"}`:                                "unexpected response",
		`{"users":` + short + `,"pagination":{"hasMore":true,"nextCursor":7}}`:    "unexpected response",
		`{"users":` + short + `,"pagination":{"hasMore":"yes"}}`:                  "unexpected response",
		`{"pagination":{"hasMore":false}}`:                                        "the field users is missing",
		`{"users":[{}]}`:                                                          "object 1 of the list is invalid",
		`{}`:                                                                      "the field users is missing",
	} {
		c, rec, _ := serveShort(t, func(string) string { return "200 " + body })
		r := transport.Get("listMembers", "/api/v0/organization/users").Where(url.Values{"limit": {"2"}})
		got, err := callPage[listedRow](t.Context(), c, r, "users", "a b")
		text := ""
		for _, n := range got.Content {
			text += n.ID
		}
		text += " then " + got.Next
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s: got %q, want %q", body, text, want)
		}
		check.Is(t, body+": requests", rec.Count("GET"), 1)
	}
}

// The key of a listing has its page size and its query, which all of its requests repeat.
func TestNewPages_query(t *testing.T) {
	t.Parallel()
	c, rec, _ := serveShort(t, func(call string) string {
		if strings.Contains(call, "cursor") {
			return `200 {"rows":[{"id":"2"}],"pagination":{"hasMore":false,"nextCursor":null}}`
		}
		return `200 {"rows":[{"id":"1"}],"pagination":{"hasMore":true,"nextCursor":"a b"}}`
	})
	pages := NewPages[listedRow](c, transport.Get("listRows", "/rows"), "rows")
	for _, key := range []string{PageKey(5, nil), PageKey(5, url.Values{"owner": {"a&b"}}), PageKey(5, url.Values{"owner": {"c", "d"}}), "limit=5"} {
		if found, err := Gather(pages.All(t.Context(), key), 0); err != nil || len(found) != 2 {
			t.Errorf("%s: %v, %v", key, found, err)
		}
	}
	rec.Want(t, "GET /rows?limit=5", "GET /rows?cursor=a+b&limit=5",
		"GET /rows?limit=5&owner=a%26b", "GET /rows?cursor=a+b&limit=5&owner=a%26b", "GET /rows?limit=5&owner=c&owner=d", "GET /rows?cursor=a+b&limit=5&owner=c&owner=d")
	check.Is(t, "the pages of all objects", PageKey(0, nil)+" "+PageKey(MaxPageSize+1, nil), "limit=100 limit=100")
	for key, want := range map[string]string{"%": "listRows: the query of a page"} {
		_, err := Gather(pages.All(t.Context(), key), 0)
		check.Fails(t, err, want)
	}
}

// An object that is missing is new for three minutes: one for its listing, and two for the difference between clocks.
func TestIsYoung(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	check.Is(t, "young", []bool{IsYoung(now, now.Add(time.Second-3*time.Minute)), IsYoung(now, now.Add(-3*time.Minute))}, []bool{true, false})
}
