package environment_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestEnvironment_destroyedWhileItIsBuilt(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, environmentOf("a", acctest.Values{"wait_for_build": false}))
	e.Journal().Reset()
	e.MustApply(t, i, nil)
	noneLeft(t, e, i)
	if e.CarriedOut("cancelEnvironmentBuild") != 1 || e.Journal().Count("deleteEnvironment") != 2 {
		t.Errorf("the requests: %+v", e.Journal().Entries())
	}
}

// The build may end between the rejected delete and the read of the cause, or between the read and the cancel request.
func TestEnvironment_destroyedWhileItsBuildEnds(t *testing.T) {
	t.Parallel()
	for name, operation := range map[string]string{"before the look": "GET /api/v0/environments/env_", "before the cancellation": "POST /api/v0/environments/env_"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var destroying bool
			var e *acctest.Env
			e = acctest.New(t, acctest.Meanwhile(operation, func(int) {
				if destroying {
					e.Clock.Advance(time.Minute)
				}
			}))
			_, i := e.Created(t, environmentType, environmentOf("a", acctest.Values{"wait_for_build": false}))
			destroying = true
			acctest.NewProcess(t, e, nil).Destroy(i).MustSucceed(t)
			noneLeft(t, e, i)
		})
	}
}

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

// A conflict may be temporary, so the delete is retried for some time. After that, the error contains the service's message.
func TestEnvironment_aConflictIsRetried(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, environmentOf("a", nil))
	refuse(e, "deleteEnvironment", http.StatusConflict, 3)
	e.MustApply(t, i, nil)
	noneLeft(t, e, i)

	_, i = e.Created(t, environmentType, environmentOf("a", nil))
	refuse(e, "deleteEnvironment", http.StatusConflict, -1)
	begin := e.Clock.Now()
	e.Apply(t, i, nil).MustFail(t, "", "returned 409")
	if took := e.Clock.Now().Sub(begin); i.State.IsNull() || took > 40*time.Second {
		t.Errorf("after %s the state is %s", took, i.State)
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
	noneLeft(t, e, a)
}

func TestEnvironment_goneWhenItIsDestroyed(t *testing.T) {
	t.Parallel()
	for name, isDeleted := range map[string]bool{"deleted elsewhere during the retries": true, "not the default any more": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var e *acctest.Env
			var i *acctest.Instance
			e = acctest.New(t, acctest.Meanwhile("DELETE "+environmentsRoute, func(n int) {
				if n != 2 {
					return
				}
				if err := e.SetDefaultEnvironment(""); err != nil {
					t.Error(err)
				}
				if isDeleted {
					e.API(http.MethodDelete, environmentsRoute+"/"+i.ID(), nil, nil)
				}
			}))
			_, i = e.Created(t, environmentType, environmentOf("a", acctest.Values{"make_organization_default": true}))
			other := newEnv(e, map[string]any{"name": "b", "scope": "organization"})
			acctest.NewProcess(t, e, nil).Destroy(i).MustDo(t, acctest.ActionDelete)
			if left := onlyEnv(t, e); left.ID != other {
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
