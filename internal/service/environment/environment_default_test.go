package environment_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestEnvironment_makeOrganizationDefault(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	keeper := builtEnv(e, map[string]any{"name": "keeper", "scope": "organization"})
	i := e.NewInstance(t, environmentType)
	wanted := acctest.Values{"make_organization_default": true}
	for n, step := range []struct {
		stolen    bool
		values    acctest.Values
		action    acctest.Action
		sent      string
		isDefault bool
	}{
		{false, wanted, "create", "createEnvironment setDefaultEnvironment", true},
		// A default that was changed outside Terraform is not drift, and removing the argument changes no default.
		{true, wanted, "none", "", false},
		{false, acctest.Values{"make_organization_default": false}, "update", "", false},
		{false, wanted, "update", "setDefaultEnvironment", true},
		{false, nil, "update", "", true},
		{true, wanted, "update", "setDefaultEnvironment", true},
		{true, nil, "update", "", false},
		{false, acctest.Values{"make_organization_default": true, "setup_script": "make"}, "update", "updateEnvironment setDefaultEnvironment", true},
	} {
		if step.stolen {
			mustDefault(t, e, keeper)
		}
		e.Journal().Reset()
		config := environmentOf("dev", step.values)
		e.Apply(t, i, config).MustDo(t, step.action)
		check.Is(t, fmt.Sprint("what step ", n, " sends"), changesSent(e), step.sent)
		if isDefault(i) != step.isDefault || (liveDefault(e) == i.ID()) != step.isDefault {
			t.Errorf("step %d: the default is %s, and the state is %s", n, liveDefault(e), i.State)
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
	// Without a wait, the service makes the environment the default when it creates it.
	unwatched := environmentOf("other", acctest.Values{"make_organization_default": true, "wait_for_build": false})
	e.Journal().Reset()
	_, i = e.Created(t, environmentType, unwatched)
	if sent := changesSent(e); sent != "createEnvironment" || liveDefault(e) != i.ID() {
		t.Errorf("sent %s; the default is %s", sent, liveDefault(e))
	}
	if e.Plan(t, i, unwatched).MustDo(t, acctest.ActionNone); !isDefault(i) {
		t.Errorf("the state is %s", i.State)
	}
}

// isDefault returns the attribute in the state.
func isDefault(i *acctest.Instance) (is bool) {
	var attributes map[string]tftypes.Value
	_ = i.State.As(&attributes)
	_ = attributes["is_default"].As(&is)
	return is
}

func TestEnvironment_defaultThatCannotBeSet(t *testing.T) {
	t.Parallel()
	wanted := acctest.Values{"scope": "organization", "make_organization_default": true}
	t.Run("on creation", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		i := e.NewInstance(t, environmentType)
		e.Refuse("setDefaultEnvironment", 403, 1)
		out := e.Apply(t, i, envValues(wanted))
		out.MustDo(t, acctest.ActionCreate)
		mustWarnOnce(t, out, "Environment is not the default", "403", "Manager role", "The next apply tries again.")
		e.Journal().Reset()
		e.Apply(t, i, envValues(wanted)).MustDo(t, acctest.ActionUpdate)
		if got := changesSent(e); got != "setDefaultEnvironment" || !onlyEnv(t, e).IsDefault || i.Tainted {
			t.Errorf("sent %s", got)
		}
		mustRest(t, e, i, envValues(wanted))
	})
	t.Run("on update", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		p, i := e.Created(t, environmentType, envValues(acctest.Values{"scope": "organization"}))
		e.Refuse("setDefaultEnvironment", 409, 1)
		p.Apply(i, envValues(wanted)).MustFail(t, "make_organization_default", "Cannot set default environment", "has no successful build")
		e.Apply(t, i, envValues(wanted)).MustDo(t, acctest.ActionUpdate)
		mustRest(t, e, i, envValues(wanted))
	})
	t.Run("after a failed build", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		i := e.NewInstance(t, environmentType)
		failBuild(t, e, emulator.BuildFailure{})
		e.Apply(t, i, envValues(wanted)).MustFail(t, "", "Environment failed to build")
		e.WantRequests(t, "setDefaultEnvironment", 0)
		i.Tainted = false
		e.Apply(t, i, envValues(wanted)).MustDo(t, acctest.ActionUpdate)
		mustRest(t, e, i, envValues(wanted))
		check.Is(t, "it is the default", onlyEnv(t, e).IsDefault, true)
	})
}

// A default that somebody changed after this environment had become it is not taken back, although an earlier apply failed to set it.
func TestEnvironment_defaultIsNotTakenBack(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := envValues(acctest.Values{"scope": "organization", "make_organization_default": true})
	i := e.NewInstance(t, environmentType)
	e.Refuse("setDefaultEnvironment", 409, 1)
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	mustDefault(t, e, i.ID())
	e.Apply(t, i, config).MustDo(t, acctest.ActionNone)
	mustDefault(t, e, environmentsReady(e, "theirs")[0])
	e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
}

// A scope that the service chose is known in the plan, which would fail in each apply.
func TestEnvironment_defaultOfTheServicesScope(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, envValues(nil))
	if i.Attribute("scope") != "user" {
		t.Fatalf("the service chose %q", i.Attribute("scope"))
	}
	e.Plan(t, i, envValues(acctest.Values{"make_organization_default": true})).MustFail(t, "make_organization_default", "Invalid scope for a default environment")
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
	check.None(t, "left", environmentsOf(e))
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

// The documents do not tie the default to a scope, so only a contradiction is an error.
func TestEnvironment_defaultWithoutAScope(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := environmentOf("dev", acctest.Values{"make_organization_default": true})
	delete(config, "scope")
	if _, i := e.Created(t, environmentType, config); i.Attribute("scope") != "organization" || !isDefault(i) {
		t.Errorf("the state is %s", i.State)
	}
}
