package emulator

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

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
