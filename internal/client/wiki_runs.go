package client

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
)

// wikiClient calls the operations on wiki runs.
type wikiClient struct {
	*conn

	wikiRuns *shared[WikiRun]
	// wikiCreations are by repository; see creationsIn.
	wikiCreations sync.Map
}

func newWiki(conn *conn) *wikiClient {
	c := &wikiClient{conn: conn}
	c.wikiRuns = newShared(conn.Clock, 1, c.listWikiRuns, (*WikiRun).identifier, nameless[WikiRun])
	return c
}

// Privacy levels of a wiki run.
const (
	WikiPrivate      = "private"
	WikiOrganization = "organization"
)

// WikiRun is a wiki of one commit of a repository: its pages and how they came to be. Nothing of it changes but its privacy.
type WikiRun struct {
	ID        string `json:"wikiRunId"`
	CreatedAt Millis `json:"createdAt"`
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
	OwnerUserID  string     `json:"ownerUserId"`
	ModelUsed    *WikiModel `json:"modelUsed"`
	AgentVersion string     `json:"agentVersion"`
	PrivacyLevel string     `json:"privacyLevel"`
	// CanUpdatePrivacy says whether the caller may change the privacy and delete the run.
	CanUpdatePrivacy              *bool `json:"canUpdatePrivacy"`
	IsRepoCoveredByOrgIntegration *bool `json:"isRepoCoveredByOrgIntegration"`
	// VideoOverview is in the single read only; its shape is open.
	VideoOverview json.RawMessage `json:"videoOverview"`
}

// WikiModel is the model that wrote a wiki.
type WikiModel struct {
	ID              string `json:"id"`
	ReasoningEffort string `json:"reasoningEffort"`
}

// WikiTreeNode is a page's place among the others, as it is uploaded and as it is read.
type WikiTreeNode struct {
	PageID   string         `json:"pageId,omitempty"`
	Title    string         `json:"title"`
	Path     string         `json:"path"`
	Order    *float64       `json:"order,omitempty"`
	Children []WikiTreeNode `json:"children,omitempty"`
}

// WikiPageUpload is a page that is uploaded instead of being written by the service.
type WikiPageUpload struct {
	PageID  string   `json:"pageId,omitempty"`
	Path    string   `json:"path"`
	Title   string   `json:"title"`
	Content string   `json:"content"`
	Order   *float64 `json:"order,omitempty"`
}

// CreateWikiRunRequest is the body of createWikiRun. Empty and nil mean "not sent"; without pages the service writes them.
type CreateWikiRunRequest struct {
	RepoURL             string           `json:"repoUrl"`
	CommitHash          string           `json:"commitHash,omitempty"`
	Branch              string           `json:"branch,omitempty"`
	HasLocalChanges     *bool            `json:"hasLocalChanges,omitempty"`
	HasNonRemoteCommits *bool            `json:"hasNonRemoteCommits,omitempty"`
	Pages               []WikiPageUpload `json:"pages,omitzero"`
	PageTree            []WikiTreeNode   `json:"pageTree,omitzero"`
}

func (w *WikiRun) identifier() string { return w.ID }

func (w *WikiRun) missing() string {
	if w.RepoURL == "" {
		return "repoUrl"
	}
	return ""
}

// existing is what an error tells of a run.
func (w *WikiRun) existing() ExistsError {
	return ExistsError{Object: "wiki run of " + w.RepoURL, ID: w.ID, ImportID: w.ID, CreatedAt: w.CreatedAt.Time()}
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

// WikiRuns returns the newest run of each repository that the API key sees, ordered by repository; many calls in a short
// time share one listing.
func (c *wikiClient) WikiRuns(ctx context.Context) ([]WikiRun, error) {
	all, err := c.wikiRuns.all(ctx, organization)
	if err != nil {
		return nil, err
	}
	// The API leaves the order open, and a changing order would show up as a change.
	slices.SortFunc(all, func(a, b WikiRun) int {
		return cmp.Or(cmp.Compare(repositoryKey(a.RepoURL), repositoryKey(b.RepoURL)), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// WikiRunHistory returns the runs of a repository that the API key sees, the newest first, from a shared listing too.
func (c *wikiClient) WikiRunHistory(ctx context.Context, repoURL string) ([]WikiRun, error) {
	all, err := c.wikiRuns.all(ctx, repoURL)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b WikiRun) int {
		return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return all, nil
}

// listWikiRuns always asks the service. The key of the collection is the repository whose history it is, or organization
// for the newest run of each repository.
func (c *wikiClient) listWikiRuns(ctx context.Context, repoURL string) ([]WikiRun, error) {
	r := request{op: operation{name: "listWikiRuns", method: http.MethodGet, route: "/api/v0/wiki"}}
	if repoURL != organization {
		r = request{op: operation{name: "getWikiHistory", method: http.MethodGet, route: "/api/v0/wiki/history/{repoUrl}"}, path: []string{repoURL}}
	}
	return callList[WikiRun](ctx, c.conn, r, "wikiRuns")
}

// WikiRun reads one run. Many reads in a short time share the listing of the newest run of each repository, and the history
// of a repository of which they read several older ones. One that does not exist is a *GoneError. The repository may be empty where it is not known.
func (c *wikiClient) WikiRun(ctx context.Context, id, repoURL string) (*WikiRun, error) {
	found, err := c.wikiRuns.get(ctx, organization, id, func(ctx context.Context) (*WikiRun, error) { return c.olderWikiRun(ctx, id, repoURL) })
	return found, c.goneFromHistory(ctx, id, repoURL, err)
}

// olderWikiRun reads a run that is not known to be the newest of its repository: from the second such read on in the history,
// and alone where that lacks it or cannot be had.
func (c *wikiClient) olderWikiRun(ctx context.Context, id, repoURL string) (*WikiRun, error) {
	if repoURL != organization && c.wikiRuns.listedNow(organization) != nil {
		if l := c.wikiRuns.join(ctx, repoURL, false); l != nil && l.wait(ctx) == nil {
			if found, ok := l.byID[id]; ok {
				run := *found
				return &run, nil
			}
		}
	}
	return c.WikiRunAlone(ctx, id)
}

// WikiRunAlone reads one run from the service itself. The answer alone has the video overview.
func (c *wikiClient) WikiRunAlone(ctx context.Context, id string) (*WikiRun, error) {
	return one[WikiRun](ctx, c.conn, request{
		op:   operation{name: "getWikiRun", method: http.MethodGet, route: "/api/v0/wiki/{wikiRunId}"},
		path: []string{id},
		noun: "wikiRun",
	}, id)
}

// goneFromHistory looks whether a run is gone that the listing of the newest runs lacks, as it lacks all older ones: its
// repository's history must lack it too, unless the service has none for the caller.
func (c *wikiClient) goneFromHistory(ctx context.Context, id, repoURL string, err error) error {
	var gone *GoneError
	if repoURL == "" || !errors.As(err, &gone) {
		return err
	}
	proof := c.wikiRuns.confirmGone(ctx, repoURL, id, gone.Err)
	var unproven *UnprovenGoneError
	if IsGone(proof) || errors.As(proof, &unproven) && cannotList(unproven.Listing) {
		return err
	}
	return proof
}

// CreateWikiRun makes a run and reconciles a lost answer; see unnamed. The shape of the answer is open: one with nothing
// but the ID is completed by a read.
func (c *wikiClient) CreateWikiRun(ctx context.Context, body CreateWikiRunRequest) (*WikiRun, error) {
	defer c.wikiRuns.discardAll()
	return createUnnamed(ctx, c.conn, creationsIn[WikiRun](&c.wikiCreations, repositoryKey(body.RepoURL)), unnamed[WikiRun]{
		object: "wiki run of " + body.RepoURL,
		send:   func(ctx context.Context) (*WikiRun, error) { return c.sendWikiRun(ctx, body) },
		list: func(ctx context.Context) ([]WikiRun, error) {
			c.wikiRuns.discard(body.RepoURL)
			return c.wikiRuns.all(ctx, body.RepoURL)
		},
		isWanted:  body.isWanted,
		createdAt: func(w *WikiRun) Millis { return w.CreatedAt },
		existing:  (*WikiRun).existing,
	})
}

func (c *wikiClient) sendWikiRun(ctx context.Context, body CreateWikiRunRequest) (*WikiRun, error) {
	r := request{op: operation{name: "createWikiRun", method: http.MethodPost, route: "/api/v0/wiki"}, body: body, noun: "wikiRun"}
	answer, err := c.exchange(ctx, r, wantJSON)
	if err != nil {
		return nil, err
	}
	var made WikiRun
	err = decode(answer.body, r.noun, &made)
	switch {
	case made.ID == "":
		return nil, r.strange("it holds no ID")
	case err == nil && made.missing() == "":
		return &made, nil
	}
	ctx, cancel := outlive(ctx, afterStop)
	defer cancel()
	if whole, err := c.WikiRunAlone(ctx, made.ID); err == nil {
		return whole, nil
	}
	// It exists, and its ID must not be lost. The next refresh completes it.
	return &WikiRun{
		ID: made.ID, CreatedAt: made.CreatedAt, RepoURL: body.RepoURL, CommitHash: body.CommitHash, Branch: body.Branch,
		HasLocalChanges: body.HasLocalChanges, HasNonRemoteCommits: body.HasNonRemoteCommits,
	}, nil
}

// isWanted reports that a run is what the request asked for and nothing more, as far as its record tells. A run that an agent has made in a session, or that the caller may not change, is somebody else's.
func (b CreateWikiRunRequest) isWanted(w *WikiRun) bool {
	return SameRepository(b.RepoURL, w.RepoURL) &&
		(b.CommitHash == "" || w.CommitHash == "" || SameCommit(b.CommitHash, w.CommitHash)) &&
		(b.Branch == "" || w.Branch == "" || b.Branch == w.Branch) &&
		sameFlag(b.HasLocalChanges, w.HasLocalChanges) && sameFlag(b.HasNonRemoteCommits, w.HasNonRemoteCommits) &&
		w.SourceSessionID == "" && (w.CanUpdatePrivacy == nil || *w.CanUpdatePrivacy) &&
		(b.Pages == nil || w.PageCount == nil || int64(len(b.Pages)) == *w.PageCount)
}

// sameFlag reports that nothing is told, or what is asked; that is no, where nothing is.
func sameFlag(asked, told *bool) bool { return told == nil || *told == (asked != nil && *asked) }

// SetWikiPrivacy changes who sees a run. The shape of the answer is open: one that does not show the run as it is wanted is
// followed by a read.
func (c *wikiClient) SetWikiPrivacy(ctx context.Context, id, level string) (*WikiRun, error) {
	defer c.wikiRuns.discardAll()
	r := request{
		op:   operation{name: "updateWikiPrivacy", method: http.MethodPost, route: "/api/v0/wiki/{wikiRunId}/privacy", repeatable: true},
		path: []string{id},
		body: struct {
			PrivacyLevel string `json:"privacyLevel"`
		}{level},
		noun: "wikiRun",
	}
	answer, err := c.exchange(ctx, r, wantStatus)
	if err != nil {
		return nil, err
	}
	var updated WikiRun
	if decode(answer.body, r.noun, &updated) == nil && updated.ID != "" {
		switch {
		case !strings.EqualFold(updated.ID, id):
			return nil, r.strange(unlike(&updated, id))
		case updated.missing() == "" && updated.PrivacyLevel == level:
			return &updated, nil
		}
	}
	ctx, cancel := outlive(ctx, afterStop)
	defer cancel()
	present, err := c.WikiRunAlone(ctx, id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w (the answer to %s does not show the run, so it was read back)", err, r.op.name)
	case present.PrivacyLevel != level:
		return nil, r.strange("it does not show the run, and the run, read back, is not changed")
	}
	return present, nil
}

// SetNewWikiPrivacy is SetWikiPrivacy as the end of a run's creation: where that is being stopped, it still takes place, so
// that a private run does not stay visible.
func (c *wikiClient) SetNewWikiPrivacy(ctx context.Context, id, level string) (*WikiRun, error) {
	ctx, cancel := outlive(ctx, afterStop)
	defer cancel()
	return c.SetWikiPrivacy(ctx, id, level)
}

// DeleteWikiRun deletes a run. One that does not exist is a *GoneError. The repository may be empty where it is not known.
func (c *wikiClient) DeleteWikiRun(ctx context.Context, id, repoURL string) error {
	err := c.callNoAnswer(ctx, request{
		op:   operation{name: "deleteWikiRun", method: http.MethodDelete, route: "/api/v0/wiki/{wikiRunId}"},
		path: []string{id},
	})
	if IsNotFound(err) {
		err = c.goneFromHistory(ctx, id, repoURL, c.wikiRuns.confirmGone(ctx, organization, id, err))
	}
	if !IsGone(err) {
		c.wikiRuns.discardAll()
	}
	c.wikiRuns.ended(organization, id, err)
	return err
}
