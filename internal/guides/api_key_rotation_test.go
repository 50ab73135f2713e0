package guides

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func apiKeyRotation(g *reader) {
	t, e := g.t, g.e
	nightly := "terraform apply -auto-approve -input=false"
	if !strings.Contains(g.blocks[1].text, nightly) {
		t.Errorf("the nightly run is %s", g.blocks[1].text)
	}
	// Quiet is a nightly run that changes nothing and warns of nothing.
	quiet := func() {
		t.Helper()
		g.cli.MustPlanEmpty()
		before := live(e)
		if out := g.run(nightly); !strings.Contains(out, "0 added, 0 changed, 0 destroyed") || strings.Contains(out, "Check block") || strings.Contains(out, "Warning: API Key") {
			t.Errorf("the nightly run: %s", out)
		}
		if after := live(e); fmt.Sprint(after) != fmt.Sprint(before) {
			t.Errorf("the nightly run made %v of %v", after, before)
		}
	}
	if out := g.step(); strings.Contains(out, "Check block") {
		t.Errorf("the first run warns: %s", out)
	}
	quiet()

	g.step()
	quiet()
	old := live(e)["deploy"][0]
	out := g.step()
	if !strings.Contains(out, "agentyard_api_key.deploy: Modifications complete") || !strings.Contains(out, "terraform_data.deployment: Creation complete") {
		t.Errorf("the rotation does not reach what uses the key: %s", out)
	}
	if keys := live(e)["deploy"]; len(keys) != 2 || !slices.Contains(keys, old) {
		t.Errorf("live are %v, want a new key and %s in its grace period", keys, old)
	}
	quiet()

	acctest.NeedsActions(t)
	leaked := live(e)["scheduled"][0]
	out = g.step("KEY_ID", leaked)
	if !strings.Contains(out, `API Key Will Be Replaced`) || !strings.Contains(out, leaked) {
		t.Errorf("the run does not say why it mints a key: %s", out)
	}
	if keys := live(e)["scheduled"]; len(keys) != 1 || keys[0] == leaked {
		t.Errorf("live are %v, and %s has leaked", keys, leaked)
	}
	quiet()
}

// checkStatus demands the outcome of the guide's check in a plan.
type checkStatus string

func (want checkStatus) CheckPlan(_ context.Context, req plancheck.CheckPlanRequest, resp *plancheck.CheckPlanResponse) {
	for _, check := range req.Plan.Checks {
		if check.Address.ToDisplay == "check.scheduled_key_is_fresh" && string(check.Status) == string(want) {
			return
		}
	}
	resp.Error = fmt.Errorf("no check in %+v is %s", req.Plan.Checks, want)
}

func checked(want checkStatus) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{want}, PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}}
}

// The check warns in a plan, which compares the key's expiry with the machine's time: the key is made in what is the past of that.
func TestAccGuide_apiKeyRotationCheck(t *testing.T) {
	t.Parallel()
	// The provider under test runs in this process, and has no source.
	_, example, _ := strings.Cut(acctest.Example(t, "guides/api-key-rotation/main.tf"), "\n}\n")
	for name, tc := range map[string]struct {
		age  time.Duration
		want checkStatus
	}{
		"long before":              {time.Hour, "pass"},
		"when the rotation is due": {24 * 24 * time.Hour, "pass"},
		"a day before the expiry":  {29 * 24 * time.Hour, "fail"},
		"after the expiry":         {31 * 24 * time.Hour, "fail"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			e.Clock.Advance(time.Since(acctest.Start) - tc.age)
			config := e.Config(example)
			resource.UnitTest(t, resource.TestCase{
				ProtoV6ProviderFactories: e.Factories,
				Steps: []resource.TestStep{
					{Config: config},
					{PreConfig: func() { e.Clock.Advance(tc.age) }, Config: config, ConfigPlanChecks: checked(tc.want)},
					{Config: config, ConfigPlanChecks: checked("pass")},
				},
			})
		})
	}
}
