package environment_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const defaultType = "agentyard_default_environment"

// liveDefault returns the ID of the emulator's default environment, or an empty string.
func liveDefault(e *acctest.Env) string {
	var answer struct{ DefaultEnvironmentID string }
	e.API(http.MethodGet, "/api/v0/environments", nil, &answer)
	return answer.DefaultEnvironmentID
}

func TestDefaultEnvironment_unsetElsewhere(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"environment_id": environmentsReady(e, "a")[0]}
	_, i := e.Created(t, defaultType, config)
	mustDefault(t, e, "")
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
	check.Is(t, "the default", i.Attribute("environment_id"), liveDefault(e))
}

// Without environment_id, a default is created only if there is none.
func TestDefaultEnvironment_provisioned(t *testing.T) {
	t.Parallel()
	for _, exists := range []bool{false, true} {
		e := acctest.New(t)
		requests := 1
		if exists {
			mustDefault(t, e, environmentsReady(e, "base")[0])
			requests = 0
		}
		_, i := e.Created(t, defaultType, acctest.Values{})
		e.Plan(t, i, acctest.Values{}).MustDo(t, acctest.ActionNone)
		check.Is(t, "the default", i.Attribute("environment_id"), liveDefault(e))
		e.WantRequests(t, "provisionDefaultEnvironment", requests)
		check.Is(t, "environments", len(environmentsOf(e)), 1)
	}
}

func TestDefaultEnvironment_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	private := newEnv(e, map[string]any{"name": "mine"})
	ready := environmentsReady(e, "a")[0]
	failBuild(t, e, emulator.BuildFailure{})
	failed := environmentsReady(e, "failed")[0]
	user := acctest.Values{"api_key": e.MemberKey("user@people.example", emulator.RoleUser)}
	refused := func(settings acctest.Values, id any, at string, want ...string) {
		t.Helper()
		p := acctest.NewProcess(t, e, settings)
		p.Apply(p.NewInstance(defaultType), acctest.Values{"environment_id": id}).MustFail(t, at, want...)
		check.Is(t, fmt.Sprint(id, ": the default"), liveDefault(e), "")
	}
	refused(nil, private, "environment_id", "setDefaultEnvironment", "400", `Set environment_id to an environment with scope "organization".`)
	refused(nil, failed, "environment_id", "setDefaultEnvironment", "409", "has no successful build", "build it again")
	refused(user, ready, "", "setDefaultEnvironment", "403", "member with the Manager role")
	refused(user, nil, "", "provisionDefaultEnvironment", "403", "member with the Manager role")
}

func TestDefaultEnvironment_deniedByTheAnswer(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"environment_id": environmentsReady(e, "a")[0]}
	e.Faults().Add(emulator.Fault{Operation: "setDefaultEnvironment", Kind: emulator.FaultOtherServer, Body: `{"defaultEnvironmentId":"env_other"}`})
	i := e.NewInstance(t, defaultType)
	e.Apply(t, i, config).MustFail(t, "environment_id", `defaultEnvironmentId is "env_other" instead of`, "Look up the current value")
	e.Apply(t, i, config).MustDo(t, acctest.ActionCreate)
}

// The service refuses a default that was never built, so the apply waits for the build that runs.
func TestDefaultEnvironment_waitsForTheBuild(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, slowBuilds)
	i := e.NewInstance(t, defaultType)
	for _, name := range []string{"created", "updated"} {
		id := newEnv(e, map[string]any{"name": name, "scope": "organization"})
		if e.MustApply(t, i, acctest.Values{"environment_id": id}); liveDefault(e) != id || i.Attribute("environment_id") != id {
			t.Errorf("the default is %s, and the state is %s", liveDefault(e), i.State)
		}
		failBuild(t, e, emulator.BuildFailure{Name: "broken " + name, Reason: "The disk is full."})
		id = newEnv(e, map[string]any{"name": "broken " + name, "scope": "organization"})
		e.Apply(t, i, acctest.Values{"environment_id": id}).MustFail(t, "environment_id", "Environment failed to build", "The disk is full.", id)
	}
}

// Destroying the resource changes nothing at the service, and a warning says so.
func TestDefaultEnvironment_destroyed(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a")
	mustDefault(t, e, ids[0])
	for _, config := range []acctest.Values{{"environment_id": ids[1]}, {}} {
		i := acctest.NewProcess(t, e, nil).NewInstance(defaultType)
		acctest.NewProcess(t, e, nil).Apply(i, config).MustSucceed(t)
		e.Journal().Reset()
		mustWarnOnce(t, acctest.NewProcess(t, e, nil).Destroy(i), "Default environment only removed from state", "is not changed by this resource")
		if got := liveDefault(e); got != ids[1] || !i.State.IsNull() || e.Journal().Count("setDefaultEnvironment") > 0 {
			t.Errorf("the default is %q; the state is %s", got, i.State)
		}
	}
}

func TestDefaultEnvironment_faultMatrixOfAProvisionedOne(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: defaultType, Env: acctest.New(t), Steps: []acctest.Values{{}},
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			check.Is(t, "the default", i.Attribute("environment_id"), liveDefault(e))
			check.Only(t, environmentsOf(e))
		},
	}.Run(t)
}

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
		if isDefault(t, i) != step.isDefault || (liveDefault(e) == i.ID()) != step.isDefault {
			t.Errorf("step %d: the default is %s, and the state is %s", n, liveDefault(e), i.State)
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
}

// isDefault returns the attribute in the state.
func isDefault(t *testing.T, i *acctest.Instance) bool {
	t.Helper()
	return acctest.Plain(t, i.State).(map[string]any)["is_default"] == true
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
	t.Run("on creation, and the service refuses it", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		e.Refuse("setDefaultEnvironment", 400, 1)
		text := e.Apply(t, e.NewInstance(t, environmentType), envValues(wanted)).WarningText()
		if !strings.Contains(text, "Environment is not the default") || strings.Contains(text, "tries again") {
			t.Errorf("got %s", text)
		}
	})
	t.Run("on update", func(t *testing.T) {
		t.Parallel()
		e := acctest.New(t)
		p, i := e.Created(t, environmentType, envValues(acctest.Values{"scope": "organization"}))
		for status, remedy := range map[int]string{409: "has no successful build", 400: "Correct the value that the message names"} {
			e.Refuse("setDefaultEnvironment", status, 1)
			p.Apply(i, envValues(wanted)).MustFail(t, "make_organization_default", "Cannot set default environment", remedy)
		}
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
	e.Refuse("setDefaultEnvironment", 409, 1)
	_, i := e.Created(t, environmentType, config)
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
	if _, i := e.Created(t, environmentType, config); i.Attribute("scope") != "organization" || !isDefault(t, i) {
		t.Errorf("the state is %s", i.State)
	}
}
