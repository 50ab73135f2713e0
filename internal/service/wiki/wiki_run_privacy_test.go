package wiki_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// A user who is neither the owner nor a manager gets an error that says whose API key is needed.
func TestAccWikiRun_isForItsOwner(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key := e.MemberKey("robin@acme.example", "")
	cfg := func(level string) string { return ofAPI(quoted("privacy_level", level)) }
	resource.UnitTest(t, resource.TestCase{
		ProtoV6ProviderFactories: e.Factories,
		CheckDestroy:             noRunLeft(t, e),
		Steps: []resource.TestStep{
			{Config: e.Config(cfg("organization"))},
			{Config: acctest.ConfigAt(e.URL(), key, cfg("organization")), ConfigPlanChecks: acctest.ThenEmpty, ConfigStateChecks: []statecheck.StateCheck{runHas("can_update_privacy", knownvalue.Bool(false))}},
			{Config: acctest.ConfigAt(e.URL(), key, cfg("private")), ExpectError: regexp.MustCompile(`Cannot update wiki run(.|\n)*403(.|\n)*Only\s+the\s+owner(.|\n)*remove\s+privacy_level`)},
			{Config: acctest.ConfigAt(e.URL(), key, cfg("organization")), Destroy: true, ExpectError: regexp.MustCompile(`Cannot delete wiki run(.|\n)*wiki_(.|\n)*403(.|\n)*Only\s+the\s+owner`)},
			{Config: e.Config(cfg("organization")), ConfigPlanChecks: acctest.ThenEmpty},
		},
	})
}

// If only the privacy level of a new run could not be set, the run is kept, and the next plan updates it in place.
func TestAccWikiRun_withoutItsPrivacy(t *testing.T) {
	t.Parallel()
	for _, status := range []int{403, 422, 500} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t)
			e.Faults().Add(emulator.Fault{Operation: "updateWikiPrivacy", Kind: emulator.FaultStatusBeforeCommit, Status: status, Times: -1})
			cli := acctest.NewCLI(t, e, ofAPI(`privacy_level = "private"`))
			r := cli.MustRun("apply", "-auto-approve", "-input=false")
			run := onlyRun(t, e)
			said := acctest.OneLine(r.Output)
			for _, want := range []string{"Warning: Privacy Level Not Set", run.ID, `is "organization" instead of "private"`, "The next apply sets it", fmt.Sprint(status)} {
				acctest.Says(t, said, want)
			}
			e.Faults().Clear()
			if r := cli.MustRun("plan", "-input=false"); !strings.Contains(r.Output, `"organization" -> "private"`) || !strings.Contains(r.Output, "0 to add, 1 to change, 0 to destroy") {
				t.Errorf("the next plan:\n%s", r.Output)
			}
			cli.MustRun("apply", "-auto-approve", "-input=false")
			acctest.Says(t, cli.MustRun("plan", "-input=false", "-refresh=false").Output, "No changes")
			cli.MustPlanEmpty()
			if now := onlyRun(t, e); now.ID != run.ID || now.PrivacyLevel != "private" {
				t.Errorf("the emulator holds %+v", now)
			}
		})
	}
}

// After an interrupt during the create, the privacy level is still set, because other users must not see the run.
func TestAccWikiRun_interruptedBeforeItsPrivacy(t *testing.T) {
	t.Parallel()
	running := make(chan *acctest.Running, 1)
	e := acctest.NewRealTime(t, acctest.InterruptInFlight("createWikiRun", running))
	cli := acctest.NewCLI(t, e, ofAPI(`privacy_level = "private"`))
	run := cli.Start("apply", "-auto-approve", "-input=false")
	running <- run
	r := run.Wait()
	made := onlyRun(t, e)
	if made.PrivacyLevel != "private" {
		t.Errorf("the run is left %s: %s", made.PrivacyLevel, r.Output)
	}
	cli.MustPlanEmpty()
	if state := cli.MustRun("state", "pull").Output; !strings.Contains(state, made.ID) || strings.Contains(state, "tainted") {
		t.Errorf("the state is %s", state)
	}
}
