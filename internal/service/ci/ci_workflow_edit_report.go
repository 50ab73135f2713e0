package ci

import (
	"cmp"
	"fmt"
	"strings"

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

// report sends one progress message for each outcome. It returns the lines of those that failed, and the pull requests of the others.
func report(outcomes []ci.Outcome, tell crud.Progress) (failed, opened []string) {
	for _, outcome := range outcomes {
		line := cmp.Or(string(outcome.RepoFullName), "a result without a repository") + ": " + read(outcome)
		tell("%s", line)
		if outcome.Error != "" {
			failed = append(failed, line)
		}
		if outcome.PullRequest != "" {
			opened = append(opened, string(outcome.PullRequest))
		}
	}
	return failed, opened
}

// failure explains which repositories failed, and how to run the operation for them alone.
func (a editRequest) failure(failed, opened []string) string {
	pulls := "The response lists no opened pull request."
	if len(opened) > 0 {
		pulls = "Pull requests were opened: " + strings.Join(opened, ", ")
	}
	return "These repositories failed or have no known result:\n" + strings.Join(failed, "\n") + "\n\n" + pulls + "\n\n" +
		phrase.Join("The data source agentyard_ci_repositories lists the connected repositories and their permissions.", a.beforeAgain())
}

const cannotEdit = "Cannot edit CI workflow"

// beforeAgain is the advice that prevents duplicate pull requests, and names the generated ID, which an error does not store.
func (a editRequest) beforeAgain() string {
	text := "Before you run it again, check the pull requests of the repositories, and remove finished repositories from repos: each request opens new pull requests."
	if a.newAutomation != "" {
		text += fmt.Sprintf(" To use the same automation for the others, set service_automation_id to %s.", a.newAutomation)
	}
	return text
}

func read(outcome ci.Outcome) string {
	said := "no pull request: " + string(outcome.Message)
	switch {
	case outcome.Error != "":
		said = "error: " + string(outcome.Error)
	case outcome.PullRequest != "":
		said = "pull request " + string(outcome.PullRequest)
	}
	if outcome.SessionID != "" {
		said += fmt.Sprintf(" (session %s)", outcome.SessionID)
	}
	return said
}
