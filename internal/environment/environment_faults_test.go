package environment_test

import (
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// carriedOut counts the requests of an operation that the emulator processed.
func carriedOut(e *acctest.Env, operation string) int {
	n := 0
	for _, entry := range e.Journal().Entries() {
		isSpoilt := slices.Contains([]emulator.FaultKind{
			emulator.FaultStatusAfterCommit, emulator.FaultDropAfterCommit, emulator.FaultTruncatedBody, emulator.FaultNonJSON, emulator.FaultDelayAfterCommit,
		}, emulator.FaultKind(entry.Fault))
		if entry.Operation == operation && (isSpoilt || entry.Fault == "" && entry.Status < 300) {
			n++
		}
	}
	return n
}

func TestEnvironment_faultMatrix_slow(t *testing.T) {
	acctest.Slow(t)
	t.Parallel()
	acctest.Matrix{
		Type: environmentType,
		Setup: func(*acctest.Env) []acctest.Values {
			return []acctest.Values{
				environmentOf("m", acctest.Values{"setup_script": "make tools"}),
				environmentOf("renamed", acctest.Values{"setup_script": "make tools"}),
				environmentOf("renamed", nil),
			}
		},
		Live: idsOf,
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			// An environment that was not built in time is replaced, as the error says.
			if made, gone := carriedOut(e, "createEnvironment"), carriedOut(e, "deleteEnvironment"); made != gone+1 {
				t.Errorf("%d creations and %d deletions were carried out", made, gone)
			}
			if n := carriedOut(e, "createEnvironmentBuild"); n != 0 {
				t.Errorf("%d builds were started besides", n)
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
			// One of these requests started the failed build outside Terraform.
			if n := carriedOut(e, "createEnvironmentBuild"); n > 2 {
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

// The first apply sets the default after the build, the third one in place.
func TestEnvironment_faultMatrixOfTheDefault(t *testing.T) {
	t.Parallel()
	acctest.Matrix{
		Type: environmentType,
		Setup: func(e *acctest.Env) []acctest.Values {
			return []acctest.Values{
				environmentOf("m", acctest.Values{"make_organization_default": true}),
				environmentOf("m", acctest.Values{"wait_for_build": false, "setup_script": "make tools"}),
				environmentOf("m", acctest.Values{"wait_for_build": false, "setup_script": "make tools", "make_organization_default": true}),
			}
		},
		Before: func(e *acctest.Env, step int) {
			if step == 2 {
				if err := e.SetDefaultEnvironment(""); err != nil {
					t.Error(err)
				}
			}
		},
		Live: idsOf,
		Verify: func(t *testing.T, e *acctest.Env, i *acctest.Instance) {
			if all := environmentsOf(e); len(all) != 1 || !all[0].IsDefault {
				t.Errorf("the default is not set: %+v", all)
			}
		},
	}.Run(t)
}
