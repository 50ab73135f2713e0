package wikis

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest/areatest"
)

var area = areatest.New[*Client](New)

const (
	getWikis    = "GET /api/v0/wiki"
	postWiki    = "POST /api/v0/wiki"
	acmeAPI     = "https://code.example/acme/api"
	acmeWeb     = "https://code.example/acme/web"
	historyOf   = "GET /api/v0/wiki/history/https:%2F%2Fcode.example%2Facme%2F"
	noSuchWiki  = `404 {"title":"Not Found","status":404,"detail":"There is no such wiki run."}`
	notCovered  = `403 {"title":"Forbidden","status":403,"detail":"The repository is not connected."}`
	wikiFailed  = `500 {"title":"Error","status":500,"detail":"no"}`
	getWikiOne  = getWikis + "/w1"
	wikiPrivacy = postWiki + "/w1/privacy"
	deleteWiki  = "DELETE /api/v0/wiki/w1"
)

// wiki is the JSON of a run of acme/api; more starts with a comma.
func wiki(id, more string) string { return wikiOf(acmeAPI, id, more) }

func wikiOf(repoURL, id, more string) string {
	return fmt.Sprintf(`{"wikiRunId":%q,"repoUrl":%q,"commitHash":"c0ffee0123","branch":"main","hasLocalChanges":false,"hasNonRemoteCommits":false,"pageCount":1,"createdAt":%d,"pageTree":[{"pageId":"p","title":"T","path":"a.md","order":0,"children":[]}]%s}`,
		id, repoURL, clienttest.Start.UnixMilli(), more)
}

func wikis(runs ...string) string { return `200 {"wikiRuns":[` + strings.Join(runs, ",") + `]}` }

func wikiIDs(runs []Run) string {
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = runs[i].ID
	}
	return strings.Join(ids, " ")
}

func TestWikiRunHistory(t *testing.T) {
	t.Parallel()
	older, newer := wiki("w9", ""), strings.Replace(wiki("w1", ""), `"createdAt":1772323200000`, `"createdAt":1772323200001`, 1)
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{historyOf + "api": wikis(older, newer, wiki("w5", "")), historyOf + "web": notCovered}))
	for range 2 {
		got, err := c.History(t.Context(), acmeAPI)
		if err != nil || wikiIDs(got) != "w1 w5 w9" {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if _, err := c.History(t.Context(), acmeWeb); transport.StatusOf(err) != http.StatusForbidden {
		t.Errorf("got %v", err)
	}
	rec.Want(t, historyOf+"api", historyOf+"web")
	// A URL is one segment of the path, whatever it contains.
	c, rec, _ = area.ServeShort(t, clienttest.Responses(nil))
	for _, address := range []string{"https://code.example/../../computers?x=1#y", "a/%2f/../b"} {
		_, _ = c.History(t.Context(), address)
	}
	rec.Want(t, "GET /api/v0/wiki/history/https:%2F%2Fcode.example%2F..%2F..%2Fcomputers%3Fx=1%23y", "GET /api/v0/wiki/history/a%2F%252f%2F..%2Fb")
}

// A run is gone if the service itself returns 404.
func TestWikiRun_gone(t *testing.T) {
	t.Parallel()
	refused := clienttest.Is[*transport.APIError]
	for name, tc := range map[string]struct {
		single string
		want   func(error) bool
		isGone bool
	}{
		"gone":                          {noSuchWiki, collection.IsGone, true},
		"a 404 that is somebody else's": {"404 <html>", refused, false},
		"switched off":                  {notCovered, refused, false},
		"another run":                   {"200 " + wiki("w2", ""), clienttest.Is[*wire.ResponseError], false},
		"there":                         {"200 " + wiki("w1", ""), nil, false},
	} {
		c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{getWikiOne: tc.single}))
		if _, err := c.Get(t.Context(), "w1"); !clienttest.IsA(err, tc.want) || collection.IsGone(err) != tc.isGone {
			t.Errorf("%s: got %v", name, err)
		}
		rec.Want(t, getWikiOne)
	}
}

// The format of the response is not documented, so only its status matters. The request is repeatable.
func TestSetWikiPrivacy_takesEveryAnswer(t *testing.T) {
	t.Parallel()
	for post, want := range map[string]struct {
		tries int
		is    func(error) bool
	}{
		"200 " + wiki("w1", `,"privacyLevel":"private"`): {1, nil},
		"200 <html>": {4, clienttest.Is[*transport.TransportError]},
		notCovered:   {1, clienttest.Is[*transport.APIError]},
		"drop":       {4, clienttest.Is[*transport.TransportError]},
	} {
		c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{wikiPrivacy: post}))
		err := c.SetPrivacy(t.Context(), "w1", PrivacyPrivate)
		if !clienttest.IsA(err, want.is) || rec.Count(http.MethodPost) != want.tries || rec.Bodies[0] != `{"privacyLevel":"private"}` {
			t.Errorf("%s: %v after %v with %s", post, err, rec.Calls(), rec.Bodies[0])
		}
	}
}

func TestDeleteWikiRun(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		remove string
		want   func(error) bool
		isGone bool
	}{
		"deleted":     {`200 {"deleted":true}`, nil, false},
		"gone":        {noSuchWiki, collection.IsGone, true},
		"not allowed": {notCovered, clienttest.Is[*transport.APIError], false},
	} {
		c, _, _ := area.ServeShort(t, clienttest.Responses(map[string]string{deleteWiki: tc.remove}))
		if err := c.Delete(t.Context(), "w1"); !clienttest.IsA(err, tc.want) || collection.IsGone(err) != tc.isGone {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestSameRepositoryAndCommit(t *testing.T) {
	t.Parallel()
	for other, want := range map[string]bool{
		acmeAPI: true, acmeAPI + "/": true, acmeAPI + ".git": true, acmeAPI + ".git/": true, "HTTPS://Code.Example/Acme/API.GIT": true,
		acmeWeb: false, "http://code.example/acme/api": false, acmeAPI + "2": false, acmeAPI + ".gitx": false, "": false,
	} {
		if SameRepository(acmeAPI, other) != want || SameRepository(other, acmeAPI) != want {
			t.Errorf("%q: not %v", other, want)
		}
	}
	const whole = "c0ffee0123456789c0ffee0123456789c0ffee01"
	for other, want := range map[string]bool{whole: true, "C0FFEE0": true, whole[:12]: true, "c0ffee": false, "": false, "c0ffee1": false, whole + "0": true} {
		if SameCommit(whole, other) != want || SameCommit(other, whole) != want {
			t.Errorf("%q: not %v", other, want)
		}
	}
	if !SameCommit("v1", "V1") || SameCommit("v1", "v12") {
		t.Error("a short name is compared as a whole")
	}
}
