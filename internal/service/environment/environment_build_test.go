package environment

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
)

func TestFailureOf(t *testing.T) {
	t.Parallel()
	const mend, log = "Fix the problem, then apply again. If somebody canceled the build, only apply again.", "The log ends as follows. The data source agentyard_environment_build_diagnostics may show more.\n\n  "
	for name, tc := range map[string]struct {
		latest  *environments.Build
		reason  string
		excerpt string // As the wait saw it.
		want    string
	}{
		"nothing known": {nil, "", "", "Build b2 of environment \"dev\" (e) failed: the service gave no reason.\n\n" + mend},
		"report alone":  {nil, "", "make\nno rule\n\n", "Build b2 of environment \"dev\" (e) failed: the service gave no reason.\n\n" + log + "make\n  no rule\n\n" + mend},
		"record":        {&environments.Build{ID: "b2", FailureCategory: "timeout", FailureReason: "Too long.", Excerpt: "\n"}, "", "", "Build b2 of environment \"dev\" (e) failed, category timeout: Too long.\n\nThe build took longer than the service allows. Shorten the scripts."},
		"unread":        {&environments.Build{ID: "b2", FailureCategory: "source-resolution", FailureReason: "No access."}, "", "", "Build b2 of environment \"dev\" (e) failed, category source-resolution: No access.\n\nA repository could not be read. Check its URL and default branch, and that the organization's code-host integration covers it."},
		"not activated": {&environments.Build{ID: "b2", FailureCategory: "promotion"}, "r", "", "Build b2 of environment \"dev\" (e) failed, category promotion: r.\n\nThe build succeeded, but could not be activated. Apply again."},
		"new category":  {&environments.Build{ID: "b2", FailureCategory: "solar-flare"}, "It broke", "", "Build b2 of environment \"dev\" (e) failed, category solar-flare: It broke.\n\n" + mend},
		"newer build":   {&environments.Build{ID: "b3", FailureReason: "other"}, "other", "", "Build b2 of environment \"dev\" (e) failed: the service gave no reason.\n\n" + mend},
		"withheld":      {&environments.Build{ID: "b2", Excerpt: "secret", Withheld: true}, "r", "", "Build b2 of environment \"dev\" (e) failed: r.\n\nThe service withholds the log.\n\n" + mend},
		"many lines":    {&environments.Build{ID: "b2", Excerpt: "first\n" + strings.Repeat("line\n", 20)}, "r", "", "Build b2 of environment \"dev\" (e) failed: r.\n\n" + log + strings.TrimSpace(strings.Repeat("line\n  ", 20)) + "\n\n" + mend},
		"a long line":   {&environments.Build{ID: "b2", Excerpt: strings.Repeat("é", 2001)}, "r", "", "Build b2 of environment \"dev\" (e) failed: r.\n\n" + log + strings.Repeat("é", 2000) + "\n\n" + mend},
	} {
		if got := failureOf(&environments.Environment{ID: "e", Name: "dev", LatestBuild: tc.latest, FailureReason: tc.reason}, &environments.Build{ID: "b2", Excerpt: tc.excerpt}); got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tc.want)
		}
	}
}
