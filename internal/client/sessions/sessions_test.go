package sessions

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest/areatest"
)

var area = areatest.New[*Client](New)

// serveSessions handles requests such as "GET /s1?computerId=7" and "GET ?computerId=7&limit=100", by the time since the
// start. The service and the client share a clock.
func serveSessions(t *testing.T, answer func(call string, at time.Duration) string) (*Client, *clienttest.Recorder, *clock.Fake) {
	t.Helper()
	var mu sync.Mutex
	var clk *clock.Fake
	mu.Lock()
	defer mu.Unlock()
	c, rec, fake := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		mu.Lock()
		now := clk.Now()
		text := answer(clienttest.CallOf(r), now.Sub(clienttest.Start))
		mu.Unlock()
		if w.Header().Set("Date", now.UTC().Format(http.TimeFormat)); strings.HasPrefix(text, "timeless ") {
			w.Header()["Date"] = nil
		}
		clienttest.Say(w, strings.TrimPrefix(text, "timeless "))
	})
	clk = fake
	return c, rec, fake
}

// ses is the JSON of a session; more starts with a comma.
func ses(id, more string) string {
	return fmt.Sprintf(`{"sessionId":%q,"status":"idle","messageCount":0,"createdAt":%d,"updatedAt":%d,"computerId":"7"%s}`, id, clienttest.Start.UnixMilli(), clienttest.Start.UnixMilli(), more)
}

func sessionsPage(sessions ...string) string { return clienttest.PageOf("sessions", "", sessions) }

const (
	listSeven = "GET ?computerId=7&limit=100"
	listAll   = "GET ?limit=100"
	getOne    = "GET /s1?computerId=7"
	getAny    = "GET /s1"
	noSession = `404 {"detail":"no such session"}`
)

func TestSessionRequests(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		send       func(ctx context.Context, c *Client) error
		call, body string
	}{
		"update": {func(ctx context.Context, c *Client) error {
			_, err := c.Update(ctx, "s 1/..", "7", time.Time{}, &Settings{Model: new("m"), DisabledToolIDs: []string{}})
			return err
		}, "PATCH /s%201%2F..", `{"sessionSettings":{"model":"m","disabledToolIds":[]}}`},
		"update of nothing": {func(ctx context.Context, c *Client) error {
			_, err := c.Update(ctx, "s 1/..", "7", time.Time{}, &Settings{})
			return err
		}, "PATCH /s%201%2F..", `{"sessionSettings":{}}`},
		"delete":              {func(ctx context.Context, c *Client) error { return c.Delete(ctx, "s 1/..", "7 8", time.Time{}) }, "DELETE /s%201%2F..?computerId=7+8", ""},
		"delete, no computer": {func(ctx context.Context, c *Client) error { return c.Delete(ctx, "s1", "", time.Time{}) }, "DELETE /s1", ""},
		"interrupt":           {func(ctx context.Context, c *Client) error { _, err := c.Interrupt(ctx, "s1"); return err }, "POST /s1/interrupt", ""},
		"read alone": {func(ctx context.Context, c *Client) error {
			_, err := c.GetUncached(ctx, "s 1/..", "7")
			return err
		}, "GET /s%201%2F..?computerId=7", ""},
		"read alone, no computer": {func(ctx context.Context, c *Client) error {
			_, err := c.GetUncached(ctx, "s 1/..", "")
			return err
		}, "GET /s%201%2F..", ""},
		"list":                        {func(ctx context.Context, c *Client) error { _, err := c.List(ctx, "7&limit=1", 0); return err }, "GET ?computerId=7%26limit%3D1&limit=100", ""},
		"list a few":                  {func(ctx context.Context, c *Client) error { _, err := c.List(ctx, "", 5); return err }, "GET ?limit=5", ""},
		"list a few of a computer":    {func(ctx context.Context, c *Client) error { _, err := c.List(ctx, "?", 99); return err }, "GET ?computerId=%3F&limit=99", ""},
		"list more than a page holds": {func(ctx context.Context, c *Client) error { _, err := c.List(ctx, "7", 101); return err }, listSeven, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serveSessions(t, func(call string, _ time.Duration) string {
				switch {
				case strings.HasPrefix(call, "GET ?"):
					return sessionsPage()
				case strings.HasPrefix(call, "DELETE "):
					return "204 "
				case strings.HasSuffix(call, "/interrupt"):
					return `200 {"status":"idle"}`
				case strings.Contains(call, "/s1"):
					return "200 " + ses("s1", "")
				}
				return "200 " + ses("s 1/..", "")
			})
			clienttest.Must(t, tc.send(t.Context(), c))
			if clienttest.WantCalls(t, rec, tc.call); rec.Bodies[0] != tc.body {
				t.Errorf("sent %s, want %s", rec.Bodies[0], tc.body)
			}
		})
	}
}

func TestSessions_readsEveryForm(t *testing.T) {
	t.Parallel()
	full := `{"sessionId":"s1","parent_session_id":"s0","title":"Hello","status":"running","messageCount":3,"createdAt":1772323200000.5,"updatedAt":"2026-03-01T00:01:00Z","completedAt":1772323320000,
		"computerId":"7","serviceCredits":1.5,"artifacts":[{"id":"a"}],"new":{},"sessionSettings":{"model":"m","new":[],"tags":[{"name":"a","metadata":{"level":3,"on":true,"none":null,"list":["x", 1]}}],
		"worktree":{"repoRoot":"/r","new":1},"enabledToolIds":["x"],"compactionThresholdCheckEnabled":false,"interactionMode":"dream"}}`
	for name, answer := range map[string]string{"bare": full, "wrapped": `{"session":` + full + `}`, "listed": `{"sessions":[` + full + `],"pagination":{"hasMore":false,"nextCursor":null},"new":1}`, "a bare list": `[` + full + `]`} {
		c, _, _ := serveSessions(t, func(string, time.Duration) string { return "200 " + answer })
		got := &Session{}
		var err error
		if strings.Contains(name, "list") {
			var all []Session
			if all, err = c.List(t.Context(), "7", 0); len(all) == 1 {
				got = &all[0]
			}
		} else {
			got, err = c.GetUncached(t.Context(), "s1", "")
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got.ID != "s1" || got.ParentSessionID != "s0" || got.Title != "Hello" || got.Status != "running" || got.MessageCount != 3 || !got.CreatedAt.Time().Equal(clienttest.Start) ||
			!got.UpdatedAt.Time().Equal(clienttest.Start.Add(time.Minute)) || !got.CompletedAt.Time().Equal(clienttest.Start.Add(2*time.Minute)) || got.ComputerID != "7" || *got.ServiceCredits != 1.5 {
			t.Errorf("%s: got %+v", name, got)
		}
		s := got.Settings
		if want := (wire.Metadata{"level": "3", "on": "true", "none": "null", "list": `["x",1]`}); len(s.Tags) != 1 || !maps.Equal(s.Tags[0].Metadata, want) {
			t.Errorf("%s: the tags are %v", name, s.Tags)
		}
		if *s.InteractionMode != "dream" || s.Worktree.RepoRoot != "/r" || s.AutonomyLevel != nil || s.DisabledToolIDs != nil || *s.CompactionThresholdCheckEnabled {
			t.Errorf("%s: the settings are %+v", name, s)
		}
	}
	for name, tc := range map[string]struct{ answer, fails string }{
		"the least":             {answer: `{"sessionId":"s1","status":"asleep"}`},
		"nulls":                 {answer: `{"sessionId":"s1","status":"idle","title":null,"parent_session_id":null,"createdAt":null,"computerId":null,"sessionSettings":null,"serviceCredits":null,"completedAt":null}`},
		"null settings":         {answer: ses("s1", `,"sessionSettings":{"tags":null,"worktree":null,"enabledToolIds":null,"model":null,"compactionThresholdCheckEnabled":null}`)},
		"a tag without a map":   {answer: ses("s1", `,"sessionSettings":{"tags":[{"name":"a","metadata":null},{"name":"b"}]}`)},
		"no ID":                 {answer: `{"status":"idle"}`, fails: "has no ID"},
		"no status":             {answer: `{"sessionId":"s1"}`, fails: "the field status is missing"},
		"another one":           {answer: ses("s2", ""), fails: "contains s2 instead of s1"},
		"another spelling":      {answer: ses("S1", "")},
		"settings of no kind":   {answer: ses("s1", `,"sessionSettings":"x"`), fails: "unexpected response"},
		"no object":             {answer: `[]`, fails: "unexpected response"},
		"a page":                {answer: `<html>`, fails: "is not JSON"},
		"a count with a letter": {answer: `{"sessionId":"s1","status":"idle","messageCount":"3"}`, fails: "unexpected response"},
	} {
		c, _, _ := serveSessions(t, func(string, time.Duration) string { return "200 " + tc.answer })
		got, err := c.GetUncached(t.Context(), "s1", "")
		if (err == nil) != (tc.fails == "") || err != nil && (!strings.Contains(err.Error(), tc.fails) || !strings.Contains(err.Error(), "getSession")) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		if err == nil && (got.Settings == nil && strings.Contains(name, "settings") || !got.Settings.IsEmpty() && got.Settings.Tags == nil) {
			t.Errorf("%s: the settings are %+v", name, got.Settings)
		}
	}
}

// library is a listing of so many sessions, starting with s0, on pages of the requested size.
func library(n int) func(call string, _ time.Duration) string {
	return func(call string, _ time.Duration) string {
		if !strings.HasPrefix(call, "GET ?") {
			id, _, _ := strings.Cut(strings.TrimPrefix(call, "GET /"), "?")
			if number, err := strconv.Atoi(id[1:]); err == nil && number < n {
				return "200 " + ses(id, "")
			}
			return noSession
		}
		from := 0
		if _, cursor, ok := strings.Cut(call, "cursor="); ok {
			from, _ = strconv.Atoi(strings.TrimSuffix(cursor, "&limit=100"))
		}
		var sessions []string
		for i := from; i < min(n, from+100); i++ {
			sessions = append(sessions, ses(fmt.Sprint("s", i), `,"sessionSettings":{}`))
		}
		next := ""
		if from+100 < n {
			next = strconv.Itoa(from + 100)
		}
		return clienttest.PageOf("sessions", next, sessions)
	}
}

func TestSession_readsShareAListingOfTheComputer(t *testing.T) {
	t.Parallel()
	c, rec, clk := serveSessions(t, library(150))
	readAll := func() {
		t.Helper()
		var readers sync.WaitGroup
		for i := range 150 {
			readers.Go(func() {
				if found, err := c.Get(t.Context(), fmt.Sprint("s", i), "7", clienttest.Start); err != nil || found.ID != fmt.Sprint("s", i) || found.Settings == nil {
					t.Errorf("%d: got %+v, %v", i, found, err)
				}
			})
		}
		readers.Wait()
	}
	const second = "GET ?computerId=7&cursor=100&limit=100"
	readAll()
	clienttest.WantCalls(t, rec, listSeven, second)
	clk.Advance(collection.SharedLifetime)
	readAll()
	if _, err := c.Get(t.Context(), "s1", "8", clienttest.Start); err != nil {
		t.Error(err)
	}
	clienttest.WantCalls(t, rec, listSeven, second, listSeven, second, "GET ?computerId=8&limit=100", "GET ?computerId=8&cursor=100&limit=100")
}

// The listing for reads ends at 1,000 sessions; further ones are read alone.
func TestSession_beyondTheListing(t *testing.T) {
	t.Parallel()
	c, rec, _ := serveSessions(t, library(1250))
	for id, wantSettings := range map[string]bool{"s999": true, "s1000": false, "s1249": false} {
		if found, err := c.Get(t.Context(), id, "7", clienttest.Start.Add(-time.Hour)); err != nil || found.ID != id || (found.Settings != nil) != wantSettings {
			t.Errorf("%s: got %+v, %v", id, found, err)
		}
	}
	rec.WantCount(t, http.MethodGet, 10+2)
	for range 2 {
		if _, err := c.Get(t.Context(), "s1250", "7", clienttest.Start.Add(-time.Hour)); !collection.IsGone(err) {
			t.Errorf("got %v", err)
		}
	}
	rec.WantCount(t, http.MethodGet, 10+2+2*2)
}

func TestSession_isGoneWhereAListingLacksItToo(t *testing.T) {
	t.Parallel()
	const refused, broken = `403 {"detail":"no"}`, `501 {"detail":"no"}`
	gone, unproven := collection.IsGone, clienttest.Is[*collection.UnprovenGoneError]
	status := func(code int) func(error) bool {
		return func(err error) bool {
			return transport.StatusOf(err) == code && !collection.IsGone(err) && !unproven(err)
		}
	}
	here, elsewhere := "200 "+ses("s1", ""), "200 "+strings.Replace(ses("s1", ""), `,"computerId":"7"`, "", 1)
	for name, tc := range map[string]struct {
		// The responses to the listings of the computer and of all computers, and to the reads with and without the computer;
		// "" is not requested.
		list, all, one, anywhere string
		want                     func(error) bool
	}{
		"listed":                                   {list: sessionsPage(ses("s0", ""), ses("s1", ""))},
		"not listed, but there":                    {list: sessionsPage(ses("s0", "")), one: here},
		"not listed, but elsewhere":                {list: sessionsPage(ses("s0", "")), one: noSession, anywhere: elsewhere},
		"neither":                                  {list: sessionsPage(ses("s0", "")), one: noSession, anywhere: noSession, want: gone},
		"neither, and all is refused":              {list: sessionsPage(), all: refused, one: noSession, anywhere: noSession, want: gone},
		"neither, nor another":                     {list: sessionsPage(), all: sessionsPage(), one: noSession, anywhere: noSession, want: gone},
		"another owner's":                          {list: sessionsPage(), all: sessionsPage(), one: refused, want: status(403)},
		"another owner's, elsewhere":               {list: sessionsPage(), all: sessionsPage(), one: noSession, anywhere: refused, want: status(403)},
		"broken":                                   {list: sessionsPage(), all: sessionsPage(), one: broken, want: status(501)},
		"a page of another server":                 {list: sessionsPage(), all: sessionsPage(), one: "404 <html>", want: status(404)},
		"the listing is broken":                    {list: broken, want: status(501)},
		"the listing is refused":                   {list: refused, all: refused, one: here},
		"all is refused":                           {list: refused, all: refused, one: refused, want: status(403)},
		"not there, and the listing is refused":    {list: refused, all: refused, one: noSession, anywhere: noSession, want: unproven},
		"not there, and the listing is no good":    {list: `400 {"detail":"no"}`, all: `400 {"detail":"no"}`, one: noSession, anywhere: noSession, want: unproven},
		"the computer is unknown":                  {list: `400 {"detail":"no"}`, all: sessionsPage(ses("s1", ""))},
		"the computer is gone, the session not":    {list: noSession, all: sessionsPage(ses("s0", "")), one: noSession, anywhere: here},
		"the computer is gone, and it is listed":   {list: noSession, all: sessionsPage(ses("s0", ""), ses("s1", ""))},
		"both are gone":                            {list: noSession, all: sessionsPage(ses("s0", "")), one: noSession, anywhere: noSession, want: gone},
		"both are gone, and there is no other":     {list: noSession, all: sessionsPage(), one: noSession, anywhere: noSession, want: gone},
		"the computer is gone, nothing is listed":  {list: noSession, all: refused, one: noSession, anywhere: here},
		"both are gone, and nothing is listed":     {list: noSession, all: refused, one: noSession, anywhere: noSession, want: unproven},
		"the computer is gone, the rest is broken": {list: noSession, all: broken, want: status(501)},
		"no service at all":                        {list: "404 <html>", one: "404 <html>", want: status(404)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := map[string]string{listSeven: tc.list, listAll: tc.all, getOne: tc.one, getAny: tc.anywhere}
			c, rec, clk := serveSessions(t, func(call string, _ time.Duration) string { return answers[call] })
			found, err := c.Get(t.Context(), "s1", "7", clienttest.Start.Add(-time.Hour))
			if !clienttest.IsA(err, tc.want) || err == nil && found.ID != "s1" {
				t.Errorf("got %+v, %v", found, err)
			}
			if len(clk.Sleeps()) > 0 {
				t.Errorf("waited %v", clk.Sleeps())
			}
			var calls []string
			for _, call := range []string{listSeven, listAll, getOne, getAny} {
				if answers[call] != "" {
					calls = append(calls, call)
				}
			}
			clienttest.WantCalls(t, rec, calls...)
		})
	}
}

// If the computer is gone, its sessions are in the listing of all computers.
func TestSession_readsShareAListingWhereTheComputerIsGone(t *testing.T) {
	t.Parallel()
	c, rec, _ := serveSessions(t, func(call string, _ time.Duration) string {
		switch call {
		case listSeven:
			return noSession
		case listAll:
			return sessionsPage(ses("s0", ""), ses("s1", ""), ses("s2", ""))
		case "DELETE /s1?computerId=7":
			return noSession
		}
		return "204 "
	})
	var readers sync.WaitGroup
	for i := range 3 {
		readers.Go(func() {
			if found, err := c.Get(t.Context(), fmt.Sprint("s", i), "7", clienttest.Start); err != nil || found.ID != fmt.Sprint("s", i) {
				t.Errorf("%d: got %+v, %v", i, found, err)
			}
		})
	}
	readers.Wait()
	if err := c.Delete(t.Context(), "s1", "7", clienttest.Start); err != nil {
		t.Error(err)
	}
	clienttest.WantCalls(t, rec, listSeven, listAll, "DELETE /s1?computerId=7", "DELETE /s1")
}

// A plan does not wait for a new session, which may be neither listed nor found at first.
func TestSession_aYoungOneIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	gone, early := collection.IsGone, clienttest.Is[*collection.NotYetVisibleError]
	for name, tc := range map[string]struct {
		list, one string
		age       time.Duration
		timeless  string
		want      func(error) bool
		calls     []string
	}{
		"listed":                         {list: sessionsPage(ses("s1", "")), calls: []string{listSeven}},
		"found":                          {list: sessionsPage(), one: "200 " + ses("s1", ""), calls: []string{listSeven, listAll, getOne}},
		"neither":                        {list: sessionsPage(), one: noSession, want: early, calls: []string{listSeven, listAll, getOne}},
		"young by a clock ahead by 90 s": {list: sessionsPage(), one: noSession, age: 90 * time.Second, want: early, calls: []string{listSeven, listAll, getOne}},
		"nearly too old":                 {list: sessionsPage(), one: noSession, age: youngFor - time.Second, want: early, calls: []string{listSeven, listAll, getOne}},
		"too old":                        {list: sessionsPage(), one: noSession, age: youngFor, want: gone, calls: []string{listSeven, listAll, getOne, getAny}},
		"no word of the time":            {list: sessionsPage(), one: noSession, timeless: "timeless ", want: early, calls: []string{listSeven, listAll, getOne}},
		"no word of the time, not young": {list: sessionsPage(), one: noSession, age: youngFor, timeless: "timeless ", want: gone, calls: []string{listSeven, listAll, getOne, getAny}},
		"refused":                        {list: sessionsPage(), one: `403 {"detail":"no"}`, want: clienttest.Is[*transport.APIError], calls: []string{listSeven, listAll, getOne}},
		"a page of another server":       {list: sessionsPage(), one: "404 <html>", want: transport.IsForeign, calls: []string{listSeven, listAll, getOne}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, clk := serveSessions(t, func(call string, _ time.Duration) string {
				switch call {
				case listSeven:
					return tc.timeless + tc.list
				case getOne:
					return tc.timeless + tc.one
				}
				return tc.timeless + noSession
			})
			createdAt := clienttest.Start.Add(-tc.age)
			found, err := c.Get(t.Context(), "s1", "7", createdAt)
			if !clienttest.IsA(err, tc.want) || err == nil && found.ID != "s1" || clienttest.Is[*collection.NotYetVisibleError](err) && collection.IsGone(err) {
				t.Errorf("got %+v, %v", found, err)
			}
			if len(clk.Sleeps()) > 0 {
				t.Errorf("waited %v", clk.Sleeps())
			}
			clienttest.WantCalls(t, rec, tc.calls...)
		})
	}
}

func TestSessionWithSettings(t *testing.T) {
	t.Parallel()
	const withSettings = `,"sessionSettings":{"model":"m"}`
	bare, whole := ses("s1", ""), ses("s1", withSettings)
	onNone := strings.Replace(bare, `,"computerId":"7"`, "", 1)
	for name, tc := range map[string]struct {
		computer string
		alone    string
		aloneAt  time.Duration // When a single read starts to find it.
		list     string
		all      string
		isWhole  bool
		isFound  bool
		isGone   bool
		status   int
		waited   time.Duration
	}{
		"told whole":                     {alone: whole, isWhole: true, isFound: true},
		"settings in the listing":        {alone: bare, list: sessionsPage(whole), isWhole: true, isFound: true},
		"the computer is given":          {computer: "7", alone: onNone, list: sessionsPage(whole), isWhole: true, isFound: true},
		"on no computer":                 {alone: onNone, all: sessionsPage(onNone), isFound: true},
		"on no computer, and listed":     {alone: onNone, all: sessionsPage(whole), isWhole: true, isFound: true},
		"on no computer, not listed":     {alone: onNone, all: sessionsPage(), isFound: true},
		"on one that is gone":            {alone: bare, list: noSession, all: sessionsPage(whole), isWhole: true, isFound: true},
		"on one that is gone, and empty": {alone: bare, list: sessionsPage(), all: sessionsPage(whole), isWhole: true, isFound: true},
		"on another owner's":             {alone: bare, list: noSession, all: sessionsPage(), isFound: true},
		"listed without settings":        {alone: bare, list: sessionsPage(bare), isFound: true},
		"not there at first":             {alone: bare, aloneAt: 2 * time.Second, list: sessionsPage(whole), isWhole: true, isFound: true, waited: 2 * time.Second},
		"not listed":                     {alone: bare, list: sessionsPage(), all: sessionsPage(), isFound: true},
		"the listing is refused":         {alone: bare, list: `403 {"detail":"no"}`, all: `403 {"detail":"no"}`, isFound: true},
		"the listing is broken":          {alone: bare, list: `501 {"detail":"no"}`, status: 501},
		"refused":                        {alone: `403 {"detail":"no"}`, status: 403},
		"no such session":                {aloneAt: time.Hour, all: sessionsPage(), isGone: true, status: 404, waited: notFoundPatience},
		"no such session on a computer":  {computer: "7", aloneAt: time.Hour, list: sessionsPage(), all: sessionsPage(), isGone: true, status: 404, waited: notFoundPatience},
		"nor the computer":               {computer: "7", aloneAt: time.Hour, list: noSession, all: sessionsPage(), isGone: true, status: 404, waited: notFoundPatience},
		"not there, but listed":          {computer: "7", aloneAt: time.Hour, list: sessionsPage(whole), status: 404, waited: notFoundPatience},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, clk := serveSessions(t, func(call string, at time.Duration) string {
				switch {
				case call == listSeven:
					return tc.list
				case call == listAll:
					return tc.all
				case at < tc.aloneAt:
					return noSession
				case strings.HasPrefix(tc.alone, "403"):
					return tc.alone
				}
				return "200 " + tc.alone
			})
			found, err := c.Get(t.Context(), "s1", tc.computer, time.Time{})
			if (err == nil) != tc.isFound || transport.StatusOf(err) != tc.status || collection.IsGone(err) != tc.isGone || err == nil && (found.ID != "s1" || (found.Settings != nil && found.Settings.Model != nil) != tc.isWhole) {
				t.Errorf("got %+v, %v", found, err)
			}
			if waited := clk.Now().Sub(clienttest.Start); waited != tc.waited {
				t.Errorf("waited %v, want %v", waited, tc.waited)
			}
		})
	}
}

// The service accepts an ID in any case, and lists it in its own.
func TestSessionWithSettings_caseOfTheID(t *testing.T) {
	t.Parallel()
	c, _, _ := serveSessions(t, func(call string, _ time.Duration) string {
		switch call {
		case "GET /S1":
			return "200 " + ses("s1", "")
		case listSeven:
			return sessionsPage(ses("s1", `,"sessionSettings":{"model":"m"}`))
		}
		return noSession
	})
	found, err := c.Get(t.Context(), "S1", "", time.Time{})
	if err != nil || found.ID != "s1" || found.Settings == nil {
		t.Errorf("got %+v, %v", found, err)
	}
}
