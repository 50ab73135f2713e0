package serviceaccount_test

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// After the emulator's clock was moved, the provider uses the new time: in a plan, also without a refresh, and in the apply,
// which decides again before it sends any request.
func TestAccAPIKey_rotatesByTheEmulatorsClock(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	account := newAccount(e, "robots")
	cli := acctest.NewCLI(t, e, keyConfig(account, "name = \"ci\"\nexpires_in = \"60d\"\nrotation = { interval = \"30d\" }")+"output \"id\" {\n  value = agentyard_api_key.test.id\n}\n")
	id := func() string {
		t.Helper()
		return strings.TrimSpace(cli.MustRun("output", "-raw", "id").Output)
	}
	cli.MustRun("apply", "-auto-approve", "-input=false")
	first := id()

	e.API("POST", "/_emulator/clock", map[string]string{"advance": "29d"}, nil)
	cli.MustPlanEmpty()
	e.API("POST", "/_emulator/clock", map[string]string{"advance": "1d"}, nil)
	for _, refresh := range []string{"-refresh=true", "-refresh=false"} {
		r := cli.Run("plan", "-detailed-exitcode", "-input=false", refresh, "-out=due.tfplan")
		if r.ExitCode != 2 || !strings.Contains(r.Output, "agentyard_api_key.test will be updated in-place") {
			t.Fatalf("%s: exit code %d\n%s", refresh, r.ExitCode, r.Output)
		}
	}
	cli.MustRun("apply", "-input=false", "due.tfplan")
	cli.MustPlanEmpty()
	second := id()
	if second == first {
		t.Errorf("the key %s was not rotated", first)
	}

	// A key that is not rotated in time expires, both in the emulator and in the provider.
	e.API("POST", "/_emulator/clock", map[string]string{"advance": "61d"}, nil)
	if r := cli.MustRun("apply", "-auto-approve", "-input=false"); !strings.Contains(acctest.OneLine(r.Output), "The apply creates a new key in its place") {
		t.Errorf("the apply after the expiry: %s", r.Output)
	}
	if third := id(); third == second {
		t.Errorf("the key %s was not replaced", second)
	}
	cli.MustPlanEmpty()
}
