package computer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

func ownMachine(name string) map[string]any {
	return map[string]any{"name": name, "provider": "byom", "hostId": hostA}
}

func invoke(t *testing.T, e *acctest.Env, action string, config acctest.Values) (string, acctest.Outcome) {
	t.Helper()
	progress, out := acctest.NewProcess(t, e, nil).Invoke("agentyard_computer_"+action, config)
	return strings.Join(progress, "\n"), out
}

func mustInvoke(t *testing.T, e *acctest.Env, action string, config acctest.Values) string {
	t.Helper()
	progress, out := invoke(t, e, action, config)
	out.MustSucceed(t)
	return progress
}

func TestComputerRestart_reportsWhetherItRestarted(t *testing.T) {
	t.Parallel()
	e, c := withComputer(t)
	on := acctest.Values{"computer_id": c.ID}
	check.Says(t, mustInvoke(t, e, "restart", on), "was already running and was not restarted")
	check.Must(t, e.Sleep(c.ID))
	if got := mustInvoke(t, e, "restart", on); !strings.HasSuffix(got, "Computer "+c.ID+" was restarted") {
		t.Errorf("one that slept: %s", got)
	}
	e.WantRequests(t, "restartComputer", 2)
}

func TestComputerRefresh_countsWhatItRenewed(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	managed := makeComputer(e, map[string]any{"name": "a", "repos": []string{"https://git.example/acme/app", "https://code.example/acme/tools"}})
	own := makeComputer(e, ownMachine("own"))
	for id, want := range map[string]string{managed.ID: "2 Git credentials and 0 secrets", own.ID: "0 Git credentials and 0 secrets"} {
		check.Says(t, mustInvoke(t, e, "refresh", acctest.Values{"computer_id": id}), want)
	}
}

func TestComputerActivity_keepsAwake(t *testing.T) {
	t.Parallel()
	e, c := withComputer(t)
	e.Clock.Advance(25 * time.Minute)
	check.Says(t, mustInvoke(t, e, "activity", acctest.Values{"computer_id": c.ID}), " at 2026-03-01T12:26:00Z")
	e.Clock.Advance(25 * time.Minute)
	check.Says(t, mustInvoke(t, e, "restart", acctest.Values{"computer_id": c.ID}), "was not restarted")
}

func TestComputerActions_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	own := makeComputer(e, ownMachine("own"))
	bare := makeComputer(e, map[string]any{"name": "bare"})
	for _, tc := range []struct {
		action, id string
		want       []string
		atID       bool
	}{
		{"restart", own.ID, []string{"Cannot restart computer", "restartComputer", "not supported for BYOM", "must be a managed computer and active"}, true},
		{"activity", own.ID, []string{"Cannot record activity on computer", "recordComputerActivity", "must be a managed computer and active"}, true},
		{"install_deps", own.ID, []string{"Cannot install dependencies on computer", "installComputerDeps", "auto_install_deps = true"}, true},
		{"install_deps", bare.ID, []string{"Cannot install dependencies on computer", "without autoInstallDeps", "auto_install_deps = true"}, true},
	} {
		_, out := invoke(t, e, tc.action, acctest.Values{"computer_id": tc.id})
		check.Says(t, out.Text(), tc.want...)
		if strings.Contains(out.Text(), "Correct the value that the message names") {
			t.Errorf("%s of %q: the advice stands beside another one: %s", tc.action, tc.id, out.Text())
		}
		if len(out.Errors) == 1 && (out.Errors[0].Attribute != nil) != tc.atID {
			t.Errorf("%s of %q: the error is at %v", tc.action, tc.id, out.Errors[0].Attribute)
		}
	}
}

func TestComputerInstallDeps_inTheBackground(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a", "autoInstallDeps": true})
	e.Journal().Reset()
	got := mustInvoke(t, e, "install_deps", acctest.Values{"computer_id": c.ID})
	if !strings.Contains(got, "continues in the background") || len(e.Journal().Entries()) != 1 {
		t.Errorf("%d requests: %s", len(e.Journal().Entries()), got)
	}
	_, out := invoke(t, e, "install_deps", acctest.Values{"computer_id": c.ID})
	check.Says(t, out.Text(), "Cannot install dependencies on computer", "409", "already in progress", "Wait until it ends")
}
