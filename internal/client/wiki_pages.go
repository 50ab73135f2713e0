package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
)

// WikiPage is a page of a wiki run.
type WikiPage struct {
	ID    string `json:"pageId"`
	Path  string `json:"path"`
	Title string `json:"title"`
	// Content is Markdown. A page may be empty, but not without content.
	Content *string `json:"content"`
	// Order is the page's place among those beside it, which may have a fraction; nil where the service does not tell it.
	Order *float64 `json:"order"`
}

func (p *WikiPage) identifier() string { return p.ID }

func (p *WikiPage) missing() string {
	if p.Content == nil {
		return "content"
	}
	return ""
}

// WikiMatch is a page that a search found.
type WikiMatch struct {
	PageID     string `json:"pageId"`
	Title      string `json:"title"`
	Path       string `json:"path"`
	Snippet    string `json:"snippet"`
	MatchCount *int64 `json:"matchCount"`
}

func (m *WikiMatch) identifier() string { return m.PageID }

func (m *WikiMatch) missing() string { return "" }

// WikiPage returns a page of a wiki run.
func (c *wikiClient) WikiPage(ctx context.Context, runID, pageID string) (*WikiPage, error) {
	return one[WikiPage](ctx, c.conn, request{
		op:   operation{name: "getWikiPage", method: http.MethodGet, route: "/api/v0/wiki/{wikiRunId}/pages/{pageId}"},
		path: []string{runID, pageID},
		noun: "page",
	}, pageID)
}

// SearchWikiRun returns the pages of a wiki run that hold a text, in the service's order. How many are returned at most is
// left to the service where limit is 0.
func (c *wikiClient) SearchWikiRun(ctx context.Context, runID, text string, limit int64) ([]WikiMatch, error) {
	r := request{
		op:    operation{name: "searchWikiRun", method: http.MethodGet, route: "/api/v0/wiki/{wikiRunId}/search"},
		path:  []string{runID},
		query: url.Values{"q": {text}},
	}
	if limit > 0 {
		r.query.Set("limit", strconv.FormatInt(limit, 10))
	}
	answer, err := c.exchange(ctx, r, wantJSON)
	if err != nil {
		return nil, err
	}
	found, err := readList[WikiMatch](answer.body, "results")
	switch {
	case err != nil:
		return nil, unusable(r.op, err)
	case found == nil:
		return nil, r.strange("its results are null")
	}
	return each(r, found)
}
