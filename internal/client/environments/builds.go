package environments

import (
	"cmp"
	"context"
	"net/url"
	"slices"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Statuses of a build.
const (
	BuildQueued     = "queued"
	BuildBuilding   = "building"
	BuildValidating = "validating"
	BuildSucceeded  = "succeeded"
	BuildFailed     = "failed"
	// BuildSuperseded is a build that a newer one replaced.
	BuildSuperseded = "superseded"
)

// maxStatuses is the maximum number of environments in one request for build statuses.
// x-assumption: the service documents no limit, but URLs have one.
const maxStatuses = 100

// Build is one build of an environment.
type Build struct {
	ID     string `json:"id"`
	Status string `json:"status"`
	// Trigger is what started the build: create, edit, manual, scheduled, or base-update.
	Trigger         string                          `json:"trigger"`
	Repositories    wire.Unordered[BuildRepository] `json:"repositories"`
	FailureReason   string                          `json:"failureReason"`
	FailureCategory string                          `json:"failureCategory"`
	// Excerpt is a part of the log. Truncated says that the log has more, and Withheld that the service does not return it.
	Excerpt    string      `json:"excerpt"`
	Truncated  bool        `json:"truncated"`
	Withheld   bool        `json:"withheld"`
	CreatedAt  wire.Millis `json:"createdAt"`
	StartedAt  wire.Millis `json:"startedAt"`
	FinishedAt wire.Millis `json:"finishedAt"`
	PromotedAt wire.Millis `json:"promotedAt"`
}

// BuildRepository is a repository as a build found it.
type BuildRepository struct {
	URL           string `json:"url"`
	Name          string `json:"name"`
	DefaultBranch string `json:"defaultBranch"`
	CommitSHA     string `json:"commitSha"`
}

// BuildStatus is the status of an environment's latest build.
type BuildStatus struct {
	EnvironmentID     string `json:"environmentId"`
	EnvironmentStatus string `json:"environmentStatus"`
	// LatestBuild has only the ID, the status, and the log.
	LatestBuild Build `json:"latestBuild"`
}

// BuildDiagnostics describes the result of a build. Status is the environment's for its latest build, and the build's own for
// a given one.
type BuildDiagnostics struct {
	BuildID   string `json:"buildId"`
	Status    string `json:"status"`
	Excerpt   string `json:"excerpt"`
	Truncated bool   `json:"truncated"`
	Withheld  bool   `json:"withheld"`
}

func (s *BuildStatus) Ref() wire.Ref { return wire.Ref{ID: s.EnvironmentID} }

func (s *BuildStatus) MissingField() string {
	return wire.MissingIf(s.EnvironmentID == "", "environmentId")
}

func (d *BuildDiagnostics) Ref() wire.Ref { return wire.Ref{ID: d.BuildID} }

func (d *BuildDiagnostics) MissingField() string { return wire.MissingIf(d.BuildID == "", "buildId") }

// BuildStatuses returns the statuses of the latest builds of environments, in the order of the IDs. The service omits
// environments that do not exist or were never built.
func (c *Client) BuildStatuses(ctx context.Context, account string, ids []string) ([]BuildStatus, error) {
	byID := make(map[string]BuildStatus, len(ids))
	for chunk := range slices.Chunk(ids, maxStatuses) {
		q := url.Values{"environmentIds": chunk}
		transport.SetIf(q, "serviceAccountId", account)
		found, err := transport.CallList[BuildStatus](ctx, c.conn, transport.Get("getEnvironmentBuildStatuses", "/api/v0/environments/build-statuses").Where(q), "builds", nil)
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

// WatchBuild follows an environment's latest build. All watches share their polls.
func (c *Client) WatchBuild(environmentID string) *collection.Watch[BuildStatus] {
	return c.buildPolls.Watch(collection.Organization, environmentID)
}

// singleBuildStatus reads the environment if its status is missing, because a 404 shows whether it is gone.
func (c *Client) singleBuildStatus(ctx context.Context, id string) (*BuildStatus, error) {
	found, err := c.BuildStatuses(ctx, "", []string{id})
	if err == nil && len(found) == 1 {
		return &found[0], nil
	}
	if err != nil && !collection.CannotList(err) {
		return nil, err
	}
	e, err := c.GetUncached(ctx, id)
	if err != nil {
		return nil, err
	}
	status := &BuildStatus{EnvironmentID: e.ID, EnvironmentStatus: e.Status}
	if e.LatestBuild != nil {
		status.LatestBuild = *e.LatestBuild
	}
	return status, nil
}

// StartBuild builds an environment again, and returns the ID of the new build, or empty if the service does not show it yet. With a 409,
// buildID is the build that runs, if that is newer than before: the caller may wait for it. A request whose response was lost is repeated:
// if it was carried out, the service refuses another, and the build that runs is the new one.
func (c *Client) StartBuild(ctx context.Context, id, before string) (buildID string, err error) {
	buildID, err = c.change(ctx, id, transport.Post("createEnvironmentBuild", "/api/v0/environments/{environmentId}/builds", id).Repeatable())
	isUnnamed := err == nil && buildID == ""
	if !isUnnamed && !transport.IsConflict(err) {
		return buildID, err
	}
	now, readErr := c.GetUncached(ctx, id)
	if readErr != nil || now.LatestBuildID() == before {
		return "", err
	}
	if transport.IsRepeated(err) {
		err = nil
	}
	return now.LatestBuildID(), err
}

// change sends a request that may start a build, and returns the build's ID, or empty: the response to a repeated request names none,
// and that of createEnvironmentBuild is not documented.
func (c *Client) change(ctx context.Context, id string, r transport.Request) (string, error) {
	defer c.ledger.InvalidateAll()
	response, err := c.conn.Exchange(ctx, r, transport.EmptyOrJSON)
	if err != nil {
		return "", err
	}
	var change Change
	if wire.Decode(response.Body, "environment", &change) != nil || change.BuildID == "" {
		return "", nil // Without buildId, the id may be that of the build, so it proves no mismatch.
	}
	if problem := wire.Mismatch(&change, id); change.ID != "" && problem != "" {
		return "", r.Unexpected(problem)
	}
	return change.BuildID, nil
}

// CancelBuild cancels a build. For a build that is not running, the service returns 409. After a lost response, that is success.
func (c *Client) CancelBuild(ctx context.Context, id, buildID string) error {
	defer c.ledger.InvalidateAll()
	err := c.conn.CallIgnoringBody(ctx, transport.Post("cancelEnvironmentBuild", "/api/v0/environments/{environmentId}/builds/{buildId}/cancel", id, buildID).Repeatable())
	if transport.IsConflict(err) && transport.IsRepeated(err) {
		return nil
	}
	return err
}

// BuildDiagnostics returns the diagnostics of one build, or of an environment's latest build if buildID is empty. Those of one build have
// no documented fields, so the response may lack the ID.
func (c *Client) BuildDiagnostics(ctx context.Context, id, buildID string) (*BuildDiagnostics, error) {
	r := transport.Get("getEnvironmentBuildDiagnostics", "/api/v0/environments/{environmentId}/build-diagnostics", id)
	if buildID != "" {
		r = transport.Get("getBuildDiagnostics", "/api/v0/environments/{environmentId}/builds/{buildId}/diagnostics", id, buildID)
	}
	found, err := transport.Call[BuildDiagnostics](ctx, c.conn, r)
	if err != nil {
		return nil, err
	}
	if *found == (BuildDiagnostics{}) {
		return nil, r.Unexpected("it has none of the fields buildId, status, and excerpt")
	}
	found.BuildID = cmp.Or(found.BuildID, buildID)
	if problem := wire.Mismatch(found, buildID); problem != "" {
		return nil, r.Unexpected(problem)
	}
	found.BuildID = cmp.Or(buildID, found.BuildID)
	return found, nil
}
