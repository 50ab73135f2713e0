package computer_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
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
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	on := acctest.Values{"computer_id": c.ID}
	acctest.Says(t, mustInvoke(t, e, "restart", on), "was already running and was not restarted")
	acctest.Must(t, e.Sleep(c.ID))
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
		acctest.Says(t, mustInvoke(t, e, "refresh", acctest.Values{"computer_id": id}), want)
	}
}

func TestComputerActivity_keepsAwake(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	e.Clock.Advance(25 * time.Minute)
	acctest.Says(t, mustInvoke(t, e, "activity", acctest.Values{"computer_id": c.ID}), " at 2026-03-01T12:26:00Z")
	e.Clock.Advance(25 * time.Minute)
	acctest.Says(t, mustInvoke(t, e, "restart", acctest.Values{"computer_id": c.ID}), "was not restarted")
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
		{"restart", nobody, []string{"Cannot restart computer", "No computer with the ID", "Check the ID."}, true},
		{"refresh", nobody, []string{"Cannot refresh computer", "refreshComputer", "No computer with the ID", "Check the ID."}, true},
		{"activity", nobody, []string{"Cannot record activity", "No computer with the ID", "Check the ID."}, true},
		{"install_deps", nobody, []string{"Cannot install dependencies", "No computer with the ID", "Check the ID."}, true},
		{"restart", "..", []string{"Cannot restart computer", "cannot be part of a request's path"}, false},
		{"restart", "", []string{"must not be empty"}, true},
	} {
		_, out := invoke(t, e, tc.action, acctest.Values{"computer_id": tc.id})
		acctest.Says(t, out.Text(), tc.want...)
		if strings.Contains(out.Text(), "Correct the configuration") {
			t.Errorf("%s of %q: the advice stands beside another one: %s", tc.action, tc.id, out.Text())
		}
		if len(out.Errors) == 1 && (out.Errors[0].Attribute != nil) != tc.atID {
			t.Errorf("%s of %q: the error is at %v", tc.action, tc.id, out.Errors[0].Attribute)
		}
	}
}

func installable(e *acctest.Env) computerJSON {
	return makeComputer(e, map[string]any{"name": "a", "autoInstallDeps": true})
}

func TestComputerInstallDeps_inTheBackground(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := installable(e)
	e.Journal().Reset()
	got := mustInvoke(t, e, "install_deps", acctest.Values{"computer_id": c.ID})
	if !strings.Contains(got, "continues in the background") || len(e.Journal().Entries()) != 1 {
		t.Errorf("%d requests: %s", len(e.Journal().Entries()), got)
	}
	_, out := invoke(t, e, "install_deps", acctest.Values{"computer_id": c.ID})
	acctest.Says(t, out.Text(), "Cannot install dependencies on computer", "409", "already in progress", "install-dependencies", "invoke the action again")
}

func TestComputerInstallDeps_waits(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) {
		o.Provisioning.Steps = map[string]time.Duration{"install-dependencies": 30 * time.Second}
	})
	c := installable(e)
	for n := range 2 {
		begin := e.Clock.Now()
		got := mustInvoke(t, e, "install_deps", acctest.Values{"computer_id": c.ID, "wait_for_install": true})
		if took := e.Clock.Now().Sub(begin); took < 30*time.Second || took > time.Minute {
			t.Errorf("run %d waited %s", n, took)
		}
		if !strings.HasSuffix(got, "\"a\": in_progress\nInstalling dependencies on computer \"a\": completed") {
			t.Errorf("run %d: %s", n, got)
		}
	}
}

func TestComputerInstallDeps_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	account := newAccount(e)
	c := makeComputer(e, map[string]any{"name": "theirs", "autoInstallDeps": true, "serviceAccountId": account})
	if got := mustInvoke(t, e, "install_deps", acctest.Values{"computer_id": c.ID, "wait_for_install": true}); !strings.HasSuffix(got, "completed") {
		t.Error(got)
	}
}

// A service account must not send its own ID in requests for its own computers.
func TestComputerInstallDeps_withTheAccountsOwnKey(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, account := e.ServiceAccountKey()
	c := makeComputer(e, map[string]any{"name": "mine", "autoInstallDeps": true, "serviceAccountId": account})
	progress, out := acctest.NewProcess(t, e, acctest.Values{"api_key": key}).Invoke("agentyard_computer_install_deps", acctest.Values{"computer_id": c.ID, "wait_for_install": true})
	if len(out.Errors) > 0 || !strings.HasSuffix(strings.Join(progress, "\n"), "completed") {
		t.Errorf("%v: %s", progress, out)
	}
}

func TestComputerInstallDeps_fails(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := installable(e)
	e.FailProvisioning(emulator.FailStep{Name: "a", Step: "install-dependencies", Error: "no lock file"})
	_, out := invoke(t, e, "install_deps", acctest.Values{"computer_id": c.ID, "wait_for_install": true})
	acctest.Says(t, out.Text(), "Dependencies Failed to Install", `"a" (`+c.ID+")", "no lock file.", "invoke the action again")
	if got := mustInvoke(t, e, "install_deps", acctest.Values{"computer_id": c.ID, "wait_for_install": true}); !strings.HasSuffix(got, "completed") {
		t.Errorf("the next one: %s", got)
	}
}

func TestComputerInstallDeps_takesTooLong(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, func(o *emulator.Options) {
		o.Provisioning.Steps = map[string]time.Duration{"install-dependencies": time.Hour}
	})
	c := installable(e)
	e.Clock.Advance(2 * time.Hour)
	begin := e.Clock.Now()
	_, out := invoke(t, e, "install_deps", acctest.Values{"computer_id": c.ID, "wait_for_install": true, "timeouts": map[string]any{"invoke": "10m"}})
	acctest.Says(t, out.Text(), "Timed Out Waiting for the Installation", `still "in_progress"`, "continues at the service", "raise invoke in the timeouts block")
	if took := e.Clock.Now().Sub(begin); took < 10*time.Minute || took > 11*time.Minute {
		t.Errorf("it waited %s", took)
	}
}

func TestComputerInstallDeps_pollsThatFail(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := installable(e)
	for _, operation := range []string{"getComputer", "getComputerByName"} {
		// The first read is before the installation. It fails only after all retries.
		e.Faults().Add(emulator.Fault{Operation: operation, Kind: emulator.FaultStatusBeforeCommit, Status: 503, After: 1, Times: 6})
	}
	if got := mustInvoke(t, e, "install_deps", acctest.Values{"computer_id": c.ID, "wait_for_install": true}); !strings.HasSuffix(got, "completed") {
		t.Error(got)
	}
	if left := e.Faults().Pending(); len(left) > 0 {
		t.Errorf("faults that did not hit: %+v", left)
	}
}

// invokeText returns the output of `apply -invoke` without frames and line breaks.
func invokeText(cli *acctest.CLI, action string) string {
	r := cli.MustRun("apply", "-auto-approve", "-input=false", "-invoke=action.agentyard_computer_"+action)
	return acctest.OneLine(r.Output)
}
