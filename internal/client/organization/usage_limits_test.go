package organization

import (
	"encoding/json"
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

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// The requests for limits.
const (
	getLimits = "GET /api/v0/organization/usage/limits/users"
	putLimits = "PUT /api/v0/organization/usage/limits/users"
	getGlobal = "GET /api/v0/organization/usage/limits/global"
	putGlobal = "PUT /api/v0/organization/usage/limits/global"
)

const million = 1_000_000

// limited is a listing without a global limit; entries are "email limit".
func limited(entries ...string) string {
	return `200 {"globalLimit":null,"userLimits":[` + limitEntries(entries) + `]}`
}

// updated is the response to a request in which all entries succeeded.
func updated(entries ...string) string {
	return `200 {"updated":[` + limitEntries(entries) + `],"errors":[]}`
}

func limitEntries(entries []string) string {
	texts := make([]string, len(entries))
	for i, entry := range entries {
		email, limit, _ := strings.Cut(entry, " ")
		texts[i] = fmt.Sprintf(`{"email":%q,"limit":%s}`, email, limit)
	}
	return strings.Join(texts, ",")
}

// shownLimit formats a limit.
func shownLimit(limit *int64) string {
	if limit == nil {
		return "none"
	}
	return fmt.Sprint(*limit)
}

func shownLimits(l *UsageLimits) string {
	text := shownLimit(l.Global)
	for _, u := range l.Users {
		text += " " + u.Email + "=" + shownLimit(u.Limit)
	}
	return text
}

func TestUsageLimits_readsEveryForm(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"globalLimit":0,"userLimits":[{"email":"b@x","limit":9007199254740992}],"new":{}}`:                 "0 b@x=9007199254740992",
		`{"globalLimit":null,"userLimits":[{"email":"b@x","limit":1},{"email":"A@x","limit":null,"new":1}]}`: "none A@x=none b@x=1",
		`{"globalLimit":null,"userLimits":[{"email":"b@x","limit":null}]}`:                                   "none b@x=none",

		`{"globalLimit":1,"userLimits": null }`:                                         "",
		`{"globalLimit":null,"userLimits":[{"email":"a@x","limit":1},{"email":"b@x"}]}`: "",
		`{"globalLimit":"1","userLimits":[]}`:                                           "",
		`{"globalLimit":null,"userLimits":[{"email":"b@x","limit":"1"}]}`:               "",
		`{"globalLimit":null,"userLimits":[{"limit":1}]}`:                               "",
		`{"globalLimit":null,"users":[]}`:                                               "",
		`[{"email":"b@x","limit":1}]`:                                                   "",
	} {
		c, _, _ := area.ServeShort(t, clienttest.Responses(map[string]string{getLimits: "200 " + answer}))
		got, err := c.UsageLimits(t.Context())
		if (err == nil) != (want != "") || err == nil && shownLimits(got) != want {
			t.Errorf("%s: got %+v, %v", answer, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "getUserUsageLimits") {
			t.Errorf("%s: the error does not name the operation: %v", answer, err)
		}
	}
}

// Success is every 2xx of the service that does not deny the limit.
func TestSetAndRemoveUserUsageLimit(t *testing.T) {
	t.Parallel()
	const put, lookUp = putLimits, getLimits
	refusal := func(entry string) string { return `200 {"updated":[],"errors":[` + entry + `]}` }
	asked, looked, tried := []string{put}, []string{put, lookUp}, []string{put, put, put, put}
	isRefused, isAPI := clienttest.Is[*RefusedError], clienttest.Is[*transport.APIError]
	for name, tc := range map[string]struct {
		removes      bool
		answer, list string
		wantErr      func(error) bool
		says         string
		calls        []string
	}{
		"set":                     {answer: updated("a@x 1000000"), calls: asked},
		"set, others are refused": {answer: `200 {"updated":[{"email":"A@x","limit":1000000}],"errors":[{"email":"b@x","error":"no"}]}`, calls: asked},
		"set, 204":                {answer: "204 ", calls: asked},
		"set, nothing is said":    {answer: "200 {}", calls: asked},
		"set, no limit is said":   {answer: `200 {"updated":[{"email":"a@x"}]}`, calls: asked},
		"set, another form":       {answer: `200 {"updated":["a@x"]}`, calls: asked},
		"in neither list":         {answer: refusal(`{"email":"b@x","error":"no"}`), wantErr: isRefused, says: "a@x: the response has the address neither in updated nor in errors", calls: asked},
		"another limit":           {answer: updated("a@x 5"), wantErr: isRefused, says: "a@x: the response has the limit 5 instead of 1000000", calls: asked},
		"no limit":                {answer: updated("a@x null"), wantErr: isRefused, says: "a@x: the response has the limit null instead of 1000000", calls: asked},
		"a page":                  {answer: "200 <html>", wantErr: clienttest.Is[*transport.TransportError], says: "setUserUsageLimits", calls: tried},
		"refused":                 {answer: refusal(`{"email":"A@x","error":"is no member"}`), wantErr: isRefused, says: "refused for a@x: is no member", calls: asked},
		"400":                     {answer: `400 {"detail":"below the minimum"}`, wantErr: isAPI, says: "below the minimum", calls: asked},
		"lost":                    {answer: "drop", wantErr: clienttest.Is[*transport.TransportError], says: "setUserUsageLimits", calls: tried},

		"removed":                      {removes: true, answer: updated("A@x null"), calls: asked},
		"who has left":                 {removes: true, answer: refusal(`{"email":"A@x","error":"is no member"}`), list: limited("b@x 1"), calls: looked},
		"who has none":                 {removes: true, answer: refusal(`{"email":"a@x"}`), list: limited("A@x null"), calls: looked},
		"not removed":                  {removes: true, answer: updated("a@x 5"), list: limited("A@x 5"), wantErr: isRefused, says: "limit 5 instead of null", calls: looked},
		"removal refused":              {removes: true, answer: refusal(`{"email":"a@x","error":"locked"}`), list: limited("A@x 5"), wantErr: isRefused, says: "locked", calls: looked},
		"removal refused, and no list": {removes: true, answer: refusal(`{"email":"a@x","error":"locked"}`), list: `403 {"detail":"no"}`, wantErr: isRefused, says: "locked", calls: looked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{put: tc.answer, lookUp: tc.list}))
			var err error
			body := `{"users":[{"email":"a@x","limit":1000000}]}`
			if tc.removes {
				body = `{"users":[{"email":"a@x","limit":null}]}`
				err = c.RemoveUserUsageLimit(t.Context(), "a@x")
			} else {
				_, err = c.SetUserUsageLimit(t.Context(), "a@x", million)
			}
			if !clienttest.IsA(err, tc.wantErr) {
				t.Errorf("got %v", err)
			}
			clienttest.WantText(t, err, tc.says, "setUserUsageLimits")
			rec.Want(t, tc.calls...)
			check.Is(t, "sent", rec.Bodies[0], body)
		})
	}
}

// A renamed resource sets and removes the limit in any order.
func TestGlobalUsageLimit_aValueOutlivesARemoval(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{putGlobal: "204 "}))
	for _, limit := range []*int64{nil, new(int64(million)), nil} {
		check.Must(t, c.SetGlobalUsageLimit(t.Context(), limit))
	}
	check.Is(t, "sent", rec.Bodies, []string{`{"limit":null}`, `{"limit":1000000}`})
}

func TestSetGlobalUsageLimit_anAnswerThatDenies(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		limit        *int64
		answer, says string
	}{
		{new(int64(million)), `200 {"limit":1000000}`, ""},
		{new(int64(million)), "200 {}", ""},
		{new(int64(million)), `200 {"limit":null}`, "the field limit is null instead of 1000000"},
		{new(int64(million)), `200 {"limit":5}`, "the field limit is 5 instead of 1000000"},
		{nil, `200 {"limit":null}`, ""},
		{nil, `200 {"limit":5}`, "the field limit is 5 instead of null"},
	} {
		c, _, _ := area.ServeShort(t, clienttest.Responses(map[string]string{putGlobal: tc.answer}))
		err := c.SetGlobalUsageLimit(t.Context(), tc.limit)
		if (err != nil) != (tc.says != "") {
			t.Errorf("%s: got %v", tc.answer, err)
		}
		clienttest.WantText(t, err, tc.says, "setGlobalUsageLimit")
	}
}

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

// A value and a removal of one user's limit, which a renamed resource sends in any order, keep the value, but a failed value keeps nothing.
func TestUserUsageLimits_aValueOutlivesARemoval(t *testing.T) {
	const set, remove = "b@x=1000000", "B@x=null"
	for name, tc := range map[string]struct {
		valueAt, removalAt time.Duration
		faults             []string
		puts               []string
		fails              bool
		want               string
	}{
		"the value comes first":         {0, time.Millisecond, []string{"slow "}, []string{"0s " + set}, false, "1000000"},
		"the removal comes first":       {time.Millisecond, 0, []string{"slow "}, []string{"0s " + remove, "1s " + set}, false, "1000000"},
		"the value is refused":          {0, time.Millisecond, []string{`slow 403 {"detail":"no"}`}, []string{"0s " + set, "1s " + remove}, true, "null"},
		"the value is refused for this": {0, time.Millisecond, []string{`slow 200 {"errors":[{"email":"b@x"}]}`}, []string{"0s " + set, "1s " + remove}, true, "null"},
	} {
		t.Run(name, func(t *testing.T) {
			m := &manager{faults: tc.faults, limits: map[string]string{"b@x": "5"}}
			managed(t, m, func(t *testing.T, c *Client) {
				var both sync.WaitGroup
				both.Go(func() {
					_ = clock.System.Sleep(t.Context(), tc.valueAt)
					if _, err := c.SetUserUsageLimit(t.Context(), "b@x", million); (err != nil) != tc.fails {
						t.Errorf("the value gets %v", err)
					}
				})
				both.Go(func() {
					_ = clock.System.Sleep(t.Context(), tc.removalAt)
					if err := c.RemoveUserUsageLimit(t.Context(), "B@x"); err != nil {
						t.Errorf("the removal gets %v", err)
					}
				})
				both.Wait()
				if got := m.limits["b@x"]; got != tc.want || !slices.Equal(m.puts, tc.puts) {
					t.Errorf("sent %v, and the limit is %s", m.puts, got)
				}
			})
		})
	}
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
	one := func(limit int64) *int64 { return &limit }
	for name, tc := range map[string]struct {
		wanted map[string]*int64
		faults []string
		puts   []string
		failed map[string]string
		lists  int
		want   string
	}{
		"no member": {
			wanted: map[string]*int64{"Ada@x": one(million), "ben@x": one(million)},
			puts:   []string{"0s Ada@x=1000000 ben@x=1000000"},
			failed: map[string]string{"ben@x": "refused for ben@x: is no member"},
			want:   "ada@x 1000000,cleo@x 5",
		},
		"former members have no limit to remove": {
			wanted: map[string]*int64{"ada@x": nil, "ben@x": nil, "don@x": nil},
			puts:   []string{"0s ada@x=null ben@x=null don@x=null"},
			lists:  1,
			want:   "ada@x null,cleo@x 5",
		},
		"400 for all is followed by each": {
			wanted: map[string]*int64{"ada@x": one(million), "ben@x": nil, "cleo@x": one(1)},
			faults: []string{`400 {"detail":"some are too low"}`, "", "", `400 {"detail":"too low"}`},
			puts:   []string{"0s ada@x=1000000 ben@x=null cleo@x=1", "0s ada@x=1000000", "0s ben@x=null", "0s cleo@x=1"},
			failed: map[string]string{"cleo@x": "returned 400: too low"},
			lists:  1,
			want:   "ada@x 1000000,cleo@x 5",
		},
		"two spellings": {
			wanted: map[string]*int64{"Ada@x": nil, "ada@x": one(million)},
			puts:   []string{"0s Ada@x=null ada@x=1000000"},
			want:   "ada@x 1000000,cleo@x 5",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := &manager{faults: tc.faults, limits: map[string]string{"ada@x": "null", "cleo@x": "5"}}
			managed(t, m, func(t *testing.T, c *Client) {
				failed := c.SetUserUsageLimits(t.Context(), tc.wanted)
				for email, err := range failed {
					if want := tc.failed[email]; want == "" || !strings.Contains(err.Error(), want) {
						t.Errorf("%s: %v", email, err)
					}
				}
				if got := strings.Join(m.entries(), ","); len(failed) != len(tc.failed) || !slices.Equal(m.puts, tc.puts) || got != tc.want || m.lists != tc.lists {
					t.Errorf("%d failed, sent %v, %d listings, and the limits are %s", len(failed), m.puts, m.lists, got)
				}
			})
		})
	}
}
