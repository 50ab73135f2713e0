package acceptance

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// changesWhileBuilding are the attributes of an environment that change until its build has ended.
var changesWhileBuilding = []string{"status", "latest_build", "active_", "last_successful_build_at", "failure_reason", "updated_at"}

// adapt adapts a resource to what the service is like, and to what is opted in.
func adapt(t *testing.T, r *specimens.Resource) {
	t.Helper()
	switch {
	case r.Type == "agentyard_api_key":
		// Until the next refresh, the state has the date of the response that created the key, in whole seconds.
		r.NotImported = append([]string{"created_at"}, r.NotImported...)
	case r.Type == "agentyard_environment" && os.Getenv(envBuilds) == "":
		r.NotImported = append([]string{"wait_for_build"}, changesWhileBuilding...)
		r.ImportPlansAnUpdate = true // To false, without a request.
	case r.Type == "agentyard_global_usage_limit":
		restoreGlobalLimit(t)
	}
}

// Each resource is created, changed, imported in each form, and destroyed. The plan after each step is empty.
func TestAccLife(t *testing.T) {
	t.Parallel()
	needService(t)
	for _, r := range specimens.Resources {
		if r.NotAtService != "" {
			continue
		}
		t.Run(r.Title(), func(t *testing.T) {
			t.Parallel()
			adapt(t, &r)
			fill := places(t)
			steps := r.Steps(fill, false)
			if r.Type == "agentyard_session" {
				for n := range 2 {
					steps[n+1].PreConfig = func() { waitUntilVisible(t, fill.Text("$computer"), fill.Text("$name"), n+1) }
				}
			}
			steps = append(steps, resource.TestStep{
				ResourceName: r.Address(), ImportState: true, ImportStateKind: resource.ImportBlockWithID, ImportStateIdFunc: r.ImportIDOf, ExpectNonEmptyPlan: r.ImportPlansAnUpdate,
			})
			if atLeast(t, 12) {
				steps = append(steps, resource.TestStep{
					ResourceName: r.Address(), ImportState: true, ImportStateKind: resource.ImportBlockWithResourceIdentity, ExpectNonEmptyPlan: r.ImportPlansAnUpdate,
				})
			}
			runSteps(t, func(*terraform.State) error {
				if r.Listing.Path == "" {
					return nil
				}
				return isGone(t, r.Listing, fill)
			}, steps...)
		})
	}
}

// waitUntilVisible waits until a session can be read, and the list of its computer shows its tags. Before, the service may return
// 404, and an import lacks the settings, which only lists have.
func waitUntilVisible(t *testing.T, computer, tag string, tags int) {
	t.Helper()
	must(t, eventually(t.Context(), 10*time.Minute, func(ctx context.Context) (bool, error) {
		c := connect(t) // A new one, because a client shares its pages for a while.
		all, err := c.Sessions.List(ctx, computer, 20)
		at := slices.IndexFunc(all, func(s sessions.Session) bool {
			return s.Settings != nil && len(s.Settings.Tags) == tags && slices.ContainsFunc(s.Settings.Tags, func(t sessions.Tag) bool { return t.Name == tag })
		})
		if err != nil || at < 0 {
			return false, err
		}
		_, err = c.Sessions.GetUncached(ctx, all[at].ID, computer)
		if transport.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	}, "the session is not visible"))
}

// isGone waits until a listing no longer shows the specimen: lists may be late.
func isGone(t *testing.T, l specimens.Listing, fill specimens.Fill) error {
	t.Helper()
	c := connect(t)
	at, err := url.Parse(fill.Text(l.Path))
	if err != nil {
		return err
	}
	r := transport.Request{Op: transport.Operation{Name: "check", Method: http.MethodGet, Route: at.Path, Slow: true}, Query: at.Query()}
	return eventually(t.Context(), 5*time.Minute, func(ctx context.Context) (bool, error) {
		answer, err := c.Conn.Exchange(ctx, r, transport.OnlyJSON)
		if err != nil {
			return transport.IsNotFound(err), nil
		}
		ids, err := l.Find(answer.Body, fill)
		return len(ids) == 0, err
	}, l.Path+" shows the specimen after the destruction")
}

// Each data source can be read, and finds what the suite created.
func TestAccDataSource(t *testing.T) {
	t.Parallel()
	needService(t)
	for _, r := range specimens.Data {
		if r.NotAtService != "" {
			continue
		}
		t.Run(r.Title(), func(t *testing.T) {
			t.Parallel()
			fill := places(t)
			arguments := specimens.HCL(fill.In(r.Values))
			if r.Shows != "" {
				arguments += fmt.Sprintf("lifecycle {\n  postcondition {\n    condition     = %s\n    error_message = \"The object is missing.\"\n  }\n}\n", fill.Text(r.Shows))
			}
			runSteps(t, nil, resource.TestStep{Config: specimens.Block("data", r.Type, arguments), PlanOnly: true})
		})
	}
}

// Each list resource can be queried, with whole resources.
func TestAccList(t *testing.T) {
	t.Parallel()
	needService(t)
	needsCLI(t, 14)
	for _, l := range specimens.Lists {
		if l.NotAtService != "" {
			continue
		}
		t.Run(l.Title(), func(t *testing.T) {
			t.Parallel()
			fill, least := places(t), 0
			if l.Shows != "" {
				fill(l.Shows)
				least = 1
			}
			arguments := "provider = agentyard\ninclude_resource = true\nlimit = 1000\nconfig {\n" + specimens.HCL(fill.In(l.Values)) + "}\n"
			runSteps(t, nil, resource.TestStep{
				Query: true, Config: "provider \"agentyard\" {}\n" + specimens.Block("list", l.Type, arguments),
				QueryResultChecks: []querycheck.QueryResultCheck{querycheck.ExpectLengthAtLeast(l.Type+".test", least)},
			})
		})
	}
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
