package acceptance

import (
	"os/exec"
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
		sweep := exec.CommandContext(t.Context(), "make", "-C", "../..", "--no-print-directory", "sweep", arguments)
		sweep.Env = append(sweep.Environ(), envBaseURL+"=", envAPIKey+"=")
		out, err := sweep.CombinedOutput()
		if err == nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: got %v and %s, want %q", arguments, err, out, want)
		}
	}
}
