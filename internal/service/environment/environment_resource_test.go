package environment_test

import (
	"fmt"
	"maps"
	"reflect"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestEnvironment_everything(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := acctest.Values{
		"name": "dev", "scope": "organization", "setup_script": "apt-get update", "source_id": "source-base", "make_organization_default": true, "wait_for_build": true,
		"timeouts": map[string]any{"create": "20m", "update": "20m", "delete": "5m"}, "repositories": repositories("app", "make", "tools", "true"),
	}
	p, i := e.Created(t, environmentType, config)
	if sent := changesSent(e); sent != "createEnvironment setDefaultEnvironment" {
		t.Errorf("sent %s", sent)
	}
	got := acctest.Plain(t, i.State).(map[string]any)
	latest := got["latest_build"].(map[string]any)
	if got["status"] != "ready" || got["is_default"] != true || got["failure_reason"] != nil || got["last_successful_build_at"] == nil || got["created_at"] == nil ||
		latest["id"] != got["latest_build_id"] || latest["status"] != "succeeded" || latest["trigger"] != "create" || latest["promoted_at"] == nil ||
		got["source"].(map[string]any)["id"] != "source-base" || got["active_source"].(map[string]any)["id"] != "source-base" {
		t.Errorf("the state is %v", got)
	}
	if active := got["active_repositories"].([]any); len(active) != 2 || active[1].(map[string]any)["url"] != "https://git.example/acme/tools" {
		t.Errorf("active are %v", active)
	}
	imported := p.NewInstance(environmentType)
	p.Import(imported, i.ID()).MustSucceed(t)
	// make_organization_default acts only once, and timeouts belongs to the provider.
	same := acctest.Plain(t, imported.State).(map[string]any)
	same["make_organization_default"], same["timeouts"] = got["make_organization_default"], got["timeouts"]
	if !reflect.DeepEqual(same, got) {
		t.Errorf("imported %v, want %v", same, got)
	}
}

func TestEnvironment_eachAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	i := e.NewInstance(t, environmentType)
	two := repositories("app", "make all", "tools", "true")
	const patch, replace = "updateEnvironment", "deleteEnvironment createEnvironment"
	for n, step := range []struct {
		more       acctest.Values
		action     acctest.Action
		sent       string
		name, want string // An attribute in the state.
	}{
		{acctest.Values{"name": "dev", "repositories": repositories("app", "make")}, "create", "createEnvironment", "source_id", "source-base"},
		{acctest.Values{"repositories": repositories("app", "make")}, "update", patch, "name", "renamed"},
		{acctest.Values{"repositories": repositories("app", "make all")}, "update", patch, "scope", "user"},
		{nil, "update", patch, "setup_script", ""},
		// The order of repositories is ignored.
		{acctest.Values{"repositories": repositories("tools", "true", "app", "make all")}, "none", "", "status", "ready"},
		{acctest.Values{"setup_script": "one"}, "update", patch, "setup_script", "one"},
		{acctest.Values{"setup_script": "two"}, "update", patch, "setup_script", "two"},
		{nil, "update", patch, "setup_script", ""},
		{acctest.Values{"source_id": "source-repositories"}, "update", patch, "source_id", "source-repositories"},
		// When the attributes are removed from the configuration, the service's values are kept.
		{nil, "none", "", "source_id", "source-repositories"},
		{acctest.Values{"scope": "user"}, "none", "", "scope", "user"},
		{acctest.Values{"scope": "organization"}, "replace", replace, "scope", "organization"},
		{nil, "none", "", "scope", "organization"},
		// Changes to attributes of the provider send no request.
		{acctest.Values{"wait_for_build": false}, "update", "", "status", "ready"},
		{acctest.Values{"wait_for_build": false, "timeouts": map[string]any{"update": "3m"}}, "update", "", "status", "ready"},
		{acctest.Values{"wait_for_build": false, "repositories": repositories("app", "make")}, "update", patch, "status", "building"},
		{acctest.Values{"wait_for_build": true, "repositories": repositories("app", "make")}, "update", "", "status", "ready"},
	} {
		config := acctest.Values{"name": "renamed", "repositories": two}
		maps.Copy(config, step.more)
		e.Journal().Reset()
		e.Apply(t, i, config).MustDo(t, step.action)
		if got := changesSent(e); got != step.sent || i.Attribute(step.name) != step.want || onlyEnv(t, e).ID != i.ID() {
			t.Errorf("step %d sent %q; the state is %s", n, got, i.State)
		}
		e.Plan(t, i, config).MustDo(t, acctest.ActionNone)
	}
}

// A change to attributes of the provider sends no request except for the refresh.
func TestEnvironment_requestsOfUpdates(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change acctest.Values
		want   []string
	}{
		"wait_for_build":  {acctest.Values{"wait_for_build": false}, nil},
		"timeouts":        {acctest.Values{"timeouts": map[string]any{"create": "1h"}}, nil},
		"no default":      {acctest.Values{"make_organization_default": false}, nil},
		"name":            {acctest.Values{"name": "renamed"}, []string{"updateEnvironment"}},
		"default":         {acctest.Values{"make_organization_default": true}, []string{"setDefaultEnvironment"}},
		"setup_script":    {acctest.Values{"setup_script": "make"}, []string{"updateEnvironment", "getEnvironmentBuildStatuses", "getEnvironment"}},
		"and not waiting": {acctest.Values{"setup_script": "make", "wait_for_build": false}, []string{"updateEnvironment", "getEnvironment"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			config := envValues(acctest.Values{"scope": "organization"})
			p, i := e.Created(t, environmentType, config)
			before := onlyEnv(t, e).LatestBuild.ID
			e.Journal().Reset()
			p.Plan(i, config).MustDo(t, acctest.ActionNone)
			refresh := len(e.Journal().Entries())
			maps.Copy(config, tc.change)
			p.Apply(i, config).MustDo(t, acctest.ActionUpdate)
			var got []string
			for _, entry := range e.Journal().Entries()[2*refresh:] {
				if len(got) == 0 || got[len(got)-1] != entry.Operation {
					got = append(got, entry.Operation)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tc.want) {
				t.Errorf("asked %v, want %v", got, tc.want)
			}
			if built := onlyEnv(t, e).LatestBuild.ID != before; built != (tc.change["setup_script"] != nil) {
				t.Errorf("built: %v", built)
			}
			p.Plan(i, config).MustDo(t, acctest.ActionNone)
		})
	}
}

// A service account can create its own environments and read the organization's, but not update them.
func TestEnvironment_withTheKeyOfAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, _ := e.ServiceAccountKey()
	theirs, hidden := builtEnv(e, map[string]any{"scope": "organization"}), builtEnv(e, nil)
	p := acctest.NewProcess(t, e, acctest.Values{"api_key": key})
	const forbidden = "member with the Manager role"
	p.Apply(p.NewInstance(environmentType), envValues(acctest.Values{"name": "robots", "scope": "organization"})).MustFail(t, "", "createEnvironment", "403", forbidden)
	p.Apply(p.NewInstance(environmentType), envValues(acctest.Values{"name": "robots", "scope": "user"})).MustDo(t, acctest.ActionCreate)
	p.Import(p.NewInstance(environmentType), hidden).MustFail(t, "", "Cannot Import Environment")
	i := p.NewInstance(environmentType)
	p.Import(i, theirs).MustSucceed(t)
	p.Apply(i, envValues(acctest.Values{"name": "mine"})).MustFail(t, "", "updateEnvironment", "403", forbidden)
	p.Apply(i, nil).MustFail(t, "", "deleteEnvironment", "403", forbidden)
}

func TestEnvironment_driftOfEachAttribute(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	config := envValues(acctest.Values{"setup_script": "make", "source_id": "source-base"})
	_, i := e.Created(t, environmentType, config)
	for _, change := range []map[string]any{
		{"name": "elsewhere"},
		{"setupScript": nil},
		{"setupScript": "other"},
		{"setupScript": nil, "sourceId": "source-repositories"},
		{"repositories": repositories("app", "make all")},
		{"repositories": repositories("app", "make", "b", "true")},
	} {
		e.Journal().Reset()
		patchEnv(t, e, change)
		e.Clock.Advance(buildTime)
		e.Apply(t, i, config).MustDo(t, acctest.ActionUpdate)
		// One update outside Terraform, and the one that reverts it.
		if sent := changesSent(e); sent != "updateEnvironment updateEnvironment" {
			t.Errorf("%v: sent %s", change, sent)
		}
		mustRest(t, e, i, config)
	}
}

// A build that was started outside Terraform is not drift, and neither is its success.
func TestEnvironment_buildsElsewhereAreNoDrift(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, i := e.Created(t, environmentType, envValues(nil))
	rebuilt(t, e, 0)
	e.Apply(t, i, envValues(nil)).MustDo(t, acctest.ActionNone)
	e.Clock.Advance(buildTime)
	mustRest(t, e, i, envValues(nil))
}
