package ci

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// defaultLookForTime is short: nobody is told of the wait, and all it gives is a time to name in messages.
const defaultLookForTime = 5 * time.Second

// EditWorkflowRequest is the body of editCiWorkflow. What is not set is not sent.
type EditWorkflowRequest struct {
	// Action is "create", "edit" or "delete".
	Action              string   `json:"action"`
	Repos               []Target `json:"repos"`
	Changes             *Changes `json:"changes,omitempty"`
	AutomationName      *string  `json:"automationName,omitempty"`
	ServiceAutomationID *string  `json:"serviceAutomationId,omitempty"`
	ModeID              *string  `json:"modeId,omitempty"`
}

// Target is a workflow's file, or a repository alone where the service names the file.
type Target struct {
	RepoFullName string  `json:"repoFullName"`
	FilePath     *string `json:"filePath,omitempty"`
}

// String names a target in messages.
func (t Target) String() string {
	if t.FilePath == nil {
		return t.RepoFullName
	}
	return t.RepoFullName + " (" + *t.FilePath + ")"
}

// Changes are the new values of a workflow. An empty text is sent, too: it removes the value.
type Changes struct {
	Name                    *string  `json:"name,omitempty"`
	YAMLParams              *string  `json:"yamlParams,omitempty"`
	CustomPrompt            *string  `json:"customPrompt,omitempty"`
	Schedule                *string  `json:"schedule,omitempty"`
	GithubEvents            []string `json:"githubEvents,omitzero"`
	CustomCIModel           *string  `json:"customCIModel,omitempty"`
	CustomCIReasoningEffort *string  `json:"customCIReasoningEffort,omitempty"`
}

// Outcome is what became of a repository: a pull request, a message where there is none, or an error. What the service
// leaves out is empty.
type Outcome struct {
	RepoFullName Loose `json:"repoFullName"`
	SessionID    Loose `json:"sessionId"`
	PullRequest  Loose `json:"prUrl"`
	Message      Loose `json:"message"`
	Error        Fault `json:"error"`
}

// Edit is the response to an edit.
type Edit struct {
	// Repositories are those of the request, each once, in its order.
	Repositories []RepositoryEdit
	// Others are outcomes without a repository, or of one that was not asked for.
	Others []Outcome
}

// RepositoryEdit is what became of a repository. An outcome does not name its file, so those of several files cannot be
// told apart. There may be fewer outcomes than targets, a single one may stand for all of them, and there may be more.
type RepositoryEdit struct {
	Targets  []Target
	Outcomes []Outcome
}

// UncertainEditError says that pull requests may have been opened although there is no answer that tells which. The request
// was not sent again, because that would open others.
type UncertainEditError struct {
	Targets []Target
	// Err is why the response is missing.
	Err error
}

func (e *UncertainEditError) Error() string {
	names := make([]string, len(e.Targets))
	for i, t := range e.Targets {
		names[i] = t.String()
	}
	return fmt.Sprintf("pull requests may have been opened in %s, but no response lists them: %s", strings.Join(names, ", "), create.Causes(e.Err))
}

func (e *UncertainEditError) Unwrap() error { return e.Err }

// TimeBeforeEdit is the service's time, as its last response told it, in RFC 3339: what is changed from now on has no older one.
// If it has told none yet, the jobs are read for it, for a short while and whatever comes of that. It is empty if the service
// does not tell it: the clock of this machine may be ahead of the service's.
func (c *Client) TimeBeforeEdit(ctx context.Context) string {
	if c.conn.ServiceTime().IsZero() {
		look, cancel := context.WithTimeout(ctx, c.lookForTime)
		defer cancel()
		_, _ = c.Jobs(look)
	}
	at := c.conn.ServiceTime()
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

// EditWorkflow opens pull requests that create, change or delete a workflow. Each request opens others, so one that the
// service may have acted on is not repeated, and is an *UncertainEditError if it fails.
func (c *Client) EditWorkflow(ctx context.Context, body EditWorkflowRequest) (*Edit, error) {
	r := transport.Request{Op: transport.Operation{Name: "editCiWorkflow", Method: http.MethodPost, Route: route + "edit", Slow: true}, Body: body}
	outcomes, err := list[Outcome](ctx, c.conn, r, "sessions", nil)
	c.reads.jobs.InvalidateAll() // Also where only the answer was lost.
	c.reads.scans.InvalidateAll()
	c.reads.runs.InvalidateAll()
	switch {
	case err != nil && transport.IsAmbiguous(err):
		return nil, &UncertainEditError{Targets: body.Repos, Err: err}
	case err != nil:
		return nil, err
	}
	return assign(outcomes, body.Repos), nil
}

// assign gives each repository its outcomes. The code host does not tell names apart by case.
func assign(outcomes []Outcome, targets []Target) *Edit {
	edit := &Edit{}
	find := func(name string) *RepositoryEdit {
		for i := range edit.Repositories {
			if strings.EqualFold(edit.Repositories[i].Targets[0].RepoFullName, name) {
				return &edit.Repositories[i]
			}
		}
		return nil
	}
	for _, target := range targets {
		if same := find(target.RepoFullName); same != nil {
			same.Targets = append(same.Targets, target)
		} else {
			edit.Repositories = append(edit.Repositories, RepositoryEdit{Targets: []Target{target}})
		}
	}
	for _, outcome := range outcomes {
		if repo := find(string(outcome.RepoFullName)); repo != nil {
			repo.Outcomes = append(repo.Outcomes, outcome)
		} else {
			edit.Others = append(edit.Others, outcome)
		}
	}
	edit.adoptNameless()
	return edit
}

// adoptNameless gives an outcome without a repository to the only one that has none, if it is the only outcome left.
func (e *Edit) adoptNameless() {
	if len(e.Others) != 1 || e.Others[0].RepoFullName != "" || e.Others[0] == (Outcome{}) {
		return
	}
	var open *RepositoryEdit
	for i := range e.Repositories {
		if len(e.Repositories[i].Outcomes) > 0 {
			continue
		}
		if open != nil {
			return
		}
		open = &e.Repositories[i]
	}
	if open != nil && len(open.Targets) == 1 {
		open.Outcomes, e.Others = e.Others, nil
	}
}
