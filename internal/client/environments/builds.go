package environments

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Statuses of a build.
const (
	BuildQueued     = "queued"
	BuildBuilding   = "building"
	BuildValidating = "validating"
	BuildSucceeded  = "succeeded"
	BuildFailed     = "failed"
	// BuildSuperseded is a build that a newer one has taken the place of.
	BuildSuperseded = "superseded"
)

// Categories of a build's failure.
const (
	FailureSourceResolution = "source-resolution"
	FailureProvider         = "provider"
	FailureTimeout          = "timeout"
	FailureValidation       = "validation"
	FailurePromotion        = "promotion"
	FailureCleanup          = "cleanup"
	FailureUnknown          = "unknown"
)

// maxStatuses is how many environments one request for build statuses names.
// x-assumption: the service documents no limit; a longer request would also meet limits on the length of an address.
const maxStatuses = 100

// Build is one build of an environment.
type Build struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	// Trigger is what started it: create, edit, manual, scheduled or base-update.
	Trigger         string            `json:"trigger"`
	Repositories    []BuildRepository `json:"repositories"`
	FailureReason   string            `json:"failureReason"`
	FailureCategory string            `json:"failureCategory"`
	// Excerpt is a part of the log, Truncated says that there is more of it, Withheld that the service shows none.
	Excerpt    string           `json:"excerpt"`
	Truncated  bool             `json:"truncated"`
	Withheld   bool             `json:"withheld"`
	CreatedAt  transport.Millis `json:"createdAt"`
	StartedAt  transport.Millis `json:"startedAt"`
	FinishedAt transport.Millis `json:"finishedAt"`
	PromotedAt transport.Millis `json:"promotedAt"`
}

// isRunning reports that the build has not ended.
func (b *Build) isRunning() bool {
	return slices.Contains([]string{BuildQueued, BuildBuilding, BuildValidating}, b.Status)
}

// BuildRepository is a repository as a build found it.
type BuildRepository struct {
	URL           string `json:"url"`
	Name          string `json:"name"`
	DefaultBranch string `json:"defaultBranch"`
	CommitSHA     string `json:"commitSha"`
}

// BuildStatus is the state of an environment's latest build.
type BuildStatus struct {
	EnvironmentID     string      `json:"environmentId"`
	EnvironmentStatus string      `json:"environmentStatus"`
	LatestBuild       BuildReport `json:"latestBuild"`
}

// BuildReport is what build statuses tell of a build.
type BuildReport struct {
	ID        string `json:"id"`
	Status    string `json:"status"`
	Excerpt   string `json:"excerpt"`
	Truncated bool   `json:"truncated"`
	Withheld  bool   `json:"withheld"`
}

// BuildDiagnostics is what the service tells of how a build went. Status is the environment's for its latest build, and
// the build's own for a given one.
type BuildDiagnostics struct {
	BuildID   string `json:"buildId"`
	Status    string `json:"status"`
	Excerpt   string `json:"excerpt"`
	Truncated bool   `json:"truncated"`
	Withheld  bool   `json:"withheld"`
}

func (s *BuildStatus) Identifier() string { return s.EnvironmentID }

// Without a build, the environment's status tells what there is to know.
func (s *BuildStatus) MissingField() string { return "" }

func (d *BuildDiagnostics) Identifier() string { return d.BuildID }

func (d *BuildDiagnostics) MissingField() string { return "" }

// BuildStatuses returns the states of the latest builds of environments, in the order of the IDs. What the service does
// not know, or has never built, is not among them.
func (c *Client) BuildStatuses(ctx context.Context, account string, ids []string) ([]BuildStatus, error) {
	byID := make(map[string]BuildStatus, len(ids))
	for chunk := range slices.Chunk(ids, maxStatuses) {
		q := url.Values{"environmentIds": chunk}
		transport.SetIf(q, "serviceAccountId", account)
		found, err := transport.CallList[BuildStatus](ctx, c.conn, transport.Request{
			Op:    transport.Operation{Name: "getEnvironmentBuildStatuses", Method: http.MethodGet, Route: "/api/v0/environments/build-statuses"},
			Query: q,
		}, "builds")
		if err != nil {
			return nil, err
		}
		for _, s := range found {
			byID[s.EnvironmentID] = s
		}
	}
	statuses := make([]BuildStatus, 0, len(byID))
	for _, id := range ids {
		if s, ok := byID[id]; ok {
			statuses = append(statuses, s)
		}
	}
	return statuses, nil
}

// WatchBuild follows an environment's latest build. All who wait for builds share their looks.
func (c *Client) WatchBuild(environmentID string) *collection.Watch[BuildStatus] {
	return c.buildPolls.Watch(collection.Organization, environmentID)
}

func (c *Client) newBuildPolls() *collection.Poller[BuildStatus] {
	return collection.NewPoller(c.conn.Clock, collection.PollSource[BuildStatus]{
		Single: c.buildStatusAlone,
		// One that the statuses lack is not asked for there again.
		AfterMany: c.buildStatusOfRecord,
		Many:      c.BuildStatuses,
		ID:        (*BuildStatus).Identifier,
		AfterWait: func(string) { c.listings.InvalidateAll() },
	})
}

// buildStatusAlone tells an environment that is gone, whose status is merely left out, by a read of the environment.
func (c *Client) buildStatusAlone(ctx context.Context, id string) (*BuildStatus, error) {
	found, err := c.BuildStatuses(ctx, "", []string{id})
	if err == nil && len(found) == 1 {
		return &found[0], nil
	}
	if err != nil && !collection.CannotList(err) {
		return nil, err
	}
	return c.buildStatusOfRecord(ctx, id)
}

// buildStatusOfRecord is what the environment's own record tells of its latest build.
func (c *Client) buildStatusOfRecord(ctx context.Context, id string) (*BuildStatus, error) {
	e, err := c.GetUncached(ctx, id)
	if err != nil {
		return nil, err
	}
	status := &BuildStatus{EnvironmentID: e.ID, EnvironmentStatus: e.Status}
	if b := e.LatestBuild; b != nil {
		status.LatestBuild = BuildReport{ID: b.ID, Status: b.Status, Excerpt: b.Excerpt, Truncated: b.Truncated, Withheld: b.Withheld}
	}
	return status, nil
}

// StartBuild builds an environment again and returns the ID of the new build. The service answers 409 while a build runs.
// Latest is the latest build as it was known before: where the answer is lost, or names no build, another one that was
// created since is the one that was asked for. If there is none, the error is a *LostError.
func (c *Client) StartBuild(ctx context.Context, id, latest string) (string, error) {
	defer c.listings.InvalidateAll()
	r := transport.Request{
		Op:   transport.Operation{Name: "createEnvironmentBuild", Method: http.MethodPost, Route: "/api/v0/environments/{environmentId}/builds"},
		Path: []string{id},
	}
	since := c.conn.ServiceTime()
	answer, err := c.conn.Exchange(ctx, r, transport.EmptyOrJSON)
	switch {
	case err == nil:
		var change Change
		if transport.Decode(answer.Body, "environment", &change) == nil && change.BuildID != "" {
			if problem := transport.Mismatch(&change, id); change.ID != "" && problem != "" {
				return "", r.Unexpected(problem)
			}
			return change.BuildID, nil
		}
		// The spec shows no body. An ID without a build beside it may be anything's.
		err = r.Unexpected("it names no build")
	case !transport.IsAmbiguous(err):
		return "", err
	}
	build, findErr := c.newerBuild(ctx, id, latest, since)
	if build == "" {
		return "", &create.LostError{Object: "build of the environment", Name: id, Err: errors.Join(err, findErr)}
	}
	return build, nil
}

// newerBuild looks for a build that an answer did not name, for as long as one may take to show; empty if none does.
func (c *Client) newerBuild(ctx context.Context, id, latest string, since time.Time) (string, error) {
	found, err := create.FindAfterLoss(ctx, c.conn, 1, func(ctx context.Context) ([]Build, error) {
		e, err := c.GetUncached(ctx, id)
		if err != nil || !e.builtSince(latest, since) {
			return nil, err
		}
		return []Build{*e.LatestBuild}, nil
	})
	if len(found) == 0 {
		return "", err
	}
	return found[0].ID, nil
}

// builtSince reports that the latest build is another one than the one that was the latest, and is not older than that time.
func (e *Environment) builtSince(latest string, since time.Time) bool {
	return e.LatestBuildID() != "" && e.LatestBuildID() != latest && create.CreatedSince(e.LatestBuild.CreatedAt, since)
}

// CancelBuild stops a build. The service answers 409 for one that is not running, unless that is what this call may have done.
func (c *Client) CancelBuild(ctx context.Context, id, buildID string) error {
	defer c.listings.InvalidateAll()
	r := transport.Request{
		Op:   transport.Operation{Name: "cancelEnvironmentBuild", Method: http.MethodPost, Route: "/api/v0/environments/{environmentId}/builds/{buildId}/cancel"},
		Path: []string{id, buildID},
	}
	err := c.conn.CallIgnoringBody(ctx, r)
	if !transport.IsAmbiguous(err) || ctx.Err() != nil {
		return err
	}
	r.Repeatable = true
	if err = c.conn.CallIgnoringBody(ctx, r); transport.IsConflict(err) {
		return nil
	}
	return err
}

// LatestBuildDiagnostics returns how an environment's latest build went.
func (c *Client) LatestBuildDiagnostics(ctx context.Context, id string) (*BuildDiagnostics, error) {
	return transport.CallObject[BuildDiagnostics](ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "getEnvironmentBuildDiagnostics", Method: http.MethodGet, Route: "/api/v0/environments/{environmentId}/build-diagnostics"},
		Path: []string{id},
	}, transport.NewObject)
}

// BuildDiagnostics returns how one build went. The spec shows no fields of the answer, so one without the build's ID is taken for it.
func (c *Client) BuildDiagnostics(ctx context.Context, id, buildID string) (*BuildDiagnostics, error) {
	r := transport.Request{
		Op:   transport.Operation{Name: "getBuildDiagnostics", Method: http.MethodGet, Route: "/api/v0/environments/{environmentId}/builds/{buildId}/diagnostics"},
		Path: []string{id, buildID},
	}
	found, err := transport.Call[BuildDiagnostics](ctx, c.conn, r)
	if err != nil {
		return nil, err
	}
	if problem := transport.Mismatch(found, buildID); found.BuildID != "" && problem != "" {
		return nil, r.Unexpected(problem)
	}
	found.BuildID = buildID
	return found, nil
}
