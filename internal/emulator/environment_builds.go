package emulator

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path"
	"strings"
	"time"
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

// activeBuild returns the build that the environment runs on: the last one that succeeded, or nil.
func (r *request) activeBuild(env *environment, latest *build) (*build, error) {
	switch {
	case latest.at(r.now).status == buildSucceeded:
		return latest, nil
	case env.ActiveBuild != "":
		return r.build(env, env.ActiveBuild)
	}
	return nil, nil
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
