package ci

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// again is the way to repeat the request. A second apply does not trigger an action whose resource is already applied.
func (a editRequest) again() string {
	if a.isAction {
		return "To invoke the action again, run terraform apply -invoke=action.agentyard_ci_workflow_edit.NAME."
	}
	return "Then apply again."
}

// editRequest is an edit request, with what distinguishes its jobs from those of other requests.
type editRequest struct {
	body ci.EditWorkflowRequest
	// since is the service's time before the request. Empty if unknown.
	since    string
	isAction bool
	// newAutomation is the automation's ID if the provider generated it.
	newAutomation string
}

// announcement is sent before the request, because Terraform does not show messages after an interrupt.
func (a editRequest) announcement() string {
	all := make([]string, len(a.body.Repos))
	for i, target := range a.body.Repos {
		all[i] = target.String()
	}
	text := fmt.Sprintf("requesting pull requests with action %s in %s", a.body.Action, strings.Join(all, ", "))
	if a.newAutomation != "" {
		text += "; the new service automation ID is " + a.newAutomation
	}
	return text + ". If you interrupt the run, " + a.whereToLook()
}

// placesToLook name where to find results that were not reported.
const placesToLook = "check the pull requests of these repositories, or the data source agentyard_ci_jobs"

// whereToLook distinguishes jobs of this request from earlier jobs of the same files.
func (a editRequest) whereToLook() string { return placesToLook + ". " + a.ownJobs() }

func (a editRequest) ownJobs() string {
	if a.since == "" {
		return fmt.Sprintf("A job with action %s may belong to this request.", a.body.Action)
	}
	return fmt.Sprintf("A job with action %s that was created or updated at or after %s may belong to this request; an earlier one does not.", a.body.Action, a.since)
}

// keepAutomation names the generated ID, which is stored nowhere else.
func (a editRequest) keepAutomation(isThere bool) string {
	switch {
	case a.newAutomation == "":
		return ""
	case isThere:
		return fmt.Sprintf("To use the same automation for the remaining repositories, set service_automation_id to %s.", a.newAutomation)
	}
	return fmt.Sprintf("If this request opened pull requests, set service_automation_id to %s to use the same automation.", a.newAutomation)
}

// certainty classifies an outcome.
type certainty int

const (
	// isDone is a pull request, or a message that none is needed.
	isDone certainty = iota
	hasFailed
	isOpen
)

// tally counts workflows by certainty, and collects the messages of those that are not done.
type tally struct {
	count [isOpen + 1]int
	lines [isOpen + 1][]string
	// strange are failures that match no requested repository.
	strange []string
	opened  []string
}

func (t *tally) add(of string, how certainty, said string) {
	t.lines[how] = append(t.lines[how], of+": "+said)
}

// report sends one progress message for each repository. The error names those that failed or are unknown.
func (a editRequest) report(edit *ci.Edit, tell crud.Tell) error {
	var all tally
	for _, repo := range edit.Repositories {
		label := labelOf(repo.Targets)
		var told []string
		var count [isOpen + 1]int
		for _, outcome := range repo.Outcomes {
			said, how := read(outcome)
			told = append(told, prefixOf(how)+said)
			workflows := 1
			if len(repo.Outcomes) == 1 {
				workflows = len(repo.Targets) // One outcome may stand for all workflows of a repository.
			}
			count[how] += workflows
			all.add(label, how, said)
			all.addPullRequest(outcome)
		}
		if missing := len(repo.Targets) - len(repo.Outcomes); missing > 0 && len(repo.Outcomes) != 1 {
			said := "the response has no result for " + phrase.Count(missing, "workflow")
			told = append(told, prefixOf(isOpen)+said)
			count[isOpen] += missing
			all.add(label, isOpen, said)
		}
		for how, n := range count {
			all.count[how] += min(n, len(repo.Targets)) // The response may contain more outcomes than workflows.
		}
		tell("%s: %s", label, strings.Join(told, "; "))
	}
	for _, outcome := range edit.Others {
		said, how := read(outcome)
		tell("%s: %s%s", nameOf(outcome), prefixOf(how), said)
		if how == hasFailed {
			all.strange = append(all.strange, nameOf(outcome)+": "+said)
		}
		all.addPullRequest(outcome)
	}
	if all.count[hasFailed]+all.count[isOpen]+len(all.strange) == 0 {
		return nil
	}
	return a.fault(all)
}

func (a editRequest) fault(all tally) *crud.ObjectError {
	total := len(a.body.Repos)
	summary := "Cannot edit CI workflow"
	switch {
	case all.count[hasFailed] == 0: // Only repositories that were not requested failed.
		summary = "CI Workflow Edit Is Uncertain"
	case all.count[hasFailed] < total:
		summary = "Cannot edit CI workflow in every repository"
	}
	var parts, advice []string
	if n := all.count[hasFailed]; n > 0 {
		parts = append(parts, fmt.Sprintf("%d of %s failed:\n%s", n, phrase.Count(total, "workflow"), strings.Join(all.lines[hasFailed], "\n")))
	}
	if all.count[hasFailed]+len(all.strange) > 0 {
		advice = append(advice, "Fix the reported problems. The data source agentyard_ci_repositories lists the connected repositories and their permissions.")
	}
	if n := all.count[isOpen]; n > 0 {
		parts = append(parts, fmt.Sprintf("The result of %d of %s is unknown:\n%s", n, phrase.Count(total, "workflow"), strings.Join(all.lines[isOpen], "\n")))
	}
	if len(all.strange) > 0 {
		parts = append(parts, "The response reports failures that match no requested repository:\n"+strings.Join(all.strange, "\n"))
	}
	parts = append(parts, allOpened(all.opened))
	advice = append(advice, a.beforeAgain(all))
	if len(all.opened) > 0 || all.count[isOpen] > 0 {
		advice = append(advice, a.keepAutomation(len(all.opened) > 0))
	}
	advice = append(advice, a.again())
	return &crud.ObjectError{At: path.Root("repos"), Summary: summary, Detail: strings.Join(append(parts, phrase.Join(advice...)), "\n\n")}
}

// beforeAgain is the advice that prevents duplicate pull requests.
func (a editRequest) beforeAgain(all tally) string {
	const before, takeOut = "Before you " + crud.RunAgain + ", ", "remove finished repositories from repos. Each request opens new pull requests."
	total := len(a.body.Repos)
	hasMore := len(all.opened) > 0 || total > 1 && all.count[hasFailed] < total
	switch {
	case all.count[isOpen] > 0 && hasMore:
		return before + placesToLook + ", and " + takeOut + " " + a.ownJobs()
	case all.count[isOpen] > 0:
		return before + a.whereToLook()
	case hasMore:
		return before + takeOut
	}
	return ""
}

func read(outcome ci.Outcome) (said string, how certainty) {
	var beside []string
	if outcome.SessionID != "" {
		beside = append(beside, "session "+string(outcome.SessionID))
	}
	switch {
	case outcome.Error != "":
		if outcome.PullRequest != "" {
			beside = append([]string{"pull request " + string(outcome.PullRequest)}, beside...)
		}
		said, how = string(outcome.Error), hasFailed
	case outcome.PullRequest != "":
		said = "pull request " + string(outcome.PullRequest)
	case outcome.Message != "":
		said = "no pull request: " + string(outcome.Message)
	case outcome.SessionID != "":
		return fmt.Sprintf("session %s is still working and has no pull request yet", outcome.SessionID), isOpen
	default:
		return "the response contains neither a pull request nor an error", isOpen
	}
	if len(beside) > 0 {
		said += " (" + strings.Join(beside, ", ") + ")"
	}
	return said, how
}

func prefixOf(how certainty) string { return [...]string{"", "error: ", "unknown: "}[how] }

func labelOf(targets []ci.Target) string {
	if len(targets) == 1 {
		return targets[0].String()
	}
	files := make([]string, len(targets))
	for i, target := range targets {
		files[i] = "a file that the service chooses"
		if target.FilePath != nil {
			files[i] = *target.FilePath
		}
	}
	return targets[0].RepoFullName + " (" + strings.Join(files, ", ") + ")"
}

func names(outcomes []ci.Outcome) string {
	all := make([]string, len(outcomes))
	for i, outcome := range outcomes {
		all[i] = nameOf(outcome)
	}
	return strings.Join(all, "; ")
}

func nameOf(outcome ci.Outcome) string {
	if outcome.RepoFullName == "" {
		return "a result without a repository"
	}
	return fmt.Sprintf("%q (not requested)", outcome.RepoFullName)
}

func (t *tally) addPullRequest(outcome ci.Outcome) {
	if outcome.PullRequest != "" {
		t.opened = append(t.opened, string(outcome.PullRequest))
	}
}

func allOpened(opened []string) string {
	if len(opened) == 0 {
		return "The response lists no opened pull request."
	}
	return fmt.Sprintf("%s %s opened: %s", phrase.Count(len(opened), "pull request"), phrase.Verb(len(opened), "was", "were"), strings.Join(opened, ", "))
}

// uncertainFault says where to look first, because another invocation may open duplicate pull requests.
func (a editRequest) uncertainFault(err *ci.UncertainEditError) *crud.ObjectError {
	var late string
	var transport *transport.TransportError
	if errors.As(err, &transport) && transport.Timeout == "request_timeout" {
		late = "The service did not respond within request_timeout. If it needs longer, increase request_timeout in the provider block."
		if transport.AtLeast > 0 {
			late = fmt.Sprintf("The service did not respond within %v, the minimum for an edit. If it needs longer, set request_timeout in the provider block to more than that.", transport.AtLeast)
		}
	}
	return &crud.ObjectError{Summary: "Cannot edit CI workflow", Detail: apierror.Sentences(err) + "\n\n" + phrase.Join(
		apierror.Foreign(err),
		"The provider did not retry, because each request opens new pull requests. First, "+a.whereToLook(), late,
		"Remove repositories that already have a pull request from repos.", a.keepAutomation(false), a.again(),
	)}
}
