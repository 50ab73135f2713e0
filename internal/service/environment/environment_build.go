package environment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/wait"
)

// buildStates treats a superseded build as in progress until the newer build is listed.
var buildStates = wait.States{
	Done:       []string{environments.BuildSucceeded},
	InProgress: []string{environments.BuildQueued, environments.BuildBuilding, environments.BuildValidating, environments.BuildSuperseded},
	Failed:     []string{environments.BuildFailed},
}

// buildWait says which build to wait for.
type buildWait struct {
	client *client.Client
	// environment is the ID of the environment, and build that of the build that was started, if known.
	environment, build string
	// before is the latest build before the build was requested: a response that shows it is outdated. It is empty to
	// wait for whatever build is the latest.
	before string
	// onStatus is called when the status changes. It may be nil.
	onStatus func(*environments.BuildReport)
}

// run waits for the latest build, because a newer one supersedes the others. It returns the build's last report, also with an
// error. Errors are those of wait.For.
func (w *buildWait) run(ctx context.Context, timeout time.Duration) (*environments.BuildReport, error) {
	watch := w.client.Environments.WatchBuild(w.environment)
	defer watch.Close()
	return wait.For(ctx, w.client.Conn.Clock, timeout, wait.Object[environments.BuildReport]{
		Next: func(ctx context.Context, pause time.Duration) (*environments.BuildReport, error) {
			seen, err := watch.Next(ctx, pause)
			if err != nil {
				return nil, err
			}
			latest := seen.LatestBuild
			switch {
			case w.before != "" && latest.ID == "":
				return nil, errors.New("getEnvironmentBuildStatuses returned no latestBuild.id, although the environment has had a build")
			case w.before != "" && latest.ID == w.before:
				latest = environments.BuildReport{ID: w.build, Status: environments.BuildQueued}
			case latest.Status == "":
				latest.Status = ofEnvironment(seen.EnvironmentStatus)
			}
			return &latest, nil
		},
		Status:   func(b *environments.BuildReport) string { return b.Status },
		States:   buildStates,
		OnChange: w.onStatus,
	})
}

// ofEnvironment derives a build's status from the environment's status.
func ofEnvironment(status string) string {
	switch status {
	case environments.StatusReady:
		return environments.BuildSucceeded
	case environments.StatusFailed:
		return environments.BuildFailed
	}
	return environments.BuildQueued
}

// Limits of the log excerpt in an error.
const (
	maxExcerptLines = 20
	maxExcerptChars = 2000
)

// failureOf describes a failed build: its category, its reason, the end of its log, and a remedy. Last is what the wait saw of the
// build, and may be nil. The environment's record has more, if the build is still its latest.
func failureOf(e *environments.Environment, last *environments.BuildReport) string {
	var b environments.Build
	if last != nil {
		b = environments.Build{ID: last.ID, Excerpt: last.Excerpt, Withheld: last.Withheld}
	}
	if latest := e.LatestBuild; latest != nil && (b.ID == "" || b.ID == latest.ID) {
		excerpt := b.Excerpt
		b = *latest
		b.FailureReason, b.Excerpt = cmp.Or(b.FailureReason, e.FailureReason), cmp.Or(b.Excerpt, excerpt)
	}
	text := fmt.Sprintf("Build %s of environment %s failed", b.ID, label(e.Name, e.ID))
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
		text += "\n\nThe log ends as follows. The data source agentyard_environment_build_diagnostics may show more.\n\n  " +
			strings.ReplaceAll(string(end[max(0, len(end)-maxExcerptChars):]), "\n", "\n  ")
	}
	return text + "\n\n" + cmp.Or(remedies[b.FailureCategory], "Fix the problem, then apply again. If somebody canceled the build, only apply again.")
}

var remedies = map[string]string{
	environments.FailureSourceResolution: "A repository could not be read. Check its URL and default branch, and that the organization's code-host integration covers it.",
	environments.FailureProvider:         "The provider of the source failed. Apply again later. If it still fails, choose another source_id from the data source agentyard_environment_source_options.",
	environments.FailureTimeout:          "The build took longer than the service allows. Shorten the scripts.",
	environments.FailureValidation:       "A script or a check of its result failed. Fix the problem that the reason and the log show, then apply again.",
	environments.FailurePromotion:        "The build succeeded, but could not be activated. Apply again.",
	environments.FailureCleanup:          "The cleanup after the build failed. Apply again. If it still fails, contact the service's support.",
}

// Summaries of a build that did not succeed.
const (
	failedToBuild    = "Environment Failed to Build"
	buildTimedOut    = "Timed Out Waiting for the Build"
	buildInterrupted = "Interrupted Before the Environment Was Built"
)

// unbuilt says why a build did not succeed. The summary is empty if the error is one of the service. Last may be nil.
func unbuilt(ctx context.Context, c *client.Client, e *environments.Environment, last *environments.BuildReport, err error) (summary, detail string) {
	var failed *wait.FailedError
	var late *wait.TimeoutError
	switch {
	case errors.As(err, &failed):
		// Only the environment's own record has the category and the reason.
		if present, readErr := c.Environments.GetUncached(ctx, e.ID); readErr == nil {
			e = present
		}
		return failedToBuild, failureOf(e, last)
	case errors.As(err, &late):
		return buildTimedOut, fmt.Sprintf("The build of environment %s did not end: %s. It continues at the service.", label(e.Name, e.ID), late)
	case errors.Is(err, context.Canceled):
		return buildInterrupted, fmt.Sprintf("The build of environment %s continues at the service.", label(e.Name, e.ID))
	}
	return "", ""
}

// isEnd reports whether an error means that the build has ended. After other errors, it continues.
func isEnd(err error) bool {
	var failed *wait.FailedError
	return errors.As(err, &failed) || transport.IsNotFound(err)
}
