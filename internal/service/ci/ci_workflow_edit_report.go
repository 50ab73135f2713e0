package ci

import (
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// editRequest is what the messages about a request name.
type editRequest struct {
	body ci.EditWorkflowRequest
	// newAutomation is the automation's ID if the provider generated it.
	newAutomation string
}

// announcement is sent before the request, because Terraform does not show messages after an interrupt.
func (a editRequest) announcement() string {
	text := fmt.Sprintf("requesting pull requests with action %s in %s", a.body.Action, a.repositories())
	if a.newAutomation != "" {
		text += "; the new service automation ID is " + a.newAutomation
	}
	return text
}

func (a editRequest) repositories() string {
	all := make([]string, len(a.body.Repos))
	for i, target := range a.body.Repos {
		all[i] = target.String()
	}
	return strings.Join(all, ", ")
}

// report sends one progress message for each outcome. The error has those that failed or are unknown.
func (a editRequest) report(outcomes []ci.Outcome, tell crud.Tell) error {
	var failed, opened []string
	hasOutcome := map[string]bool{}
	add := func(repository, said string, isDone bool) {
		tell("%s: %s", repository, said)
		if !isDone {
			failed = append(failed, repository+": "+said)
		}
	}
	for _, outcome := range outcomes {
		said, isDone := read(outcome)
		if outcome.PullRequest != "" {
			opened = append(opened, string(outcome.PullRequest))
		}
		if outcome.RepoFullName == "" {
			add("a result without a repository", said, isDone)
			continue
		}
		hasOutcome[strings.ToLower(string(outcome.RepoFullName))] = true
		add(string(outcome.RepoFullName), said, isDone)
	}
	for _, target := range a.body.Repos {
		if name := strings.ToLower(target.RepoFullName); !hasOutcome[name] {
			hasOutcome[name] = true
			add(target.RepoFullName, "the response has no result", false)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	pulls := "The response lists no opened pull request."
	if len(opened) > 0 {
		pulls = "Pull requests were opened: " + strings.Join(opened, ", ")
	}
	return &crud.ObjectError{At: path.Root("repos"), Summary: cannotEdit, Detail: "These repositories failed or have no known result:\n" + strings.Join(failed, "\n") + "\n\n" + pulls + "\n\n" +
		phrase.Join("The data source agentyard_ci_repositories lists the connected repositories and their permissions.", a.beforeAgain())}
}

const cannotEdit = "Cannot edit CI workflow"

// beforeAgain is the advice that prevents duplicate pull requests, and names the generated ID, which is stored nowhere else.
func (a editRequest) beforeAgain() string {
	text := "Before you run it again, check the pull requests of the repositories, and remove finished repositories from repos: each request opens new pull requests."
	if a.newAutomation != "" {
		text += fmt.Sprintf(" To use the same automation for the others, set service_automation_id to %s.", a.newAutomation)
	}
	return text
}

func read(outcome ci.Outcome) (said string, isDone bool) {
	switch {
	case outcome.Error != "":
		said = "error: " + string(outcome.Error)
	case outcome.PullRequest != "":
		said, isDone = "pull request "+string(outcome.PullRequest), true
	case outcome.Message != "":
		said, isDone = "no pull request: "+string(outcome.Message), true
	default:
		said = "neither a pull request nor an error"
	}
	if outcome.SessionID != "" {
		said += fmt.Sprintf(" (session %s)", outcome.SessionID)
	}
	return said, isDone
}
