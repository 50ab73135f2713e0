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

// A create warns about an existing limit, unless it is the same.
func TestUserUsageLimit_warnsBeforeItReplacesAnother(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake)
	process := func() *acctest.Process { return acctest.NewProcess(t, e, nil) }
	i := process().NewInstance(userLimitType)
	config := acctest.Values{"email": avery, "limit": 2_000_000}
	limitElsewhere(e, blake, 7_000_000)
	globalLimitElsewhere(e, 4_000_000)
	said(t, process().Plan(i, config))
	limitElsewhere(e, avery, 2_000_000)
	said(t, process().Plan(i, config))
	limitElsewhere(e, avery, 5_000_000)
	const summary = "Limit Will Be Replaced: "
	said(t, process().Plan(i, config), summary, "avery@agentyard.example already has a limit of 5000000 credits. The apply changes it to 2000000 credits.")
	said(t, process().Plan(i, acctest.Values{"email": "AVERY@agentyard.example", "limit": 2_000_000}), summary, "AVERY@agentyard.example already has a limit of 5000000 credits")
	said(t, process().Apply(i, config), summary)
	// A limit in the state needs no warning.
	said(t, process().Apply(i, acctest.Values{"email": avery, "limit": 3_000_000}))
	said(t, process().Apply(i, acctest.Values{"email": blake, "limit": 3_000_000}), summary, "blake@agentyard.example already has a limit of 7000000 credits")
	mustHold(t, e, limits{blake: 3_000_000})
}

// All warnings of a kind share a summary, because the CLIs group warnings by it, and a list request.
func TestUserUsageLimit_manyWarnings(t *testing.T) {
	t.Parallel()
	e := limitEnv(t)
	p := acctest.NewProcess(t, e, nil)
	for _, email := range people {
		haveJoined(t, e, email)
		limitElsewhere(e, email, 5_000_000)
	}
	e.Journal().Reset()
	for _, email := range people {
		out := p.Plan(p.NewInstance(userLimitType), acctest.Values{"email": email, "limit": 2_000_000})
		said(t, out, "Limit Will Be Replaced: "+email)
	}
	e.WantRequests(t, "getUserUsageLimits", 1)
}

// What a plan says about a limit does not depend on which resources are planned before it, or how often.
func TestUsageLimits_anyOrder(t *testing.T) {
	t.Parallel()
	for typeName, config := range limitConfigs() {
		e := limitEnv(t, avery)
		p := acctest.NewProcess(t, e, nil)
		first, second := p.NewInstance(typeName), p.NewInstance(typeName)
		inAnyOrder := func(parts ...string) {
			t.Helper()
			for _, order := range [][]*acctest.Instance{{first, second}, {second, first}, {first, first}} {
				p := acctest.NewProcess(t, e, nil)
				for _, i := range order {
					said(t, p.Plan(i, config), parts...)
				}
			}
		}
		limitElsewhere(e, avery, 5_000_000)
		globalLimitElsewhere(e, 5_000_000)
		inAnyOrder("Limit Will Be Replaced: ")
		p.Apply(first, config).MustDo(t, acctest.ActionCreate)
		p.Apply(second, config).MustDo(t, acctest.ActionCreate)
		inAnyOrder()
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
