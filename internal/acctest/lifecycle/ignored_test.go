package lifecycle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/lives"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// ignore_changes = all hands the values in the state to the provider as arguments, also those that the service chose. After the object
// was changed elsewhere, the plan is empty and a destroy works.
func TestAccResource_changedElsewhereAndIgnored(t *testing.T) {
	t.Parallel()
	for name, l := range lives.All {
		if name == "api_key" {
			continue // Its change is a rotation; a key that was rotated elsewhere is dead. See TestAccAPIKey_ignoredExpiry.
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.NewRealTime(t, func(o *emulator.Options) {
				o.SessionDelay, o.SessionListDelay, o.Provisioning.Step = -1, -1, time.Millisecond
			})
			ids := fill(t, e)
			ignored := ids.Replace(l.Config(l.Create + "\nlifecycle {\n  ignore_changes = all\n}"))
			cli := acctest.NewCLI(t, e, ignored)
			cli.MustRun("apply", "-auto-approve", "-input=false")
			state := filepath.Join(cli.Dir, "terraform.tfstate")
			before, err := os.ReadFile(state)
			acctest.Must(t, err)

			// Another state has the same object.
			cli.Write("main.tf", ids.Replace(l.Config(l.Change)))
			cli.MustRun("apply", "-auto-approve", "-input=false")
			acctest.Must(t, os.WriteFile(state, before, 0o600))

			cli.Write("main.tf", ignored)
			if r := cli.MustRun("apply", "-auto-approve", "-input=false"); !strings.Contains(r.Output, "0 added, 0 changed, 0 destroyed") {
				t.Error(r.Output)
			}
			cli.MustPlanEmpty()
			cli.MustRun("destroy", "-auto-approve", "-input=false")
		})
	}
}
