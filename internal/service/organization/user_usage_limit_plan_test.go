package organization_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// said fails the test unless an outcome has no errors and its warnings contain the parts. Without parts, there must be no
// warnings.
func said(t *testing.T, out acctest.Outcome, parts ...string) {
	t.Helper()
	text := out.WarningText()
	if len(out.Errors) > 0 || len(parts) == 0 && text != "" {
		t.Errorf("%s", out)
	}
	for _, part := range parts {
		acctest.Says(t, text, part)
	}
}

// The service may have a limit below the minimum. It can be read and imported, but not configured.
func TestAccUsageLimits_belowTheMinimum(t *testing.T) {
	t.Parallel()
	for typeName, tc := range map[string]struct{ id, read, body, arguments string }{
		userLimitType:   {avery, "getUserUsageLimits", `{"globalLimit": null, "userLimits": [{"email": "avery@agentyard.example", "limit": 5000}]}`, "email = \"avery@agentyard.example\""},
		globalLimitType: {"organization", "getGlobalUsageLimit", `{"limit": 5000}`, ""},
	} {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			e.Faults().Add(emulator.Fault{Operation: tc.read, Kind: emulator.FaultOtherResponse, Body: tc.body, Times: -1})
			config := func(limit int) string {
				return fmt.Sprintf("resource %q \"test\" {\n  %s\n  limit = %d\n}\n", typeName, tc.arguments, limit)
			}
			cli := acctest.NewCLI(t, e, config(5000))
			if r := cli.Run("validate"); r.ExitCode != 1 || !strings.Contains(acctest.OneLine(r.Output), "must be at least 1000000, got: 5000") || !strings.Contains(r.Output, "limit = 5000") {
				t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
			}
			cli.Write("main.tf", config(1_000_000))
			cli.MustRun("import", typeName+".test", tc.id)
			acctest.Says(t, cli.MustRun("plan", "-input=false").Output, "1 to change")
		})
	}
}
