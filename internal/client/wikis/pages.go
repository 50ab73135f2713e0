package wikis

import (
	"context"
	"net/url"
	"strconv"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Page is a page of a wiki run.
type Page struct {
	wire.Kept
	ID    string `json:"pageId"`
	Path  string `json:"path"`
	Title string `json:"title"`
	// Content is Markdown. It may be empty, but a response without it is invalid.
	Content *string `json:"content"`
	// Order is the page's position among its siblings, which may have a fraction; nil if the service does not return it.
	Order *float64 `json:"order"`
}

func (p *Page) Ref() wire.Ref { return wire.Ref{ID: p.ID} }

func (p *Page) MissingField() string {
	switch {
	case p.ID == "":
		return "pageId"
	case p.Content == nil:
		return "content"
	}
	return ""
}

// Match is a page that a search found.
type Match struct {
	wire.Kept
	PageID     string `json:"pageId"`
	Title      string `json:"title"`
	Path       string `json:"path"`
	Snippet    string `json:"snippet"`
	MatchCount *int64 `json:"matchCount"`
}

func (m *Match) Ref() wire.Ref { return wire.Ref{ID: m.PageID} }

func (m *Match) MissingField() string {
	if m.PageID == "" {
		return "pageId"
	}
	return ""
}

// Page returns a page of a wiki run.
func (c *Client) Page(ctx context.Context, runID, pageID string) (*Page, error) {
	return transport.CallObject[Page](ctx, c.conn, transport.Get("getWikiPage", "/api/v0/wiki/{wikiRunId}/pages/{pageId}", runID, pageID), "page", pageID)
}

// Search returns the pages of a wiki run that contain a text, in the service's order. If limit is 0, the service's default
// applies.
func (c *Client) Search(ctx context.Context, runID, text string, limit int64) ([]Match, error) {
	r := transport.Get("searchWikiRun", "/api/v0/wiki/{wikiRunId}/search", runID).Where(url.Values{"q": {text}})
	if limit > 0 {
		r.Query.Set("limit", strconv.FormatInt(limit, 10))
	}
	return transport.CallList[Match](ctx, c.conn, r, "results", nil)
}
