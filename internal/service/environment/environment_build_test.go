package environment

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func TestFailureOf(t *testing.T) {
	t.Parallel()
	const mend, log = "Fix the problem, then apply again. If somebody canceled the build, only apply again.", "This is an excerpt of the log. The data source agentyard_environment_build_diagnostics may show more.\n\n  "
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
		check.Is(t, name+": want", failureOf(&environments.Environment{ID: "e", Name: "dev", LatestBuild: tc.latest, FailureReason: tc.reason}, &environments.Build{ID: "b2", Excerpt: tc.excerpt}), tc.want)
	}
}

// At its deadline too, a wait does not take the build before for the one that was started, and looks no more often than before.
func TestEnvironment_aLateBuildIsNotMistakenForTheEarlierOne(t *testing.T) {
	t.Parallel()
	clk, requests := clock.NewFake(clienttest.Start), 0
	address, _ := clienttest.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
		requests++
		if strings.Contains(r.URL.Path, "build-statuses") {
			clienttest.Say(w, `200 {"builds":[{"environmentId":"e","environmentStatus":"ready","latestBuild":{"id":"b1","status":"succeeded"}}]}`)
		} else {
			clienttest.Say(w, `200 {"id":"e","name":"e","repositories":[],"isDefault":false,"status":"building","latestBuild":{"id":"b2","status":"building"}}`)
		}
	})
	c, err := client.New(transport.Config{BaseURL: address, APIKey: clienttest.Key, UserAgent: "a", Clock: clk})
	check.Must(t, err)
	m := &environmentModel{}
	m.ID, m.Name, m.WaitForBuild = types.StringValue("e"), types.StringValue("e"), types.BoolValue(true)
	m.Repositories, m.ActiveRepositories = types.ListNull(repositoryType), types.ListNull(repositoryType)
	r := &environmentResource{}
	r.Client = c
	mayGoOn, diags := r.waitAndRead(t.Context(), m, work{rebuilds: true}, awaitedBuild{id: "b2", before: "b1"}, clk.Now().Add(time.Minute))
	if mayGoOn || !diags.HasError() || diags[0].Summary() != "Timed out waiting for the build" || requests > 40 {
		t.Errorf("it goes on: %v, after %d requests: %v", mayGoOn, requests, diags)
	}
}

func TestAwaitedBuild(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		awaited       awaitedBuild
		latest        string
		counts, later bool // At once, and when polls do not lag any more.
	}{
		{awaitedBuild{}, "b1", true, true},
		{awaitedBuild{id: "b2"}, "b2", true, true},
		{awaitedBuild{id: "b2"}, "b1", false, true},
		{awaitedBuild{id: "b2", before: "b1"}, "b2", true, true},
		{awaitedBuild{id: "b2", before: "b1"}, "b1", false, false},
		{awaitedBuild{id: "b2", before: "b1"}, "b3", false, true},
		{awaitedBuild{before: "b1"}, "b1", false, true},
		{awaitedBuild{before: "b1"}, "b2", true, true},
	} {
		if counts, later := tc.awaited.counts(tc.latest, false), tc.awaited.counts(tc.latest, true); counts != tc.counts || later != tc.later {
			t.Errorf("%+v, a poll shows %s: counts %v, later %v", tc.awaited, tc.latest, counts, later)
		}
	}
}
