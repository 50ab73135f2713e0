package acceptance

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// Only what is asked for exactly deletes: the sweep lists by default, and refuses what it does not know.
func TestScript_sweepRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	for arguments, want := range map[string]string{
		"DELETE=":    "Set AGENTYARD_ACC_BASE_URL",
		"DELETE=1":   "Set AGENTYARD_ACC_BASE_URL",
		"DELETE=0":   `no argument "DELETE=0"; nothing was deleted`,
		"DELETE=yes": `no argument "DELETE=yes"; nothing was deleted`,
	} {
		sweep := exec.CommandContext(t.Context(), "make", "-C", "../../..", "--no-print-directory", "sweep", arguments)
		sweep.Env = append(sweep.Environ(), envBaseURL+"=", envAPIKey+"=")
		out, err := sweep.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: got %v and %s, want %q", arguments, err, out, want)
		}
	}
}

// The log of a nightly run is public: errors quote the service, and may name people.
func TestWorkflow_logsNoTextOfTheService(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../.github/workflows/acceptance.yml")
	check.Must(t, err)
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
