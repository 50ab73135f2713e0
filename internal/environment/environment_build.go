package environment

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/wait"
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
	// before is the latest build before the build was requested: a response that shows it, or no build, is outdated. It is empty to
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
			case w.before != "" && (latest.ID == w.before || latest.ID == ""):
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

type buildFailure struct {
	environment, name, build string
	// newer is the latest build, if it is a different build. The service returns a reason only for the latest build.
	newer               string
	category, reason    string
	excerpt             string
	truncated, withheld bool
}

// failureOf combines the environment's record and the last report of the failed build.
func failureOf(e *environments.Environment, last *environments.BuildReport) *buildFailure {
	f := &buildFailure{environment: e.ID, name: e.Name}
	if last != nil {
		f.build, f.excerpt, f.truncated, f.withheld = last.ID, last.Excerpt, last.Truncated, last.Withheld
	}
	switch b := e.LatestBuild; {
	case b == nil:
	case f.build != "" && f.build != b.ID:
		f.newer = b.ID
	default:
		f.build, f.category, f.reason = b.ID, b.FailureCategory, b.FailureReason
		if f.reason == "" {
			f.reason = e.FailureReason
		}
		if b.Excerpt != "" {
			f.excerpt = b.Excerpt
		}
		f.truncated, f.withheld = f.truncated || b.Truncated, f.withheld || b.Withheld
	}
	return f
}

// Limits of the log excerpt in an error.
const (
	maxExcerptLines = 20
	maxExcerptChars = 2000
)

func (f *buildFailure) text() string {
	lines := []string{f.cause()}
	end, isCut := f.endOfLog()
	switch {
	case isCut:
		lines = append(lines, "", "The end of the log follows. The data source agentyard_environment_build_diagnostics shows more.", "", end)
	case end != "" && f.truncated:
		lines = append(lines, "", "The service returned only this excerpt of the log:", "", end)
	case end != "":
		lines = append(lines, "", "The log ends with:", "", end)
	case f.withheld:
		lines = append(lines, "", "The service withholds the log.")
	}
	return strings.Join(append(lines, "", f.remedy()), "\n")
}

func (f *buildFailure) cause() string {
	text := fmt.Sprintf("Build %s of environment %q (%s) failed", f.build, f.name, f.environment)
	if f.build == "" {
		text = fmt.Sprintf("The build of environment %q (%s) failed", f.name, f.environment)
	}
	if f.category != "" {
		text += ", category " + f.category
	}
	switch {
	case f.reason == "" && f.newer != "":
		return text + ". The service returns a reason only for the latest build, which is now " + f.newer + "."
	case f.reason == "":
		return text + ". The service gave no reason."
	}
	return text + ": " + strings.TrimSuffix(f.reason, ".") + "."
}

// endOfLog returns the indented end of the excerpt, and whether it was cut.
func (f *buildFailure) endOfLog() (end string, isCut bool) {
	excerpt := strings.TrimRight(f.excerpt, "\n")
	if excerpt == "" {
		return "", false
	}
	lines := strings.Split(excerpt, "\n")
	lines = lines[max(0, len(lines)-maxExcerptLines):]
	shown := []rune(strings.Join(lines, "\n"))
	shown = shown[max(0, len(shown)-maxExcerptChars):]
	return "  " + strings.ReplaceAll(string(shown), "\n", "\n  "), len(string(shown)) < len(excerpt)
}

func (f *buildFailure) remedy() string {
	if text, ok := remedies[f.category]; ok {
		return strings.ReplaceAll(text, "{problem}", f.problem())
	}
	if !f.hasLog() && f.reason == "" {
		return "Apply again. If the build still fails, contact the service's support."
	}
	text := "Fix " + f.problem() + ", then apply again."
	if !f.hasLog() {
		text += " If somebody canceled the build, only apply again."
	}
	return text
}

func (f *buildFailure) hasLog() bool { return strings.TrimSpace(f.excerpt) != "" }

// problem names what to fix, and where to read about it.
func (f *buildFailure) problem() string {
	switch {
	case !f.hasLog() && f.reason == "":
		return "the last change"
	case !f.hasLog():
		return "the problem that the reason describes"
	case f.reason == "":
		return "the problem that the log shows"
	}
	return "the problem that the reason and the log show"
}

var remedies = map[string]string{
	environments.FailureSourceResolution: "A repository could not be read. Check its URL and default branch, and that the organization's code-host integration covers it.",
	environments.FailureProvider:         "The provider of the source failed. Apply again later. If it still fails, choose another source_id from the data source agentyard_environment_source_options.",
	environments.FailureTimeout:          "The build took longer than the service allows. Shorten the scripts.",
	environments.FailureValidation:       "A script or a check of its result failed. Fix {problem}, then apply again.",
	environments.FailurePromotion:        "The build succeeded, but could not be activated. Apply again.",
	environments.FailureCleanup:          "The cleanup after the build failed. Apply again. If it still fails, contact the service's support.",
}

// builtFields are the fields that a reason or a log may name.
var builtFields = apierror.Fields{"repositories": path.Root("repositories"), "setupScript": path.Root("setup_script"), "setup_script": path.Root("setup_script"), "sourceId": path.Root("source_id")}

// at returns the attribute at fault: the one that the reason or the log names, or the one for the category.
func (f *buildFailure) at(repositories []environments.Repository, configured map[string]bool) path.Path {
	for _, text := range []string{f.reason, f.excerpt} {
		if at, ok := builtFields.Find(text); ok && (configured[at.String()] || exists(at, len(repositories))) {
			return at
		}
		if i := lastNamed(repositories, text); i >= 0 {
			return path.Root("repositories").AtListIndex(i)
		}
	}
	switch {
	case f.category == environments.FailureSourceResolution:
		return path.Root("repositories")
	case f.category == environments.FailureProvider && configured["source_id"]:
		return path.Root("source_id")
	}
	return path.Empty()
}

// lastNamed returns the index of the repository that a text names last, because a log ends with the failure. It returns -1 if
// there is none. One URL may be a prefix of another.
func lastNamed(repositories []environments.Repository, text string) int {
	last, where := -1, -1
	for i, r := range repositories {
		at := strings.LastIndex(text, r.URL)
		if at > where || at == where && at >= 0 && len(r.URL) > len(repositories[last].URL) {
			last, where = i, at
		}
	}
	return last
}

func exists(at path.Path, repositories int) bool {
	for _, step := range at.Steps() {
		if index, ok := step.(path.PathStepElementKeyInt); ok {
			return int(index) < repositories
		}
	}
	return false
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
		return failedToBuild, failureOf(e, last).text()
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
