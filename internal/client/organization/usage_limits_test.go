package organization

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// The requests for limits.
const (
	getLimits = "GET /api/v0/organization/usage/limits/users"
	putLimits = "PUT /api/v0/organization/usage/limits/users"
	getGlobal = "GET /api/v0/organization/usage/limits/global"
	putGlobal = "PUT /api/v0/organization/usage/limits/global"
)

const (
	million = 1_000_000
	// largest is the largest integer that every JSON parser keeps.
	largest = 1 << 53
)

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
		`{"globalLimit":null,"userLimits":[]}`:                                                               "none",
		`{"globalLimit":2000000,"userLimits":[]}`:                                                            "2000000",
		`{"globalLimit":0,"userLimits":[{"email":"b@x","limit":9007199254740992}],"new":{}}`:                 "0 b@x=9007199254740992",
		`{"globalLimit":null,"userLimits":[{"email":"b@x","limit":1},{"email":"A@x","limit":null,"new":1}]}`: "none A@x=none b@x=1",
		`{"globalLimit":null,"userLimits":[{"email":"b@x","limit":null}]}`:                                   "none b@x=none",
		`{"globalLimit":null,"userLimits":[{"email":"a@x","limit":2},{"email":"A@x","limit":1}]}`:            "none A@x=1 a@x=2",

		`{"globalLimit":1,"userLimits": null }`:                                         "",
		`{"globalLimit":null,"userLimits":[{"email":"a@x","limit":1},{"email":"b@x"}]}`: "",
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

// The error for a missing required field names it.
func TestUsageLimits_lacksWhatIsRequired(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		`{"userLimits":[]}`:                                "the field globalLimit is missing",
		`{"globalLimit":1}`:                                "the field userLimits is missing",
		`{"globalLimit":1,"userLimits":null}`:              "the field userLimits is null",
		`{"globalLimit":1,"userLimits":[{"email":"b@x"}]}`: "object 1 of the list is invalid: the field limit is missing",
		`{"globalLimit":1,"userLimits":[{"limit":1}]}`:     "object 1 of the list is invalid: the field email is missing",

		`{"globalLimit":"1","userLimits":[]}`:                          "the field globalLimit has the wrong type, string",
		`{"globalLimit":1,"userLimits":[{"email":"b@x","limit":"1"}]}`: "the field limit of b@x: unexpected response: it has the wrong type, string",
	} {
		c, _, _ := area.ServeShort(t, clienttest.Responses(map[string]string{getLimits: "200 " + answer}))
		if _, err := c.UserUsageLimit(t.Context(), "b@x"); !clienttest.IsA(err, clienttest.Is[*wire.ResponseError]) || collection.IsGone(err) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "getUserUsageLimits") {
			t.Errorf("%s: got %v", answer, err)
		}
	}
}

func TestUserUsageLimit(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		listed, email string
		want          string // "gone" is a *MissingError.
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
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{getLimits: tc.listed}))
			got, err := c.UserUsageLimit(t.Context(), tc.email)
			switch {
			case tc.want == "gone":
				if got != nil || !collection.IsGone(err) {
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

// A reader cannot change the result of another reader.
func TestUserUsageLimit_isACopy(t *testing.T) {
	t.Parallel()
	c, _, _ := area.ServeShort(t, clienttest.Responses(map[string]string{getLimits: limited("a@x 1")}))
	for range 2 {
		got, err := c.UserUsageLimit(t.Context(), "a@x")
		if err != nil || got.Email != "a@x" {
			t.Fatal(got, err)
		}
		got.Email = "b@x"
	}
}

// A limit is set, or removed if none is wanted. The result depends only on what the response has for the address.
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
		"not set, two limits told":  {answer: updated("a@x 5", "a@x 1000000"), list: limited("a@x 5"), wantErr: clienttest.Is[*wire.ResponseError], says: "limit of a@x", calls: looked},
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
		"refused, in both lists":    {answer: `200 {"updated":[{"email":"a@x","limit":1000000}],"errors":[{"email":"a@x","error":"no"}]}`, list: limited("A@x null"), wantErr: clienttest.Is[*RefusedError], says: ": no", calls: looked},
		"both lists, and no list":   {answer: `200 {"updated":[{"email":"a@x","limit":1000000}],"errors":[{"email":"a@x","error":"no"}]}`, list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*RefusedError], says: ": no", calls: looked},
		"not set, another limit":    {answer: updated("a@x 5"), list: limited("A@x 5"), wantErr: clienttest.Is[*wire.ResponseError], says: "limit of a@x", calls: looked},
		"not set, {}":               {answer: "200 {}", list: limited("A@x null"), wantErr: clienttest.Is[*wire.ResponseError], says: "limit of a@x", calls: looked},
		"not set, nobody":           {answer: "200 {}", list: limited(), wantErr: clienttest.Is[*wire.ResponseError], says: "limit of a@x", calls: looked},
		"{}, and no list":           {answer: "200 {}", list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], says: "getUserUsageLimits", calls: looked},
		"{}, and an odd list":       {answer: "200 {}", list: `200 {}`, wantErr: clienttest.Is[*wire.ResponseError], says: "getUserUsageLimits", calls: looked},
		"refused":                   {answer: refusal, wantErr: clienttest.Is[*RefusedError], says: "refused for a@x: is no member", calls: asked},
		"refused, in odd words":     {answer: `200 {"updated":[],"errors":[{"email":"a@x","error":{"text":"no"}}]}`, wantErr: clienttest.Is[*RefusedError], says: "no explanation", calls: asked},
		"refused without a word":    {answer: `200 {"updated":[],"errors":[{"email":"a@x"}]}`, wantErr: clienttest.Is[*RefusedError], says: "no explanation", calls: asked},
		"refused with an empty one": {answer: `200 {"errors":[{"email":"a@x","error":""}]}`, wantErr: clienttest.Is[*RefusedError], says: "no explanation", calls: asked},
		"400":                       {answer: `400 {"detail":"below the minimum"}`, wantErr: clienttest.Is[*transport.APIError], says: "below the minimum", calls: asked},
		"401":                       {answer: `401 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"402":                       {answer: `402 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"403":                       {answer: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"422":                       {answer: `422 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"501":                       {answer: `501 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"a page of 403":             {answer: "403 <html>", wantErr: transport.IsForeign, calls: asked},
		"500, but set":              {answer: `500 {"detail":"no"}`, list: limited("A@x 1000000"), want: "a@x=1000000", calls: lost},
		"500, and not set":          {answer: `500 {"detail":"no"}`, list: limited("A@x 5"), wantErr: clienttest.Is[*transport.APIError], says: "setUserUsageLimits", calls: lost},
		"500, and no list":          {answer: `500 {"detail":"no"}`, list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], says: "returned 500", calls: lost},
		"a page of 502, but set":    {answer: "502 <html>", list: limited("A@x 1000000"), want: "a@x=1000000", calls: lost},
		"lost, but set":             {answer: "drop", list: limited("A@x 1000000"), want: "a@x=1000000", calls: lost},
		"lost, and not set":         {answer: "drop", list: limited("A@x null"), wantErr: clienttest.Is[*transport.TransportError], calls: lost},
		"lost, and no list":         {answer: "drop", list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.TransportError], says: "setUserUsageLimits", calls: lost},

		"removed":                      {removes: true, answer: updated("A@x null"), calls: asked},
		"removed, null and a limit":    {removes: true, answer: updated("a@x 5", "a@x null"), list: limited("a@x 5"), wantErr: clienttest.Is[*wire.ResponseError], says: "limit of a@x", calls: looked},
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
		"not removed":                  {removes: true, answer: "200 {}", list: limited("A@x 5"), wantErr: clienttest.Is[*wire.ResponseError], says: "limit of a@x", calls: looked},
		"removal refused":              {removes: true, answer: refusal, list: limited("A@x 5"), wantErr: clienttest.Is[*RefusedError], says: "is no member", calls: looked},
		"removal refused, and no list": {removes: true, answer: refusal, list: `403 {"detail":"no"}`, wantErr: clienttest.Is[*RefusedError], says: "is no member", calls: looked},
		"removal lost, and not done":   {removes: true, answer: "drop", list: limited("A@x 5"), wantErr: clienttest.Is[*transport.TransportError], calls: lost},
		"removal, 400":                 {removes: true, answer: `400 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"removal, 403":                 {removes: true, answer: `403 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], calls: asked},
		"removal, 500, and no list":    {removes: true, answer: `500 {"detail":"no"}`, list: `500 {"detail":"no"}`, wantErr: clienttest.Is[*transport.APIError], says: "returned 500", calls: append(slices.Clone(tried), lookUp, lookUp, lookUp, lookUp)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{put: tc.answer, lookUp: tc.list}))
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
			clienttest.WantText(t, err, tc.says, "setUserUsageLimits")
			rec.Want(t, tc.calls...)
			if rec.Bodies[0] != body {
				t.Errorf("sent %s", rec.Bodies[0])
			}
		})
	}
}

// A cached read from before a request does not prove its outcome.
func TestLimits_areLookedUpAnew(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(*Client) error{
		"a user's": func(c *Client) error { _, err := c.SetUserUsageLimit(t.Context(), "a@x", million); return err },
		"global":   func(c *Client) error { _, err := c.SetGlobalUsageLimit(t.Context(), million); return err },
	} {
		limit := "null"
		c, rec, _ := area.ServeShort(t, func(call string) string {
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

// A read without a response does not delay a stopped run forever.
func TestSetUserUsageLimit_aLookEndsSomeTimeAfterTheRun(t *testing.T) {
	area.InBubble(t, clienttest.Responses(map[string]string{putLimits: `503 {"detail":"no"}`, getLimits: "wait 200 {}"}), func(t *testing.T, c *Client, b *clienttest.Bubbled) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := c.SetUserUsageLimit(ctx, "a@x", million); transport.StatusOf(err) != http.StatusServiceUnavailable {
			t.Errorf("got %v", err)
		}
		if took := time.Since(b.Began); took != time.Second+transport.OutliveTime {
			t.Errorf("it took %v", took)
		}
		close(b.Waiting)
		b.Want(t, "50ms "+putLimits, "50ms "+getLimits)
	})
}

// A 429 proves that nothing was done, so nothing is read back.
func TestSetUserUsageLimit_whereTheRateIsLimited(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Retry-After", "3600")
		clienttest.RespondJSON(w, http.StatusTooManyRequests, `{"detail":"slow down"}`)
	})
	if _, err := c.SetUserUsageLimit(t.Context(), "a@x", million); transport.StatusOf(err) != http.StatusTooManyRequests {
		t.Errorf("got %v", err)
	}
	rec.Want(t, putLimits)

	c, rec, _ = area.Serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n < 3 {
			clienttest.RespondJSON(w, http.StatusTooManyRequests, `{"detail":"slow down"}`)
			return
		}
		clienttest.Say(w, updated("a@x 1000000"))
	})
	if _, err := c.SetUserUsageLimit(t.Context(), "a@x", million); err != nil {
		t.Errorf("got %v", err)
	}
	rec.Want(t, putLimits, putLimits, putLimits)
}

// putsTimeOut drops the responses to PUT requests, as if the request had timed out.
type putsTimeOut struct{ http.RoundTripper }

func (p putsTimeOut) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := p.RoundTripper.RoundTrip(r)
	if err == nil && r.Method == http.MethodPut {
		return nil, errors.Join(context.DeadlineExceeded, resp.Body.Close())
	}
	return resp, err
}

// A response that is cut off or late does not show the outcome.
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
				c := area.Connected(t, cfg)
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
