package environment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestEnvironment_invalidConfiguration(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	element := "repositories[0]."
	for _, tc := range []struct {
		values   acctest.Values
		at, want string
	}{
		{acctest.Values{"repositories": []any{map[string]any{"url": "acme/app", "script": "make"}}}, element + "url", "repositories[0].url must be an absolute URI"},
		{acctest.Values{"scope": "team"}, "scope", "scope must be \"user\" or \"organization\", not \"team\""},
		{acctest.Values{"make_organization_default": true, "scope": "user"}, "make_organization_default", `Set scope to "organization"`},
	} {
		e.Plan(t, e.NewInstance(t, environmentType), envValues(tc.values)).MustFail(t, tc.at, tc.want)
	}
	if requests := e.Journal().Entries(); len(requests) > 0 {
		t.Errorf("the service was asked: %+v", requests)
	}
}

func TestEnvironment_refusalsOfACreation(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("m", 65537)
	sourced := acctest.Values{"source_id": "source-base"}
	for name, tc := range map[string]struct {
		values acctest.Values
		before func(*acctest.Env)
		status int
		at     string
		want   []string
	}{
		"long name":      {values: acctest.Values{"name": strings.Repeat("n", 129)}, want: []string{"at most 128 characters", "Correct the value that the message names."}},
		"long set-up":    {values: acctest.Values{"setup_script": long}, want: []string{"at most 65536 bytes"}},
		"name taken":     {before: func(e *acctest.Env) { newEnv(e, nil) }, at: "name", want: []string{"already exists", "2026-03-01T12:00:00Z", "terraform import ADDRESS"}},
		"no source":      {before: func(e *acctest.Env) { _ = e.SetSourceProvider("provider-a", false) }, want: []string{"createEnvironment", "409", "No source"}},
		"403 of a scope": {values: acctest.Values{"scope": "organization"}, status: 403, want: []string{"Manager role", `scope "user" requires its owner's key, and any member can create one.`}},
		"404":            {values: sourced, status: 404, at: "source_id"},
		"405":            {before: func(e *acctest.Env) { e.AllowEnvironments(false) }, want: []string{"createEnvironment", "405", "whether it allows new environments"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			if tc.before != nil {
				tc.before(e)
			}
			if tc.status != 0 {
				refuse(e, "createEnvironment", tc.status, 1)
				tc.want = append(tc.want, "createEnvironment", fmt.Sprint(tc.status))
			}
			before := len(environmentsOf(e))
			i := e.NewInstance(t, environmentType)
			e.Apply(t, i, envValues(tc.values)).MustFail(t, tc.at, tc.want...)
			if after := len(environmentsOf(e)); after != before || !i.State.IsNull() {
				t.Errorf("%d environments, were %d; the state is %s", after, before, i.State)
			}
		})
	}
}

func TestEnvironment_refusalsOfAnUpdate(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, envValues(nil))
	builtEnv(e, map[string]any{"name": "taken"})
	script := acctest.Values{"setup_script": "x"}
	for _, tc := range []struct {
		values acctest.Values
		status int
		at     string
		want   []string
	}{
		{acctest.Values{"name": "taken"}, 0, "name", []string{"updateEnvironment", "409", "Another environment has this name.", "apply a temporary name"}},
		{acctest.Values{"name": strings.Repeat("n", 129)}, 0, "", []string{"at most 128 characters"}},
		{script, 403, "", []string{"updateEnvironment", "403", "its owner's key"}},
		{acctest.Values{"source_id": "source-repositories"}, 409, "", []string{"updateEnvironment", "409"}},
		{acctest.Values{"source_id": "source-repositories"}, 404, "source_id", []string{"updateEnvironment", "404"}},
	} {
		if tc.status != 0 {
			refuse(e, "updateEnvironment", tc.status, 1)
		}
		e.Apply(t, i, envValues(tc.values)).MustFail(t, tc.at, tc.want...)
	}
	e.Plan(t, i, envValues(nil)).MustDo(t, acctest.ActionNone) // The state contains none of the rejected changes.
}

// Another rename or deletion of the same apply frees the name a moment later.
func TestEnvironment_renameWaitsForTheName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{"name": "a", "repositories": []any{}}
	p, i := e.Created(t, environmentType, config)
	refuse(e, "updateEnvironment", 409, 5)
	config["name"] = "b"
	p.Apply(i, config).MustDo(t, acctest.ActionUpdate)
	if got := environmentsOf(e)[0].Name; got != "b" {
		t.Errorf("the environment is named %s", got)
	}
}
