package emulator

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	t.Parallel()
	ids := make([]string, 45)
	for i := range ids {
		ids[i] = fmt.Sprint("id", i)
	}
	for _, c := range []struct {
		limit    string
		max      int
		wantSize []int
	}{
		{"", 100, []int{20, 20, 5}},
		{"100", 100, []int{45}},
		{"45", 100, []int{45}},
		{"30", 20, []int{20, 20, 5}},
	} {
		r := &request{e: &Emulator{opts: Options{MaxPageSize: c.max}}, query: url.Values{}}
		if c.limit != "" {
			r.query.Set("limit", c.limit)
		}
		var seen []string
		for i, size := range c.wantSize {
			from, to, p, err := r.page(ids)
			if err != nil || to-from != size {
				t.Fatalf("limit %q, page %d: %d to %d, %v", c.limit, i, from, to, err)
			}
			seen = append(seen, ids[from:to]...)
			if last := i == len(c.wantSize)-1; p.HasMore == last || (p.NextCursor == nil) != last {
				t.Fatalf("limit %q, page %d: %+v", c.limit, i, p)
			}
			if p.HasMore {
				r.query.Set("cursor", *p.NextCursor)
			}
		}
		if strings.Join(seen, " ") != strings.Join(ids, " ") {
			t.Errorf("limit %q: the pages do not make up the list: %v", c.limit, seen)
		}
	}
}

func TestPageRefuses(t *testing.T) {
	t.Parallel()
	for query, rule := range map[string]string{
		"cursor=x": "cursor-unknown", "cursor=": "cursor-unknown", "cursor=%21": "cursor-unknown", "cursor=Yw": "cursor-unknown",
	} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		r := &request{e: &Emulator{opts: Options{MaxPageSize: 100}}, query: values}
		_, _, _, err = r.page([]string{"a", "b"})
		if e := asAPIError(err); e.status != 400 || e.header.Get(RuleHeader) != rule {
			t.Errorf("%s: %v by %q", query, err, e.header.Get(RuleHeader))
		}
	}
	r := &request{e: &Emulator{opts: Options{MaxPageSize: 100}}, query: url.Values{}}
	if from, to, p, err := r.page(nil); from != 0 || to != 0 || p.HasMore || err != nil {
		t.Errorf("empty list: %d %d %+v %v", from, to, p, err)
	}
}
