// Package wikis calls the operations on wiki runs.
package wikis

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Client calls the operations on wiki runs.
type Client struct {
	conn *transport.Conn

	listings *collection.Listing[Run]
	created  *create.Sends[Run]
}

// New returns a client for wiki runs.
func New(conn *transport.Conn) *Client {
	c := &Client{conn: conn, created: create.NewSends[Run](conn)}
	c.listings = collection.NewListing(conn.Clock, c.list)
	return c
}

// Privacy levels of a wiki run.
const (
	PrivacyPrivate = "private"
)

// Run is a wiki of one commit of a repository. Only its privacy can be changed.
type Run struct {
	wire.WithRaw
	ID        string      `json:"wikiRunId"`
	CreatedAt wire.Millis `json:"createdAt"`
	// RepoURL is the URL as the service spells it.
	RepoURL             string `json:"repoUrl"`
	CommitHash          string `json:"commitHash"`
	Branch              string `json:"branch"`
	HasLocalChanges     *bool  `json:"hasLocalChanges"`
	HasNonRemoteCommits *bool  `json:"hasNonRemoteCommits"`
	PageCount           *int64 `json:"pageCount"`
	// PageTree is the raw value, because it may have fields that are unknown here.
	PageTree        json.RawMessage `json:"pageTree"`
	SourceSessionID string          `json:"sourceSessionId"`
	// OwnerUserID, ModelUsed, and AgentVersion are unset if the service does not return them.
	OwnerUserID  string `json:"ownerUserId"`
	ModelUsed    *Model `json:"modelUsed"`
	AgentVersion string `json:"agentVersion"`
	PrivacyLevel string `json:"privacyLevel"`
	// CanUpdatePrivacy says whether the caller may change the privacy and delete the run.
	CanUpdatePrivacy              *bool  `json:"canUpdatePrivacy"`
	IsRepoCoveredByOrgIntegration *bool  `json:"isRepoCoveredByOrgIntegration"`
	Status                        string `json:"status"`
	// VideoOverview is returned only by the read of a single run. Its format is not documented.
	VideoOverview json.RawMessage `json:"videoOverview"`
}

// Model is the model that wrote a wiki.
type Model struct {
	ID              string `json:"id"`
	ReasoningEffort string `json:"reasoningEffort"`
}

// TreeNode is a page's position among the other pages, in uploads and in responses.
type TreeNode struct {
	PageID   string     `json:"pageId,omitempty"`
	Title    string     `json:"title"`
	Path     string     `json:"path"`
	Order    *float64   `json:"order,omitempty"`
	Children []TreeNode `json:"children,omitempty"`
}

// PageUpload is a page that is uploaded instead of being written by the service.
type PageUpload struct {
	PageID  string   `json:"pageId,omitempty"`
	Path    string   `json:"path"`
	Title   string   `json:"title"`
	Content *string  `json:"content"`
	Order   *float64 `json:"order,omitempty"`
}

// CreateRequest is the body of createWikiRun. Empty and nil fields are not sent. Without pages, the service writes them.
type CreateRequest struct {
	RepoURL             string       `json:"repoUrl"`
	CommitHash          string       `json:"commitHash,omitempty"`
	Branch              string       `json:"branch,omitempty"`
	HasLocalChanges     *bool        `json:"hasLocalChanges,omitempty"`
	HasNonRemoteCommits *bool        `json:"hasNonRemoteCommits,omitempty"`
	Pages               []PageUpload `json:"pages,omitzero"`
	PageTree            []TreeNode   `json:"pageTree,omitzero"`
}

func (w *Run) Ref() wire.Ref {
	return wire.Ref{Object: "wiki run of " + w.RepoURL, ID: w.ID, CreatedAt: w.CreatedAt.Time()}
}

func (w *Run) MissingField() string { return wire.MissingIf(w.RepoURL == "", "repoUrl") }

// SameRepository reports whether two URLs are of one repository: case, and a slash or ".git" at the end, make no difference.
func SameRepository(a, b string) bool { return repositoryKey(a) == repositoryKey(b) }

func repositoryKey(address string) string {
	key := strings.TrimRight(strings.ToLower(address), "/")
	return strings.TrimRight(strings.TrimSuffix(key, ".git"), "/")
}

// SameCommit reports whether two hashes are of one commit: one may be abbreviated, and case makes no difference.
func SameCommit(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	const shortest = 7 // A shorter prefix would match too many commits.
	isAbbreviated := strings.HasPrefix(a, b) || strings.HasPrefix(b, a)
	return a == b || isAbbreviated && min(len(a), len(b)) >= shortest
}

// List returns the newest run of each repository that the API key can see, ordered by repository. Calls in a short time share
// one listing.
func (c *Client) List(ctx context.Context) ([]Run, error) {
	all, err := c.listings.All(ctx, collection.Organization)
	if err != nil {
		return nil, err
	}
	wire.Sort(all, func(a, b *Run) int {
		return cmp.Or(cmp.Compare(repositoryKey(a.RepoURL), repositoryKey(b.RepoURL)), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// History returns the runs of a repository that the API key can see, newest first. Calls in a short time share one listing.
func (c *Client) History(ctx context.Context, repoURL string) ([]Run, error) {
	all, err := c.listings.All(ctx, repoURL)
	if err != nil {
		return nil, err
	}
	wire.SortNewestFirst(all)
	return all, nil
}

// list sends the request of a listing. The key is a repository's URL for its history, or collection.Organization for the
// newest run of each repository.
func (c *Client) list(ctx context.Context, repoURL string) ([]Run, error) {
	r := transport.Get("listWikiRuns", "/api/v0/wiki")
	if repoURL != collection.Organization {
		r = transport.Get("getWikiHistory", "/api/v0/wiki/history/{repoUrl}", repoURL)
	}
	return transport.CallList[Run](ctx, c.conn, r, "wikiRuns", nil)
}

// Get reads one run. Reads in a short time share the listing of the newest runs; an older run is read alone. If the run does not
// exist, the error is a *MissingError.
func (c *Client) Get(ctx context.Context, id string) (*Run, error) {
	return c.listings.Get(ctx, collection.Organization, id, c.GetUncached)
}

// GetUncached reads one run alone. Only this response has the video overview.
func (c *Client) GetUncached(ctx context.Context, id string) (*Run, error) {
	return transport.CallObject[Run](ctx, c.conn, transport.Get("getWikiRun", "/api/v0/wiki/{wikiRunId}", id), "wikiRun", id)
}

// Create creates a run, and finds it after a lost response; see create.Unnamed.
func (c *Client) Create(ctx context.Context, body CreateRequest) (*Run, error) {
	defer c.listings.InvalidateAll()
	return create.Unnamed(ctx, c.created, create.UnnamedObject[Run]{
		Object:   "wiki run of " + body.RepoURL,
		Place:    repositoryKey(body.RepoURL),
		Body:     body,
		Send:     func(ctx context.Context) (*Run, error) { return c.send(ctx, body) },
		List:     func(ctx context.Context) ([]Run, error) { return c.list(ctx, body.RepoURL) },
		IsWanted: body.isWanted,
	})
}

func (c *Client) send(ctx context.Context, body CreateRequest) (*Run, error) {
	made, isWhole, err := transport.CallCreate[Run](ctx, c.conn, transport.Post("createWikiRun", "/api/v0/wiki").With(body), "wikiRun")
	if err != nil || isWhole {
		return made, err
	}
	ctx, cancel := transport.PastCancel(ctx)
	defer cancel()
	if whole, err := c.GetUncached(ctx, made.ID); err == nil {
		return whole, nil
	}
	// The run exists, so return its ID. The next refresh reads the rest.
	return &Run{
		ID: made.ID, CreatedAt: made.CreatedAt, RepoURL: body.RepoURL, CommitHash: body.CommitHash, Branch: body.Branch,
		HasLocalChanges: body.HasLocalChanges, HasNonRemoteCommits: body.HasNonRemoteCommits,
	}, nil
}

// isWanted reports whether a run matches the request, as far as a response shows. A run that an agent created in a session, or
// whose privacy the caller cannot change, is somebody else's.
func (b CreateRequest) isWanted(w *Run) bool {
	return SameRepository(b.RepoURL, w.RepoURL) &&
		(b.CommitHash == "" || w.CommitHash == "" || SameCommit(b.CommitHash, w.CommitHash)) &&
		(b.Branch == "" || w.Branch == "" || b.Branch == w.Branch) &&
		w.SourceSessionID == "" && (w.CanUpdatePrivacy == nil || *w.CanUpdatePrivacy)
}

// SetPrivacy changes the privacy level of a run. It continues for a short time if the caller stops, so that a private run does not
// stay visible.
func (c *Client) SetPrivacy(ctx context.Context, id, level string) error {
	defer c.listings.InvalidateAll()
	ctx, cancel := transport.PastCancel(ctx)
	defer cancel()
	type body struct {
		PrivacyLevel string `json:"privacyLevel"`
	}
	r := transport.Post("updateWikiPrivacy", "/api/v0/wiki/{wikiRunId}/privacy", id).Repeatable()
	return c.conn.CallIgnoringBody(ctx, r.With(body{level}))
}

// Delete deletes a run. If the run does not exist, the error is a *MissingError.
func (c *Client) Delete(ctx context.Context, id string) error {
	defer c.listings.InvalidateAll()
	return collection.Gone(c.conn.CallIgnoringBody(ctx, transport.Delete("deleteWikiRun", "/api/v0/wiki/{wikiRunId}", id)))
}

// Page is a page of a wiki run.
type Page struct {
	wire.WithRaw
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
	return cmp.Or(wire.MissingIf(p.ID == "", "pageId"), wire.MissingIf(p.Content == nil, "content"))
}

// Match is a page that a search found.
type Match struct {
	wire.WithRaw
	PageID     string `json:"pageId"`
	Title      string `json:"title"`
	Path       string `json:"path"`
	Snippet    string `json:"snippet"`
	MatchCount *int64 `json:"matchCount"`
}

func (m *Match) Ref() wire.Ref { return wire.Ref{ID: m.PageID} }

func (m *Match) MissingField() string { return wire.MissingIf(m.PageID == "", "pageId") }

// Page returns a page of a wiki run.
func (c *Client) Page(ctx context.Context, runID, pageID string) (*Page, error) {
	r := transport.Get("getWikiPage", "/api/v0/wiki/{wikiRunId}/pages/{pageId}", runID, pageID)
	return transport.CallObject[Page](ctx, c.conn, r, "page", pageID)
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
