package acceptance

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// actions returns the arguments of each action. They concern only what the suite created.
var actions = map[string]func(t *testing.T) string{
	"api_key_revoke": func(t *testing.T) string {
		t.Helper()
		account := ownAccount(t)
		key, err := connect(t).ServiceAccounts.CreateKey(t.Context(), serviceaccounts.NewAPIKey{AccountID: account.ID, Name: newName(t, "key")})
		must(t, err)
		return fmt.Sprintf("service_account_id = %q\nkey_id = %q", account.ID, key.ID)
	},
	"ci_workflow_edit": func(t *testing.T) string {
		t.Helper()
		repository, name := optIn(t, envCIRepository), newName(t, "workflow")
		return fmt.Sprintf("action = \"create\"\nmode_id = \"custom\"\nautomation_name = %q\nrepos = [{ repo_full_name = %q }]\nchanges = { name = %q, custom_prompt = \"Do nothing.\" }", name, repository, name)
	},
	"computer_activity": onManaged, "computer_restart": onManaged,
	// Nothing is changed on a registered machine.
	"computer_refresh": func(t *testing.T) string { t.Helper(); return fmt.Sprintf("computer_id = %q", ownMachine(t).ID) },
	"computer_file_upload": func(t *testing.T) string {
		t.Helper()
		return onManaged(t) + fmt.Sprintf("\nfile_name = %q\ncontent = \"hello\"", newName(t, "file")+".txt")
	},
	"environment_build": func(t *testing.T) string {
		t.Helper()
		optIn(t, envBuilds)
		id := ownEnvironment(t).ID
		waitForBuild(t, id)
		return fmt.Sprintf("environment_id = %q", id)
	},
	"environment_build_cancel": func(t *testing.T) string {
		t.Helper()
		created, err := connect(t).Environments.Create(t.Context(), environmentRequest(t, "canceled", environments.ScopeUser))
		must(t, err)
		cleanUp(t, "environment", func(ctx context.Context, c *client.Client) error { return c.Environments.Delete(ctx, created.ID) })
		return fmt.Sprintf("environment_id = %q", created.ID)
	},
	"session_interrupt": func(t *testing.T) string { t.Helper(); return fmt.Sprintf("session_id = %q", newSession(t)) },
	"session_message": func(t *testing.T) string {
		t.Helper()
		return fmt.Sprintf("session_id = %q\ntext = \"Reply with the word OK, and do nothing else.\"", newSession(t))
	},
}

// actionsElsewhere are tested together with other objects: TestAccInvitation and TestAccInstallDeps.
var actionsElsewhere = []string{"member_remove", "computer_install_deps"}

func onManaged(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("computer_id = %q", ownManaged(t).ID)
}

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
	for name, prepare := range actions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := fmt.Sprintf("action \"agentyard_%s\" \"test\" {\n  config {\n%s\n  }\n}\n", name, prepare(t))
			runSteps(t, nil, resource.TestStep{Config: config + triggered("agentyard_"+name+".test")})
		})
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
	for name, prepare := range actions {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := fmt.Sprintf("resource \"agentyard_%s\" \"test\" {\n%s\n}\n", name, prepare(t))
			if name == "session_message" {
				config += answered
			}
			runSteps(t, nil, resource.TestStep{
				Config:           config,
				ConfigPlanChecks: resource.ConfigPlanChecks{PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()}},
			})
		})
	}
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

// ephemerals returns the arguments of each ephemeral resource, and an attribute that shows that it was opened.
var ephemerals = map[string]func(t *testing.T) (arguments, attribute string){
	"api_key": func(t *testing.T) (arguments, attribute string) {
		t.Helper()
		return fmt.Sprintf("service_account_id = %q\nname = %q", ownAccount(t).ID, newName(t, "ephemeral")), "id"
	},
	"computer_file_download": func(t *testing.T) (arguments, attribute string) {
		t.Helper()
		needsCLI(t, 14)
		computer, file := onManaged(t), newName(t, "file")+".txt"
		arguments = computer + fmt.Sprintf("\nfile_name = %q", file)
		config := fmt.Sprintf("action \"agentyard_computer_file_upload\" \"test\" {\n  config {\n%s\n    content = \"hello\"\n  }\n}\n", arguments)
		runSteps(t, nil, resource.TestStep{Config: config + triggered("agentyard_computer_file_upload.test")})
		return arguments, "file_name"
	},
	"wiki_video_upload_url": func(*testing.T) (arguments, attribute string) { return "", "url == \"\" ? \"none\" : \"a URL\"" },
}

// Each ephemeral resource can be opened and closed. Secrets do not reach the echo.
func TestAccEphemeral(t *testing.T) {
	t.Parallel()
	needService(t)
	needsCLI(t, 10)
	for name, prepare := range ephemerals {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arguments, attribute := prepare(t)
			runSteps(t, nil, resource.TestStep{
				Config: fmt.Sprintf("ephemeral \"agentyard_%s\" \"test\" {\n%s\n}\nprovider \"echo\" {\n  data = ephemeral.agentyard_%s.test.%s\n}\nresource \"echo\" \"test\" {}\n",
					name, arguments, name, attribute),
				ConfigStateChecks: []statecheck.StateCheck{statecheck.ExpectKnownValue("echo.test", tfjsonpath.New("data"), knownvalue.StringRegexp(regexp.MustCompile(`^.+$`)))},
			})
		})
	}
}

// TestEveryObject_isTested compares the tables with what the provider offers. It needs no service.
func TestEveryObject_isTested(t *testing.T) {
	t.Parallel()
	server, err := provider.NewServer("test")
	if err != nil {
		t.Fatal(err)
	}
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(table, name string, isTested bool) {
		if !isTested {
			t.Errorf("%s has no row in %s", name, table)
		}
	}
	short := func(name string) string { return name[len("agentyard_"):] }
	for name := range schemas.DataSourceSchemas {
		_, ok := dataSources[short(name)]
		check("dataSources in reads_test.go", name, ok)
	}
	for name := range schemas.ListResourceSchemas {
		_, ok := listResources[short(name)]
		check("listResources in reads_test.go", name, ok)
	}
	for name := range schemas.EphemeralResourceSchemas {
		check("ephemerals in actions_test.go", name, ephemerals[short(name)] != nil)
	}
	for name := range schemas.ActionSchemas {
		check("actions in actions_test.go", name, actions[short(name)] != nil || slices.Contains(actionsElsewhere, short(name)))
	}
}
