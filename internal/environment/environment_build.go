package environment

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/wait"
)

// buildStates are the statuses of a build. One that is superseded is waited for until the one that took its place shows.
var buildStates = wait.States{
	Done:       []string{environments.BuildSucceeded},
	InProgress: []string{environments.BuildQueued, environments.BuildBuilding, environments.BuildValidating, environments.BuildSuperseded},
	Failed:     []string{environments.BuildFailed},
}

// buildWait follows one build of an environment, and the one that takes its place, if there is one.
type buildWait struct {
	client *client.Client
	// environment is the environment's ID, build that of the build that is waited for at present; empty means the latest, whichever it is.
	environment, build string
	// before is the build that was the latest before that one was started; a look that shows it is an old one.
	before string
	// replaced are the builds that were waited for before.
	replaced []replacedBuild
	// onStatus is called when the status has changed; it may be nil.
	onStatus func(*environments.BuildReport)
}

// replacedBuild is a build that another one was waited for in the place of.
type replacedBuild struct {
	id string
	// failed says that it ended before the other one was started, and was not superseded.
	failed bool
}

// run waits until the build has ended, and returns it as last seen, also beside an error. Errors are those of wait.For.
func (w *buildWait) run(ctx context.Context, timeout time.Duration) (*environments.BuildReport, error) {
	watch := w.client.Environments.WatchBuild(w.environment)
	defer watch.Close()
	return wait.For(ctx, w.client.Conn.Clock, timeout, wait.Object[environments.BuildReport]{
		Next: func(ctx context.Context, pause time.Duration) (*environments.BuildReport, error) {
			seen, err := watch.Next(ctx, pause)
			if err != nil {
				return nil, err
			}
			return w.report(ctx, seen)
		},
		Status:   func(b *environments.BuildReport) string { return b.Status },
		States:   buildStates,
		OnChange: w.onStatus,
	})
}

// report returns the build that is waited for. Where another one is the latest, either the look is an old one, or the other
// has taken its place, or has started after the end of the one that is waited for, which alone can tell. A look without a
// build tells nothing of one whose ID is known.
func (w *buildWait) report(ctx context.Context, seen *environments.BuildStatus) (*environments.BuildReport, error) {
	latest := seen.LatestBuild
	if latest.Status == "" {
		latest.Status = ofEnvironment(seen.EnvironmentStatus)
	}
	if w.build == "" || latest.ID == w.build {
		w.build = latest.ID
		return &latest, nil
	}
	own, err := w.client.Environments.BuildDiagnostics(ctx, w.environment, w.build)
	switch {
	case transport.IsNotFound(err):
		own = &environments.BuildDiagnostics{}
	case err != nil:
		return nil, err
	}
	isOver := own.Status == "" || own.Status == environments.BuildSuperseded || own.Status == environments.BuildFailed
	switch {
	case isOver && w.isNewer(latest.ID):
		// A build that failed was cancelled perhaps, and says nothing about the one that somebody has started since.
		w.replaced = append(w.replaced, replacedBuild{id: w.build, failed: own.Status == environments.BuildFailed})
		w.build = latest.ID
		return &latest, nil
	case own.Status == "":
		return &environments.BuildReport{ID: w.build, Status: environments.BuildQueued}, nil
	}
	return &environments.BuildReport{ID: w.build, Status: own.Status, Excerpt: own.Excerpt, Truncated: own.Truncated, Withheld: own.Withheld}, nil
}

// isNewer reports that a build that a look shows is not one of those that are known to be older than the one that is waited for.
func (w *buildWait) isNewer(build string) bool {
	return build != "" && build != w.before && !slices.ContainsFunc(w.replaced, func(r replacedBuild) bool { return r.id == build })
}

// ofEnvironment is the status of a build that the service does not show, as the environment's status tells it.
func ofEnvironment(status string) string {
	switch status {
	case environments.StatusReady:
		return environments.BuildSucceeded
	case environments.StatusFailed:
		return environments.BuildFailed
	}
	return environments.BuildQueued
}

// anotherBuild is the summary of what movedOn says.
const anotherBuild = "Waited for a Newer Build"

// movedOn says that the wait went on with another build; empty if it did not.
func (w *buildWait) movedOn() string {
	if len(w.replaced) == 0 {
		return ""
	}
	var text strings.Builder
	for i, r := range w.replaced {
		next := w.build
		if i+1 < len(w.replaced) {
			next = w.replaced[i+1].id
		}
		format := "Build %s was superseded by build %s. "
		if r.failed {
			format = "Build %s failed or was canceled, and build %s was started after it. "
		}
		fmt.Fprintf(&text, format, r.id, next)
	}
	return text.String() + "The provider waited for the newer build, which an edit or another run started. " +
		"If it used a different configuration, the next plan shows the difference."
}

// buildFailure is what is known of a build that failed.
type buildFailure struct {
	environment, name, build string
	// newer is the latest build where that is another one, whose reason is the only one that the service tells.
	newer               string
	category, reason    string
	excerpt             string
	truncated, withheld bool
}

// failureOf gathers what the environment's record and the last report tell of the build that failed.
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

// Bounds of what an error shows of a log.
const (
	maxExcerptLines = 20
	maxExcerptChars = 2000
)

// text says which build failed, why, how its log ends, and what to do.
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

// cause is one sentence: which build failed, and why.
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

// endOfLog is the end of the excerpt, indented, and whether that is less than the excerpt.
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

// remedy says what to do about the category.
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

// problem names what to fix, with where to read about it.
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

// remedies say what to do about each category of failures.
var remedies = map[string]string{
	environments.FailureSourceResolution: "A repository could not be read. Check its URL and default branch, and that the organization's code-host integration covers it.",
	environments.FailureProvider:         "The provider of the source failed. Apply again later. If it still fails, choose another source_id from the data source agentyard_environment_source_options.",
	environments.FailureTimeout:          "The build took longer than the service allows. Shorten the scripts.",
	environments.FailureValidation:       "A script or a check of its result failed. Fix {problem}, then apply again.",
	environments.FailurePromotion:        "The build succeeded, but could not be activated. Apply again.",
	environments.FailureCleanup:          "The cleanup after the build failed. Apply again. If it still fails, contact the service's support.",
}

// staysActive says that an earlier build is used, where there is one.
func staysActive(e *environments.Environment) string {
	if e.LastSuccessfulBuildAt == 0 {
		return ""
	}
	return "Sessions keep using the last successful build. "
}

// builtFields are the fields of what is built, as a reason or a log may name them.
var builtFields = apierror.Fields{"repositories": path.Root("repositories"), "setupScript": path.Root("setup_script"), "setup_script": path.Root("setup_script"), "sourceId": path.Root("source_id")}

// at is the attribute that the failure concerns: what the reason or the log names, else what the category points to. Given
// are the repositories, and which of the other attributes are configured. That repositories are spoken of at all names none.
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

// lastNamed is the index of the repository whose URL a text names last, for a log ends with what failed; -1 if it names
// none. One URL may be the start of another.
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

// exists reports that a path is below one of the repositories.
func exists(at path.Path, repositories int) bool {
	for _, step := range at.Steps() {
		if index, ok := step.(path.PathStepElementKeyInt); ok {
			return int(index) < repositories
		}
	}
	return false
}

// isEnd reports an error that is the end of a build, and not merely that of looking at it. The build goes on then.
func isEnd(err error) bool {
	var failed *wait.FailedError
	return errors.As(err, &failed) || transport.IsNotFound(err)
}
