package environment_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The first apply sets the default after the build, and the fourth one in place.
func TestEnvironment_faultMatrix_slow(t *testing.T) {
	acctest.Slow(t)
	t.Parallel()
	acctest.Matrix{
		Type: environmentType,
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{
				environmentOf("m", acctest.Values{"setup_script": "make tools", "make_organization_default": true}),
				environmentOf("renamed", acctest.Values{"setup_script": "make tools"}),
				environmentOf("renamed", nil),
				environmentOf("renamed", acctest.Values{"make_organization_default": true}),
			}
		},
		Before: func(e *acctest.Env, step int) {
			if step == 3 {
				_ = e.SetDefaultEnvironment("")
			}
		},
		Live: idsOf,
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			// An environment that was not built in time is replaced, as the error says.
			if made, gone := e.CarriedOut("createEnvironment"), e.CarriedOut("deleteEnvironment"); made != gone+1 {
				t.Errorf("%d creations and %d deletions were carried out", made, gone)
			}
			if n := e.CarriedOut("createEnvironmentBuild"); n != 0 {
				t.Errorf("%d builds were started besides", n)
			}
			if all := environmentsOf(e); len(all) != 1 || !all[0].IsDefault {
				t.Errorf("the default is not set: %+v", all)
			}
		},
	}.Run(t)
}

// The second apply finds a failed build and starts another one.
func TestEnvironment_faultMatrixOfRebuilding(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: environmentType,
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{environmentOf("m", nil), environmentOf("m", nil)}
		},
		From: 1,
		Before: func(e *acctest.Env, step int) {
			if step != 1 {
				return
			}
			_ = e.FailBuild(emulator.BuildFailure{Reason: "The disk is full."})
			e.API(http.MethodPost, environmentsRoute+"/"+idsOf(e)[0]+"/builds", nil, nil)
			e.Clock.Advance(time.Minute)
		},
		Live: idsOf,
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			// One of these requests started the failed build outside Terraform. The others are repeated until a response arrives, and
			// again in the next apply if the last build has ended by then.
			if n := e.CarriedOut("createEnvironmentBuild"); n > 5 {
				t.Errorf("%d builds were started", n)
			}
		},
	}.Run(t)
}

// The destroy finds a running build, which must be canceled first.
func TestEnvironment_faultMatrixOfDeletingWhileItIsBuilt(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type:  environmentType,
		Setup: func(*acctest.Env) []acctest.Values { return []acctest.Values{environmentOf("m", nil)} },
		From:  1,
		Before: func(e *acctest.Env, step int) {
			if step == 1 {
				e.API(http.MethodPost, environmentsRoute+"/"+idsOf(e)[0]+"/builds", nil, nil)
			}
		},
		Live: idsOf,
	}.Run(t)
}
