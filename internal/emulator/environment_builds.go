package emulator

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The states of a build.
const (
	buildQueued     = "queued"
	buildBuilding   = "building"
	buildValidating = "validating"
	buildSucceeded  = "succeeded"
	buildFailed     = "failed"
	buildSuperseded = "superseded"
)

// build is one attempt to build an environment. Its state is never stored: it follows from the clock.
type build struct {
	ID, Trigger string
	born
	definition
	Phase   int64         // Milliseconds that each of the three phases takes.
	Failure *BuildFailure `json:",omitempty"`
	// StoppedAt is when a running build was superseded or cancelled, or 0.
	StoppedAt  int64 `json:",omitempty"`
	Superseded bool  `json:",omitempty"`
}

// buildState is the state of a build at one moment; a time is 0 before it came.
type buildState struct {
	status                string
	startedAt, finishedAt int64
	failure               *BuildFailure
}

func (s buildState) running() bool {
	return s.status == buildQueued || s.status == buildBuilding || s.status == buildValidating
}

// environmentStatus is the status of an environment whose latest build is in this state.
func (s buildState) environmentStatus() string {
	switch {
	case s.running():
		return "building"
	case s.status == buildSucceeded:
		return "ready"
	}
	return "failed"
}

// at computes the state of a build from its plan and the clock.
func (b *build) at(now time.Time) buildState {
	building := b.CreatedAt + b.Phase
	validating := building + b.Phase
	end := validating + b.Phase
	if b.Failure != nil && b.Failure.Phase == buildBuilding {
		end = validating
	}
	at := millis(now)
	if b.StoppedAt != 0 {
		at = min(at, b.StoppedAt)
	}
	var s buildState
	if at >= building {
		s.startedAt = building
	}
	switch {
	case b.StoppedAt != 0:
		s.finishedAt, s.status = b.StoppedAt, buildSuperseded
		if !b.Superseded {
			s.status, s.failure = buildFailed, &BuildFailure{Category: "unknown", Reason: "The build was cancelled."}
		}
	case at >= end && b.Failure != nil:
		s.finishedAt, s.status, s.failure = end, buildFailed, b.Failure
	case at >= end:
		s.finishedAt, s.status = end, buildSucceeded
	case at >= validating:
		s.status = buildValidating
	case at >= building:
		s.status = buildBuilding
	default:
		s.status = buildQueued
	}
	return s
}

// buildView is a build as the API shows it.
type buildView struct {
	ID              string            `json:"id"`
	Status          string            `json:"status"`
	Trigger         string            `json:"trigger"`
	Repositories    []builtRepository `json:"repositories,omitzero"`
	FailureReason   string            `json:"failureReason,omitempty"`
	FailureCategory string            `json:"failureCategory,omitempty"`
	diagnostics
	CreatedAt  int64 `json:"createdAt"`
	StartedAt  int64 `json:"startedAt,omitempty"`
	FinishedAt int64 `json:"finishedAt,omitempty"`
	PromotedAt int64 `json:"promotedAt,omitempty"`
}

type builtRepository struct {
	URL           string `json:"url"`
	Name          string `json:"name"`
	DefaultBranch string `json:"defaultBranch"`
	CommitSHA     string `json:"commitSha"`
}

func (b *build) view(now time.Time) buildView {
	s := b.at(now)
	v := buildView{
		ID: b.ID, Status: s.status, Trigger: b.Trigger, diagnostics: s.diagnostics(),
		CreatedAt: b.CreatedAt, StartedAt: s.startedAt, FinishedAt: s.finishedAt,
	}
	if s.failure != nil {
		v.FailureReason, v.FailureCategory = s.failure.Reason, s.failure.Category
	}
	if s.status == buildSucceeded {
		v.PromotedAt = s.finishedAt
	}
	if s.startedAt != 0 { // Before that nobody has looked at them.
		v.Repositories = b.builtRepositories()
	}
	return v
}

// builtRepositories says what was cloned; the commits depend only on the build.
func (b *build) builtRepositories() []builtRepository {
	list := make([]builtRepository, len(b.Repositories))
	for i, r := range b.Repositories {
		sum := sha256.Sum256([]byte(r.URL + " " + b.ID))
		list[i] = builtRepository{URL: r.URL, Name: repositoryName(r.URL), DefaultBranch: "main", CommitSHA: hex.EncodeToString(sum[:20])}
	}
	return list
}

// repositoryName is the last segment of a repository's path.
func repositoryName(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return strings.TrimSuffix(path.Base(u.Path), ".git")
}

// build finds one build of an environment.
func (r *request) build(env *environment, id string) (*build, error) {
	return buildTable.get(r.tx, key(env.ID, id), notFound("The environment %q has no build with the ID %q.", env.Name, id))
}

// builds returns the latest build, and the one that the environment runs on: the last one that succeeded, or nil.
func (r *request) builds(env *environment) (latest, active *build, err error) {
	latest, err = r.build(env, env.LatestBuild)
	switch {
	case err != nil:
	case latest.at(r.now).status == buildSucceeded:
		active = latest
	case env.ActiveBuild != "":
		active, err = r.build(env, env.ActiveBuild)
	}
	return latest, active, err
}

// startBuild gives an environment, which the caller stores, its next build. One that runs is superseded.
func (r *request) startBuild(env *environment, trigger string) (err error) {
	if env.LatestBuild != "" {
		latest, err := r.build(env, env.LatestBuild)
		if err != nil {
			return err
		}
		switch s := latest.at(r.now); {
		case s.status == buildSucceeded:
			env.ActiveBuild = latest.ID
		case s.running():
			latest.StoppedAt, latest.Superseded = millis(r.now), true
			if err := buildTable.put(r.tx, key(env.ID, latest.ID), *latest); err != nil {
				return err
			}
		}
	}
	phase := orDefault(r.e.opts.BuildPhase, 2*time.Second)
	b := &build{ID: newID("bld_", r.now), Trigger: trigger, definition: env.definition, Phase: max(1, phase.Milliseconds())}
	if b.born, err = r.bornNow(buildTable); err != nil {
		return err
	}
	if b.Failure = r.e.takeBuildFailure(env.Name); b.Failure == nil && r.e.sourceView(env.SourceID).Unavailable {
		b.Failure = &BuildFailure{Phase: buildBuilding, Category: "provider", Reason: "The provider of the source is unavailable."}
	}
	env.LatestBuild = b.ID
	end, change := b.at(r.now.Add(maxAhead)), r.noteChange(env.ID, env.Name)
	if change.Until = end.finishedAt; end.failure != nil {
		change.Failure = "build failed"
	}
	return buildTable.put(r.tx, key(env.ID, b.ID), *b)
}

// StartBuild builds an environment again, as the service does on its own. It is an error if there is no such environment.
func (e *Emulator) StartBuild(environmentID string) error {
	return edit(e, environmentTable, environmentID, "environment", func(r *request, env *environment) error { return r.startBuild(env, "scheduled") })
}

// createEnvironmentBuild builds again what is asked for; a build that runs is not superseded by it.
func createEnvironmentBuild(r *request, env *environment) (reply, error) {
	latest, err := r.build(env, env.LatestBuild)
	if err != nil {
		return reply{}, err
	}
	if latest.at(r.now).running() {
		return reply{}, conflict("The build %s of the environment %q is running already.", latest.ID, env.Name)
	}
	if err := r.startBuild(env, "manual"); err != nil {
		return reply{}, err
	}
	return reply{200, environmentChange{env.ID, env.LatestBuild}}, environmentTable.put(r.tx, env.ID, *env)
}

func cancelEnvironmentBuild(r *request, env *environment) (reply, error) {
	b, err := r.build(env, r.params["buildId"])
	if err != nil {
		return reply{}, err
	}
	if s := b.at(r.now); !s.running() {
		return reply{}, conflict("The build %s is not running; its status is %s.", b.ID, s.status)
	}
	b.StoppedAt = millis(r.now)
	return reply{status: 204}, buildTable.put(r.tx, key(env.ID, b.ID), *b)
}

const (
	// maxExcerpt is how much of the end of a log an excerpt shows.
	maxExcerpt       = 4 << 10
	maxStatusesAsked = 100
)

var failureCategories = []string{"source-resolution", "provider", "timeout", "validation", "promotion", "cleanup", "unknown"}

// BuildFailure makes the next builds of environments fail.
type BuildFailure struct {
	// Name is an environment's name or a pattern as of path.Match, such as "ci-*"; empty means any.
	Name string `json:"name"`
	// Phase is the phase at whose end the build fails, building or validating; empty means building.
	Phase string `json:"phase"`
	// Category is the failureCategory, one of those of the API; empty means unknown.
	Category string `json:"category"`
	// Reason is the failureReason; it has a default.
	Reason string `json:"reason"`
	// Excerpt is the build's log. Of a long one only the end is shown.
	Excerpt string `json:"excerpt"`
	// Withheld hides the log.
	Withheld bool `json:"withheld"`
	// Times is how many builds fail; 0 means 1, -1 means all.
	Times int `json:"times"`
}

// FailBuild makes the next matching builds fail. A phase or category that the API does not have is an error.
func (e *Emulator) FailBuild(f BuildFailure) error {
	f.Phase, f.Category, f.Times = cmp.Or(f.Phase, buildBuilding), cmp.Or(f.Category, "unknown"), cmp.Or(f.Times, 1)
	f.Reason = cmp.Or(f.Reason, "The build failed, as programmed.")
	switch {
	case f.Phase != buildBuilding && f.Phase != buildValidating:
		return fmt.Errorf("the phase %q is not building or validating", f.Phase)
	case !slices.Contains(failureCategories, f.Category):
		return fmt.Errorf("the category %q is not one of %s", f.Category, strings.Join(failureCategories, ", "))
	}
	e.program(func(s *switches) { s.failBuilds = append(s.failBuilds, f) })
	return nil
}

// takeBuildFailure returns the programmed failure of an environment's next build, and counts it as used.
func (e *Emulator) takeBuildFailure(name string) (taken *BuildFailure) {
	e.program(func(s *switches) {
		taken = take(&s.failBuilds, func(f *BuildFailure) *int { return &f.Times }, func(f *BuildFailure) bool { return matchesName(f.Name, name) })
	})
	return taken
}

// diagnostics is what a build tells about its failure, in all responses that do.
type diagnostics struct {
	Excerpt   string `json:"excerpt,omitempty"`
	Truncated bool   `json:"truncated"`
	Withheld  bool   `json:"withheld"`
}

func (s buildState) diagnostics() diagnostics {
	switch {
	case s.failure == nil:
		return diagnostics{}
	case s.failure.Withheld:
		return diagnostics{Withheld: true}
	}
	end, cut := s.failure.Excerpt, len(s.failure.Excerpt) > maxExcerpt
	if cut {
		end = end[len(end)-maxExcerpt:]
		for !utf8.RuneStart(end[0]) { // No character is cut in two.
			end = end[1:]
		}
	}
	return diagnostics{Excerpt: end, Truncated: cut}
}

// diagnosticsView answers the operations on diagnostics, whose statuses and names of the ID differ.
type diagnosticsView struct {
	ID      string `json:"id,omitempty"`
	BuildID string `json:"buildId,omitempty"`
	Status  string `json:"status"`
	diagnostics
}

func getEnvironmentBuildDiagnostics(r *request, env *environment) (reply, error) {
	b, err := r.build(env, env.LatestBuild)
	if err != nil {
		return reply{}, err
	}
	s := b.at(r.now)
	return reply{200, diagnosticsView{"", b.ID, s.environmentStatus(), s.diagnostics()}}, nil
}

func getBuildDiagnostics(r *request, env *environment) (reply, error) {
	b, err := r.build(env, r.params["buildId"])
	if err != nil {
		return reply{}, err
	}
	s := b.at(r.now)
	return reply{200, diagnosticsView{"", b.ID, s.status, s.diagnostics()}}, nil
}

// getEnvironmentBuildStatuses omits environments that the caller cannot see.
func getEnvironmentBuildStatuses(r *request) (reply, error) {
	ids := slices.Compact(slices.Sorted(slices.Values(r.query["environmentIds"])))
	switch asked := len(r.query["environmentIds"]); {
	case asked == 0:
		return reply{}, badRequest("The query parameter %q is required.", "environmentIds")
	case asked > maxStatusesAsked:
		return reply{}, refuse("environment-ids", "The query parameter %q can be given %d times, not %d times.", "environmentIds", maxStatusesAsked, asked)
	}
	who, err := r.viewer()
	if err != nil {
		return reply{}, err
	}
	builds := []values{}
	for _, id := range ids {
		env, err := r.environmentSeenBy(who.ID, id)
		if err != nil && asAPIError(err).status == http.StatusNotFound {
			continue
		} else if err != nil {
			return reply{}, err
		}
		b, err := r.build(env, env.LatestBuild)
		if err != nil {
			return reply{}, err
		}
		s := b.at(r.now)
		builds = append(builds, values{"environmentId": env.ID, "environmentStatus": s.environmentStatus(), "latestBuild": diagnosticsView{b.ID, "", s.status, s.diagnostics()}})
	}
	return reply{200, values{"builds": arrange(r.e, builds)}}, nil
}
