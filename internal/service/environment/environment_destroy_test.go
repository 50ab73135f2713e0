package environment_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestEnvironment_whyACancellationFailsIsSaid(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, environmentOf("a", acctest.Values{"wait_for_build": false}))
	refuse(e, "cancelEnvironmentBuild", http.StatusForbidden, -1)
	e.Apply(t, i, nil).MustFail(t, "", "cancelEnvironmentBuild", "Manager role", "is running")
	if i.State.IsNull() {
		t.Error("the state is lost")
	}
}

// The last default can be deleted. The service keeps any other default.
func TestEnvironment_theDefaultIsDeleted(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, a := e.Created(t, environmentType, environmentOf("a", acctest.Values{"make_organization_default": true}))
	_, b := e.Created(t, environmentType, environmentOf("b", nil))
	out := e.Apply(t, a, nil)
	out.MustFail(t, "", "is the organization's default", "make another environment the default first")
	if a.State.IsNull() {
		t.Errorf("%s; the state is %s", out, a.State)
	}
	e.MustApply(t, b, nil)
	e.MustApply(t, a, nil)
	if left := environmentsOf(e); len(left) > 0 {
		t.Errorf("left: %+v", left)
	}
}

// While the others are being destroyed in the same run, the deletion of a default that builds is repeated. Its build is canceled only if it is
// the last one of the organization: other scopes do not count.
func TestEnvironment_theDefaultIsDeletedWhileItBuilds(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]string{"others go meanwhile": "organization", "a personal one stays": "user"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			other := ""
			e = acctest.New(t, slowBuilds, acctest.Meanwhile("DELETE "+environmentsRoute+"/", func(n int) {
				if n == 2 && others == "organization" {
					e.API(http.MethodDelete, environmentsRoute+"/"+other, nil, nil)
				}
			}))
			other = newEnv(e, map[string]any{"name": "other", "scope": others})
			e.Clock.Advance(time.Hour)
			_, i := e.Created(t, environmentType, environmentOf("a", acctest.Values{"make_organization_default": true, "wait_for_build": false}))
			e.MustApply(t, i, nil)
			e.WantRequests(t, "cancelEnvironmentBuild", 1)
			if left := environmentsOf(e); len(left) != 0 && (len(left) != 1 || left[0].ID != other) {
				t.Errorf("left: %+v", left)
			}
		})
	}
}

// A change of the scope forces replacement, even for the organization's default, which is then the last environment of its
// scope.
func TestEnvironment_theDefaultIsReplaced(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, environmentOf("a", acctest.Values{"make_organization_default": true}))
	out := e.MustApply(t, i, environmentOf("a", acctest.Values{"scope": "user"}))
	if all := environmentsOf(e); out.Action != acctest.ActionReplace || len(all) != 1 || all[0].Scope != "user" || all[0].ID != i.ID() {
		t.Errorf("%s; the emulator holds %+v", out, all)
	}
}

// With create_before_destroy, the new environment becomes the default before the old one is deleted.
func TestEnvironment_theDefaultIsReplacedBeforeItGoes(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p, old := e.Created(t, environmentType, environmentOf("first", acctest.Values{"make_organization_default": true}))
	i := p.NewInstance(environmentType)
	p.Apply(i, environmentOf("second", acctest.Values{"make_organization_default": true})).MustDo(t, acctest.ActionCreate)
	p.Destroy(old).MustDo(t, acctest.ActionDelete)
	if got := onlyEnv(t, e); got.ID != i.ID() || !got.IsDefault {
		t.Errorf("%+v", got)
	}
}
