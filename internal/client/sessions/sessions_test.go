package sessions

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest/areatest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
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
		text := answer(clienttest.Short(r), now.Sub(clienttest.Start))
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

func TestSession_isGoneIfTheServiceSaysSo(t *testing.T) {
	t.Parallel()
	const refused, broken = `403 {"detail":"no"}`, `501 {"detail":"no"}`
	gone := collection.IsGone
	status := func(code int) func(error) bool {
		return func(err error) bool {
			return transport.StatusOf(err) == code && !collection.IsGone(err)
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
		"another owner's":                          {list: sessionsPage(), all: sessionsPage(), one: refused, want: status(403)},
		"broken":                                   {list: sessionsPage(), all: sessionsPage(), one: broken, want: status(501)},
		"a page of another server":                 {list: sessionsPage(), all: sessionsPage(), one: "404 <html>", want: status(404)},
		"the listing is broken":                    {list: broken, want: status(501)},
		"the listing is refused":                   {list: refused, all: refused, one: here},
		"the computer is unknown":                  {list: `400 {"detail":"no"}`, all: sessionsPage(ses("s1", ""))},
		"the computer is gone, the session not":    {list: noSession, all: sessionsPage(ses("s0", "")), one: noSession, anywhere: here},
		"both are gone":                            {list: noSession, all: sessionsPage(ses("s0", "")), one: noSession, anywhere: noSession, want: gone},
		"both are gone, and nothing is listed":     {list: noSession, all: refused, one: noSession, anywhere: noSession, want: gone},
		"the computer is gone, the rest is broken": {list: noSession, all: broken, want: status(501)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answers := map[string]string{listSeven: tc.list, listAll: tc.all, getOne: tc.one, getAny: tc.anywhere}
			c, rec, clk := serveSessions(t, func(call string, _ time.Duration) string { return answers[call] })
			found, err := c.Get(t.Context(), "s1", "7", clienttest.Start.Add(-time.Hour))
			if !clienttest.IsA(err, tc.want) || err == nil && found.ID != "s1" {
				t.Errorf("got %+v, %v", found, err)
			}
			check.None(t, "pauses", clk.Sleeps())
			var calls []string
			for _, call := range []string{listSeven, listAll, getOne, getAny} {
				if answers[call] != "" {
					calls = append(calls, call)
				}
			}
			rec.Want(t, calls...)
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
		"on no computer, and listed":     {alone: onNone, all: sessionsPage(whole), isWhole: true, isFound: true},
		"on one that is gone, and empty": {alone: bare, list: sessionsPage(), all: sessionsPage(whole), isWhole: true, isFound: true},
		"not there at first":             {alone: bare, aloneAt: 2 * time.Second, list: sessionsPage(whole), isWhole: true, isFound: true, waited: 2 * time.Second},
		"the listing is refused":         {alone: bare, list: `403 {"detail":"no"}`, all: `403 {"detail":"no"}`, isFound: true},
		"the listing is broken":          {alone: bare, list: `501 {"detail":"no"}`, status: 501},
		"refused":                        {alone: `403 {"detail":"no"}`, status: 403},
		"no such session":                {aloneAt: time.Hour, all: sessionsPage(), isGone: true, status: 404, waited: notFoundPatience},
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
			found, err := c.GetNow(t.Context(), "s1", tc.computer)
			if (err == nil) != tc.isFound || transport.StatusOf(err) != tc.status || collection.IsGone(err) != tc.isGone {
				t.Errorf("got %v", err)
			}
			if err == nil && (found.ID != "s1" || (found.Settings != nil && found.Settings.Model != nil) != tc.isWhole) {
				t.Errorf("got %+v", found)
			}
			check.Is(t, "waited", clk.Now().Sub(clienttest.Start), tc.waited)
		})
	}
}

// settingsOf returns settings with a value in one field.
func settingsOf(t *testing.T, field, value string) *Settings {
	t.Helper()
	settings := &Settings{}
	check.Must(t, json.Unmarshal([]byte(`{"`+field+`":`+value+`}`), settings))
	return settings
}

func jsonOf(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	check.Must(t, err)
	return string(text)
}

// settingValues has two different values of each setting, and the first one in another form.
var settingValues = map[string]struct{ one, other, same string }{
	"model":                           {`"a"`, `"b"`, `"a"`},
	"reasoningEffort":                 {`"low"`, `"high"`, `"low"`},
	"interactionMode":                 {`"agi"`, `"spec"`, `"mission"`},
	"autonomyLevel":                   {`"low"`, `"high"`, `"low"`},
	"autonomyMode":                    {`"auto-low"`, `"auto-high"`, `"auto-low"`},
	"specModeModel":                   {`"a"`, `"b"`, `"a"`},
	"specModeReasoningEffort":         {`"low"`, `"high"`, `"low"`},
	"providerLock":                    {`"a"`, `"b"`, `"a"`},
	"providerLockTimestamp":           {`"2026-03-01T00:00:00Z"`, `"2026-03-01T00:00:01Z"`, `"2026-03-01T01:00:00.000+01:00"`},
	"apiProviderLock":                 {`"a"`, `"b"`, `"a"`},
	"archivedAt":                      {`"2026-03-01T00:00:00Z"`, `"2026-03-02T00:00:00Z"`, `"2026-03-01T00:00:00.000Z"`},
	"tags":                            {`[{"name":"a","metadata":{"k":"v"}},{"name":"b"}]`, `[{"name":"a","metadata":{"k":"w"}},{"name":"b"}]`, `[{"name":"b","metadata":{}},{"name":"a","metadata":{"k":"v"}}]`},
	"worktree":                        {`{"repoRoot":"/r","branch":"a"}`, `{"repoRoot":"/r","branch":"b"}`, `{"repoRoot":"/r","branch":"a","path":"/p"}`},
	"setupProfileId":                  {`"a"`, `"b"`, `"a"`},
	"enabledToolIds":                  {`["x","y"]`, `["x"]`, `["y","x"]`},
	"disabledToolIds":                 {`["x","y"]`, `[]`, `["y","x","y"]`},
	"restrictToolIds":                 {`[]`, `["x"]`, `[]`},
	"compactionModel":                 {`"current-model"`, `"custom:b"`, `"current-model"`},
	"compactionThresholdCheckEnabled": {`false`, `true`, `false`},
	"toolExecutionMode":               {`"direct_only"`, `"script_only"`, `"direct_only"`},
	"allowSubagentsInScripts":         {`true`, `false`, `true`},
}

// Every setting must be in the table, so that the tests compare, count, and keep it.
func TestSessionSettings_everyFieldIsInTheTable(t *testing.T) {
	t.Parallel()
	var fields []string
	for field := range reflect.TypeFor[Settings]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		fields = append(fields, name)
	}
	slices.Sort(fields)
	check.Is(t, "fields of the settings, and of the table", fields, slices.Sorted(maps.Keys(settingValues)))
}

func TestSessionSettings_eachField(t *testing.T) {
	t.Parallel()
	for field, tc := range settingValues {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			none, one, other, same := &Settings{}, settingsOf(t, field, tc.one), settingsOf(t, field, tc.other), settingsOf(t, field, tc.same)
			if one.IsEmpty() || len(one.fields()) != 1 || !none.IsEmpty() || jsonOf(t, none) != "{}" {
				t.Errorf("%s is empty, or %d settings", jsonOf(t, one), len(one.fields()))
			}
			check.Is(t, "sent", jsonOf(t, one), `{"`+field+`":`+tc.one+`}`)
			isCreateOnly := field == "toolExecutionMode" || field == "allowSubagentsInScripts"
			for name, c := range map[string]struct {
				wanted, prior *Settings
				isChange      bool
			}{
				"new":                 {one, none, true},
				"new, nothing known":  {one, nil, true},
				"other":               {other, one, true},
				"the same":            {one, one, false},
				"the same once more":  {one, same, false},
				"not set any more":    {none, one, false},
				"an equal older form": {one, settingsOf(t, field, tc.one), false},
			} {
				changes := c.wanted.Changes(c.prior)
				if changes.IsEmpty() == (c.isChange && !isCreateOnly) || c.isChange && !isCreateOnly && jsonOf(t, changes) != jsonOf(t, c.wanted) {
					t.Errorf("%s: the changes are %s", name, jsonOf(t, changes))
				}
			}
			for name, h := range map[string]struct {
				wanted, there *Settings
				want          bool
			}{
				"itself":             {one, one, true},
				"another form":       {one, same, true},
				"other":              {one, other, false},
				"the other way":      {other, one, false},
				"nothing is said":    {one, nil, false},
				"nothing is wanted":  {nil, one, true},
				"nothing of it":      {none, one, true},
				"nothing by nothing": {nil, nil, true},
				"not told":           {one, none, tc.one == "[]"}, // An empty list equals none.
			} {
				check.Is(t, name+": "+jsonOf(t, h.wanted)+" holds in "+jsonOf(t, h.there), h.wanted.HoldsIn(h.there), h.want)
			}
			unset := none
			if isCreateOnly {
				unset = one
			}
			for name, k := range map[string]struct{ answer, known, want *Settings }{
				"nothing is said":      {nil, one, one},
				"it is unset":          {none, one, unset},
				"nothing is known":     {one, nil, one},
				"it is not known":      {one, none, one},
				"neither":              {nil, nil, nil},
				"told as it was":       {one, one, one},
				"told in another form": {same, one, one},
				"told otherwise":       {other, one, other},
			} {
				if field == "worktree" && name == "told in another form" {
					continue // It implies other settings; see below.
				}
				before := jsonOf(t, []any{k.answer, k.known})
				check.Is(t, name, jsonOf(t, k.answer.Keeping(k.known)), jsonOf(t, k.want))
				check.Is(t, name+": what was given is changed", jsonOf(t, []any{k.answer, k.known}), before)
			}
		})
	}
}

// An empty list equals none, except if it restricts the tools.
func TestSessionSettings_keepsEmptyLists(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ answer, known, want string }{
		{`{"tags":[],"enabledToolIds":[]}`, `{}`, `{"tags":[],"enabledToolIds":[]}`},
		{`{"tags":null,"enabledToolIds":null}`, `{}`, `{}`},
		{`{}`, `{"tags":[],"enabledToolIds":[],"disabledToolIds":[],"restrictToolIds":[]}`, `{"tags":[],"enabledToolIds":[],"disabledToolIds":[]}`},
	} {
		var answer, known Settings
		if json.Unmarshal([]byte(tc.answer), &answer) != nil || json.Unmarshal([]byte(tc.known), &known) != nil {
			t.Fatal(tc)
		}
		check.Is(t, tc.answer+": kept", jsonOf(t, answer.Keeping(&known)), tc.want)
	}
}

func TestSameText(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		a, b string
		want bool
	}{
		{"agi", "mission", true}, {"mission", "agi", true}, {"agi", "agi", true}, {"agi", "auto", false}, {"auto", "mission", false}, {"a", "A", false},
		{"2026-03-01T00:00:00Z", "2026-03-01T00:00:00+00:00", true}, {"2026-03-01T00:00:00Z", "2026-03-01T00:00:00.001Z", false}, {"2026-03-01T00:00:00Z", "soon", false}, {"", "", true},
	} {
		check.Is(t, tc.a+" and "+tc.b+" are the same", sameText(tc.a, tc.b), tc.want)
	}
}
