package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"
)

// ciClient calls the operations of CI automation.
type ciClient struct {
	*conn

	ci ciReads
	// lookForTime is real time, which TimeBeforeEdit takes at most.
	lookForTime time.Duration
}

func newCI(conn *conn) *ciClient {
	c := &ciClient{conn: conn, lookForTime: defaultLookForTime}
	c.ci = newCIReads(c)
	return c
}

// ciRoute starts the routes of CI automation, of whose answers the API shows no shapes: a list must be in its envelope,
// but any field of an item may be absent.
const ciRoute = "/api/v0/automations/ci/"

// CIJob is a change of a workflow in a repository, which a pull request proposes. A text is empty where the service leaves it out.
type CIJob struct {
	ID           string `json:"id"`
	Action       string `json:"action"`
	RepoFullName string `json:"repoFullName"`
	FilePath     string `json:"filePath"`
	PullRequest  string `json:"prUrl"`
	Status       string `json:"status"`
	Error        Fault  `json:"error"`
	CreatedAt    Millis `json:"createdAt"`
	UpdatedAt    Millis `json:"updatedAt"`
}

// CIRepository is a repository in which CI automation may work.
type CIRepository struct {
	FullName       string `json:"fullName"`
	URL            string `json:"url"`
	IsPrivate      *bool  `json:"isPrivate"`
	DefaultBranch  string `json:"defaultBranch"`
	UserPermission string `json:"userPermission"`
	// ServiceAppWritable says whether the service's app may write to it; nil where the service leaves it out.
	ServiceAppWritable *bool `json:"serviceAppWritable"`
}

// CIOwners are those whose repositories CI automation may work in.
type CIOwners struct {
	Owners      []CIOwner
	Integration *CIIntegration
}

// CIOwner owns repositories.
type CIOwner struct {
	Login string `json:"login"`
	Type  string `json:"type"`
}

// CIIntegration tells of the organization's code host. Connected is nil where the service leaves it out.
type CIIntegration struct {
	Connected *bool `json:"connected"`
}

// CIRuns are runs of workflows.
type CIRuns struct {
	Runs        []CIRun
	Integration *CIIntegration
}

// CIRun is a run of a workflow. Its fields are open, so it is kept whole too.
type CIRun struct {
	ID           Loose
	RepoFullName Loose
	Status       Loose
	Conclusion   Loose
	// Raw is the run as the service writes it.
	Raw json.RawMessage
}

// UnmarshalJSON keeps the whole item, whatever it is, beside the fields that are likely.
func (r *CIRun) UnmarshalJSON(data []byte) error {
	var fields map[string]Loose
	if json.Unmarshal(data, &fields) != nil {
		fields = nil // An item that is no object has no fields.
	}
	*r = CIRun{ID: fields["id"], RepoFullName: fields["repoFullName"], Status: fields["status"], Conclusion: fields["conclusion"], Raw: bytes.Clone(data)}
	return nil
}

// CIScan is what the service found in the repositories.
type CIScan struct {
	Workflows   []CIWorkflow
	ScannedAt   Millis
	CacheTTL    *int64
	Integration *CIIntegration
}

// CIWorkflow is a workflow's file in a repository.
type CIWorkflow struct {
	RepoFullName  string   `json:"repoFullName"`
	FilePath      string   `json:"filePath"`
	WorkflowName  string   `json:"workflowName"`
	TriggerEvents []string `json:"triggerEvents"`
	ScheduleCron  string   `json:"scheduleCron"`
	TemplateID    string   `json:"templateId"`
	// AgentActionInputs are the inputs of the agent's step; nil where there are none.
	AgentActionInputs json.RawMessage `json:"agentActionInputs"`
	GithubURL         string          `json:"githubUrl"`
	FileSHA           string          `json:"fileSha"`
	AuthoredBy        *CIAuthor       `json:"authoredBy"`
	UserPermission    string          `json:"userPermission"`
}

// CIAuthor wrote a workflow.
type CIAuthor struct {
	Login string `json:"login"`
	Name  string `json:"name"`
}

// Loose is a text where the API does not say that it is one: any other value is its JSON, and null is empty.
type Loose string

// UnmarshalJSON takes a value of any type.
func (l *Loose) UnmarshalJSON(data []byte) error {
	text, ok := textOf(data)
	if !ok && !bytes.Equal(bytes.TrimSpace(data), []byte("null")) {
		var compact bytes.Buffer
		if err := json.Compact(&compact, data); err != nil {
			return fmt.Errorf("read a text: %w", err)
		}
		text = compact.String()
	}
	*l = Loose(text)
	return nil
}

// Fault is a Loose that says what went wrong. What says nothing is empty: false, {}, [] and blanks.
type Fault string

// UnmarshalJSON takes a value of any type.
func (f *Fault) UnmarshalJSON(data []byte) error {
	var said Loose
	if err := said.UnmarshalJSON(data); err != nil {
		return err
	}
	switch strings.TrimSpace(string(said)) {
	case "", "false", "{}", "[]":
		said = ""
	}
	*f = Fault(said)
	return nil
}

// ciReads are what one process has read of CI automation: those who ask the same in a short time share an answer.
type ciReads struct {
	jobs         *shared[CIJob]
	repositories *shared[CIRepository]
	owner        *onlyOwner
	owners       *shared[CIOwners]
	runs         *shared[CIRuns]
	scans        *shared[CIScan]
}

func newCIReads(c *ciClient) ciReads {
	return ciReads{
		jobs:         newShared(c.Clock, 0, c.listCIJobs, func(j *CIJob) string { return j.ID }, nameless[CIJob]),
		repositories: newShared(c.Clock, 0, c.listCIRepositories, func(r *CIRepository) string { return r.FullName }, nameless[CIRepository]),
		owner:        &onlyOwner{},
		owners:       newShared(c.Clock, 0, c.listCIRepositoryOwners, onlyOne[CIOwners], nameless[CIOwners]),
		runs:         newShared(c.Clock, 0, c.listCIRuns, onlyOne[CIRuns], nameless[CIRuns]),
		scans:        newShared(c.Clock, 0, c.scanCIWorkflows, onlyOne[CIScan], nameless[CIScan]),
	}
}

// onlyOne is for collections that have one object.
func onlyOne[T any](*T) string { return organization }

// CIJobs returns the jobs of the organization, the newest first.
func (c *ciClient) CIJobs(ctx context.Context) ([]CIJob, error) {
	return c.ci.jobs.all(ctx, organization)
}

// CIRepositories returns the repositories in which CI automation may work, those of an owner or all, ordered by their names.
// What is not the owner's is left out, whatever the service answers.
func (c *ciClient) CIRepositories(ctx context.Context, owner string) ([]CIRepository, error) {
	if owner == "" {
		return c.ci.repositories.all(ctx, "")
	}
	found, err := c.ci.repositories.all(ctx, c.ci.owner.key(owner))
	return slices.DeleteFunc(found, func(r CIRepository) bool {
		of, _, _ := strings.Cut(r.FullName, "/")
		return !strings.EqualFold(of, owner)
	}), err
}

// onlyOwner is the owner whose repositories were asked for, as long as nobody has asked for those of another one.
type onlyOwner struct {
	mu   sync.Mutex
	name string
}

// key is the listing that answers for an owner: that of the first one alone, that of all owners for every other one.
func (o *onlyOwner) key(owner string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.name == "":
		o.name = owner
	case !strings.EqualFold(o.name, owner):
		return ""
	}
	return o.name
}

// CIRepositoryOwners returns those whose repositories CI automation may work in, ordered by their names.
func (c *ciClient) CIRepositoryOwners(ctx context.Context) (*CIOwners, error) {
	return first(c.ci.owners.all(ctx, organization))
}

// CIRuns returns the runs of workflows as the service orders them.
func (c *ciClient) CIRuns(ctx context.Context) (*CIRuns, error) {
	return first(c.ci.runs.all(ctx, organization))
}

// ScanCIWorkflows returns the workflows of the repositories, ordered by repository and path. The service answers with an
// earlier scan that is not too old, unless it is forced to look.
func (c *ciClient) ScanCIWorkflows(ctx context.Context, isForced bool) (*CIScan, error) {
	key := ""
	if isForced {
		key = forced
	}
	return first(c.ci.scans.all(ctx, key))
}

// forced is the key of scans that are no earlier ones.
const forced = "true"

// first is the only object of a collection that has one.
func first[T any](objects []T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &objects[0], nil
}

func (c *ciClient) listCIJobs(ctx context.Context, _ string) ([]CIJob, error) {
	jobs, err := listCI[CIJob](ctx, c.conn, request{op: operation{name: "listCiJobs", method: http.MethodGet, route: ciRoute + "jobs"}}, "jobs", nil)
	slices.SortStableFunc(jobs, func(a, b CIJob) int { return cmp.Or(cmp.Compare(b.CreatedAt, a.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	return jobs, err
}

func (c *ciClient) listCIRepositories(ctx context.Context, owner string) ([]CIRepository, error) {
	r := request{op: operation{name: "listCiRepositories", method: http.MethodGet, route: ciRoute + "repositories"}}
	if owner != "" {
		r.query = url.Values{"owner": {owner}}
	}
	repositories, err := listCI[CIRepository](ctx, c.conn, r, "repositories", nil)
	slices.SortStableFunc(repositories, func(a, b CIRepository) int { return cmp.Compare(a.FullName, b.FullName) })
	return repositories, err
}

func (c *ciClient) listCIRepositoryOwners(ctx context.Context, _ string) ([]CIOwners, error) {
	var envelope struct {
		Integration *CIIntegration `json:"integration"`
	}
	owners, err := listCI[CIOwner](ctx, c.conn, request{op: operation{name: "listCiRepositoryOwners", method: http.MethodGet, route: ciRoute + "repository-owners"}}, "owners", &envelope)
	slices.SortStableFunc(owners, func(a, b CIOwner) int { return cmp.Or(cmp.Compare(a.Login, b.Login), cmp.Compare(a.Type, b.Type)) })
	return []CIOwners{{Owners: owners, Integration: envelope.Integration}}, err
}

func (c *ciClient) listCIRuns(ctx context.Context, _ string) ([]CIRuns, error) {
	var envelope struct {
		Integration *CIIntegration `json:"integration"`
	}
	runs, err := listCI[CIRun](ctx, c.conn, request{op: operation{name: "listCiRuns", method: http.MethodGet, route: ciRoute + "runs"}}, "runs", &envelope)
	return []CIRuns{{Runs: runs, Integration: envelope.Integration}}, err
}

func (c *ciClient) scanCIWorkflows(ctx context.Context, isForced string) ([]CIScan, error) {
	r := request{op: operation{name: "scanCiWorkflows", method: http.MethodGet, route: ciRoute + "scan"}}
	if isForced == forced {
		r.op.slow = true
		r.query = url.Values{"forceRefresh": {forced}}
	}
	var envelope struct {
		ScannedAt   Millis         `json:"scannedAt"`
		CacheTTLMs  *int64         `json:"cacheTtlMs"`
		Integration *CIIntegration `json:"integration"`
	}
	workflows, err := listCI[CIWorkflow](ctx, c.conn, r, "workflows", &envelope)
	for i := range workflows {
		slices.Sort(workflows[i].TriggerEvents) // Their order says nothing, and a changing one would show up as a change.
	}
	slices.SortStableFunc(workflows, func(a, b CIWorkflow) int {
		return cmp.Or(cmp.Compare(a.RepoFullName, b.RepoFullName), cmp.Compare(a.FilePath, b.FilePath))
	})
	return []CIScan{{Workflows: workflows, ScannedAt: envelope.ScannedAt, CacheTTL: envelope.CacheTTLMs, Integration: envelope.Integration}}, err
}

// listCI asks for a list in an envelope of that name, and reads what else is in its answer unless envelope is nil.
func listCI[T any](ctx context.Context, c *conn, r request, name string, envelope any) ([]T, error) {
	answer, err := c.exchange(ctx, r, wantJSON)
	if err != nil {
		return nil, err
	}
	items, err := readList[T](answer.body, name)
	if err == nil && envelope != nil {
		err = readEnvelope(answer.body, envelope)
	}
	if err != nil {
		return nil, unusable(r.op, err)
	}
	return items, nil
}
