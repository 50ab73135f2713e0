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

// defaultLookForTime is short because users do not see that the provider waits, and the time is used only in messages.
const defaultLookForTime = 5 * time.Second

// EditWorkflowRequest is the body of editCiWorkflow. Nil fields are not sent.
type EditWorkflowRequest struct {
	// Action is "create", "edit" or "delete".
	Action              string   `json:"action"`
	Repos               []Target `json:"repos"`
	Changes             *Changes `json:"changes,omitempty"`
	AutomationName      *string  `json:"automationName,omitempty"`
	ServiceAutomationID *string  `json:"serviceAutomationId,omitempty"`
	ModeID              *string  `json:"modeId,omitempty"`
}

// Target is a workflow file, or a repository alone if the service chooses the file.
type Target struct {
	RepoFullName string  `json:"repoFullName"`
	FilePath     *string `json:"filePath,omitempty"`
}

// String formats a target for messages.
func (t Target) String() string {
	if t.FilePath == nil {
		return t.RepoFullName
	}
	return t.RepoFullName + " (" + *t.FilePath + ")"
}

// Changes are the new values of a workflow. An empty string is sent too, because it removes the value.
type Changes struct {
	Name                    *string  `json:"name,omitempty"`
	YAMLParams              *string  `json:"yamlParams,omitempty"`
	CustomPrompt            *string  `json:"customPrompt,omitempty"`
	Schedule                *string  `json:"schedule,omitempty"`
	GithubEvents            []string `json:"githubEvents,omitzero"`
	CustomCIModel           *string  `json:"customCIModel,omitempty"`
	CustomCIReasoningEffort *string  `json:"customCIReasoningEffort,omitempty"`
}

// Outcome is the result for a repository: a pull request, a message if there is none, or an error. Fields that the service
// does not return are empty.
type Outcome struct {
	RepoFullName Loose     `json:"repoFullName"`
	SessionID    Loose     `json:"sessionId"`
	PullRequest  Loose     `json:"prUrl"`
	Message      Loose     `json:"message"`
	Error        ErrorText `json:"error"`
}

// Edit is the response to an edit.
type Edit struct {
	// Repositories are the repositories of the request, each once, in the order of the request.
	Repositories []RepositoryEdit
	// Others are outcomes without a repository, or for one that was not requested.
	Others []Outcome
}

// RepositoryEdit is the result for a repository. An outcome does not name its file, so the outcomes of several files are
// indistinguishable. There may be fewer outcomes than targets, one outcome for all of them, or more.
type RepositoryEdit struct {
	Targets  []Target
	Outcomes []Outcome
}

// UncertainEditError says that pull requests may have been opened, but that no response lists them. The request was not
// retried, because that would open more pull requests.
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

// TimeBeforeEdit returns the service's time in RFC 3339; later changes are not older than that. If no response had a date yet,
// it lists the jobs for a short while to get one, and ignores errors. It returns an empty string if the time is unknown,
// because the local clock may be ahead of the service's.
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

// EditWorkflow opens pull requests that create, change, or delete a workflow. Each request opens new ones, so a request that
// the service may have acted on is not retried, and its error is an *UncertainEditError.
func (c *Client) EditWorkflow(ctx context.Context, body EditWorkflowRequest) (*Edit, error) {
	r := transport.Request{Op: transport.Operation{Name: "editCiWorkflow", Method: http.MethodPost, Route: route + "edit", Slow: true}, Body: body}
	outcomes, err := list[Outcome](ctx, c.conn, r, "sessions", nil)
	c.reads.jobs.DropAll() // Even if only the response was lost.
	c.reads.scans.DropAll()
	c.reads.runs.DropAll()
	switch {
	case err != nil && transport.IsAmbiguous(err):
		return nil, &UncertainEditError{Targets: body.Repos, Err: err}
	case err != nil:
		return nil, err
	}
	return assign(outcomes, body.Repos), nil
}

// assign assigns the outcomes to the repositories. Repository names are case-insensitive.
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

// adoptNameless assigns a single outcome without a repository to the only repository without an outcome.
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
