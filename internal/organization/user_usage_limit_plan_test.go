package organization_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

const limitType = "agentyard_user_usage_limit"

// said fails the test unless an outcome has no errors and its warnings contain the parts; without parts there must be none.
func said(t *testing.T, out acctest.Outcome, parts ...string) {
	t.Helper()
	text := warningsOf(out)
	if len(out.Errors) > 0 || len(parts) == 0 && text != "" {
		t.Errorf("%s", out)
	}
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("the warnings lack %q: %s", part, out)
		}
	}
}

// A creation tells of a limit that there is already, unless it is the same.
func TestUserUsageLimit_warnsBeforeItReplacesAnother(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery, blake)
	process := func() *acctest.Process { return acctest.NewProcess(t, e, nil) }
	i := process().NewInstance(limitType)
	config := acctest.Values{"email": avery, "limit": 2_000_000}
	limitElsewhere(e, blake, 7_000_000)
	globalLimitElsewhere(e, 4_000_000)
	said(t, process().Plan(i, config))
	limitElsewhere(e, avery, 2_000_000)
	said(t, process().Plan(i, config))
	limitElsewhere(e, avery, 5_000_000)
	const summary = "Limits Will Be Replaced: "
	said(t, process().Plan(i, config), summary, "has a limit of 5000000 credits already", "If somebody else has set it", "in place of which the apply sets 2000000 credits", "terraform import ADDRESS avery@agentyard.example")
	said(t, process().Plan(i, acctest.Values{"email": "AVERY@agentyard.example", "limit": 2_000_000}), "Limits Will Be Replaced: ", "5000000 credits already")
	said(t, process().Apply(i, config), summary)
	// What the state holds is one's own.
	said(t, process().Apply(i, acctest.Values{"email": avery, "limit": 3_000_000}))
	// A replacement ends one limit, and meets another.
	said(t, process().Apply(i, acctest.Values{"email": blake, "limit": 3_000_000}),
		"Limits Will Be Removed: ", "The limit of avery@agentyard.example, 3000000 credits, ends", "Limits Will Be Replaced: ", "7000000 credits already")
	mustHold(t, e, limits{blake: 3_000_000})
}

// Many such warnings share one summary, so that the CLIs fold them.
func TestUserUsageLimit_manyWarnings(t *testing.T) {
	t.Parallel()
	e := limitEnv(t)
	p := acctest.NewProcess(t, e, nil)
	summaries := map[string]int{}
	for n := range 15 {
		email := fmt.Sprintf("member%d@agentyard.example", n)
		haveJoined(t, e, email)
		limitElsewhere(e, email, 5_000_000)
	}
	for n := range 15 {
		out := p.Plan(p.NewInstance(limitType), acctest.Values{"email": fmt.Sprintf("member%d@agentyard.example", n), "limit": 2_000_000})
		said(t, out, fmt.Sprintf("member%d@agentyard.example has a limit", n))
		for _, w := range out.Warnings {
			summaries[w.Summary]++
		}
	}
	if len(summaries) != 1 {
		t.Errorf("the summaries: %v", summaries)
	}
	if n := e.Journal().Count("getUserUsageLimits"); n != 1 {
		t.Errorf("%d listings for the plans", n)
	}
}

// A destruction tells what applies to the user then.
func TestUserUsageLimit_destructionWarns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		global any
		want   string
	}{
		"a global limit": {4_000_000, "What applies then is the global limit, which is 4000000 credits at present."},
		"none":           {nil, "At present the organization has no global limit, without which they may spend without limit."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := limitEnv(t, avery)
			process := func() *acctest.Process { return acctest.NewProcess(t, e, nil) }
			i := process().NewInstance(limitType)
			said(t, process().Apply(i, acctest.Values{"email": avery, "limit": 2_000_000}))
			globalLimitElsewhere(e, tc.global)
			parts := []string{"Limits Will Be Removed: ", "The limit of avery@agentyard.example, 2000000 credits, ends", tc.want}
			said(t, process().Plan(i, nil), parts...)
			said(t, process().Apply(i, nil), parts...)
			mustHold(t, e, limits{})
		})
	}
}

// The plan that a person reads has the warnings.
func TestAccUserUsageLimit_warningsThroughTheCLI(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	haveJoined(t, e, avery)
	limitElsewhere(e, avery, 5_000_000)
	globalLimitElsewhere(e, 4_000_000)
	cli := acctest.NewCLI(t, e, limitConfig(avery, 2_000_000))
	if text := unframed(cli.MustRun("plan", "-input=false").Output); !strings.Contains(text, "Limits Will Be Replaced") || !strings.Contains(text, "has a limit of 5000000 credits already") {
		t.Errorf("the plan: %s", text)
	}
	cli.MustRun("apply", "-auto-approve", "-input=false")
	if text := unframed(cli.MustPlanEmpty().Output); strings.Contains(text, "Limit of") {
		t.Errorf("an empty plan warns: %s", text)
	}
	if text := unframed(cli.MustRun("plan", "-destroy", "-input=false").Output); !strings.Contains(text, "Limits Will Be Removed") || !strings.Contains(text, "4000000 credits") {
		t.Errorf("the plan of the destruction: %s", text)
	}
	cli.Write("main.tf", "")
	if text := unframed(cli.MustRun("apply", "-auto-approve", "-input=false").Output); !strings.Contains(text, "Limits Will Be Removed") {
		t.Errorf("the apply without the resource: %s", text)
	}
	mustHold(t, e, limits{})
}

// What the state is known to hold is told from a limit of somebody else.
func TestUserUsageLimit_heldByAnotherResource(t *testing.T) {
	t.Parallel()
	e := limitEnv(t, avery)
	p := acctest.NewProcess(t, e, nil)
	first, second := p.NewInstance(limitType), p.NewInstance(limitType)
	said(t, p.Apply(first, acctest.Values{"email": avery, "limit": 2_000_000}))
	other := acctest.Values{"email": "Avery@agentyard.example", "limit": 3_000_000}
	p = acctest.NewProcess(t, e, nil)
	said(t, p.Plan(first, acctest.Values{"email": avery, "limit": 2_000_000}))
	said(t, p.Plan(second, other), "Limits Are Held by Other Resources: ", "which is 2000000 credits", "If its address or for_each key was changed, the apply sets 3000000 credits", "keep one of them")
	// The same value loses nothing, but may be one resource too many.
	p = acctest.NewProcess(t, e, nil)
	said(t, p.Plan(first, nil), "Will Be Removed")
	said(t, p.Plan(second, acctest.Values{"email": avery, "limit": 2_000_000}), "Limits Are Held by Other Resources: ", "2000000 credits", "nothing is lost, and a moved block makes that certain", "If both resources stay, keep one of them.")
	said(t, acctest.NewProcess(t, e, nil).Plan(second, acctest.Values{"email": avery, "limit": 2_000_000}))
	said(t, acctest.NewProcess(t, e, nil).Plan(second, other), "Limits Will Be Replaced: ")
}

// In a plan it depends on the order whether the other resource is known; what to do is told in any order.
func TestAccUserUsageLimit_anotherResourceStays(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	haveJoined(t, e, avery)
	cli := acctest.NewCLI(t, e, limitNamed("a", avery, 2_000_000))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", limitNamed("a", avery, 2_000_000)+limitNamed("b", "Avery@agentyard.example", 3_000_000))
	text := unframed(cli.MustRun("plan", "-input=false").Output)
	if !strings.Contains(text, "2000000 credits") || !strings.Contains(text, "undo each other's work with every apply: keep one of them") {
		t.Errorf("the plan: %s", text)
	}
}

// Two resources for one user in one configuration are an error, in the plan where it knows both addresses.
func TestAccUserUsageLimit_oneUserTwice(t *testing.T) {
	t.Parallel()
	const both = `Two\s+Limits\s+for\s+One\s+User(.|\n)*email\s*=(.|\n)*limits\s+(avery|AVERY)@agentyard.example\s+to\s+[23]000000\s+credits(.|\n)*keep\s+one\s+resource`
	made := func(email string) string {
		return fmt.Sprintf("resource \"terraform_data\" \"email\" {\n  input = %q\n}\n", email) + strings.Replace(limitNamed("other", "x", 3_000_000), `"x"`, "terraform_data.email.output", 1)
	}
	for name, tc := range map[string]struct {
		other    string
		planOnly bool
		want     string
	}{
		"the same case":               {limitNamed("other", avery, 3_000_000), true, both},
		"another case":                {limitNamed("other", "AVERY@agentyard.example", 3_000_000), true, both},
		"the same value":              {limitNamed("other", avery, 2_000_000), true, both},
		"unknown at plan":             {made(avery), false, both},
		"unknown at plan, other case": {made("AVERY@agentyard.example"), false, both},
	} {
		config := limitConfig(avery, 2_000_000) + tc.other
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := limitEnv(t, avery)
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps:                    []resource.TestStep{{Config: e.Config(config), PlanOnly: tc.planOnly, ExpectError: regexp.MustCompile(tc.want)}},
			})
			// The one that was set is in the state, and was destroyed by it.
			mustHold(t, e, limits{})
		})
		t.Run(name+", on real time", func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			haveJoined(t, e, avery)
			cli := acctest.NewCLI(t, e, config)
			r := cli.Run("apply", "-auto-approve", "-input=false")
			if r.ExitCode != 1 || !regexp.MustCompile(tc.want).MatchString(strings.NewReplacer("│", "").Replace(r.Output)) {
				t.Errorf("exit code %d: %s", r.ExitCode, r.Output)
			}
			if set := e.Journal().Count("setUserUsageLimits"); tc.planOnly && set > 0 || set > 1 {
				t.Errorf("%d requests to set limits", set)
			}
		})
	}
}

// Two resources that hold one user's limit, since one was imported, do not undo each other's work in silence.
func TestAccUserUsageLimit_oneUserTwiceInTheState(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t)
	haveJoined(t, e, avery)
	cli := acctest.NewCLI(t, e, limitNamed("a", avery, 2_000_000))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", limitNamed("a", avery, 3_000_000)+limitNamed("b", "AVERY@agentyard.example", 4_000_000))
	cli.MustRun("import", "agentyard_user_usage_limit.b", avery)
	r := cli.Run("apply", "-auto-approve", "-input=false")
	text := unframed(r.Output)
	if r.ExitCode != 1 || !strings.Contains(text, "because another resource of this run sets it to") || !strings.Contains(text, "Keep one resource for it") {
		t.Errorf("exit code %d: %s", r.ExitCode, text)
	}
	if got := liveLimits(e)[avery]; got != 3_000_000 && got != 4_000_000 {
		t.Errorf("the limit is %d", got)
	}
}
