package environment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// buildStates treats a superseded build as in progress until the newer build is listed.
var buildStates = wait.States{
	Done:       []string{environments.BuildSucceeded},
	InProgress: []string{environments.BuildQueued, environments.BuildBuilding, environments.BuildValidating, environments.BuildSuperseded},
	Failed:     []string{environments.BuildFailed},
}

// pollLag is how long polls may show an earlier build than the awaited one.
const pollLag = 10 * time.Second

// awaitedBuild is the build that a wait is for. The zero value is for whatever build is the latest.
type awaitedBuild struct {
	// id is empty if the service did not name the build. Perhaps it started none.
	id string
	// before is the latest build before that.
	before string
}

// counts reports whether the latest build in a poll is the awaited one, or a later one, which has superseded that. IsLate says that polls do
// not lag any more.
func (b awaitedBuild) counts(latest string, isLate bool) bool {
	switch {
	case b == (awaitedBuild{}), b.id != "" && latest == b.id:
		return true
	case latest == b.before:
		return b.id == "" && isLate // None was started.
	case b.id == "":
		return true // The first one after before.
	}
	return isLate // A later one. While polls lag, it may be an earlier one.
}

// waitForBuild waits for a build of an environment, or for a newer one that supersedes it. It returns the build as last seen, also with an
// error, or an empty one if it saw none. onStatus is called when the status changes. It may be nil.
func waitForBuild(ctx context.Context, c *client.Client, id string, awaited awaitedBuild, timeout time.Duration,
	onStatus func(*environments.Build),
) (*environments.Build, error) {
	watch := c.Environments.WatchBuild(id)
	defer watch.Close()
	began := c.Conn.Clock.Now()
	last, err := wait.For(ctx, c.Conn.Clock, timeout, wait.Object[environments.Build]{
		Next: func(ctx context.Context, pause time.Duration) (*environments.Build, error) {
			seen, err := watch.Next(ctx, pause)
			if err != nil {
				return nil, err
			}
			build := seen.LatestBuild
			if build.ID == "" && awaited != (awaitedBuild{}) {
				return nil, errors.New("getEnvironmentBuildStatuses returned no latestBuild.id, although the environment has had a build")
			}
			if !awaited.counts(build.ID, c.Conn.Clock.Now().Sub(began) >= pollLag) {
				return &environments.Build{Status: environments.BuildQueued}, nil
			}
			awaited.id = build.ID // A later poll may show an earlier build again.
			ofEnvironment := map[string]string{environments.StatusReady: environments.BuildSucceeded, environments.StatusFailed: environments.BuildFailed}
			build.Status = cmp.Or(build.Status, ofEnvironment[seen.EnvironmentStatus], environments.BuildQueued)
			return &build, nil
		},
		Status:   func(b *environments.Build) string { return b.Status },
		States:   buildStates,
		OnChange: onStatus,
	})
	return cmp.Or(last, &environments.Build{}), err
}

// whyNotBuilt says why a build did not succeed, given the environment as read after the wait. The summary is empty if the error is one of
// the service.
func whyNotBuilt(e *environments.Environment, last *environments.Build, err error) (summary, detail string) {
	if wait.IsFailed(err) {
		return "Environment failed to build", failureOf(e, last)
	}
	if late, isLate := errors.AsType[*wait.TimeoutError](err); isLate {
		return "Timed out waiting for the build", fmt.Sprintf("The build of %s did not end: %s. It continues at the service, which refuses another build until it ends. "+
			"To allow more time, raise the timeout in the timeouts block, if there is one.", named(e), late)
	}
	if errors.Is(err, context.Canceled) {
		return "Interrupted before the environment was built", fmt.Sprintf("The build of %s continues at the service. To stop it, use agentyard_environment_build_cancel.", named(e))
	}
	return "", ""
}

// buildError is whyNotBuilt for an object that only refers to the environment. E is the environment as read before the wait.
func buildError(ctx context.Context, c *client.Client, e *environments.Environment, last *environments.Build, err error) error {
	if now, readErr := c.Environments.GetUncached(ctx, e.ID); readErr == nil {
		e = now
	}
	if summary, detail := whyNotBuilt(e, last, err); summary != "" {
		return &crud.ObjectError{At: path.Root("environment_id"), Summary: summary, Detail: detail}
	}
	return err
}

const maxExcerptLines, maxExcerptChars = 20, 2000 // Limits of the log in an error.

// failureOf describes the failed build that a wait saw: its category, its reason, the end of its log, and a remedy. The environment has
// them, unless another build is its latest by now.
func failureOf(e *environments.Environment, last *environments.Build) string {
	b := *last
	if latest := e.LatestBuild; latest != nil && (b.ID == "" || b.ID == latest.ID) {
		b = *latest
		b.FailureReason = cmp.Or(b.FailureReason, e.FailureReason)
	}
	text := fmt.Sprintf("Build %s of %s failed", b.ID, named(e))
	if b.FailureCategory != "" {
		text += ", category " + b.FailureCategory
	}
	text += ": " + strings.TrimSuffix(cmp.Or(b.FailureReason, "the service gave no reason"), ".") + "."
	log := strings.TrimSpace(b.Excerpt)
	switch {
	case b.Withheld:
		text += "\n\nThe service withholds the log."
	case log != "":
		lines := strings.Split(log, "\n")
		end := []rune(strings.Join(lines[max(0, len(lines)-maxExcerptLines):], "\n"))
		text += "\n\nThis is an excerpt of the log. The data source agentyard_environment_build_diagnostics may show more.\n\n  " +
			strings.ReplaceAll(string(end[max(0, len(end)-maxExcerptChars):]), "\n", "\n  ")
	}
	return text + "\n\n" + cmp.Or(remedies[b.FailureCategory], "Fix the problem, then apply again. If somebody canceled the build, only apply again.")
}

// remedies are by the category of a build's failure.
var remedies = map[string]string{
	"source-resolution": "A repository could not be read. Check its URL and default branch, and that the organization's code-host integration covers it.",
	"provider":          "The provider of the source failed. Apply again later. If it still fails, choose another source_id from the data source agentyard_environment_source_options.",
	"timeout":           "The build took longer than the service allows. Shorten the scripts.",
	"validation":        "A script or a check of its result failed. Fix the problem that the reason and the log show, then apply again.",
	"promotion":         "The build succeeded, but could not be activated. Apply again.",
	"cleanup":           "The cleanup after the build failed. Apply again. If it still fails, contact the service's support.",
}

// named identifies an environment within a sentence.
func named(e *environments.Environment) string {
	return "environment " + wire.Ref{Name: e.Name, ID: e.ID}.String()
}
