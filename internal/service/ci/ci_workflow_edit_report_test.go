package ci

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// Without the service's time, no job is called older.
func TestWhereToLook_withoutTheServicesTime(t *testing.T) {
	t.Parallel()
	request := editRequest{body: ci.EditWorkflowRequest{Action: actionDelete}}
	if text := request.whereToLook(); strings.Contains(text, "an earlier one") || strings.Contains(text, "at or after") || !strings.Contains(text, "A job with action delete may belong to this request") {
		t.Error(text)
	}
}

// The message about the timeout matches the request's timeout.
func TestUncertainFault_timeouts(t *testing.T) {
	t.Parallel()
	const atLeast, timeout = "did not respond within 5m0s, the", "did not respond within request_timeout"
	for name, tc := range map[string]struct {
		err  transport.TransportError
		want string
	}{
		"the least time":  {transport.TransportError{Timeout: "request_timeout", AtLeast: 5 * time.Minute}, atLeast},
		"request_timeout": {transport.TransportError{Timeout: "request_timeout"}, timeout},
		"another failure": {transport.TransportError{}, ""},
	} {
		tc.err.Err = context.DeadlineExceeded
		request := editRequest{body: ci.EditWorkflowRequest{Action: actionDelete}, since: "2026-03-01T12:00:00Z"}
		detail := request.uncertainFault(&ci.UncertainEditError{Targets: []ci.Target{{RepoFullName: "acme/api"}}, Err: &tc.err}).Detail
		for _, said := range []string{atLeast, timeout} {
			if strings.Contains(detail, said) != (said == tc.want) {
				t.Errorf("%s: %s", name, detail)
			}
		}
		if !strings.Contains(detail, "A job with action delete that was created or updated at or after 2026-03-01T12:00:00Z") || strings.Contains(detail, "automation ID") {
			t.Errorf("%s: %s", name, detail)
		}
	}
}

// The advice is given once, and no workflow of unknown state is said to exist.
func TestFault_advice(t *testing.T) {
	t.Parallel()
	const look, take, job = "check the pull requests of these repositories", "remove finished repositories from repos", "earlier one does not"
	const there, perhaps = "To use the same automation for the remaining repositories", "If this request opened pull requests"
	for name, tc := range map[string]struct {
		targets int
		count   [isOpen + 1]int
		opened  []string
		want    []string
	}{
		"nothing is known":             {2, [...]int{0, 0, 2}, nil, []string{look, take, job, perhaps}},
		"nothing is known of one":      {1, [...]int{0, 0, 1}, nil, []string{look, job, perhaps}},
		"one failed, one is not known": {2, [...]int{0, 1, 1}, nil, []string{look, take, job, perhaps}},
		"one failed, one is open":      {2, [...]int{1, 1, 0}, []string{"P"}, []string{take, there}},
		"one is done, one not known":   {2, [...]int{1, 0, 1}, []string{"P"}, []string{look, take, job, there}},
		"all failed":                   {2, [...]int{0, 2, 0}, nil, nil},
	} {
		request := editRequest{body: ci.EditWorkflowRequest{Action: actionCreate, Repos: make([]ci.Target, tc.targets)}, since: "2026-03-01T12:00:00Z", newAutomation: "A"}
		detail := request.fault(tally{count: tc.count, opened: tc.opened}).Detail
		for _, said := range []string{look, take, job, there, perhaps} {
			if strings.Contains(detail, said) != slices.Contains(tc.want, said) {
				t.Errorf("%s: %q in %s", name, said, detail)
			}
		}
		if n := strings.Count(strings.ToLower(detail), "before you "+crud.RunAgain); n != min(len(tc.want), 1) {
			t.Errorf("%s: the advice is given %d times: %s", name, n, detail)
		}
	}
	detail := editRequest{newAutomation: "A"}.uncertainFault(&ci.UncertainEditError{Err: context.DeadlineExceeded}).Detail
	if !strings.Contains(detail, perhaps) || strings.Contains(detail, there) {
		t.Error(detail)
	}
}

// No summary says that an edit failed unless a requested workflow is known to have failed.
func TestReport_summary(t *testing.T) {
	t.Parallel()
	const uncertain, partly, wholly = "CI Workflow Edit Is Uncertain", "Cannot edit CI workflow in every repository", "Cannot edit CI workflow"
	failed, done, open := []ci.Outcome{{Error: "E"}}, []ci.Outcome{{PullRequest: "P"}}, []ci.Outcome(nil)
	strange := []ci.Outcome{{RepoFullName: "acme/other", Error: "bad"}}
	for name, tc := range map[string]struct {
		outcomes [][]ci.Outcome
		others   []ci.Outcome
		want     string
	}{
		"not known":                                      {[][]ci.Outcome{open}, nil, uncertain},
		"not known, another failed":                      {[][]ci.Outcome{open}, strange, uncertain},
		"one is done, another failed":                    {[][]ci.Outcome{done}, strange, uncertain},
		"one is done, one not known, and another failed": {[][]ci.Outcome{done, open}, strange, uncertain},
		"one failed, one is not known":                   {[][]ci.Outcome{failed, open}, nil, partly},
		"one failed, one is done, another failed":        {[][]ci.Outcome{failed, done}, strange, partly},
		"all failed":                                     {[][]ci.Outcome{failed, failed}, nil, wholly},
		"all that were asked for failed, and more":       {[][]ci.Outcome{failed}, strange, wholly},
	} {
		request, edit := editRequest{}, &ci.Edit{Others: tc.others}
		for _, outcomes := range tc.outcomes {
			targets := []ci.Target{{RepoFullName: "acme/api"}}
			request.body.Repos = append(request.body.Repos, targets...)
			edit.Repositories = append(edit.Repositories, ci.RepositoryEdit{Targets: targets, Outcomes: outcomes})
		}
		var fault *crud.ObjectError
		if err := request.report(edit, func(string, ...any) {}); !errors.As(err, &fault) || fault.Summary != tc.want {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
