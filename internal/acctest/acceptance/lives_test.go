package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/lives"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// preparations return the values of the placeholders in a life, besides $name. They skip the test if the life is not opted in,
// and may adapt the life to what is.
var preparations = map[string]func(t *testing.T, l *lives.Life) map[string]string{
	"service_account": func(*testing.T, *lives.Life) map[string]string { return nil },
	"api_key": func(t *testing.T, l *lives.Life) map[string]string {
		t.Helper()
		// Until the next refresh, the state has the date of the response that created the key, in whole seconds.
		l.NotImported = append([]string{"created_at"}, l.NotImported...)
		return map[string]string{"$account": newAccount(t)}
	},
	"computer": func(*testing.T, *lives.Life) map[string]string {
		return map[string]string{"$machine": fmt.Sprintf("provider_type = \"byom\"\nremote_user = %q\nhost_id = %q", remoteUser, uuid.NewString())}
	},
	"managed computer": func(t *testing.T, _ *lives.Life) map[string]string {
		t.Helper()
		optIn(t, envManagedComputers)
		return map[string]string{"$machine": fmt.Sprintf("provider_type = %q\nremote_user = %q", managedProvider(t), remoteUser)}
	},
	"computer_fleet": func(t *testing.T, _ *lives.Life) map[string]string {
		t.Helper()
		optIn(t, envManagedComputers)
		managedProvider(t)
		return nil
	},
	"computer_fleet of an account": func(t *testing.T, _ *lives.Life) map[string]string {
		t.Helper()
		optIn(t, envManagedComputers)
		managedProvider(t)
		return map[string]string{"$account": newAccount(t)}
	},
	"environment":         prepareEnvironment,
	"default_environment": prepareDefaultEnvironment,
	"global_usage_limit":  prepareGlobalLimit,
	"user_usage_limit":    prepareUserLimit,
	"session": func(t *testing.T, _ *lives.Life) map[string]string {
		t.Helper()
		return map[string]string{"$computer": sessionComputer(t)}
	},
	"wiki_run": func(t *testing.T, _ *lives.Life) map[string]string {
		t.Helper()
		return map[string]string{"$wiki_repository": wikiRepository(t)}
	},
}

// changesWhileBuilding are the attributes of an environment that change until its build has ended.
var changesWhileBuilding = []string{"status", "latest_build", "active_", "last_successful_build_at", "failure_reason", "updated_at"}

func prepareEnvironment(t *testing.T, l *lives.Life) map[string]string {
	t.Helper()
	values := map[string]string{"$repositories": repositoriesArgument(t), "$environment": `scope = "user"`}
	if os.Getenv(envBuilds) == "" {
		values["$environment"] += "\nwait_for_build = false"
		l.NotImported = append([]string{"wait_for_build"}, changesWhileBuilding...)
		l.ImportPlansAnUpdate = true // To false, without a request.
	}
	return values
}

func repositoriesArgument(t *testing.T) string {
	t.Helper()
	if url := environmentRepository(t); url != "" {
		return fmt.Sprintf("[{ url = %q, script = \"true\" }]", url)
	}
	return "[]"
}

// Each resource is created, changed, imported in each form, and destroyed. The plan after each step is empty.
func TestAccLife(t *testing.T) {
	t.Parallel()
	needService(t)
	for name, prepare := range preparations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lives.All[strings.TrimPrefix(name, "managed ")]
			values := prepare(t, &l)
			values = withName(values, newName(t, "life"))
			liveOnce(t, &l, values)
		})
	}
}

func withName(values map[string]string, name string) map[string]string {
	all := map[string]string{"$name": name}
	for placeholder, value := range values {
		all[placeholder] = value
	}
	return all
}

func liveOnce(t *testing.T, l *lives.Life, values map[string]string) {
	t.Helper()
	var pairs []string
	for placeholder, value := range values {
		pairs = append(pairs, placeholder, value)
	}
	filled := strings.NewReplacer(pairs...)
	step := func(arguments string, action plancheck.ResourceActionType) resource.TestStep {
		return resource.TestStep{
			Config: l.Config(filled.Replace(arguments)),
			ConfigPlanChecks: resource.ConfigPlanChecks{
				PreApply:             []plancheck.PlanCheck{plancheck.ExpectResourceAction(l.Address(), action)},
				PostApplyPostRefresh: []plancheck.PlanCheck{plancheck.ExpectEmptyPlan()},
			},
		}
	}
	imported := resource.TestStep{
		ResourceName: l.Address(), ImportState: true, ImportStateIdFunc: l.ImportIDOf, ImportStateVerify: true, ImportStateVerifyIgnore: l.NotImported,
	}
	changed := step(l.Change, plancheck.ResourceActionUpdate)
	if computer := values["$computer"]; computer != "" {
		changed.PreConfig = func() { waitUntilVisible(t, computer, values["$name"], 1) }
		imported.PreConfig = func() { waitUntilVisible(t, computer, values["$name"], 2) }
	}
	steps := []resource.TestStep{
		step(l.Create, plancheck.ResourceActionCreate),
		changed,
		imported,
		{ResourceName: l.Address(), ImportState: true, ImportStateKind: resource.ImportBlockWithID, ImportStateIdFunc: l.ImportIDOf, ExpectNonEmptyPlan: l.ImportPlansAnUpdate},
	}
	if atLeast(t, 12) {
		steps = append(steps, resource.TestStep{
			ResourceName: l.Address(), ImportState: true, ImportStateKind: resource.ImportBlockWithResourceIdentity, ExpectNonEmptyPlan: l.ImportPlansAnUpdate,
		})
	}
	runSteps(t, func(*terraform.State) error {
		if l.Path == "" {
			return nil
		}
		return isGone(t, filled.Replace(l.Path), filled.Replace(l.Text))
	}, steps...)
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

// isGone waits until the response to a GET no longer contains a text: lists may be late.
func isGone(t *testing.T, path, text string) error {
	t.Helper()
	c := connect(t)
	at, err := url.Parse(path)
	if err != nil {
		return err
	}
	r := transport.Request{Op: transport.Operation{Name: "check", Method: http.MethodGet, Route: at.Path, Slow: true}, Query: at.Query()}
	return eventually(t.Context(), 5*time.Minute, func(ctx context.Context) (bool, error) {
		answer, err := c.Conn.Exchange(ctx, r, transport.OnlyJSON)
		if err != nil {
			return transport.IsNotFound(err), nil
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, answer.Body); err != nil {
			return false, err
		}
		return !strings.Contains(compact.String(), text), nil
	}, path+" shows "+text+" after the destruction")
}

// newAccount creates a service account for one test, and returns its ID.
func newAccount(t *testing.T) string {
	t.Helper()
	c := connect(t)
	account, err := createAccount(t.Context(), c, newName(t, "account"))
	must(t, err)
	cleanUp(t, "service account", func(ctx context.Context, c *client.Client) error { return c.ServiceAccounts.Delete(ctx, account.ID) })
	return account.ID
}

// TestAccInvitation covers member_invitation. User_usage_limits would remove the limits of all other users; user_usage_limit covers
// its operations.
func TestLife_everyResource(t *testing.T) {
	t.Parallel()
	for name := range lives.All {
		if preparations[name] == nil && name != "member_invitation" && name != "user_usage_limits" {
			t.Errorf("%s has no life: add it to preparations", name)
		}
	}
}
