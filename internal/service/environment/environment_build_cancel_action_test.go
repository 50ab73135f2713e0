package environment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestEnvironmentBuildCancel_latestOrGiven(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := newEnv(e, map[string]any{"name": "a", "scope": "organization"})
	for _, given := range []bool{false, true} {
		edit(e, id)
		running := latestBuild(e, id)
		config := acctest.Values{"environment_id": id}
		if given {
			config["build_id"] = running.ID
		}
		progress := mustInvokeBuild(t, e, "build_cancel", config)
		if want := fmt.Sprintf("Build %s of environment \"a\" (%s) was canceled", running.ID, id); len(progress) != 1 || progress[0] != want {
			t.Errorf("progress %q, want %q", progress, want)
		}
		if got := latestBuild(e, id); got.ID != running.ID || got.Status != "failed" {
			t.Errorf("the latest build is %+v, was %+v", got, running)
		}
	}
}

// If no build is running, there is nothing to cancel. A given build that is not running is an error.
func TestEnvironmentBuildCancel_notRunning(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "succeeded", "failed", "superseded")
	for _, id := range ids[1:] {
		edit(e, id)
	}
	superseded := latestBuild(e, ids[2]).ID
	edit(e, ids[2])
	cancelBuild(e, ids[1])
	letBuild(e)
	for k, build := range []string{latestBuild(e, ids[0]).ID, latestBuild(e, ids[1]).ID, superseded} {
		progress := mustInvokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": ids[k]})
		if want := "is not running: nothing was canceled"; !strings.HasSuffix(progress[0], want) {
			t.Errorf("progress %q, want %q", progress, want)
		}
		_, out := invokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": ids[k], "build_id": build})
		out.MustFail(t, "build_id", "Cannot cancel build", "409", "The build is not running any more. To cancel the build that runs now, omit build_id and run again.")
	}
}

func TestEnvironmentBuildCancel_unknownBuild(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := environmentsReady(e, "a")[0]
	_, out := invokeBuild(t, e, "build_cancel", acctest.Values{"environment_id": id, "build_id": "bld_unknown"})
	out.MustFail(t, "build_id", "Cannot cancel build", "404", "no build with this ID", "omit it")
}
