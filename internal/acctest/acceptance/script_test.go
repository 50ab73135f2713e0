package acceptance

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// What deletes must not ignore an argument that may have meant "only list".
func TestScript_sweepRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"ARGS=":        "Set AGENTYARD_ACC_BASE_URL",
		"ARGS=-n":      "Set AGENTYARD_ACC_BASE_URL",
		"ARGS=-n -n":   "Set AGENTYARD_ACC_BASE_URL",
		"ARGS=--list":  `no argument "--list"`,
		"ARGS=-n list": `no argument "list"`,
	} {
		sweep := exec.CommandContext(t.Context(), "make", "-C", "../../..", "--no-print-directory", "sweep", arguments)
		sweep.Env = append(sweep.Environ(), envBaseURL+"=", envAPIKey+"=")
		out, err := sweep.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: got %v and %s, want %q", arguments, err, out, want)
		}
	}
}

// Options with which make only prints or asks delete nothing, together with others too.
func TestScript_sweepOnlyListsWithoutRunning(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"-n": "sweep -n", "-q": "sweep -n", "-t": "sweep -n", "-kt": "sweep -n", "--just-print": "sweep -n", "--question": "sweep -n", "--touch": "sweep -n",
		"-k": "sweep", "-j2": "sweep", "-Otarget": "sweep", "NOTE=-nqt": "sweep", "ARGS=-n": "sweep -n",
	} {
		dir := t.TempDir()
		script := filepath.Join(dir, "scripts", "acceptance.sh")
		if err := errors.Join(os.Mkdir(filepath.Dir(script), 0o700), os.WriteFile(script, []byte("#!/bin/sh\necho called $*\n"), 0o700)); err != nil { //nolint:gosec // It is a program.
			t.Fatal(err)
		}
		makefile, err := filepath.Abs("../../../GNUmakefile")
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "make", "-C", dir, "-f", makefile, "--no-print-directory", arguments, "sweep").CombinedOutput()
		if !strings.HasSuffix("\n"+string(out), "\ncalled "+want+"\n") {
			t.Errorf("%s: got %s (%v), want %q", arguments, out, err, want)
		}
	}
}

// The log of a nightly run is public: errors quote the service, and may name people.
func TestWorkflow_logsNoTextOfTheService(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../.github/workflows/acceptance.yml")
	if err != nil {
		t.Fatal(err)
	}
	_, script, _ := strings.Cut(string(text), "make testacc 2>&1 | ")
	script, _, _ = strings.Cut(script, "- if:")
	filter := exec.CommandContext(t.Context(), "bash", "-c", script)
	filter.Stdin = strings.NewReader(`=== RUN   TestAccLife
testacc: names begin with tf-acc-agentyard-t8abcdwxyz-
testacc: the service cannot be used: list of providers (GET /api/v0/x) returned 401: Avery's key: returned 5 times
testacc: the service cannot be used: no connection to secret.example
testacc: the service does not answer; check AGENTYARD_ACC_BASE_URL and the network
--- FAIL: TestAccLife (1.00s)
    --- SKIP: TestAccLife/managed_computer (0.00s)
    run_test.go:1: Avery
--- Avery
+++ Blake
    --- PASS: Avery said
12 requests, 1 deviations, 0 refuted assumptions: see /home/avery/report.md
12 requests of Avery
`)
	out, err := filter.CombinedOutput()
	const want = `testacc: the service cannot be used: list of providers (GET /api/v0/x) returned 401
testacc: the service cannot be used
testacc: the service does not answer; check AGENTYARD_ACC_BASE_URL and the network
--- FAIL: TestAccLife (1.00s)
    --- SKIP: TestAccLife/managed_computer (0.00s)
12 requests, 1 deviations, 0 refuted assumptions
`
	if err != nil || string(out) != want {
		t.Errorf("got %v and\n%s\nwant\n%s", err, out, want)
	}
}

// A command that is pasted after a prompt becomes its answer: an API key, which the command would have used.
func TestContributing_nothingFollowsAPrompt(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../CONTRIBUTING.md")
	if err != nil || !strings.Contains(string(text), "\nread -rsp ") {
		t.Fatal("there is no prompt for the key", err)
	}
	for i, block := range strings.Split(string(text), "```") {
		if _, rest, found := strings.Cut(block, "\nread "); i%2 == 1 && found && strings.Count(rest, "\n") > 1 {
			t.Errorf("commands follow a prompt: %s", block)
		}
	}
}
