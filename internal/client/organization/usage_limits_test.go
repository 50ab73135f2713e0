package organization

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
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
