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
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// Requests for limits, as short writes them.
const (
	getLimits = "GET /api/v0/organization/usage/limits/users"
	putLimits = "PUT /api/v0/organization/usage/limits/users"
	getGlobal = "GET /api/v0/organization/usage/limits/global"
	putGlobal = "PUT /api/v0/organization/usage/limits/global"
)

const (
	million = 1_000_000
	// largest is the largest whole number that every JSON reader keeps.
	largest = 1 << 53
)

// limited is a listing without a global limit; entries are "email limit".
func limited(entries ...string) string {
	return `200 {"globalLimit":null,"userLimits":[` + limitEntries(entries) + `]}`
}

// updated is the answer to a request all of whose entries were carried out.
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

// shownLimit writes a limit as text.
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
		`{"globalLimit":null,"userLimits":[]}`:                                                               "none",
		`{"globalLimit":2000000,"userLimits":[]}`:                                                            "2000000",
		`{"globalLimit":0,"userLimits":[{"email":"b@x","limit":9007199254740992}],"new":{}}`:                 "0 b@x=9007199254740992",
		`{"globalLimit":null,"userLimits":[{"email":"b@x","limit":1},{"email":"A@x","limit":null,"new":1}]}`: "none A@x=none b@x=1",
		`{"globalLimit":null,"userLimits":[{"email":"b@x","limit":null}]}`:                                   "none b@x=none",
		`{"globalLimit":null,"userLimits":[{"email":"a@x","limit":2},{"email":"A@x","limit":1}]}`:            "none A@x=1 a@x=2",

		`{"userLimits":[]}`:                                                             "",
		`{"globalLimit":1,"userLimits":null}`:                                           "",
		`{"globalLimit":1,"userLimits": null }`:                                         "",
		`{"globalLimit":null,"userLimits":[{"email":"b@x"}]}`:                           "",
		`{"globalLimit":null,"userLimits":[{"email":"a@x","limit":1},{"email":"b@x"}]}`: "",
		`{"globalLimit":1}`:                                                             "",
		`{"globalLimit":1,"userLimits":{}}`:                                             "",
		`{"globalLimit":"1","userLimits":[]}`:                                           "",
		`{"globalLimit":1.5,"userLimits":[]}`:                                           "",
		`{"globalLimit":null,"userLimits":[{"email":"b@x","limit":"1"}]}`:               "",
		`{"globalLimit":null,"userLimits":[{"email":1,"limit":1}]}`:                     "",
		`{"globalLimit":null,"userLimits":[{"email":"","limit":1}]}`:                    "",
		`{"globalLimit":null,"userLimits":[{"email":null,"limit":1}]}`:                  "",
		`{"globalLimit":null,"userLimits":[null]}`:                                      "",
		`{"globalLimit":null,"userLimits":[{"limit":1}]}`:                               "",
		`{"globalLimit":null,"users":[]}`:                                               "",
		`{"globalLimit":null,"userLimits":[{"email":"b@x","limit":1}]`:                  "",
		`{}`:                          "",
		`[]`:                          "",
		`[{"email":"b@x","limit":1}]`: "",
		`null`:                        "",
		`<html>`:                      "",
		``:                            "",
	} {
		c, _, _ := serveShort(t, clienttest.Answers(map[string]string{getLimits: "200 " + answer}))
		got, err := c.UsageLimits(t.Context())
		if (err == nil) != (want != "") || err == nil && shownLimits(got) != want {
			t.Errorf("%s: got %+v, %v", answer, got, err)
		}
		if err != nil && !strings.Contains(err.Error(), "getUserUsageLimits") {
			t.Errorf("%s: the error does not name the operation: %v", answer, err)
		}
	}
}

// What the service must tell and does not is told by its name.
func TestUsageLimits_lacksWhatIsRequired(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"userLimits":[]}`:                                "it has no globalLimit",
		`{"globalLimit":1}`:                                "it has no userLimits",
		`{"globalLimit":1,"userLimits":null}`:              "its userLimits are null",
		`{"globalLimit":1,"userLimits":[{"email":"b@x"}]}`: "its object 1 is none: it lacks the field limit",
	} {
		c, _, _ := serveShort(t, clienttest.Answers(map[string]string{getLimits: "200 " + answer}))
		if _, err := c.UserUsageLimit(t.Context(), "b@x"); !clienttest.IsA(err, clienttest.Is[*transport.AnswerError]) || transport.IsGone(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", answer, err)
		}
	}
}

func TestUserUsageLimit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		listed, email string
		want          string // "gone" is a *GoneError.
	}{
		"listed":                {listed: limited("a@x 1", "b@x 2"), email: "b@x", want: "b@x=2"},
		"in capitals":           {listed: limited("a@x 1", "b@x 2"), email: "B@X", want: "b@x=2"},
		"listed in capitals":    {listed: limited("A@X 1", "b@x 2"), email: "a@x", want: "A@X=1"},
		"2^53":                  {listed: limited("a@x 9007199254740992"), email: "a@x", want: "a@x=9007199254740992"},
		"the least":             {listed: limited("a@x 1000000"), email: "a@x", want: "a@x=1000000"},
		"nothing":               {listed: limited("a@x 0"), email: "a@x", want: "a@x=0"},
		"null":                  {listed: limited("a@x null"), email: "a@x", want: "gone"},
		"not listed":            {listed: limited("a@x 1"), email: "b@x", want: "gone"},
		"nobody is listed":      {listed: limited(), email: "b@x", want: "gone"},
		"twice, the first null": {listed: limited("A@x null", "a@x 2"), email: "a@x", want: "a@x=2"},
		"twice, this one null":  {listed: limited("A@x 1", "a@x null"), email: "a@x", want: "gone"},
		"twice, this one last":  {listed: limited("A@x 1", "a@x 2"), email: "a@x", want: "a@x=2"},
		"twice, this one first": {listed: limited("a@x 2", "A@x 1"), email: "a@x", want: "a@x=2"},
		"twice, in capitals":    {listed: limited("a@x 2", "A@x 1"), email: "A@x", want: "A@x=1"},
		"twice, neither":        {listed: limited("a@x 2", "A@x 1"), email: "A@X", want: "A@x=1"},
		"neither, one null":     {listed: limited("a@x 2", "A@x null"), email: "A@X", want: "a@x=2"},
		"the very same twice":   {listed: limited("a@x null", "a@x 2"), email: "a@x", want: "a@x=2"},
		"twice null":            {listed: limited("A@x null", "a@x null"), email: "a@x", want: "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serveShort(t, clienttest.Answers(map[string]string{getLimits: tc.listed}))
			got, err := c.UserUsageLimit(t.Context(), tc.email)
			switch {
			case tc.want == "gone":
				if got != nil || !transport.IsGone(err) {
					t.Errorf("got %+v, %#v", got, err)
				} else if !strings.Contains(err.Error(), tc.email) {
					t.Errorf("the error does not name the user: %v", err)
				}
			case err != nil || got.Email+"="+shownLimit(got.Limit) != tc.want:
				t.Errorf("got %+v, %v", got, err)
			}
			if limits, err := c.UsageLimits(t.Context()); err != nil || tc.want == "gone" != (limits.Of(tc.email) == nil) || got != nil && *limits.Of(tc.email) != *got.Limit {
				t.Errorf("got %+v, %v", limits, err)
			}
			rec.Want(t, getLimits)
		})
	}
}

// What one reader does to its limit, no other one sees.
func TestUserUsageLimit_isACopy(t *testing.T) {
	t.Parallel()
	c, _, _ := serveShort(t, clienttest.Answers(map[string]string{getLimits: limited("a@x 1")}))
	for range 2 {
		got, err := c.UserUsageLimit(t.Context(), "a@x")
		if err != nil || got.Email != "a@x" {
			t.Fatal(got, err)
		}
		got.Email = "b@x"
	}
}

func TestUsageLimits_oneListingServesAll(t *testing.T) {
	t.Parallel()
	c, rec, clk := serveShort(t, clienttest.Answers(map[string]string{getLimits: limited("a@x 1"), putLimits: updated("a@x 1000000"), putGlobal: `200 {"limit":null}`}))
	read := func() {
		t.Helper()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() {
				if _, err := c.UserUsageLimit(t.Context(), "a@x"); err != nil {
					t.Error(err)
				}
				if _, err := c.UsageLimits(t.Context()); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	}
	read()
	rec.Want(t, getLimits)
	clk.Advance(collection.SharedLifetime)
	read()
	rec.Want(t, getLimits, getLimits)
	if _, err := c.SetUserUsageLimit(t.Context(), "a@x", million); err != nil {
		t.Fatal(err)
	}
	read()
	rec.Want(t, getLimits, getLimits, putLimits, getLimits)
	if err := c.RemoveGlobalUsageLimit(t.Context()); err != nil {
		t.Fatal(err)
	}
	read()
	rec.Want(t, getLimits, getLimits, putLimits, getLimits, putGlobal, getLimits)
}

func TestLimits_failuresOfReads(t *testing.T) {
	t.Parallel()
	for answer, requests := range map[string]int{
		`401 {"detail":"no"}`: 1, `402 {"detail":"no"}`: 1, `403 {"detail":"no"}`: 1, `404 {"detail":"no"}`: 1, `500 {"detail":"no"}`: 4, `302 `: 1, `403 <html>`: 1, "drop": 4, "200 <html>": 4,
	} {
		for name, read := range map[string]func(*Client) error{
			getLimits: func(c *Client) error { _, err := c.UserUsageLimit(t.Context(), "a@x"); return err },
			getGlobal: func(c *Client) error { _, err := c.GlobalUsageLimit(t.Context()); return err },
		} {
			c, rec, _ := serveShort(t, clienttest.Answers(map[string]string{name: answer}))
			if err := read(c); err == nil || transport.IsGone(err) || rec.Count(http.MethodGet) != requests {
				t.Errorf("%s, %s: got %v after %v", name, answer, err, rec.Calls())
			}
			if err := read(c); err == nil || rec.Count(http.MethodGet) != 2*requests {
				t.Errorf("%s, %s: the failure is kept: %v", name, answer, err)
			}
		}
	}
}

// A limit is set, or removed where none is wanted, and every answer is judged by what it tells of the address.
func TestSetAndRemoveUserUsageLimit(t *testing.T) {
	t.Parallel()
	const (
		put, lookUp = putLimits, getLimits
		refusal     = `200 {"updated":[],"errors":[{"email":"A@x","error":"is no member"}]}`
	)
	asked, looked := []string{put}, []string{put, lookUp}
	tried, lost := []string{put, put, put, put}, []string{put, put, put, put, lookUp}
	for name, tc := range map[string]struct {
		removes      bool
		answer, list string
		want         string // What is returned, as "email=limit".
		wantErr      func(error) bool
		says         string
		calls        []string
	}{
		"set":                       {answer: updated("a@x 1000000"), want: "a@x=1000000", calls: asked},
		"set, spelled otherwise":    {answer: updated("A@X 1000000"), want: "A@X=1000000", calls: asked},
		"set among others":          {answer: updated("b@x 1000000", "a@x 1000000", "c@x null"), want: "a@x=1000000", calls: asked},
		"set, with other keys":      {answer: `200 {"updated":[{"email":"a@x","limit":1000000,"new":{}}],"errors":null,"new":[]}`, want: "a@x=1000000", calls: asked},
		"set, without errors":       {answer: `200 {"updated":[{"email":"a@x","limit":1000000}]}`, want: "a@x=1000000", calls: asked},
		"set, beside odd entries":   {answer: `200 {"updated":[1,null,"a",[],{},{"email":1},{"email":"a@x","limit":1000000}],"errors":[1,null,"a",[],{}]}`, want: "a@x=1000000", calls: asked},
		"set, listed twice":         {answer: updated("a@x 1000000", "a@x 1000000"), want: "a@x=1000000", calls: asked},
		"set, two limits told":      {answer: updated("a@x 5", "A@x 1000000"), list: limited("a@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, three limits told":    {answer: updated("a@x 5", "a@x 6", "a@x 1000000"), list: limited("a@x 1000000"), want: "a@x=1000000", calls: looked},
		"not set, two limits told":  {answer: updated("a@x 5", "a@x 1000000"), list: limited("a@x 5"), wantErr: clienttest.Is[*transport.AnswerError], says: "limit of a@x", calls: looked},
		"set, others are refused":   {answer: `200 {"updated":[{"email":"a@x","limit":1000000}],"errors":[{"email":"b@x","error":"no"}]}`, want: "a@x=1000000", calls: asked},
		"set, 204":                  {answer: "204 ", list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, nothing":              {answer: "200 ", list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, a page":               {answer: "200 <html>", list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, {}":                   {answer: "200 {}", list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, []":                   {answer: "200 []", list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, null":                 {answer: "200 null", list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, lists of null":        {answer: `200 {"updated":null,"errors":null}`, list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, not a list":           {answer: `200 {"updated":{"email":"a@x","limit":1000000},"errors":[]}`, list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, in neither list":      {answer: updated("b@x 1000000"), list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, without a limit":      {answer: `200 {"updated":[{"email":"a@x"}],"errors":[]}`, list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, a limit as text":      {answer: `200 {"updated":[{"email":"a@x","limit":"1000000"}],"errors":[]}`, list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, null in the answer":   {answer: updated("a@x null"), list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, another limit told":   {answer: updated("a@x 5"), list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"set, in both lists":        {answer: `200 {"updated":[{"email":"a@x","limit":1000000}],"errors":[{"email":"a@x","error":"no"}]}`, list: limited("A@x 1000000"), want: "a@x=1000000", calls: looked},
		"refused, in both lists":    {answer: `200 {"updated":[{"email":"a@x","limit":1000000}],"errors":[{"email":"a@x","error":"no"}]}`, list: limited("A@x null"), wantErr: clienttest.Is[*EntryError], says: ": no", calls: looked},
		"both lists, and no list":   {answer: `200 {"updated":[{"email":"a@x","limit":1000000}],"errors":[{"email":"a@x","error":"no"}]}`, list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*EntryError], says: ": no", calls: looked},
		"not set, another limit":    {answer: updated("a@x 5"), list: limited("A@x 5"), wantErr: clienttest.Is[*transport.AnswerError], says: "limit of a@x", calls: looked},
		"not set, {}":               {answer: "200 {}", list: limited("A@x null"), wantErr: clienttest.Is[*transport.AnswerError], says: "limit of a@x", calls: looked},
		"not set, nobody":           {answer: "200 {}", list: limited(), wantErr: clienttest.Is[*transport.AnswerError], says: "limit of a@x", calls: looked},
		"{}, and no list":           {answer: "200 {}", list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], says: "getUserUsageLimits", calls: looked},
		"{}, and an odd list":       {answer: "200 {}", list: `200 {}`, wantErr: clienttest.Is[*transport.AnswerError], says: "getUserUsageLimits", calls: looked},
		"refused":                   {answer: refusal, wantErr: clienttest.Is[*EntryError], says: "refused for a@x: is no member", calls: asked},
		"refused, in odd words":     {answer: `200 {"updated":[],"errors":[{"email":"a@x","error":{"text":"no"}}]}`, wantErr: clienttest.Is[*EntryError], says: "no explanation", calls: asked},
		"refused without a word":    {answer: `200 {"updated":[],"errors":[{"email":"a@x"}]}`, wantErr: clienttest.Is[*EntryError], says: "no explanation", calls: asked},
		"refused with an empty one": {answer: `200 {"errors":[{"email":"a@x","error":""}]}`, wantErr: clienttest.Is[*EntryError], says: "no explanation", calls: asked},
		"400":                       {answer: `400 {"detail":"below the minimum"}`, wantErr: clienttest.Is[*transport.APIError], says: "below the minimum", calls: asked},
		"401":                       {answer: `401 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"402":                       {answer: `402 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"403":                       {answer: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"422":                       {answer: `422 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"501":                       {answer: `501 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"a page of 403":             {answer: "403 <html>", wantErr: transport.IsForeign, calls: asked},
		"500, but set":              {answer: `500 {"detail":"no"}`, list: limited("A@x 1000000"), want: "a@x=1000000", calls: lost},
		"500, and not set":          {answer: `500 {"detail":"no"}`, list: limited("A@x 5"), wantErr: clienttest.Is[*transport.APIError], says: "setUserUsageLimits", calls: lost},
		"500, and no list":          {answer: `500 {"detail":"no"}`, list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], says: "answered 500", calls: lost},
		"a page of 502, but set":    {answer: "502 <html>", list: limited("A@x 1000000"), want: "a@x=1000000", calls: lost},
		"lost, but set":             {answer: "drop", list: limited("A@x 1000000"), want: "a@x=1000000", calls: lost},
		"lost, and not set":         {answer: "drop", list: limited("A@x null"), wantErr: clienttest.Is[*transport.TransportError], calls: lost},
		"lost, and no list":         {answer: "drop", list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.TransportError], says: "setUserUsageLimits", calls: lost},

		"removed":                      {removes: true, answer: updated("A@x null"), calls: asked},
		"removed, null and a limit":    {removes: true, answer: updated("a@x 5", "a@x null"), list: limited("a@x 5"), wantErr: clienttest.Is[*transport.AnswerError], says: "limit of a@x", calls: looked},
		"removed, nothing":             {removes: true, answer: "200 ", list: limited("A@x null"), calls: looked},
		"removed, a limit told":        {removes: true, answer: updated("A@x 5"), list: limited("A@x null"), calls: looked},
		"removed, without a limit":     {removes: true, answer: `200 {"updated":[{"email":"a@x"}],"errors":[]}`, list: limited("A@x null"), calls: looked},
		"removed, both lists":          {removes: true, answer: `200 {"updated":[{"email":"a@x","limit":null}],"errors":[{"email":"a@x","error":"no"}]}`, list: limited("A@x null"), calls: looked},
		"removed, in neither":          {removes: true, answer: updated(), list: limited("b@x 1"), calls: looked},
		"removed, lost":                {removes: true, answer: "drop", list: limited("A@x null"), calls: lost},
		"removed, lost, who has left":  {removes: true, answer: "drop", list: limited(), calls: lost},
		"removed, 503":                 {removes: true, answer: `503 {"detail":"no"}`, list: limited("b@x 1"), calls: lost},
		"who has left":                 {removes: true, answer: refusal, list: limited("b@x 1"), calls: looked},
		"who has none":                 {removes: true, answer: refusal, list: limited("A@x null"), calls: looked},
		"not removed":                  {removes: true, answer: "200 {}", list: limited("A@x 5"), wantErr: clienttest.Is[*transport.AnswerError], says: "limit of a@x", calls: looked},
		"removal refused":              {removes: true, answer: refusal, list: limited("A@x 5"), wantErr: clienttest.Is[*EntryError], says: "is no member", calls: looked},
		"removal refused, and no list": {removes: true, answer: refusal, list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*EntryError], says: "is no member", calls: looked},
		"removal lost, and not done":   {removes: true, answer: "drop", list: limited("A@x 5"), wantErr: clienttest.Is[*transport.TransportError], calls: lost},
		"removal, 400":                 {removes: true, answer: `400 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"removal, 403":                 {removes: true, answer: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"removal, 500, and no list":    {removes: true, answer: `500 {"detail":"no"}`, list: `500 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], says: "answered 500", calls: append(slices.Clone(tried), lookUp, lookUp, lookUp, lookUp)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serveShort(t, clienttest.Answers(map[string]string{put: tc.answer, lookUp: tc.list}))
			var got *UserUsageLimit
			var err error
			body := `{"users":[{"email":"a@x","limit":1000000}]}`
			if tc.removes {
				body = `{"users":[{"email":"a@x","limit":null}]}`
				err = c.RemoveUserUsageLimit(t.Context(), "a@x")
			} else {
				got, err = c.SetUserUsageLimit(t.Context(), "a@x", million)
			}
			if !clienttest.IsA(err, tc.wantErr) || (got != nil) != (tc.want != "") || got != nil && got.Email+"="+shownLimit(got.Limit) != tc.want {
				t.Errorf("got %+v, %v", got, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "setUserUsageLimits")) {
				t.Errorf("the error does not say what failed: %v", err)
			}
			rec.Want(t, tc.calls...)
			if rec.Bodies[0] != body {
				t.Errorf("sent %s", rec.Bodies[0])
			}
		})
	}
}

// What was read before a request says nothing about what the request did.
func TestLimits_areLookedUpAnew(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*Client) error{
		"a user's": func(c *Client) error { _, err := c.SetUserUsageLimit(t.Context(), "a@x", million); return err },
		"global":   func(c *Client) error { _, err := c.SetGlobalUsageLimit(t.Context(), million); return err },
	} {
		limit := "null"
		c, rec, _ := serveShort(t, func(call string) string {
			switch call {
			case getLimits:
				return limited("a@x " + limit)
			case getGlobal:
				return `200 {"limit":` + limit + `}`
			}
			limit = "1000000"
			return "204 "
		})
		if _, err := c.UsageLimits(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.GlobalUsageLimit(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := write(c); err != nil || rec.Count(http.MethodGet) != 3 {
			t.Errorf("%s: got %v after %v", name, err, rec.Calls())
		}
		limit = "2000000" // Somebody else changes it.
		limits, err := c.UsageLimits(t.Context())
		if err != nil || shownLimits(limits) != "none a@x=2000000" {
			t.Errorf("%s: got %+v, %v", name, limits, err)
		}
	}
}

// A look that is not answered does not keep a stopped run for ever.
func TestSetUserUsageLimit_aLookEndsSomeTimeAfterTheRun(t *testing.T) {
	inBubble(t, clienttest.Answers(map[string]string{putLimits: `503 {"detail":"no"}`, getLimits: "wait 200 {}"}), func(t *testing.T, c *Client, b *clienttest.Bubbled) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.SetUserUsageLimit(ctx, "a@x", million); transport.StatusOf(err) != http.StatusServiceUnavailable {
			t.Errorf("got %v", err)
		}
		if took := time.Since(b.Began); took != time.Second+transport.AfterStop {
			t.Errorf("it took %v", took)
		}
		close(b.Waiting)
		b.Want(t, "50ms "+putLimits, "50ms "+getLimits)
	})
}

// A refusal with 429 says that nothing was done, so nothing is looked up.
func TestSetUserUsageLimit_whereTheRateIsLimited(t *testing.T) {
	t.Parallel()
	c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "3600")
		clienttest.AnswerJSON(w, http.StatusTooManyRequests, `{"detail":"slow down"}`)
	})
	if _, err := c.SetUserUsageLimit(t.Context(), "a@x", million); transport.StatusOf(err) != http.StatusTooManyRequests {
		t.Errorf("got %v", err)
	}
	rec.Want(t, putLimits)

	c, rec, _ = serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n < 3 {
			clienttest.AnswerJSON(w, http.StatusTooManyRequests, `{"detail":"slow down"}`)
			return
		}
		clienttest.Say(w, updated("a@x 1000000"))
	})
	if _, err := c.SetUserUsageLimit(t.Context(), "a@x", million); err != nil {
		t.Errorf("got %v", err)
	}
	rec.Want(t, putLimits, putLimits, putLimits)
}

// putsTimeOut gives the answers to PUT up, as if they came after the request's timeout.
type putsTimeOut struct{ http.RoundTripper }

func (p putsTimeOut) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := p.RoundTripper.RoundTrip(r)
	if err == nil && r.Method == http.MethodPut {
		return nil, errors.Join(context.DeadlineExceeded, resp.Body.Close())
	}
	return resp, err
}

// An answer that breaks off, or does not come in time, does not tell what was done.
func TestSetUserUsageLimit_answersThatBreakOff(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		put   func(w http.ResponseWriter, r *http.Request)
		calls []string
	}{
		"truncated": {func(w http.ResponseWriter, _ *http.Request) { clienttest.Cut(w, 200) }, []string{putLimits, getLimits}},
		"timeout":   {func(w http.ResponseWriter, _ *http.Request) { clienttest.Say(w, "200 {}") }, []string{putLimits, putLimits, putLimits, putLimits, getLimits}},
	} {
		for list, wantErr := range map[string]func(error) bool{limited("a@x 9007199254740992"): nil, limited("a@x 9007199254740991"): clienttest.Is[*transport.TransportError]} {
			t.Run(name+", "+list, func(t *testing.T) {
				t.Parallel()
				address, rec := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
					if r.Method == http.MethodPut {
						tc.put(w, r)
						return
					}
					clienttest.Say(w, list)
				})
				cfg := transport.Config{BaseURL: address, APIKey: clienttest.Key, MaxRetries: 3, Clock: clock.NewFake(clienttest.Start)}
				if name == "timeout" {
					cfg.Transport = putsTimeOut{http.DefaultTransport}
				}
				c := connected(t, cfg)
				if _, err := c.SetUserUsageLimit(t.Context(), "a@x", largest); !clienttest.IsA(err, wantErr) {
					t.Errorf("got %v", err)
				}
				rec.Want(t, tc.calls...)
				if rec.Bodies[0] != `{"users":[{"email":"a@x","limit":9007199254740992}]}` {
					t.Errorf("sent %s", rec.Bodies[0])
				}
			})
		}
	}
}

// manager is a service that keeps limits, for a synctest bubble. Its members are those of limits, whose value is JSON.
type manager struct {
	// faults are what becomes of the requests to set limits, in their order: nothing out of the ordinary if empty, else words
	// of which "slow" takes a second, "acted" does what was asked for, and the rest is an answer for say, or "drop".
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

// entries are the limits as limited takes them.
func (m *manager) entries() []string {
	var entries []string
	for _, email := range slices.Sorted(maps.Keys(m.limits)) {
		entries = append(entries, email+" "+m.limits[email])
	}
	return entries
}

// managed runs a test against a service of its own, in a synctest bubble. Pauses between repetitions are 250ms, 500ms and 1s.
func managed(t *testing.T, m *manager, test func(t *testing.T, c *Client)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m.began = time.Now()
		test(t, connected(t, transport.Config{
			BaseURL: "http://localhost", APIKey: clienttest.Key, Clock: clock.System, MaxRetries: 3, Transport: m, Random: func() float64 { return 0 },
		}))
		synctest.Wait()
	})
}

// write is one caller: when it comes, when it gives up (0 is never), whose limit it sets or, with 0, removes, and a part
// of its error; empty is success.
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
		no     = "answered 403: no"
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
		// The limits of a@x, b@x and c@x were null, 5 and null.
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
			writes: []write{{0, 0, "a@x", one, ""}, {ms, 0, "b@x", 1, "answered 400: too little"}, {2 * ms, 0, "c@x", 0, ""}},
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
			writes: []write{{0, 0, "a@x", one, "answered 400"}, {ms, 0, "c@x", two, "answered 400"}},
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
			writes: []write{{0, 0, "a@x", one, "answered 404"}, {ms, 0, "b@x", 0, "answered 404"}},
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
				_ = clock.System.Sleep(t.Context(), time.Hour) // Until every window is over.
				for n := range m.puts {                        // Those who came at one moment have no order.
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

// Whose run is over already asks for nothing.
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

func TestGlobalUsageLimit_readsEveryForm(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"limit":null}`:                      "none",
		`{"limit":1000000}`:                   "1000000",
		`{"limit":9007199254740992,"new":[]}`: "9007199254740992",
		`{"limit":0}`:                         "0",
		`{"limit":"1000000"}`:                 "",
		`{"limit":1.5}`:                       "",
		`{"limit":{}}`:                        "",
		`{"globalLimit":1}`:                   "",
		`{}`:                                  "",
		`null`:                                "",
		`[]`:                                  "",
		`1000000`:                             "",
		`<html>`:                              "",
		``:                                    "",
	} {
		c, _, _ := serveShort(t, clienttest.Answers(map[string]string{getGlobal: "200 " + answer}))
		got, err := c.GlobalUsageLimit(t.Context())
		if (err == nil) != (want != "") || err == nil && shownLimit(got) != want {
			t.Errorf("%s: got %s, %v", answer, shownLimit(got), err)
		}
		if err != nil && !strings.Contains(err.Error(), "getGlobalUsageLimit") {
			t.Errorf("%s: the error does not name the operation: %v", answer, err)
		}
	}
}

func TestGlobalUsageLimit_oneRequestServesAll(t *testing.T) {
	t.Parallel()
	c, rec, clk := serveShort(t, clienttest.Answers(map[string]string{getGlobal: `200 {"limit":5}`, putGlobal: `200 {"limit":1000000}`, putLimits: updated("a@x 1000000")}))
	read := func() {
		t.Helper()
		for range 3 {
			if got, err := c.GlobalUsageLimit(t.Context()); err != nil || *got != 5 {
				t.Errorf("got %v, %v", got, err)
			}
		}
	}
	read()
	clk.Advance(collection.SharedLifetime)
	read()
	if _, err := c.SetGlobalUsageLimit(t.Context(), million); err != nil {
		t.Error(err)
	}
	read()
	rec.Want(t, getGlobal, getGlobal, putGlobal, getGlobal)
}

func TestGlobalUsageLimit_writtenTogether(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		first, second *int64
		wantErr       func(error) bool
	}{
		"a value and a removal": {new(int64(million)), nil, nil},
		"a removal and a value": {nil, new(int64(million)), nil},
		"two values":            {new(int64(million)), new(int64(2 * million)), clienttest.Is[*LimitConflictError]},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, clienttest.Answers(map[string]string{putGlobal: `200 {"limit":1000000}`}), func(t *testing.T, c *Client, b *clienttest.Bubbled) {
				write := func(limit *int64) error {
					if limit == nil {
						return c.RemoveGlobalUsageLimit(t.Context())
					}
					_, err := c.SetGlobalUsageLimit(t.Context(), *limit)
					return err
				}
				go func() {
					if err := write(tc.first); err != nil {
						t.Error(err)
					}
				}()
				synctest.Wait()
				if err := write(tc.second); !clienttest.IsA(err, tc.wantErr) {
					t.Errorf("got %v", err)
				}
				_ = clock.System.Sleep(t.Context(), time.Second)
				b.Want(t, "50ms "+putGlobal)
			})
		})
	}
}

// An apply plans again after its writes, which must not list the limits again.
func TestFirstUsageLimits(t *testing.T) {
	t.Parallel()
	c, rec, _ := serveShort(t, clienttest.Answers(map[string]string{
		getLimits: limited("a@x 1"), putLimits: updated("a@x 1000000"), getGlobal: `200 {"limit":7}`, putGlobal: `200 {"limit":1000000}`,
	}))
	for range 2 {
		if limits, err := c.FirstUsageLimits(t.Context()); err != nil || shownLimits(limits) != "none a@x=1" {
			t.Errorf("got %+v, %v", limits, err)
		}
		if limit, err := c.FirstGlobalUsageLimit(t.Context()); err != nil || *limit != 7 {
			t.Errorf("the global limit is %v, %v", limit, err)
		}
		_, userErr := c.SetUserUsageLimit(t.Context(), "a@x", million)
		_, globalErr := c.SetGlobalUsageLimit(t.Context(), million)
		if err := errors.Join(userErr, globalErr); err != nil {
			t.Error(err)
		}
	}
	rec.Want(t, getLimits, getGlobal, putLimits, putGlobal, putLimits, putGlobal)
}

func TestFirstUsageLimits_refused(t *testing.T) {
	t.Parallel()
	const no = `403 {"detail":"no"}`
	c, rec, _ := serveShort(t, clienttest.Answers(map[string]string{getLimits: no, getGlobal: no}))
	for _, fails := range []bool{true, false} {
		limits, userErr := c.FirstUsageLimits(t.Context())
		global, globalErr := c.FirstGlobalUsageLimit(t.Context())
		if limits != nil || global != nil || (userErr != nil) != fails || (globalErr != nil) != fails {
			t.Errorf("got %+v, %v, %v, %v", limits, userErr, global, globalErr)
		}
	}
	rec.Want(t, getLimits, getGlobal)
}

func TestSetAndRemoveGlobalUsageLimit(t *testing.T) {
	t.Parallel()
	asked, looked := []string{putGlobal}, []string{putGlobal, getGlobal}
	lost := []string{putGlobal, putGlobal, putGlobal, putGlobal, getGlobal}
	const own, none = `200 {"limit":9007199254740992}`, `200 {"limit":null}`
	for name, tc := range map[string]struct {
		removes   bool
		put, read string
		wantErr   func(error) bool
		says      string
		calls     []string
	}{
		"set":                        {put: own, calls: asked},
		"set, with other keys":       {put: `201 {"limit":9007199254740992,"new":1}`, calls: asked},
		"set, 204":                   {put: "204 ", read: own, calls: looked},
		"set, {}":                    {put: "200 {}", read: own, calls: looked},
		"set, []":                    {put: "200 []", read: own, calls: looked},
		"set, a page":                {put: "200 <html>", read: own, calls: looked},
		"set, null told":             {put: none, read: own, calls: looked},
		"set, another told":          {put: `200 {"limit":5}`, read: own, calls: looked},
		"set, a text":                {put: `200 {"limit":"9007199254740992"}`, read: own, calls: looked},
		"not set":                    {put: "200 {}", read: none, wantErr: clienttest.Is[*transport.AnswerError], says: "read back", calls: looked},
		"not set, another told":      {put: `200 {"limit":5}`, read: `200 {"limit":5}`, wantErr: clienttest.Is[*transport.AnswerError], says: "read back", calls: looked},
		"not told, and not read":     {put: "200 {}", read: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], says: "answer to setGlobalUsageLimit does not tell", calls: looked},
		"not told twice":             {put: "200 {}", read: "200 {}", wantErr: clienttest.Is[*transport.AnswerError], says: "answer to setGlobalUsageLimit does not tell", calls: looked},
		"removal not told twice":     {removes: true, put: "200 {}", read: "200 {}", wantErr: clienttest.Is[*transport.AnswerError], calls: looked},
		"400":                        {put: `400 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"401":                        {put: `401 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"403":                        {put: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"501":                        {put: `501 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"a page of 404":              {put: "404 <html>", wantErr: transport.IsForeign, calls: asked},
		"500, but set":               {put: `500 {"detail":"no"}`, read: own, calls: lost},
		"500, and not set":           {put: `500 {"detail":"no"}`, read: none, wantErr: clienttest.Is[*transport.APIError], says: "answered 500", calls: lost},
		"lost, but set":              {put: "drop", read: own, calls: lost},
		"lost, and not set":          {put: "drop", read: `200 {"limit":5}`, wantErr: clienttest.Is[*transport.TransportError], calls: lost},
		"lost, and not read":         {put: "drop", read: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.TransportError], calls: lost},
		"removed":                    {removes: true, put: none, calls: asked},
		"removed, {}":                {removes: true, put: "200 {}", read: none, calls: looked},
		"removed, lost":              {removes: true, put: "drop", read: none, calls: lost},
		"removed, a limit told":      {removes: true, put: own, read: none, calls: looked},
		"not removed":                {removes: true, put: own, read: own, wantErr: clienttest.Is[*transport.AnswerError], says: "read back", calls: looked},
		"removal lost, and not done": {removes: true, put: "drop", read: own, wantErr: clienttest.Is[*transport.TransportError], calls: lost},
		"removal refused":            {removes: true, put: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serveShort(t, clienttest.Answers(map[string]string{putGlobal: tc.put, getGlobal: tc.read}))
			var err error
			body := `{"limit":9007199254740992}`
			if tc.removes {
				body = `{"limit":null}`
				err = c.RemoveGlobalUsageLimit(t.Context())
			} else {
				var got *int64
				if got, err = c.SetGlobalUsageLimit(t.Context(), largest); err == nil && *got != largest {
					t.Errorf("got %d", *got)
				}
			}
			if !clienttest.IsA(err, tc.wantErr) {
				t.Errorf("got %v", err)
			}
			if err != nil && (!strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "setGlobalUsageLimit")) {
				t.Errorf("the error does not say what failed: %v", err)
			}
			rec.Want(t, tc.calls...)
			if rec.Bodies[0] != body {
				t.Errorf("sent %s", rec.Bodies[0])
			}
		})
	}
}

// What is under way runs to its answer, and what is to be repeated is read back instead.
func TestSetGlobalUsageLimit_interrupted(t *testing.T) {
	t.Parallel()
	for name, start := range clienttest.Ending(t) {
		for put, tc := range map[string]struct {
			read    string
			wantErr func(error) bool
			calls   []string
		}{
			`200 {"limit":1000000}`: {calls: []string{putGlobal}},
			`200 {}`:                {read: `200 {"limit":1000000}`, calls: []string{putGlobal, getGlobal}},
			`503 {"detail":"yes"}`:  {read: `200 {"limit":1000000}`, calls: []string{putGlobal, getGlobal}},
			`503 {"detail":"no"}`:   {read: `200 {"limit":null}`, wantErr: clienttest.Is[*transport.APIError], calls: []string{putGlobal, getGlobal}},
		} {
			ctx, end := start()
			c, rec, _ := serveShort(t, func(call string) string {
				if call == getGlobal {
					return tc.read
				}
				end()
				return put
			})
			if _, err := c.SetGlobalUsageLimit(ctx, million); !clienttest.IsA(err, tc.wantErr) {
				t.Errorf("%s, %s: got %v", name, put, err)
			}
			rec.Want(t, tc.calls...)
			if err := c.RemoveGlobalUsageLimit(ctx); !errors.Is(err, ctx.Err()) {
				t.Errorf("%s, %s: a removal after the run gets %v", name, put, err)
			}
			rec.Want(t, tc.calls...)
		}
	}
}
