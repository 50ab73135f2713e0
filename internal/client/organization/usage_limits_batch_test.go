package organization

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// manager is a service with limits, for a synctest bubble. Its members are the keys of limits, whose values are JSON.
type manager struct {
	// faults are the outcomes of the requests to set limits, in order. An empty one is success. Otherwise, "slow" takes a
	// second, "acted" carries out the request, and the rest is a response for clienttest.Say, or "drop".
	faults []string

	mu     sync.Mutex
	began  time.Time
	limits map[string]string
	puts   []string
	lists  int
}

func (m *manager) RoundTrip(r *http.Request) (*http.Response, error) {
	httptrace.ContextClientTrace(r.Context()).GotConn(httptrace.GotConnInfo{})
	w := httptest.NewRecorder()
	if r.Method == http.MethodGet {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.lists++
		clienttest.Say(w, limited(m.entries()...))
		return w.Result(), nil
	}
	var asked struct {
		Users []struct {
			Email string          `json:"email"`
			Limit json.RawMessage `json:"limit"`
		} `json:"users"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil {
		return nil, err
	}
	m.mu.Lock()
	put := time.Since(m.began).String()
	for _, u := range asked.Users {
		put += " " + u.Email + "=" + string(u.Limit)
	}
	fault := ""
	if len(m.faults) > len(m.puts) {
		fault = m.faults[len(m.puts)]
	}
	m.puts = append(m.puts, put)
	m.mu.Unlock()

	fault, isSlow := strings.CutPrefix(fault, "slow ")
	if isSlow {
		_ = clock.System.Sleep(r.Context(), time.Second)
	}
	fault, hasActed := strings.CutPrefix(fault, "acted ")
	var done, problems []string
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, u := range asked.Users {
		switch _, isMember := m.limits[emailKey(u.Email)]; {
		case !isMember:
			problems = append(problems, fmt.Sprintf(`{"email":%q,"error":"is no member"}`, u.Email))
		case fault == "" || hasActed:
			m.limits[emailKey(u.Email)] = string(u.Limit)
			done = append(done, emailKey(u.Email)+" "+string(u.Limit))
		}
	}
	switch fault {
	case "drop":
		return nil, io.ErrUnexpectedEOF
	case "":
		fault = `200 {"updated":[` + limitEntries(done) + `],"errors":[` + strings.Join(problems, ",") + `]}`
	}
	clienttest.Say(w, fault)
	return w.Result(), nil
}

// entries returns the limits in the format of limited.
func (m *manager) entries() []string {
	var entries []string
	for _, email := range slices.Sorted(maps.Keys(m.limits)) {
		entries = append(entries, email+" "+m.limits[email])
	}
	return entries
}

// managed runs a test against its own service, in a synctest bubble. Pauses between retries are 250ms, 500ms, and 1s.
func managed(t *testing.T, m *manager, test func(t *testing.T, c *Client)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m.began = time.Now()
		test(t, area.Connected(t, transport.Config{
			BaseURL: "http://localhost", APIKey: clienttest.Key, Clock: clock.System, MaxRetries: 3, Transport: m, Random: func() float64 { return 0 },
		}))
		synctest.Wait()
	})
}

// write is one caller: when it starts, when it is canceled (0 means never), the user, the limit (0 removes it), and a part of
// its error; empty means success.
type write struct {
	at, until time.Duration
	email     string
	limit     int64
	want      string
}

func (w write) do(t *testing.T, c *Client) {
	t.Helper()
	ctx := t.Context()
	_ = clock.System.Sleep(ctx, w.at)
	if w.until > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.until-w.at)
		defer cancel()
	}
	var err error
	if w.limit == 0 {
		err = c.RemoveUserUsageLimit(ctx, w.email)
	} else {
		var got *UserUsageLimit
		if got, err = c.SetUserUsageLimit(ctx, w.email, w.limit); err == nil && (!strings.EqualFold(got.Email, w.email) || shownLimit(got.Limit) != fmt.Sprint(w.limit)) {
			t.Errorf("%+v gets %s=%s", w, got.Email, shownLimit(got.Limit))
		}
	}
	if w.want == "" && err != nil || w.want != "" && (err == nil || !strings.Contains(err.Error(), w.want)) {
		t.Errorf("%+v gets %v", w, err)
	}
}

func TestUserUsageLimits_writtenTogether(t *testing.T) {
	const (
		ms     = time.Millisecond
		one    = 1_000_000
		two    = 2_000_000
		no     = "returned 403: no"
		refuse = `403 {"detail":"no"}`
		left   = "context deadline exceeded"
		other  = "because another resource of this run sets it to 1000000"
	)
	drops := []string{"drop", "drop", "drop", "drop"}
	fourTimes := func(entries string) []string {
		return []string{"51ms " + entries, "301ms " + entries, "801ms " + entries, "1.801s " + entries}
	}
	for name, tc := range map[string]struct {
		writes []write
		faults []string
		puts   []string
		lists  int
		// The limits of a@x, b@x, and c@x were null, 5, and null.
		want string
	}{
		"who comes together shares a request": {
			writes: []write{{0, 0, "a@x", one, ""}, {ms, 0, "b@x", 0, ""}, {2 * ms, 0, "c@x", two, ""}},
			puts:   []string{"52ms a@x=1000000 b@x=null c@x=2000000"},
			want:   "a@x 1000000,b@x null,c@x 2000000",
		},
		"who comes later does not": {
			writes: []write{{0, 0, "a@x", one, ""}, {60 * ms, 0, "c@x", two, ""}},
			puts:   []string{"50ms a@x=1000000", "110ms c@x=2000000"},
			want:   "a@x 1000000,b@x 5,c@x 2000000",
		},
		"equal values share an entry": {
			writes: []write{{0, 0, "a@x", one, ""}, {ms, 0, "A@X", one, ""}},
			puts:   []string{"51ms a@x=1000000"},
			want:   "a@x 1000000,b@x 5,c@x null",
		},
		"equal values in two windows are two requests": {
			writes: []write{{0, 0, "a@x", one, ""}, {60 * ms, 0, "A@X", one, ""}},
			puts:   []string{"50ms a@x=1000000", "110ms A@X=1000000"},
			want:   "a@x 1000000,b@x 5,c@x null",
		},
		"of two values the first is set": {
			writes: []write{{0, 0, "a@x", one, ""}, {ms, 0, "A@X", two, other}},
			puts:   []string{"50ms a@x=1000000"},
			want:   "a@x 1000000,b@x 5,c@x null",
		},
		"two values in two windows are both set": {
			writes: []write{{0, 0, "a@x", one, ""}, {60 * ms, 0, "A@X", two, ""}},
			puts:   []string{"50ms a@x=1000000", "110ms A@X=2000000"},
			want:   "a@x 2000000,b@x 5,c@x null",
		},
		"a value replaces one that could not be set": {
			writes: []write{{0, 0, "a@x", one, no}, {60 * ms, 0, "a@x", two, ""}},
			faults: []string{refuse},
			puts:   []string{"50ms a@x=1000000", "110ms a@x=2000000"},
			want:   "a@x 2000000,b@x 5,c@x null",
		},
		"a value in the window of a removal is set": {
			writes: []write{{0, 0, "b@x", 0, ""}, {ms, 0, "B@x", one, ""}},
			puts:   []string{"51ms b@x=1000000"},
			want:   "a@x null,b@x 1000000,c@x null",
		},
		"a removal in the window of a value does nothing": {
			writes: []write{{0, 0, "b@x", one, ""}, {ms, 0, "B@x", 0, ""}},
			puts:   []string{"51ms b@x=1000000"},
			want:   "a@x null,b@x 1000000,c@x null",
		},
		"a value after the window of a removal is set after it": {
			writes: []write{{0, 0, "b@x", 0, ""}, {60 * ms, 0, "B@x", one, ""}},
			faults: []string{"slow "},
			puts:   []string{"50ms b@x=null", "1.05s B@x=1000000"},
			want:   "a@x null,b@x 1000000,c@x null",
		},
		"a removal after the window of a value does nothing": {
			writes: []write{{0, 0, "b@x", one, ""}, {60 * ms, 0, "B@x", 0, ""}},
			faults: []string{"slow "},
			puts:   []string{"50ms b@x=1000000"},
			want:   "a@x null,b@x 1000000,c@x null",
		},
		"a removal after a value that was refused is sent": {
			writes: []write{{0, 0, "b@x", one, no}, {60 * ms, 0, "B@x", 0, ""}},
			faults: []string{"slow " + refuse},
			puts:   []string{"50ms b@x=1000000", "1.05s B@x=null"},
			want:   "a@x null,b@x null,c@x null",
		},
		"a removal in the window of a value that is refused fails": {
			writes: []write{{0, 0, "b@x", one, no}, {ms, 0, "B@x", 0, no}},
			faults: []string{refuse},
			puts:   []string{"51ms b@x=1000000"},
			want:   "a@x null,b@x 5,c@x null",
		},
		"two removals share an entry": {
			writes: []write{{0, 0, "b@x", 0, ""}, {ms, 0, "B@x", 0, ""}},
			puts:   []string{"51ms b@x=null"},
			want:   "a@x null,b@x null,c@x null",
		},
		"only whose entry is refused fails": {
			writes: []write{{0, 0, "a@x", one, ""}, {ms, 0, "who@x", one, "refused for who@x: is no member"}},
			puts:   []string{"51ms a@x=1000000 who@x=1000000"},
			want:   "a@x 1000000,b@x 5,c@x null",
		},
		"who has left has no limit to remove": {
			writes: []write{{0, 0, "b@x", 0, ""}, {ms, 0, "who@x", 0, ""}},
			puts:   []string{"51ms b@x=null who@x=null"},
			lists:  1,
			want:   "a@x null,b@x null,c@x null",
		},
		"400 for all is followed by each": {
			writes: []write{{0, 0, "a@x", one, ""}, {ms, 0, "b@x", 1, "returned 400: too little"}, {2 * ms, 0, "c@x", 0, ""}},
			faults: []string{`400 {"detail":"some are too little"}`, "", `400 {"detail":"too little"}`},
			puts:   []string{"52ms a@x=1000000 b@x=1 c@x=null", "52ms a@x=1000000", "52ms b@x=1", "52ms c@x=null"},
			want:   "a@x 1000000,b@x 5,c@x null",
		},
		"422 for all is followed by each": {
			writes: []write{{0, 0, "a@x", one, ""}, {ms, 0, "c@x", two, ""}},
			faults: []string{`422 {"detail":"no"}`},
			puts:   []string{"51ms a@x=1000000 c@x=2000000", "51ms a@x=1000000", "51ms c@x=2000000"},
			want:   "a@x 1000000,b@x 5,c@x 2000000",
		},
		"400 of another server is everybody's": {
			writes: []write{{0, 0, "a@x", one, "returned 400"}, {ms, 0, "c@x", two, "returned 400"}},
			faults: []string{"400 <html>"},
			puts:   []string{"51ms a@x=1000000 c@x=2000000"},
			want:   "a@x null,b@x 5,c@x null",
		},
		"403 is everybody's": {
			writes: []write{{0, 0, "a@x", one, no}, {ms, 0, "b@x", 0, no}},
			faults: []string{refuse},
			puts:   []string{"51ms a@x=1000000 b@x=null"},
			want:   "a@x null,b@x 5,c@x null",
		},
		"404 is everybody's": {
			writes: []write{{0, 0, "a@x", one, "returned 404"}, {ms, 0, "b@x", 0, "returned 404"}},
			faults: []string{`404 {"detail":"no"}`},
			puts:   []string{"51ms a@x=1000000 b@x=null"},
			want:   "a@x null,b@x 5,c@x null",
		},
		"whose limit is as wanted succeeds without an answer": {
			writes: []write{{0, 0, "a@x", one, "unexpected EOF"}, {ms, 0, "b@x", 5, ""}, {ms, 0, "c@x", 0, ""}},
			faults: drops, puts: fourTimes("a@x=1000000 b@x=5 c@x=null"), lists: 1,
			want: "a@x null,b@x 5,c@x null",
		},
		"all succeed where the service has acted": {
			writes: []write{{0, 0, "a@x", one, ""}, {ms, 0, "b@x", 0, ""}, {ms, 0, "who@x", 0, ""}},
			faults: append(slices.Clone(drops[1:]), `acted 503 {"detail":"no"}`), puts: fourTimes("a@x=1000000 b@x=null who@x=null"), lists: 1,
			want: "a@x 1000000,b@x null,c@x null",
		},
		"a repetition that is answered needs no look": {
			writes: []write{{0, 0, "a@x", one, ""}, {ms, 0, "b@x", 0, ""}},
			faults: []string{"acted drop"}, puts: fourTimes("a@x=1000000 b@x=null")[:2],
			want: "a@x 1000000,b@x null,c@x null",
		},
		"a request that was sent before the end of the run is answered": {
			writes: []write{{0, 500 * ms, "a@x", one, ""}, {ms, 500 * ms, "b@x", 0, ""}, {ms, 500 * ms, "who@x", 0, ""}},
			faults: []string{"slow "}, lists: 1,
			puts: []string{"51ms a@x=1000000 b@x=null who@x=null"},
			want: "a@x 1000000,b@x null,c@x null",
		},
		"after the end of the run, there are no more repetitions": {
			writes: []write{{0, 100 * ms, "a@x", one, left}, {ms, 100 * ms, "b@x", 0, left}},
			faults: drops, puts: fourTimes("a@x=1000000 b@x=null")[:1], lists: 1,
			want: "a@x null,b@x 5,c@x null",
		},
		"after the end of the run, a look tells what was done": {
			writes: []write{{0, 100 * ms, "a@x", one, ""}, {ms, 100 * ms, "b@x", 0, ""}},
			faults: []string{"acted drop"}, puts: fourTimes("a@x=1000000 b@x=null")[:1], lists: 1,
			want: "a@x 1000000,b@x null,c@x null",
		},
		"after the end of the run, what was refused is not sent alone": {
			writes: []write{{0, 500 * ms, "a@x", one, left}, {ms, 500 * ms, "b@x", 1, left}},
			faults: []string{`slow 400 {"detail":"too little"}`},
			puts:   []string{"51ms a@x=1000000 b@x=1"},
			want:   "a@x null,b@x 5,c@x null",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &manager{faults: tc.faults, limits: map[string]string{"a@x": "null", "b@x": "5", "c@x": "null"}}
			managed(t, m, func(t *testing.T, c *Client) {
				var all sync.WaitGroup
				for _, w := range tc.writes {
					all.Go(func() { w.do(t, c) })
				}
				all.Wait()
				_ = clock.System.Sleep(t.Context(), time.Hour) // Until every window has ended.
				for n := range m.puts {                        // Concurrent entries have no order.
					m.puts[n] = sortedWords(m.puts[n])
				}
				for n := range tc.puts {
					tc.puts[n] = sortedWords(tc.puts[n])
				}
				if !slices.Equal(m.puts, tc.puts) {
					t.Errorf("sent:\n%s\nwant:\n%s", strings.Join(m.puts, "\n"), strings.Join(tc.puts, "\n"))
				}
				if got := strings.Join(m.entries(), ","); got != tc.want || m.lists != tc.lists {
					t.Errorf("the limits are %s after %d listings, want %s after %d", got, m.lists, tc.want, tc.lists)
				}
			})
		})
	}
}

func sortedWords(text string) string {
	return strings.Join(slices.Sorted(strings.FieldsSeq(text)), " ")
}

func TestUserUsageLimits_manyTakeFewRequests(t *testing.T) {
	m := &manager{limits: map[string]string{}}
	for n := range 250 {
		m.limits[fmt.Sprintf("u%d@x", n)] = "5"
	}
	managed(t, m, func(t *testing.T, c *Client) {
		for round, limit := range []int64{0, million} {
			m.puts = nil
			var all sync.WaitGroup
			for n := range 250 {
				all.Go(func() { write{email: fmt.Sprintf("u%d@x", n), limit: limit}.do(t, c) })
			}
			all.Wait()
			var sizes []int
			for _, put := range m.puts {
				sizes = append(sizes, len(strings.Fields(put))-1)
			}
			if !slices.Equal(sizes, []int{100, 100, 50}) {
				t.Errorf("the requests have %v entries", sizes)
			}
			for email, got := range m.limits {
				if got != []string{"null", "1000000"}[round] {
					t.Errorf("%s has %s", email, got)
				}
			}
		}
		if m.lists != 0 {
			t.Errorf("%d listings", m.lists)
		}
	})
}

// A caller whose context is done sends nothing.
func TestUserUsageLimits_afterTheRun(t *testing.T) {
	m := &manager{limits: map[string]string{"a@x": "5"}}
	managed(t, m, func(t *testing.T, c *Client) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := c.SetUserUsageLimit(ctx, "a@x", million); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if err := c.RemoveUserUsageLimit(ctx, "b@x"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if len(m.puts) != 0 || m.lists != 0 {
			t.Errorf("asked %v, and for %d listings", m.puts, m.lists)
		}
		write{email: "a@x", limit: 2 * million}.do(t, c)
	})
}

// 10,000 limits need 100 requests. A rejected user is named, and a failure that is not about users ends the writing.
func TestSetUserUsageLimits(t *testing.T) {
	t.Parallel()
	all := func() (wanted map[string]*int64, members map[string]string) {
		wanted, members = map[string]*int64{}, map[string]string{}
		for n := range 10_000 {
			email, limit := fmt.Sprintf("m%05d@x", n), int64(n+MinUsageLimit)
			wanted[email], members[email] = &limit, "null"
		}
		return wanted, members
	}
	for name, tc := range map[string]struct {
		faults       []string
		puts, failed int
		want         string
	}{
		"all":               {nil, 100, 0, ""},
		"response is lost":  {[]string{"", "acted drop"}, 101, 0, ""},
		"rejected together": {[]string{"", `400 {"detail":"invalid"}`}, 200, 0, ""},
		"rejected always":   {[]string{"", `403 {"detail":"forbidden"}`}, 2, 9_900, "forbidden"},
	} {
		t.Run(name, func(t *testing.T) {
			wanted, members := all()
			m := &manager{faults: tc.faults, limits: members}
			managed(t, m, func(t *testing.T, c *Client) {
				failed := c.SetUserUsageLimits(t.Context(), wanted)
				if len(failed) != tc.failed || len(m.puts) != tc.puts {
					t.Errorf("%d requests, and %d limits failed", len(m.puts), len(failed))
				}
				for email, err := range failed {
					if IsAboutUser(err) || !strings.Contains(err.Error(), tc.want) {
						t.Fatalf("%s: %v", email, err)
					}
				}
			})
		})
	}
	t.Run("no member", func(t *testing.T) {
		limit := int64(MinUsageLimit)
		m := &manager{limits: map[string]string{"ada@x": "null"}}
		managed(t, m, func(t *testing.T, c *Client) {
			failed := c.SetUserUsageLimits(t.Context(), map[string]*int64{"Ada@x": &limit, "ben@x": &limit})
			if err := failed["ben@x"]; len(failed) != 1 || !IsAboutUser(err) || m.limits["ada@x"] != "1000000" {
				t.Errorf("%v failed, and the limits are %v", failed, m.limits)
			}
		})
	})
}
