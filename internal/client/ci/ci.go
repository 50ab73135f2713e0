// Package ci calls the operations of CI automation.
package ci

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Client calls the operations of CI automation. The API does not document their responses: a list must be in its envelope, but any field of
// an item may be missing.
type Client struct{ conn *transport.Conn }

// New returns a client for CI automation.
func New(conn *transport.Conn) *Client { return &Client{conn: conn} }

// Job is a change to a workflow in a repository, proposed in a pull request. A string is empty if the service does not return
// it.
type Job struct {
	wire.WithRaw
	ID           string      `json:"id"`
	Action       string      `json:"action"`
	RepoFullName string      `json:"repoFullName"`
	FilePath     string      `json:"filePath"`
	PullRequest  string      `json:"prUrl"`
	Status       string      `json:"status"`
	Error        AnyText     `json:"error"`
	CreatedAt    wire.Millis `json:"createdAt"`
	UpdatedAt    wire.Millis `json:"updatedAt"`
}

// Repository is a repository that CI automation may change.
type Repository struct {
	wire.WithRaw
	FullName       string `json:"fullName"`
	URL            string `json:"url"`
	IsPrivate      *bool  `json:"isPrivate"`
	DefaultBranch  string `json:"defaultBranch"`
	UserPermission string `json:"userPermission"`
	// ServiceAppWritable says whether the service's app may write to the repository; nil if the service does not return it.
	ServiceAppWritable *bool `json:"serviceAppWritable"`
}

// Owners are the owners of the repositories that CI automation may change.
type Owners struct {
	Owners      []Owner
	Integration *Integration
}

// Owner is an owner of repositories.
type Owner struct {
	wire.WithRaw
	Login string `json:"login"`
	Type  string `json:"type"`
}

// Integration is the organization's integration with its code host. Connected is nil if the service does not return it.
type Integration struct {
	Connected *bool `json:"connected"`
}

// Runs is a listing of workflow runs.
type Runs struct {
	Runs        []Run
	Integration *Integration
}

// Run is a run of a workflow.
type Run struct {
	wire.WithRaw
	ID           AnyText
	RepoFullName AnyText
	Status       AnyText
	Conclusion   AnyText
}

// UnmarshalJSON accepts any value, and reads the fields that are likely to exist.
func (r *Run) UnmarshalJSON(data []byte) error {
	var fields map[string]AnyText
	if json.Unmarshal(data, &fields) != nil {
		fields = nil // An item that is not an object has no fields.
	}
	*r = Run{ID: fields["id"], RepoFullName: fields["repoFullName"], Status: fields["status"], Conclusion: fields["conclusion"]}
	return nil
}

// Scan has the workflows that the service found in the repositories.
type Scan struct {
	Workflows   []Workflow
	ScannedAt   wire.Millis
	CacheTTL    *int64
	Integration *Integration
}

// Workflow is a workflow file in a repository.
type Workflow struct {
	wire.WithRaw
	RepoFullName  string                 `json:"repoFullName"`
	FilePath      string                 `json:"filePath"`
	WorkflowName  string                 `json:"workflowName"`
	TriggerEvents wire.Unordered[string] `json:"triggerEvents"`
	ScheduleCron  string                 `json:"scheduleCron"`
	TemplateID    string                 `json:"templateId"`
	// AgentActionInputs are the inputs of the agent's step; nil if there are none.
	AgentActionInputs json.RawMessage `json:"agentActionInputs"`
	GithubURL         string          `json:"githubUrl"`
	FileSHA           string          `json:"fileSha"`
	AuthoredBy        *Author         `json:"authoredBy"`
	UserPermission    string          `json:"userPermission"`
}

// Author is the author of a workflow.
type Author struct {
	Login string `json:"login"`
	Name  string `json:"name"`
}

// AnyText is a string in a field of undocumented type: any other value is kept as JSON, and null is empty.
type AnyText string

// UnmarshalJSON accepts values of any type.
func (l *AnyText) UnmarshalJSON(data []byte) error {
	*l = ""
	if text := wire.TextOrJSON(data); text != "null" || data[0] == '"' {
		*l = AnyText(text)
	}
	return nil
}

// Jobs returns the jobs of the organization, newest first.
func (c *Client) Jobs(ctx context.Context) ([]Job, error) {
	jobs, err := transport.CallItems[Job](ctx, c.conn, transport.Get("listCiJobs", "/api/v0/automations/ci/jobs"), "jobs", nil)
	wire.Sort(jobs, func(a, b *Job) int { return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	return jobs, err
}

// Repositories returns the repositories that CI automation may change, of one owner or of all, ordered by name. It drops
// repositories of other owners, because the service may ignore the filter.
func (c *Client) Repositories(ctx context.Context, owner string) ([]Repository, error) {
	r := transport.Get("listCiRepositories", "/api/v0/automations/ci/repositories")
	if owner != "" {
		r.Query = url.Values{"owner": {owner}}
	}
	repositories, err := transport.CallItems[Repository](ctx, c.conn, r, "repositories", nil)
	wire.Sort(repositories, func(a, b *Repository) int { return cmp.Compare(a.FullName, b.FullName) })
	return slices.DeleteFunc(repositories, func(r Repository) bool {
		of, _, _ := strings.Cut(r.FullName, "/")
		return owner != "" && !strings.EqualFold(of, owner)
	}), err
}

// RepositoryOwners returns the owners of the repositories that CI automation may change, ordered by name.
func (c *Client) RepositoryOwners(ctx context.Context) (*Owners, error) {
	var envelope integrated
	owners, err := transport.CallItems[Owner](ctx, c.conn, transport.Get("listCiRepositoryOwners", "/api/v0/automations/ci/repository-owners"), "owners", &envelope)
	wire.Sort(owners, func(a, b *Owner) int { return cmp.Or(cmp.Compare(a.Login, b.Login), cmp.Compare(a.Type, b.Type)) })
	return &Owners{Owners: owners, Integration: envelope.Integration}, err
}

// Runs returns the runs of workflows in the service's order.
func (c *Client) Runs(ctx context.Context) (*Runs, error) {
	var envelope integrated
	runs, err := transport.CallItems[Run](ctx, c.conn, transport.Get("listCiRuns", "/api/v0/automations/ci/runs"), "runs", &envelope)
	return &Runs{Runs: runs, Integration: envelope.Integration}, err
}

// Scan returns the workflows of the repositories, ordered by repository and path. Unless isForced, the service may return a
// cached scan.
func (c *Client) Scan(ctx context.Context, isForced bool) (*Scan, error) {
	r := transport.Get("scanCiWorkflows", "/api/v0/automations/ci/scan")
	if isForced {
		r.Op.Slow = true
		r.Query = url.Values{"forceRefresh": {"true"}}
	}
	var envelope struct {
		integrated
		ScannedAt  wire.Millis `json:"scannedAt"`
		CacheTTLMs *int64      `json:"cacheTtlMs"`
	}
	workflows, err := transport.CallItems[Workflow](ctx, c.conn, r, "workflows", &envelope)
	wire.Sort(workflows, func(a, b *Workflow) int {
		return cmp.Or(cmp.Compare(a.RepoFullName, b.RepoFullName), cmp.Compare(a.FilePath, b.FilePath))
	})
	return &Scan{Workflows: workflows, ScannedAt: envelope.ScannedAt, CacheTTL: envelope.CacheTTLMs, Integration: envelope.Integration}, err
}

// integrated is the envelope of most lists.
type integrated struct {
	Integration *Integration `json:"integration"`
}
