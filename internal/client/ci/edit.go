package ci

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

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

// Outcome is the result for a repository: a pull request, a message if there is none, or an error. Error is never empty if there is
// neither of the others. Other fields that the service does not return are empty.
type Outcome struct {
	RepoFullName AnyText `json:"repoFullName"`
	SessionID    AnyText `json:"sessionId"`
	PullRequest  AnyText `json:"prUrl"`
	Message      AnyText `json:"message"`
	Error        AnyText `json:"error"`
}

// EditWorkflow opens pull requests that create, change, or delete a workflow. It returns an outcome for each repository, in the order
// of the request. Each request opens new pull requests, so one that the service may have acted on is not retried.
func (c *Client) EditWorkflow(ctx context.Context, body EditWorkflowRequest) ([]Outcome, error) {
	r := transport.Post("editCiWorkflow", "/api/v0/automations/ci/edit").With(body)
	r.Op.Slow = true
	outcomes, err := transport.CallItems[Outcome](ctx, c.conn, r, "sessions", nil)
	if err != nil {
		return nil, err
	}
	for i := range outcomes {
		if o := &outcomes[i]; o.PullRequest == "" && o.Message == "" && o.Error == "" {
			o.Error = "neither a pull request nor an error"
		}
	}
	for _, target := range body.Repos {
		if !slices.ContainsFunc(outcomes, func(o Outcome) bool { return strings.EqualFold(target.RepoFullName, string(o.RepoFullName)) }) {
			outcomes = append(outcomes, Outcome{RepoFullName: AnyText(target.RepoFullName), Error: "the response has no result"})
		}
	}
	position := func(o Outcome) int {
		return slices.IndexFunc(body.Repos, func(t Target) bool { return strings.EqualFold(t.RepoFullName, string(o.RepoFullName)) })
	}
	slices.SortStableFunc(outcomes, func(a, b Outcome) int { return cmp.Compare(position(a), position(b)) })
	return outcomes, nil
}
