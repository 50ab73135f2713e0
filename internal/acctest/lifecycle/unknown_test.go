package lifecycle

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// unknownResults are all results that any update in place makes unknown, with the reason. An unknown value can force the replacement of
// whatever uses it, with everything on it. So add a row only if this update can change the result.
var unknownResults = map[string]map[string]string{
	"agentyard_api_key": {
		"id": "a new key has another ID", "key": "a new key has another value", "fingerprint": "the same", "created_at": "the new key is created in the apply",
		"next_rotation_at": "counts from the creation of the new key", "rotated_at": "the apply rotates the key", "previous_key_id": "a grace period keeps the old key",
		"expires_at": "expires_in counts from the creation of the new key",
		"is_revoked": "a dead key may stay if the arguments turn out to be the same", "revoked_at": "the same",
	},
	"agentyard_computer": {
		"status": "the apply waits for a computer that was never active", "host_id": "the service sets it until then", "install_session_id": "the same", "cloned_repo_directories": "the same",
	},
	"agentyard_computer_fleet": {
		"computers": "an unknown quantity decides the names", "computers.id": "a new computer replaces a missing or a failed one", "computers.status": "the same", "computers.hostname": "the same",
		"computers.remote_user": "the same", "computers.relay_client_url": "the same", "computers.relay_agent_url": "the same", "computers.cloned_repo_directories": "the same",
	},
	"agentyard_environment": {
		"latest_build": "the apply starts a build, or waits for one", "latest_build_id": "the same", "status": "the same",
		"failure_reason":             "a failed environment has one until its new build starts",
		"last_successful_build_at":   "the apply waits for a build",
		"active_repositories":        "other repositories become active only if their build succeeds",
		"active_repositories.script": "another script becomes active only if its build succeeds",
		"active_source":              "another source becomes active only if its build succeeds", "source": "source_id selects another one",
		"is_default": "the apply makes the environment the default",
	},
	"agentyard_member_invitation": {"status": "a role is a new invitation"},
}

// situations are more updates than those that set an argument to an unknown value: they change the service, and return the configuration.
var situations = map[string][]func(t *testing.T, e *acctest.Env, i *acctest.Instance, created acctest.Values) acctest.Values{
	"agentyard_api_key": {
		func(_ *testing.T, e *acctest.Env, i *acctest.Instance, created acctest.Values) acctest.Values {
			e.API(http.MethodPost, "/api/v0/service-accounts/"+i.Attribute("service_account_id")+"/api-keys/"+i.ID()+"/revoke", nil, nil)
			return created
		},
		func(_ *testing.T, _ *acctest.Env, _ *acctest.Instance, created acctest.Values) acctest.Values {
			return with(created, "expires_in", "24h")
		},
	},
	"agentyard_computer": {
		func(t *testing.T, e *acctest.Env, i *acctest.Instance, created acctest.Values) acctest.Values {
			created = with(created, "name", "slow")
			p := acctest.NewProcess(t, e, nil)
			*i = *p.NewInstance(i.Type)
			p.Apply(i, with(created, "wait_for_active", false)).MustSucceed(t)
			return created
		},
	},
	"agentyard_computer_fleet": {
		func(_ *testing.T, e *acctest.Env, _ *acctest.Instance, created acctest.Values) acctest.Values {
			var answer struct{ Computers []struct{ ID string } }
			e.API(http.MethodGet, "/api/v0/computers", nil, &answer)
			for _, c := range answer.Computers {
				e.Try(http.MethodDelete, "/api/v0/computers/"+c.ID, nil)
			}
			return with(created, "quantity", 3)
		},
	},
	"agentyard_environment": {
		func(_ *testing.T, _ *acctest.Env, _ *acctest.Instance, created acctest.Values) acctest.Values {
			return with(created, "repositories", []any{map[string]any{"url": "https://git.example/acme/app", "script": "make"}})
		},
		func(t *testing.T, e *acctest.Env, i *acctest.Instance, created acctest.Values) acctest.Values {
			check.Must(t, e.FailBuild(emulator.BuildFailure{Category: "validation"}))
			e.API(http.MethodPost, "/api/v0/environments/"+i.ID()+"/builds", nil, nil)
			e.Clock.Advance(time.Hour)
			return created
		},
	},
}

// Each update leaves known what it does not change: each argument unknown, the updates of the specimens, and what changed elsewhere.
func TestResource_unknownResults(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	seen := map[string]map[string]bool{}
	t.Run("all", func(t *testing.T) {
		forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
			e, created, changed := o.Env, o.In(r.Least), o.In(r.Changed)
			_, i := e.Created(t, r.Type, created)
			see := func(what, argument string, config acctest.Values) {
				out := e.Plan(t, i.Clone(), config)
				if len(out.Errors) > 0 || out.Action != acctest.ActionUpdate {
					return // Another argument excludes this one, or forces a new object.
				}
				for _, name := range out.Unknown(t) {
					if name == argument || strings.HasPrefix(name, argument+".") {
						continue
					}
					if unknownResults[r.Type][name] == "" {
						t.Errorf("%s: %s becomes unknown. Keep it known, or add the reason to unknownResults", what, name)
					}
					mu.Lock()
					if seen[r.Type] == nil {
						seen[r.Type] = map[string]bool{}
					}
					seen[r.Type][name] = true
					mu.Unlock()
				}
			}
			see("an update", "none", changed)
			for _, argument := range acctest.NewProcess(t, e, nil).Arguments(r.Type) {
				see("an unknown "+argument, argument, with(created, argument, tftypes.UnknownValue))
			}
			for _, change := range situations[r.Type] {
				see("a change elsewhere", "none", change(t, e, i, created))
			}
		})
	})
	for typeName, rows := range unknownResults {
		for name := range rows {
			if !seen[typeName][name] {
				t.Errorf("%s: no update makes %s unknown", typeName, name)
			}
		}
	}
}
