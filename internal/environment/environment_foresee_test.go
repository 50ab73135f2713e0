package environment_test

import (
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestEnvironment_renamesAreForeseen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		others   []map[string]any
		managed  bool
		warnings []string
	}{
		"free":                       {},
		"taken":                      {[]map[string]any{{"name": "next", "scope": "organization"}}, false, []string{`Name "next" Is Taken`, `"dev" (env_`, `"next" (env_`, "choose another name"}},
		"taken in another scope":     {[]map[string]any{{"name": "next", "scope": "user"}}, false, nil},
		"taken, and managed as well": {[]map[string]any{{"name": "next", "scope": "organization"}}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			p := acctest.NewProcess(t, e, nil)
			i := p.NewInstance(envType)
			mustDo(t, p.Apply(i, envValues(acctest.Values{"scope": "organization"})), "create")
			for _, other := range tc.others {
				id := newEnv(e, other)
				if tc.managed {
					held := p.NewInstance(envType)
					p.Import(held, id)
					mustDo(t, p.Plan(held, envValues(other)), "none")
				}
			}
			next := acctest.NewProcess(t, e, nil)
			if tc.managed {
				next = p
			}
			out := next.Plan(i, envValues(acctest.Values{"scope": "organization", "name": "next"}))
			if tc.warnings == nil {
				if warnings(out) != "" {
					t.Errorf("the plan warns: %s", warnings(out))
				}
				return
			}
			mustWarn(t, out, tc.warnings...)
		})
	}
}

// A default of somebody else is not replaced without a word.
func TestEnvironment_anotherDefaultIsForeseen(t *testing.T) {
	t.Parallel()
	wanted := envValues(acctest.Values{"scope": "organization", "make_organization_default": true})
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(envType)
	if out := p.Plan(i, wanted); warnings(out) != "" {
		t.Errorf("without a default the plan warns: %s", warnings(out))
	}
	theirs := builtEnv(e, map[string]any{"name": "theirs", "scope": "organization"})
	e.API(http.MethodPut, envRoute+"/default", map[string]any{"environmentId": theirs}, nil)
	says := []string{"Default Environment Will Be Replaced", `"theirs" (` + theirs + `) at present`, `makes the environment "dev" the default`}
	mustWarn(t, acctest.NewProcess(t, e, nil).Plan(i, wanted), says...)

	mustDo(t, p.Apply(i, envValues(acctest.Values{"scope": "organization"})), "create")
	mustWarn(t, acctest.NewProcess(t, e, nil).Plan(i, wanted), says...)
	mustDo(t, p.Apply(i, wanted), "update")
	if out := acctest.NewProcess(t, e, nil).Plan(i, wanted); warnings(out) != "" {
		t.Errorf("of its own default the plan warns: %s", warnings(out))
	}
}

// What a plan does about what an earlier apply has left is said.
func TestEnvironment_unfinishedWorkIsTold(t *testing.T) {
	t.Parallel()
	wanted := envValues(acctest.Values{"scope": "organization", "make_organization_default": true})
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	i := p.NewInstance(envType)
	e.Faults().Add(emulator.Fault{Operation: "setDefaultEnvironment", Kind: emulator.FaultStatusBeforeCommit, Status: 403, Times: 1})
	mustDo(t, p.Apply(i, wanted), "create")
	mustWarn(t, acctest.NewProcess(t, e, nil).Plan(i, wanted), `Environment "dev" Is Made the Default`, "an earlier apply did not make it the organization's default, so this one does.", i.ID())
}
