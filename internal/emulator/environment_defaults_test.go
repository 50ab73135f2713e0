package emulator_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// defaultIs checks what the listing and every environment in it say about the default; "" is none.
func (v *env) defaultIs(want string) {
	v.t.Helper()
	list := v.call(200, "GET", environments, nil).object(v.t)
	if got, _ := list["defaultEnvironmentId"].(string); got != want {
		v.t.Errorf("the default is %q, want %q", got, want)
	}
	for _, e := range list["environments"].([]any) {
		e := e.(object)
		same(v.t, fmt.Sprintf("isDefault of %v", e["name"]), []any{e["isDefault"], v.environmentOf(e["id"].(string))["isDefault"]}, []any{e["id"] == want, e["isDefault"]})
	}
}

func TestSetDefaultEnvironment(t *testing.T) {
	v := startParallel(t)
	put := func(want int, id string) response {
		t.Helper()
		return v.call(want, "PUT", environments+"/default", object{"environmentId": id})
	}
	v.fail(emulator.BuildFailure{Name: "failed"})
	a, b, failed := v.environment(nil), v.environment(object{"name": "b"}), v.environment(object{"name": "failed"})
	v.defaultIs("")
	v.detail(put(409, a), "no build of it has succeeded")
	v.clock.Advance(time.Minute)
	v.call(409, "PUT", environments+"/default", object{"environmentId": failed})
	same(t, "answer", string(put(200, a).raw), `{"defaultEnvironmentId":"`+a+`"}`)
	v.defaultIs(a)
	put(200, a)
	put(200, b)
	v.defaultIs(b)
	// What was built once can be the default whatever became of it later.
	v.fail(emulator.BuildFailure{})
	v.call(200, "POST", environments+"/"+a+"/builds", nil)
	put(200, a)
	v.clock.Advance(time.Minute)
	put(200, b)
	put(200, a)
	v.defaultIs(a)

	v.detail(put(400, v.ready(object{"scope": "user"})), "the default has the scope organization")
	_, user := v.human(emulator.RoleUser)
	hidden := v.as(user, 201, "POST", environments, definition(object{"scope": "user"})).object(t)["id"].(string)
	put(404, hidden)
	put(404, "env_none")
	v.defaultIs(a)
}

func TestMakeOrganizationDefault(t *testing.T) {
	v := startParallel(t)
	first := v.environment(object{"makeOrganizationDefault": true})
	v.defaultIs(first) // At once, although nothing is built yet.
	second := v.environment(object{"name": "b", "makeOrganizationDefault": true})
	v.defaultIs(second)
	v.environment(object{"name": "c", "makeOrganizationDefault": false})
	v.call(409, "POST", environments, definition(object{"makeOrganizationDefault": true}))
	v.defaultIs(second)
}

func TestProvisionDefaultEnvironment(t *testing.T) {
	v := startParallel(t)
	path := environments + "/default"
	v.call(204, "POST", path, nil)
	v.call(204, "POST", path, object{})
	list := v.call(200, "GET", environments, nil).object(t)["environments"].([]any)
	e := list[0].(object)
	id := e["id"].(string)
	if len(list) != 1 || e["name"] != "Default" || e["scope"] != "organization" || len(e["repositories"].([]any)) != 0 || e["status"] != "building" ||
		e["source"].(object)["id"] != "source-base" || e["latestBuild"].(object)["trigger"] != "create" || e["activeRepositories"] != nil {
		t.Errorf("environments: %v", list)
	}
	v.defaultIs(id)
	v.clock.Advance(time.Minute)
	if e := v.environmentOf(id); e["status"] != "ready" || len(e["activeRepositories"].([]any)) != 0 || e["activeRepositories"] == nil {
		t.Errorf("ready: %v", e)
	}
	// One without repositories can have any source.
	v.call(200, "PATCH", environments+"/"+id, object{"sourceId": "source-bare"})
	v.clock.Advance(time.Minute)

	// The name may be taken by others.
	must(t, v.SetDefaultEnvironment(""))
	v.environment(object{"name": "Default 2"})
	v.call(204, "POST", path, nil)
	same(t, "environments", v.environmentNames(v.BootstrapKey(), ""), "Default 3 Default 2 Default")
}

func TestProvisionDefaultEnvironmentRefuses(t *testing.T) {
	v := startParallel(t)
	path := environments + "/default"
	v.AllowEnvironments(false)
	v.detail(v.call(403, "POST", path, nil), "does not allow environments")
	v.AllowEnvironments(true)
	v.provider("provider-a", false)
	v.detail(v.call(503, "POST", path, nil), "No source")
	v.defaultIs("")
	v.provider("provider-b", true)
	v.call(204, "POST", path, nil)
	id := v.ready(nil)
	v.AllowEnvironments(false)
	v.call(204, "POST", path, nil) // There is one: nothing is to be done.
	v.call(200, "PATCH", environments+"/"+id, object{"setupScript": "make"})
}

func TestDeleteDefaultEnvironment(t *testing.T) {
	v := startParallel(t)
	remove := func(want int, id string) response {
		t.Helper()
		return v.call(want, "DELETE", environments+"/"+id, nil)
	}
	a, b := v.environment(object{"makeOrganizationDefault": true}), v.environment(object{"name": "b"})
	v.environment(object{"name": "mine", "scope": "user"}) // Could never be the default.
	v.detail(remove(409, a), "is running")
	v.clock.Advance(time.Minute)
	v.detail(remove(409, a), "is the organization's default; make another one the default first")
	v.defaultIs(a)
	remove(204, b)
	remove(204, a)
	v.defaultIs("")

	c, d := v.environment(object{"name": "c", "makeOrganizationDefault": true}), v.ready(object{"name": "d"})
	v.call(200, "PUT", environments+"/default", object{"environmentId": d})
	remove(204, c)
	v.defaultIs(d)
}

// provider makes a provider of sources available or not.
func (v *env) provider(id string, available bool) {
	v.t.Helper()
	must(v.t, v.SetSourceProvider(id, available))
}

func TestSourceOptions(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	a := object{"id": "provider-a", "name": "Provider A", "sources": []object{
		{"id": "source-base", "name": "Base image", "supportsRepositories": true, "supportsSetupScripts": true},
		{"id": "source-repositories", "name": "Repositories without scripts", "supportsRepositories": true, "supportsSetupScripts": false},
		{"id": "source-bare", "name": "Bare image", "supportsRepositories": false, "supportsSetupScripts": false},
	}}
	b := object{"id": "provider-b", "name": "Provider B", "sources": []object{
		{"id": "source-other", "name": "Other image", "supportsRepositories": true, "supportsSetupScripts": true},
	}}
	gone := func(p object) object { return object{"id": p["id"], "name": p["name"]} }
	options := func(available, unavailable []object) {
		t.Helper()
		got := v.as(user, 200, "GET", environments+"/source-options", nil).object(t)
		same(t, "options", got, object{"providers": available, "unavailableProviders": unavailable})
	}
	options([]object{a}, []object{gone(b)})
	v.provider("provider-b", true)
	options([]object{a, b}, []object{})
	v.provider("provider-a", false)
	options([]object{b}, []object{gone(a)})
	v.provider("provider-b", false)
	options([]object{}, []object{gone(a), gone(b)})
}

func TestSourceOfAnEnvironment(t *testing.T) {
	v := startParallel(t)
	create := func(want int, body object) response {
		t.Helper()
		return v.call(want, "POST", environments, definition(body))
	}
	v.detail(create(404, object{"sourceId": "source-none"}), "No source")
	v.detail(create(409, object{"sourceId": "source-other"}), `The provider "Provider B" of the source "source-other" is unavailable`)
	v.detail(create(400, object{"sourceId": "source-bare"}), "does not support repositories")
	v.detail(create(400, object{"sourceId": "source-repositories", "setupScript": "make"}), "does not support setup scripts")

	v.provider("provider-b", true)
	other := v.ready(object{"name": "other", "sourceId": "source-other"})
	v.provider("provider-b", false)
	e := v.environmentOf(other)
	same(t, "a provider that became unavailable", []any{e["source"].(object)["unavailable"], e["activeSource"].(object)["unavailable"], e["status"]}, []any{true, true, "ready"})
	// It keeps the source, but cannot be built from it.
	one := environments + "/" + other
	same(t, "renamed", v.call(200, "PATCH", one, object{"name": "renamed", "sourceId": "source-other"}).object(t)["buildId"], nil)
	v.call(200, "PATCH", one, object{"setupScript": "make"})
	v.clock.Advance(time.Minute)
	fields(t, "built", v.environmentOf(other)["latestBuild"].(object), object{"status": "failed", "failureCategory": "provider", "failureReason": "The provider of the source is unavailable."})
	v.provider("provider-b", true)
	v.call(200, "POST", one+"/builds", nil)
	v.clock.Advance(time.Minute)
	if got := v.state(other); got != "ready succeeded" || v.environmentOf(other)["source"].(object)["unavailable"] != nil {
		t.Errorf("available again: %s", got)
	}

	v.provider("provider-a", false)
	same(t, "the default source", v.environmentOf(v.environment(object{"name": "next"}))["source"].(object)["id"], "source-other")
	v.provider("provider-b", false)
	v.detail(create(409, object{"name": "none"}), "No source")
}
