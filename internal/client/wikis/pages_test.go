package wikis

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

const wikiPageBody = `{"pageId":"p1","path":"a/b.md","title":"T","content":"# T","order":2}`

func TestWikiPage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ answer, problem string }{
		"bare":            {wikiPageBody, ""},
		"an empty page":   {`{"pageId":"p1","content":""}`, ""},
		"another page":    {`{"pageId":"p2","path":"a","title":"T","content":"","order":1}`, "it contains p2 instead of p1"},
		"no page":         {`{}`, "the field pageId is missing"},
		"without content": {`{"pageId":"p1","path":"a","title":"T","content":null,"order":1}`, "the field content is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, 200, tc.answer) })
			page, err := c.Page(t.Context(), "r1", "p1")
			if tc.problem == "" {
				if err != nil || page.ID != "p1" || page.Content == nil {
					t.Errorf("got %+v, %v", page, err)
				}
				return
			}
			var answer *wire.ResponseError
			if !errors.As(err, &answer) || answer.Problem != tc.problem || page != nil {
				t.Errorf("got %+v, %v", page, err)
			}
		})
	}
}

func TestSearchWikiRun(t *testing.T) {
	t.Parallel()
	const match = `{"pageId":"p1","title":"T","path":"a.md","snippet":"s","matchCount":2}`
	for name, tc := range map[string]struct {
		text   string
		limit  int64
		answer string
		query  string
		found  int
		want   string
	}{
		"two":          {"x", 0, `{"results":[` + match + `,` + match + `]}`, "q=x", 2, ""},
		"with a limit": {"x", 7, `{"results":[` + match + `]}`, "limit=7&q=x", 1, ""},
		"a hard text":  {" a&b=c/../ä?#", 0, `{"results":[]}`, "q=+a%26b%3Dc%2F..%2F%C3%A4%3F%23", 0, ""},
		"nothing":      {"x", 0, `{}`, "q=x", 0, "the field results is missing"},
		"no page":      {"x", 0, `{"results":[` + match + `,{"title":"T"}]}`, "q=x", 0, "object 2 of the list is invalid: the field pageId is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, 200, tc.answer) })
			found, err := c.Search(t.Context(), "r1", tc.text, tc.limit)
			if rec.Requests[0].URL.RawQuery != tc.query {
				t.Errorf("the query is %s", rec.Requests[0].URL.RawQuery)
			}
			if tc.want == "" {
				if err != nil || found == nil || len(found) != tc.found {
					t.Errorf("got %+v, %v", found, err)
				}
				return
			}
			var transport *transport.TransportError
			if !errors.As(err, &transport) || transport.Op.Name != "searchWikiRun" || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}
