package emulator

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

// startInternal starts an emulator for a test that looks inside it.
func startInternal(t *testing.T) *Emulator {
	t.Helper()
	e, err := Start(t.Context(), Options{})
	check.Must(t, err)
	t.Cleanup(func() {
		check.Must(t, e.Close())
	})
	return e
}

// The largest size that an operation allows is too much for a test, so the form is made here.
func TestUploadUpToASize(t *testing.T) {
	t.Parallel()
	e := startInternal(t)
	fields, err := e.uploadForm(uploadPolicy{Key: "k", Size: 3, AtMost: true, Expires: millis(e.clock.Now().Add(time.Hour))})
	check.Must(t, err)
	for content, want := range map[string]int{"": 204, "ab": 204, "abc": 204, "abcd": 400, "abcde": 400} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for name, value := range fields {
			check.Must(t, form.WriteField(name, value))
		}
		part, err := form.CreateFormFile("file", "f")
		check.Must(t, err)
		_, _ = part.Write([]byte(content)) // A buffer takes everything.
		check.Must(t, form.Close())
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/upload", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		w := httptest.NewRecorder()
		e.serveFiles(w, r)
		check.Is(t, fmt.Sprint("the status for bytes: ", len(content)), w.Code, want)
	}
}

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
		check.Is(t, "the pages with limit "+c.limit, strings.Join(seen, " "), strings.Join(ids, " "))
	}
}

func TestPageRefuses(t *testing.T) {
	t.Parallel()
	for query, rule := range map[string]string{
		"cursor=x": "cursor-unknown", "cursor=": "cursor-unknown", "cursor=%21": "cursor-unknown", "cursor=Yw": "cursor-unknown",
	} {
		values, err := url.ParseQuery(query)
		check.Must(t, err)
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

const testAgent = statuspage.ProviderAgent + "1.2.3 Terraform/1.16.4"

// wire is a connection that nothing is sent on.
type wire struct {
	net.Conn
	*runs
	t *testing.T
}

func (w *wire) request(agent, key string) *http.Request {
	r := httptest.NewRequestWithContext(w.begin(w.t.Context(), w), http.MethodGet, "/", nil)
	r.Header.Set("User-Agent", agent)
	r.Header.Set("Authorization", "Bearer "+key)
	return r
}

func TestRuns(t *testing.T) {
	t.Parallel()
	closings := 0
	s, now := newRuns(func() { closings++ }), time.Now()
	opened := func() *wire { return &wire{runs: s, t: t} }
	expect := func(what string, r *http.Request, at time.Time, want int) *run {
		t.Helper()
		got := s.join(r, at)
		if got.number != want || got.agent != r.UserAgent() {
			t.Errorf("%s: run %d of %q, want %d", what, got.number, got.agent, want)
		}
		return got
	}
	closed := func(wires ...*wire) {
		for _, w := range wires {
			s.changed(w, http.StateClosed)
		}
	}
	first, second, third := opened(), opened(), opened()
	r := first.request(testAgent, "a")
	expect("the first request", r, now, 1)
	expect("the same connection an hour later", r, now.Add(time.Hour), 1)
	expect("a connection beside it", second.request(testAgent, "a"), now, 1)
	expect("another key", third.request(testAgent, "b"), now, 2)
	closed(first)
	fourth := opened()
	expect("one connection is left", fourth.request(testAgent, "a"), now, 1)
	if numbers := s.connected(); len(numbers) != 2 || !numbers[1] || !numbers[2] {
		t.Errorf("connected: %v", numbers)
	}
	s.changed(second, http.StateIdle)
	closed(second, fourth, third)
	if numbers := s.connected(); len(numbers) != 0 || len(s.current) != 0 || len(s.open) != 0 {
		t.Errorf("after all connections closed: %v, %v, %v", numbers, s.current, s.open)
	}

	s.begin(t.Context(), first)
	closed(first)
	check.Is(t, "closings of connections with requests", closings, 4)

	fifth, sixth, seventh := opened(), opened(), opened()
	apply := expect("a new process", fifth.request(testAgent, "a"), now, 3)
	s.cut(apply, time.Now())
	closed(fifth)
	expect("a retry after a cut", sixth.request(testAgent, "a"), time.Now(), 3)
	closed(sixth)
	apply = expect("the next process after the retry", seventh.request(testAgent, "a"), time.Now(), 4)
	s.cut(apply, time.Now())
	closed(seventh)
	eighth := opened()
	expect("long after a cut", eighth.request(testAgent, "a"), time.Now().Add(cutGrace), 5)

	for i := range 3 {
		w := opened()
		expect("curl again and again", w.request("curl/8.5.0", "a"), time.Now(), 6)
		closed(w)
		if i == 2 {
			expect("curl a minute later", opened().request("curl/8.5.0", "a"), time.Now().Add(otherGrace), 7)
		}
	}
}

func TestKeyRow(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	in := func(d time.Duration) int64 { return millis(now.Add(d)) }
	const day = 24 * time.Hour
	s := &statusObjects{request: &request{now: now}, owners: map[string]string{"sa_1": "ci"}}
	for name, tc := range map[string]struct {
		expires, revoked   int64
		state, badge, note string
	}{
		"for good":     {0, 0, "valid", "", ""},
		"far expiry":   {in(8 * day), 0, "valid", "", "expires in 8 d"},
		"near expiry":  {in(7 * day), 0, "valid", "expires in 7 d", ""},
		"expired":      {in(0), 0, "expired", "", ""},
		"grace period": {in(day), in(4 * time.Minute), "grace period", "revoked in 4 min", ""},
		"revoked":      {in(-day), in(0), "revoked", "", ""},
	} {
		row := s.keyRow("", &keyRecord{ID: "key_1", Hash: hashKey("fk-1"), OwnerKind: kindService, OwnerID: "sa_1", ExpiresAt: tc.expires, RevokedAt: tc.revoked})
		if row.State != tc.state || row.Badge != tc.badge || row.Note != tc.note {
			t.Errorf("%s: %q %q %q", name, row.State, row.Badge, row.Note)
		}
	}
}

func TestCreations_areThoseOfTheAPI(t *testing.T) {
	t.Parallel()
	e := startInternal(t)
	for _, name := range statuspage.Creations {
		if !e.hasOperation(name) {
			t.Errorf("%s is no operation", name)
		}
	}
	for name, effect := range statuspage.Effects {
		if effect.Verb == "created" && !slices.Contains(statuspage.Creations, name) {
			t.Errorf("Creations of statuspage/object.go lacks %s", name)
		}
	}
}

// A full journal does not make a page that no browser likes.
func TestAddRuns_fullJournal(t *testing.T) {
	t.Parallel()
	e := startInternal(t)
	for i := range maxJournal {
		x := Entry{Run: 1 + i/10000, Operation: "getComputer", Method: "GET", Path: fmt.Sprint("/api/v0/computers/", i%1000), Started: time.Now(), Duration: time.Millisecond, Status: 200}
		e.journal.begin(&x)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.RemoteAddr, r.Host = "127.0.0.1:5", "localhost"
	e.Handler().ServeHTTP(w, r)
	if runs := strings.Count(w.Body.String(), `<div class="run"`); runs != 8 || w.Body.Len() > 1<<20 {
		t.Errorf("%d runs in %d bytes", runs, w.Body.Len())
	}
	x := Entry{Run: 11}
	e.journal.begin(&x)
	if left := e.journal.Entries(); len(left) != maxJournal*9/10+1 || left[0].Run != 2 {
		t.Error("the oldest tenth is not forgotten, or more")
	}
}
