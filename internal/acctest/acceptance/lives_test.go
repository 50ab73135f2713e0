package acceptance

import (
	"context"
	"net/http"
	"net/url"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
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
