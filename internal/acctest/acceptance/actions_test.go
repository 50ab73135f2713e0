package acceptance

import (
	"context"
	"fmt"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

// newSession creates a session for one test.
func newSession(t *testing.T) string {
	t.Helper()
	created, err := createSession(t.Context(), t, connect(t), sessionComputer(t))
	must(t, err)
	cleanUp(t, "session", func(ctx context.Context, c *client.Client) error {
		return c.Sessions.Delete(ctx, created.ID, created.ComputerID)
	})
	return created.ID
}

// Each action can be invoked.
func TestAccAction(t *testing.T) {
	t.Parallel()
	needService(t)
	needsCLI(t, 14)
	forEachOperation(t, func(t *testing.T, o specimens.Operation) {
		t.Helper()
		arguments := "config {\n" + specimens.HCL(places(t).In(o.Values)) + "}\n"
		runSteps(t, nil, resource.TestStep{Config: specimens.Block("action", o.Type, arguments) + triggered(o.Type+".test")})
	})
}

func forEachOperation(t *testing.T, test func(t *testing.T, o specimens.Operation)) {
	t.Helper()
	for _, o := range specimens.Operations {
		if o.NotAtService == "" {
			t.Run(o.Title(), func(t *testing.T) {
				t.Parallel()
				test(t, o)
			})
		}
	}
}

// answered waits for the answer to a message.
const answered = `resource "agentyard_session_answer" "test" {
  session_id = agentyard_session_message.test.session_id
  message_id = agentyard_session_message.test.id
  lifecycle {
    postcondition {
      condition     = self.text != null && self.is_error == false
      error_message = "The agent did not answer."
    }
  }
}
`

// Each operation's resource runs it once, with every CLI.
func TestAccOperation(t *testing.T) {
	t.Parallel()
	needService(t)
	forEachOperation(t, func(t *testing.T, o specimens.Operation) {
		t.Helper()
		config := specimens.Block("resource", o.Type, specimens.HCL(places(t).In(o.Values)))
		if o.Type == "agentyard_session_message" {
			config += answered
		}
		runSteps(t, nil, resource.TestStep{
			Config:           config,
			ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
		})
	})
}

// The dependencies of a computer can be installed again.
func TestAccInstallDeps(t *testing.T) {
	t.Parallel()
	optIn(t, envManagedComputers)
	needsCLI(t, 14)
	all := repositories(t)
	if len(all) == 0 {
		skip(t, "", "no connected repository was found")
	}
	runSteps(t, nil, resource.TestStep{Config: fmt.Sprintf(`
resource "agentyard_computer" "test" {
  name              = %q
  provider_type     = %q
  remote_user       = %q
  repos             = [%q]
  auto_install_deps = true
}
action "agentyard_computer_install_deps" "test" {
  config {
    computer_id = agentyard_computer.test.id
  }
}
`, newName(t, "dependencies"), managedProvider(t), remoteUser, all[0].URL) + triggered("agentyard_computer_install_deps.test")})
}

// Each ephemeral resource can be opened and closed. Secrets do not reach the echo.
func TestAccEphemeral(t *testing.T) {
	t.Parallel()
	needService(t)
	needsCLI(t, 10)
	for _, e := range specimens.Ephemerals {
		if e.NotAtService != "" {
			continue
		}
		t.Run(e.Title(), func(t *testing.T) {
			t.Parallel()
			config := specimens.Block("ephemeral", e.Type, specimens.HCL(places(t).In(e.Values)))
			runSteps(t, nil, resource.TestStep{
				Config:            config + fmt.Sprintf("provider \"echo\" {\n  data = ephemeral.%s.test.%s\n}\nresource \"echo\" \"test\" {}\n", e.Type, e.Shows),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue("echo.test", tfjsonpath.New("data"), knownvalue.StringRegexp(regexp.MustCompile(`^.+$`)))},
			})
		})
	}
}
