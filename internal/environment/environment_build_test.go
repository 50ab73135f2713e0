package environment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
)

func TestBuildFailure_text(t *testing.T) {
	t.Parallel()
	const (
		long  = "The end of the log follows. The data source agentyard_environment_build_diagnostics shows more."
		mend  = "Fix the problem that the reason and the log show, then apply again."
		brief = "Fix the problem that the reason describes, then apply again. If somebody canceled the build, only apply again."
		none  = "Apply again. If the build still fails, contact the service's support."
		start = `Build bld_1 of environment "dev" (env_1) failed`
	)
	logOf := func(n int) string {
		var lines strings.Builder
		for i := range n {
			fmt.Fprintf(&lines, "line %d\n", i+1)
		}
		return lines.String()
	}
	for name, tc := range map[string]struct {
		failure buildFailure
		want    string
	}{
		"nothing known": {buildFailure{}, start + ". The service gave no reason.\n\n" + none},
		"newer build":   {buildFailure{newer: "bld_2"}, start + ". The service returns a reason only for the latest build, which is now bld_2.\n\n" + none},
		"no build":      {buildFailure{build: "-", reason: "It broke."}, "The build of environment \"dev\" (env_1) failed: It broke.\n\n" + brief},
		"reason":        {buildFailure{category: "unknown", reason: "It broke"}, start + ", category unknown: It broke.\n\n" + brief},
		"new category":  {buildFailure{category: "solar-flare", reason: "It broke."}, start + ", category solar-flare: It broke.\n\n" + brief},
		"log":           {buildFailure{reason: "r", excerpt: "make\nno rule\n\n"}, start + ": r.\n\nThe log ends with:\n\n  make\n  no rule\n\n" + mend},
		"empty log":     {buildFailure{reason: "r", excerpt: "\n"}, start + ": r.\n\n" + brief},
		"withheld":      {buildFailure{reason: "r", withheld: true}, start + ": r.\n\nThe service withholds the log.\n\n" + brief},
		"truncated":     {buildFailure{reason: "r", excerpt: "no rule", truncated: true}, start + ": r.\n\nThe service returned only this excerpt of the log:\n\n  no rule\n\n" + mend},
		"just all":      {buildFailure{reason: "r", excerpt: logOf(20)}, start + ": r.\n\nThe log ends with:\n\n  " + strings.ReplaceAll(strings.TrimSpace(logOf(20)), "\n", "\n  ") + "\n\n" + mend},
		"many lines":    {buildFailure{reason: "r", excerpt: logOf(21), truncated: true}, start + ": r.\n\n" + long + "\n\n  " + strings.ReplaceAll(strings.TrimSpace(strings.TrimPrefix(logOf(21), "line 1\n")), "\n", "\n  ") + "\n\n" + mend},
		"long line":     {buildFailure{reason: "r", excerpt: strings.Repeat("é", 2001)}, start + ": r.\n\n" + long + "\n\n  " + strings.Repeat("é", 2000) + "\n\n" + mend},
		"longest line":  {buildFailure{reason: "r", excerpt: strings.Repeat("é", 2000)}, start + ": r.\n\nThe log ends with:\n\n  " + strings.Repeat("é", 2000) + "\n\n" + mend},
	} {
		f := tc.failure
		f.environment, f.name = "env_1", "dev"
		if f.build == "-" {
			f.build = ""
		} else {
			f.build = "bld_1"
		}
		if got := f.text(); got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tc.want)
		}
	}
	for category, remedy := range remedies {
		remedy = strings.ReplaceAll(remedy, "{problem}", "the problem that the reason and the log show")
		if got := (&buildFailure{category: category, reason: "r", excerpt: "log"}).text(); !strings.HasSuffix(got, "\n\n"+remedy) || !strings.Contains(got, "category "+category) {
			t.Errorf("%s: got %s", category, got)
		}
	}
}

func TestBuildFailure_attribute(t *testing.T) {
	t.Parallel()
	repositories := []environments.Repository{{URL: "https://git.example/acme/app"}, {URL: "https://git.example/acme/app-tools"}, {URL: "https://git.example/acme/docs"}}
	for name, tc := range map[string]struct {
		failure buildFailure
		want    string
	}{
		"nothing":                        {buildFailure{}, ""},
		"a script":                       {buildFailure{reason: "repositories[2].script exited with 2"}, "repositories[2].script"},
		"below the body":                 {buildFailure{reason: "body.repositories[0].url is no repository"}, "repositories[0].url"},
		"no such repository":             {buildFailure{reason: "repositories[3].script exited with 2"}, ""},
		"the set-up script":              {buildFailure{reason: "setupScript exited with 1"}, "setup_script"},
		"as configurations spell it":     {buildFailure{excerpt: "setup_script: line 3: make: not found"}, "setup_script"},
		"the source":                     {buildFailure{reason: "sourceId cannot be used"}, "source_id"},
		"a URL":                          {buildFailure{reason: "https://git.example/acme/app: not found"}, "repositories[0]"},
		"a URL that starts as another":   {buildFailure{reason: "cannot clone https://git.example/acme/app-tools"}, "repositories[1]"},
		"the last one of a log":          {buildFailure{excerpt: "cloning https://git.example/acme/docs\ncloning https://git.example/acme/app\nfailed"}, "repositories[0]"},
		"the reason before the log":      {buildFailure{reason: "https://git.example/acme/docs failed", excerpt: "setupScript"}, "repositories[2]"},
		"repositories of the system":     {buildFailure{category: environments.FailureTimeout, excerpt: "reading the repositories of packages"}, ""},
		"resolution":                     {buildFailure{category: environments.FailureSourceResolution, reason: "no access"}, "repositories"},
		"resolution that names one":      {buildFailure{category: environments.FailureSourceResolution, reason: "no access to https://git.example/acme/docs"}, "repositories[2]"},
		"provider":                       {buildFailure{category: environments.FailureProvider, reason: "no capacity"}, "source_id"},
		"a category that points nowhere": {buildFailure{category: environments.FailureValidation, reason: "no shell"}, ""},
	} {
		if got := tc.failure.at(repositories, map[string]bool{"setup_script": true, "source_id": true}).String(); got != tc.want {
			t.Errorf("%s: at %q, want %q", name, got, tc.want)
		}
	}
	// An argument that is not configured cannot be corrected there.
	for _, f := range []buildFailure{{reason: "setupScript"}, {reason: "sourceId"}, {category: environments.FailureProvider}, {excerpt: "repositories[0]"}} {
		if got := f.at(nil, nil).String(); got != "" {
			t.Errorf("%+v: at %q", f, got)
		}
	}
}

func TestFailureOf(t *testing.T) {
	t.Parallel()
	build := &environments.Build{ID: "b2", FailureCategory: "timeout", FailureReason: "too long", Excerpt: "whole", Truncated: true}
	for name, tc := range map[string]struct {
		environment environments.Environment
		last        *environments.BuildReport
		want        buildFailure
	}{
		"nothing":             {environments.Environment{}, nil, buildFailure{}},
		"record alone":        {environments.Environment{LatestBuild: build}, nil, buildFailure{build: "b2", category: "timeout", reason: "too long", excerpt: "whole", truncated: true}},
		"report alone":        {environments.Environment{}, &environments.BuildReport{ID: "b1", Excerpt: "part", Withheld: true}, buildFailure{build: "b1", excerpt: "part", withheld: true}},
		"both":                {environments.Environment{LatestBuild: build}, &environments.BuildReport{ID: "b2", Excerpt: "part"}, buildFailure{build: "b2", category: "timeout", reason: "too long", excerpt: "whole", truncated: true}},
		"report without ID":   {environments.Environment{LatestBuild: build}, &environments.BuildReport{}, buildFailure{build: "b2", category: "timeout", reason: "too long", excerpt: "whole", truncated: true}},
		"of another build":    {environments.Environment{LatestBuild: build, FailureReason: "other"}, &environments.BuildReport{ID: "b1", Excerpt: "part"}, buildFailure{build: "b1", newer: "b2", excerpt: "part"}},
		"reason of the whole": {environments.Environment{LatestBuild: &environments.Build{ID: "b2"}, FailureReason: "too long"}, &environments.BuildReport{ID: "b2", Excerpt: "part"}, buildFailure{build: "b2", reason: "too long", excerpt: "part"}},
	} {
		tc.environment.ID, tc.environment.Name = "e", "dev"
		tc.want.environment, tc.want.name = "e", "dev"
		if got := failureOf(&tc.environment, tc.last); *got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, *got, tc.want)
		}
	}
}

func TestOfEnvironment(t *testing.T) {
	t.Parallel()
	for environment, want := range map[string]string{"ready": "succeeded", "failed": "failed", "building": "queued", "": "queued", "asleep": "queued"} {
		if got := ofEnvironment(environment); got != want {
			t.Errorf("%q: got %q, want %q", environment, got, want)
		}
	}
}
