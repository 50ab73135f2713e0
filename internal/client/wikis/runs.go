// Package wikis calls the operations on wiki runs.
package wikis

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Client calls the operations on wiki runs.
type Client struct {
	conn *transport.Conn

	listings *collection.Shared[Run]
	// creations are by repository; see CreationsIn.
	creations sync.Map
}

// New returns the calls on wiki runs.
func New(conn *transport.Conn) *Client {
	c := &Client{conn: conn}
	c.listings = collection.NewShared(conn.Clock, 1, c.list, (*Run).Identifier, collection.Nameless[Run])
	return c
}

// Privacy levels of a wiki run.
const (
	PrivacyPrivate      = "private"
	PrivacyOrganization = "organization"
)

// Run is a wiki of one commit of a repository: its pages and how they came to be. Nothing of it changes but its privacy.
type Run struct {
	ID        string           `json:"wikiRunId"`
	CreatedAt transport.Millis `json:"createdAt"`
	// RepoURL is the address as the service spells it.
	RepoURL             string `json:"repoUrl"`
	CommitHash          string `json:"commitHash"`
	Branch              string `json:"branch"`
	HasLocalChanges     *bool  `json:"hasLocalChanges"`
	HasNonRemoteCommits *bool  `json:"hasNonRemoteCommits"`
	PageCount           *int64 `json:"pageCount"`
	// PageTree is kept as it came: it may hold more than is known here.
	PageTree        json.RawMessage `json:"pageTree"`
	SourceSessionID string          `json:"sourceSessionId"`
	// OwnerUserID, ModelUsed and AgentVersion are unset where the service does not tell.
	OwnerUserID  string `json:"ownerUserId"`
	ModelUsed    *Model `json:"modelUsed"`
	AgentVersion string `json:"agentVersion"`
	PrivacyLevel string `json:"privacyLevel"`
	// CanUpdatePrivacy says whether the caller may change the privacy and delete the run.
	CanUpdatePrivacy              *bool `json:"canUpdatePrivacy"`
	IsRepoCoveredByOrgIntegration *bool `json:"isRepoCoveredByOrgIntegration"`
	// VideoOverview is in the single read only; its shape is open.
	VideoOverview json.RawMessage `json:"videoOverview"`
}

// Model is the model that wrote a wiki.
type Model struct {
	ID              string `json:"id"`
	ReasoningEffort string `json:"reasoningEffort"`
}

// TreeNode is a page's place among the others, as it is uploaded and as it is read.
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
	Content string   `json:"content"`
	Order   *float64 `json:"order,omitempty"`
}

// CreateRequest is the body of createWikiRun. Empty and nil mean "not sent"; without pages the service writes them.
type CreateRequest struct {
	RepoURL             string       `json:"repoUrl"`
	CommitHash          string       `json:"commitHash,omitempty"`
	Branch              string       `json:"branch,omitempty"`
	HasLocalChanges     *bool        `json:"hasLocalChanges,omitempty"`
	HasNonRemoteCommits *bool        `json:"hasNonRemoteCommits,omitempty"`
	Pages               []PageUpload `json:"pages,omitzero"`
	PageTree            []TreeNode   `json:"pageTree,omitzero"`
}

func (w *Run) Identifier() string { return w.ID }

func (w *Run) MissingField() string {
	if w.RepoURL == "" {
		return "repoUrl"
	}
	return ""
}

// existing is what an error tells of a run.
func (w *Run) existing() create.ExistsError {
	return create.ExistsError{Object: "wiki run of " + w.RepoURL, ID: w.ID, ImportID: w.ID, CreatedAt: w.CreatedAt.Time()}
}

// SameRepository reports that two addresses name one repository: a slash or ".git" at the end and case make no difference.
func SameRepository(a, b string) bool { return repositoryKey(a) == repositoryKey(b) }

func repositoryKey(address string) string {
	key := strings.TrimRight(strings.ToLower(address), "/")
	return strings.TrimRight(strings.TrimSuffix(key, ".git"), "/")
}

// SameCommit reports that two hashes name one commit: one may be short, and case makes no difference.
func SameCommit(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	const shortest = 7 // Any shorter one names too many.
	return a == b || min(len(a), len(b)) >= shortest && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// List returns the newest run of each repository that the API key sees, ordered by repository; many calls in a short
// time share one listing.
func (c *Client) List(ctx context.Context) ([]Run, error) {
	all, err := c.listings.All(ctx, collection.Organization)
	if err != nil {
		return nil, err
	}
	// The API leaves the order open, and a changing order would show up as a change.
	slices.SortFunc(all, func(a, b Run) int {
		return cmp.Or(cmp.Compare(repositoryKey(a.RepoURL), repositoryKey(b.RepoURL)), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// History returns the runs of a repository that the API key sees, the newest first, from a shared listing too.
func (c *Client) History(ctx context.Context, repoURL string) ([]Run, error) {
	all, err := c.listings.All(ctx, repoURL)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b Run) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// list always asks the service. The key of the collection is the repository whose history it is, or organization
// for the newest run of each repository.
func (c *Client) list(ctx context.Context, repoURL string) ([]Run, error) {
	r := transport.Request{Op: transport.Operation{Name: "listWikiRuns", Method: http.MethodGet, Route: "/api/v0/wiki"}}
	if repoURL != collection.Organization {
		r = transport.Request{Op: transport.Operation{Name: "getWikiHistory", Method: http.MethodGet, Route: "/api/v0/wiki/history/{repoUrl}"}, Path: []string{repoURL}}
	}
	return transport.CallList[Run](ctx, c.conn, r, "wikiRuns")
}

// Get reads one run. Many reads in a short time share the listing of the newest run of each repository, and the history
// of a repository of which they read several older ones. One that does not exist is a *GoneError. The repository may be empty where it is not known.
func (c *Client) Get(ctx context.Context, id, repoURL string) (*Run, error) {
	found, err := c.listings.Get(ctx, collection.Organization, id, func(ctx context.Context) (*Run, error) { return c.getOlder(ctx, id, repoURL) })
	return found, c.goneFromHistory(ctx, id, repoURL, err)
}

// getOlder reads a run that is not known to be the newest of its repository: from the second such read on in the history,
// and alone where that lacks it or cannot be had.
func (c *Client) getOlder(ctx context.Context, id, repoURL string) (*Run, error) {
	if repoURL != collection.Organization && c.listings.Listed(collection.Organization) != nil {
		if l := c.listings.ListingForRead(ctx, repoURL); l != nil && l.Wait(ctx) == nil {
			if found, ok := l.ByID[id]; ok {
				run := *found
				return &run, nil
			}
		}
	}
	return c.GetUncached(ctx, id)
}

// GetUncached reads one run from the service itself. The response alone has the video overview.
func (c *Client) GetUncached(ctx context.Context, id string) (*Run, error) {
	return transport.CallObject[Run](ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "getWikiRun", Method: http.MethodGet, Route: "/api/v0/wiki/{wikiRunId}"},
		Path: []string{id},
		Noun: "wikiRun",
	}, id)
}

// goneFromHistory looks whether a run is gone that the listing of the newest runs lacks, as it lacks all older ones: its
// repository's history must lack it too, unless the service has none for the caller.
func (c *Client) goneFromHistory(ctx context.Context, id, repoURL string, err error) error {
	var gone *collection.GoneError
	if repoURL == "" || !errors.As(err, &gone) {
		return err
	}
	proof := c.listings.ConfirmGone(ctx, repoURL, id, gone.Err)
	var unproven *collection.UnprovenGoneError
	if collection.IsGone(proof) || errors.As(proof, &unproven) && collection.CannotList(unproven.Listing) {
		return err
	}
	return proof
}

// Create makes a run and reconciles a lost response; see create.Unnamed. The shape of the response is open: one with nothing
// but the ID is completed by a read.
func (c *Client) Create(ctx context.Context, body CreateRequest) (*Run, error) {
	defer c.listings.InvalidateAll()
	return create.Unnamed(ctx, c.conn, create.CreationsIn[Run](&c.creations, repositoryKey(body.RepoURL)), create.UnnamedObject[Run]{
		Object: "wiki run of " + body.RepoURL,
		Send:   func(ctx context.Context) (*Run, error) { return c.send(ctx, body) },
		List: func(ctx context.Context) ([]Run, error) {
			c.listings.Invalidate(body.RepoURL)
			return c.listings.All(ctx, body.RepoURL)
		},
		IsWanted:  body.isWanted,
		CreatedAt: func(w *Run) transport.Millis { return w.CreatedAt },
		Describe:  (*Run).existing,
	})
}

func (c *Client) send(ctx context.Context, body CreateRequest) (*Run, error) {
	r := transport.Request{Op: transport.Operation{Name: "createWikiRun", Method: http.MethodPost, Route: "/api/v0/wiki"}, Body: body, Noun: "wikiRun"}
	response, err := c.conn.Exchange(ctx, r, transport.OnlyJSON)
	if err != nil {
		return nil, err
	}
	var made Run
	err = transport.Decode(response.Body, r.Noun, &made)
	switch {
	case made.ID == "":
		return nil, r.Unexpected("it has no ID")
	case err == nil && made.MissingField() == "":
		return &made, nil
	}
	ctx, cancel := transport.Outlive(ctx)
	defer cancel()
	if whole, err := c.GetUncached(ctx, made.ID); err == nil {
		return whole, nil
	}
	// It exists, and its ID must not be lost. The next refresh completes it.
	return &Run{
		ID: made.ID, CreatedAt: made.CreatedAt, RepoURL: body.RepoURL, CommitHash: body.CommitHash, Branch: body.Branch,
		HasLocalChanges: body.HasLocalChanges, HasNonRemoteCommits: body.HasNonRemoteCommits,
	}, nil
}

// isWanted reports that a run is what the request asked for and nothing more, as far as its record tells. A run that an agent has made in a session, or that the caller may not change, is somebody else's.
func (b CreateRequest) isWanted(w *Run) bool {
	return SameRepository(b.RepoURL, w.RepoURL) &&
		(b.CommitHash == "" || w.CommitHash == "" || SameCommit(b.CommitHash, w.CommitHash)) &&
		(b.Branch == "" || w.Branch == "" || b.Branch == w.Branch) &&
		sameFlag(b.HasLocalChanges, w.HasLocalChanges) && sameFlag(b.HasNonRemoteCommits, w.HasNonRemoteCommits) &&
		w.SourceSessionID == "" && (w.CanUpdatePrivacy == nil || *w.CanUpdatePrivacy) &&
		(b.Pages == nil || w.PageCount == nil || int64(len(b.Pages)) == *w.PageCount)
}

// sameFlag reports that a flag is returned as requested, or not at all. No request means false.
func sameFlag(requested, returned *bool) bool {
	return returned == nil || *returned == (requested != nil && *requested)
}

// SetPrivacy changes who sees a run. The shape of the response is open: one that does not show the run as it is wanted is
// followed by a read.
func (c *Client) SetPrivacy(ctx context.Context, id, level string) (*Run, error) {
	defer c.listings.InvalidateAll()
	r := transport.Request{
		Op:   transport.Operation{Name: "updateWikiPrivacy", Method: http.MethodPost, Route: "/api/v0/wiki/{wikiRunId}/privacy", Repeatable: true},
		Path: []string{id},
		Body: struct {
			PrivacyLevel string `json:"privacyLevel"`
		}{level},
		Noun: "wikiRun",
	}
	response, err := c.conn.Exchange(ctx, r, transport.AnyBody)
	if err != nil {
		return nil, err
	}
	var updated Run
	if transport.Decode(response.Body, r.Noun, &updated) == nil && updated.ID != "" {
		switch {
		case !strings.EqualFold(updated.ID, id):
			return nil, r.Unexpected(transport.Mismatch(&updated, id))
		case updated.MissingField() == "" && updated.PrivacyLevel == level:
			return &updated, nil
		}
	}
	ctx, cancel := transport.Outlive(ctx)
	defer cancel()
	present, err := c.GetUncached(ctx, id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w (the response to %s does not show the privacy level, so the provider read the wiki run back)", err, r.Op.Name)
	case present.PrivacyLevel != level:
		return nil, r.Unexpected("it does not show the privacy level, and the wiki run read back differs")
	}
	return present, nil
}

// SetNewPrivacy is SetPrivacy as the end of a run's creation: where that is being stopped, it still takes place, so
// that a private run does not stay visible.
func (c *Client) SetNewPrivacy(ctx context.Context, id, level string) (*Run, error) {
	ctx, cancel := transport.Outlive(ctx)
	defer cancel()
	return c.SetPrivacy(ctx, id, level)
}

// Delete deletes a run. One that does not exist is a *GoneError. The repository may be empty where it is not known.
func (c *Client) Delete(ctx context.Context, id, repoURL string) error {
	err := c.conn.CallIgnoringBody(ctx, transport.Request{
		Op:   transport.Operation{Name: "deleteWikiRun", Method: http.MethodDelete, Route: "/api/v0/wiki/{wikiRunId}"},
		Path: []string{id},
	})
	if transport.IsNotFound(err) {
		err = c.goneFromHistory(ctx, id, repoURL, c.listings.ConfirmGone(ctx, collection.Organization, id, err))
	}
	if !collection.IsGone(err) {
		c.listings.InvalidateAll()
	}
	c.listings.AfterDelete(collection.Organization, id, err)
	return err
}
