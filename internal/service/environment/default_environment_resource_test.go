package environment_test

import (
	"fmt"
	"net/http"
	"testing"

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

func TestDefaultEnvironment_setMovedAndLeft(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ids := environmentsReady(e, "base", "a", "b")
	mustDefault(t, e, ids[0])
	i := e.NewInstance(t, defaultType)
	for n, step := range []struct {
		before, id any
		action     acctest.Action
		want       string
	}{
		{nil, ids[1], "create", ids[1]},
		{nil, ids[2], "update", ids[2]},
		{nil, nil, "none", ids[2]}, // When environment_id is removed from the configuration, the default is kept.
		{"", ids[1], "create", ids[1]},
	} {
		if step.before != nil {
			mustDefault(t, e, step.before.(string))
		}
		config := acctest.Values{"environment_id": step.id}
		e.Apply(t, i, config).MustDo(t, step.action)
		if i.ID() != "organization" || i.Attribute("environment_id") != step.want || liveDefault(e) != step.want {
			t.Errorf("step %d: the default is %s, the state %s", n, liveDefault(e), i.State)
		}
	}
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
		i := e.NewInstance(t, defaultType)
		e.Apply(t, i, acctest.Values{}).MustDo(t, acctest.ActionCreate)
		e.Plan(t, i, acctest.Values{}).MustDo(t, acctest.ActionNone)
		defaultHolds(t, e, i)
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
	user := e.MemberKey("user@people.example", emulator.RoleUser)
	at := "environment_id"
	for _, tc := range []struct {
		id   any
		key  string
		at   string
		want []string
	}{
		{"env_unknown", "", at, []string{"setDefaultEnvironment", "404", "The environment does not exist"}},
		{private, "", at, []string{"setDefaultEnvironment", "400", `scope "organization"`}},
		{failed, "", at, []string{"setDefaultEnvironment", "409", "has no successful build", "build it again"}},
		{ready, user, "", []string{"setDefaultEnvironment", "403", "member with the Manager role"}},
		{nil, user, "", []string{"provisionDefaultEnvironment", "403", "member with the Manager role"}},
	} {
		settings := acctest.Values{}
		if tc.key != "" {
			settings["api_key"] = tc.key
		}
		p := acctest.NewProcess(t, e, settings)
		p.Apply(p.NewInstance(defaultType), acctest.Values{"environment_id": tc.id}).MustFail(t, tc.at, tc.want...)
		check.Is(t, fmt.Sprint(tc.id, ": the default"), liveDefault(e), "")
	}
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

// defaultHolds checks that the state and the emulator have the same default.
func defaultHolds(t *testing.T, e *acctest.Env, i *acctest.Instance) {
	t.Helper()
	if got, want := i.Attribute("environment_id"), liveDefault(e); got != want || got == "" {
		t.Errorf("the state holds %q, the emulator %q", got, want)
	}
}

func TestDefaultEnvironment_faultMatrix(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: defaultType,
		Setup: func(e *acctest.Env) []acctest.Values {
			ids := environmentsReady(e, "base", "a", "b")
			mustDefault(t, e, ids[0])
			return []acctest.Values{{"environment_id": ids[1]}, {"environment_id": ids[2]}}
		},
		// Nothing is created.
		Live:   func(*acctest.Env) []string { return nil },
		IDs:    func(*acctest.Instance) []string { return nil },
		Verify: defaultHolds,
	}.Run(t)
}

func TestDefaultEnvironment_faultMatrixOfAProvisionedOne(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type:  defaultType,
		Setup: func(*acctest.Env) []acctest.Values { return []acctest.Values{{}} },
		// The created environment stays, but there is only one.
		Live: func(e *acctest.Env) []string {
			if n := len(environmentsOf(e)); n > 1 {
				return []string{fmt.Sprint(n, " environments")}
			}
			return nil
		},
		IDs:    func(*acctest.Instance) []string { return nil },
		Verify: defaultHolds,
	}.Run(t)
}
