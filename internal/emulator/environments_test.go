package emulator_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const environments = "/api/v0/environments"

// repositories returns n of them.
func repositories(n int) []object {
	list := make([]object, n)
	for i := range list {
		list[i] = object{"url": fmt.Sprintf("https://git.example/acme/repo-%d.git", i), "script": "make"}
	}
	return list
}

// definition is a body that creates an environment of the organization, with other fields than usual; nil leaves one out.
func definition(other object) object {
	body := object{"name": "dev", "scope": "organization", "repositories": repositories(1)}
	maps.Copy(body, other)
	maps.DeleteFunc(body, func(_ string, value any) bool { return value == nil })
	return body
}

// environment creates one as the manager and returns its ID.
func (v *env) environment(other object) string {
	v.t.Helper()
	return v.call(201, "POST", environments, definition(other)).object(v.t)["id"].(string)
}

// ready is environment, and its first build has succeeded.
func (v *env) ready(other object) string {
	v.t.Helper()
	id := v.environment(other)
	v.clock.Advance(time.Minute)
	return id
}

// environmentOf reads one as the manager.
func (v *env) environmentOf(id string) object {
	v.t.Helper()
	return v.call(200, "GET", environments+"/"+id, nil).object(v.t)
}

// environmentNames lists the names a key sees, in their order.
func (v *env) environmentNames(key, query string) string {
	v.t.Helper()
	var names []string
	for _, e := range v.as(key, 200, "GET", environments+query, nil).object(v.t)["environments"].([]any) {
		names = append(names, e.(object)["name"].(string))
	}
	return strings.Join(names, " ")
}

func TestCreateEnvironment(t *testing.T) {
	v := startParallel(t)
	now := v.clock.Now().UnixMilli()
	created := v.call(201, "POST", environments, definition(object{"repositories": repositories(2), "setupScript": "apt-get install jq"})).object(t)
	id, build := created["id"].(string), created["buildId"].(string)
	if !strings.HasPrefix(id, "env_") || len(id) != 30 || !strings.HasPrefix(build, "bld_") || len(build) != 30 || len(created) != 2 {
		t.Errorf("created: %v", created)
	}
	same(t, "while queued", v.environmentOf(id), object{
		"id": id, "name": "dev", "scope": "organization", "repositories": repositories(2), "setupScript": "apt-get install jq",
		"source": object{
			"id": "source-base", "name": "Base image", "supportsRepositories": true, "supportsSetupScripts": true,
			"provider": object{"id": "provider-a", "name": "Provider A"},
		},
		"status": "building", "isDefault": false, "createdAt": now, "updatedAt": now,
		"latestBuild": object{"id": build, "status": "queued", "trigger": "create", "truncated": false, "withheld": false, "createdAt": now},
	})
}

// A source need not support repositories, so an environment may have none. A script may be empty.
func TestEnvironmentOfNothing(t *testing.T) {
	v := startParallel(t)
	id := v.environment(object{"sourceId": "source-base", "setupScript": "make", "repositories": []object{{"url": "https://git.example/a", "script": ""}}})
	v.call(200, "PATCH", environments+"/"+id, object{"repositories": []object{}, "setupScript": "", "sourceId": "source-bare"})
	fields(t, "environment", v.environmentOf(id), object{"repositories": []object{}, "setupScript": nil})
}

// The least is a name and a repository: the scope is then the caller's own.
func TestCreateEnvironmentByDefault(t *testing.T) {
	v := startParallel(t)
	e := v.environmentOf(v.environment(object{"scope": nil}))
	same(t, "environment", []any{e["scope"], e["source"].(object)["id"], e["setupScript"], e["isDefault"]}, []any{"user", "source-base", nil, false})
	e = v.environmentOf(v.environment(object{"scope": "user", "name": "other", "sourceId": "source-repositories", "makeOrganizationDefault": false}))
	same(t, "environment", []any{e["source"].(object)["id"], e["isDefault"]}, []any{"source-repositories", false})
}

// TestNamedRefusals has one more than the most of each.
func TestEnvironmentWithTheMost(t *testing.T) {
	v := startParallel(t)
	long := strings.Repeat("ä", 128)
	id := v.environment(object{"name": long, "repositories": repositories(50), "setupScript": strings.Repeat("ä", 32<<10)})
	v.call(200, "PATCH", environments+"/"+id, object{"repositories": []object{{"url": "ssh://git@git.example/a", "script": strings.Repeat("x", 64<<10)}}})
}

func TestEnvironmentNamesAreUniqueInTheirScope(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	_, owner := v.human(emulator.RoleOwner)
	dev := v.environment(nil)
	v.detail(v.as(owner, 409, "POST", environments, definition(nil)), "The organization already has")
	mine := v.environment(object{"scope": "user"})
	v.detail(v.call(409, "POST", environments, definition(object{"scope": "user"})), "unique per owner")
	v.as(user, 201, "POST", environments, definition(object{"scope": "user"}))

	other := v.environment(object{"name": "other"})
	v.detail(v.call(409, "PATCH", environments+"/"+other, object{"name": "dev"}), "The organization already has")
	v.call(200, "PATCH", environments+"/"+dev, object{"name": "dev"})
	v.call(200, "PATCH", environments+"/"+dev, object{"name": "new"})
	v.call(200, "PATCH", environments+"/"+other, object{"name": "dev"}) // Renaming and deleting free a name.
	v.clock.Advance(time.Minute)
	v.call(204, "DELETE", environments+"/"+mine, nil)
	v.environment(object{"scope": "user"})
}

// What starts a build is another definition, not another name.
func TestUpdateEnvironment(t *testing.T) {
	v := startParallel(t)
	id := v.ready(object{"setupScript": "one"})
	first := v.environmentOf(id)
	changed := func(body object) bool {
		t.Helper()
		v.clock.Advance(time.Minute)
		response := v.call(200, "PATCH", environments+"/"+id, body).object(t)
		e := v.environmentOf(id)
		latest := e["latestBuild"].(object)
		builds := latest["status"] == "queued"
		if response["id"] != id || builds != (response["buildId"] != nil) || builds && (response["buildId"] != latest["id"] || latest["trigger"] != "edit") {
			t.Errorf("%v: answer %v, environment %v", body, response, e)
		}
		same(t, fmt.Sprintf("%v: updated now", body), e["updatedAt"] == float64(v.clock.Now().UnixMilli()), builds || body["name"] == "renamed")
		return builds
	}
	for _, body := range []object{
		{}, {"name": "dev"}, {"repositories": repositories(1)}, {"setupScript": "one"}, {"sourceId": "source-base"},
		{"name": "dev", "repositories": repositories(1), "setupScript": "one", "sourceId": "source-base"}, {"name": "renamed"},
	} {
		check.Is(t, fmt.Sprintf("%v starts a build", body), changed(body), false)
	}
	fields(t, "renamed", v.environmentOf(id), object{"name": "renamed", "createdAt": first["createdAt"]})
	for _, c := range []struct {
		body  object
		field string
		want  any
	}{
		{object{"repositories": repositories(2)}, "repositories", repositories(2)},
		{object{"repositories": []object{repositories(2)[1], repositories(2)[0]}}, "repositories", []object{repositories(2)[1], repositories(2)[0]}},
		{object{"setupScript": "two"}, "setupScript", "two"},
		{object{"setupScript": nil}, "setupScript", nil},
	} {
		check.Is(t, fmt.Sprintf("%v starts a build", c.body), changed(c.body), true)
		same(t, fmt.Sprint(c.body), v.environmentOf(id)[c.field], c.want)
	}
	check.Is(t, "removing what is not there starts a build", changed(object{"setupScript": nil}), false)
	if !changed(object{"sourceId": "source-repositories"}) || v.environmentOf(id)["source"].(object)["id"] != "source-repositories" {
		t.Error("another source started no build")
	}
	// A refused change changes nothing, not even in part.
	v.clock.Advance(time.Minute)
	before := v.environmentOf(id)
	for want, body := range map[int]object{
		400: {"name": "x", "setupScript": "make"}, 404: {"name": "x", "sourceId": "source-none"}, 409: {"name": "x", "sourceId": "source-other"},
	} {
		v.call(want, "PATCH", environments+"/"+id, body)
	}
	same(t, "after refusals", v.environmentOf(id), before)
	v.call(404, "PATCH", environments+"/env_none", object{"name": "x"})
}

// The scope decides who sees an environment, who changes it, and what others are answered.
// TestAccess has those of the organization. Those of a user do not exist for anybody else.
func TestEnvironmentAccess(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	_, owner := v.human(emulator.RoleOwner)
	_, account := v.account("ci")
	keys := []string{user, account, owner, v.BootstrapKey()}
	ids := map[string]string{}
	for _, key := range keys {
		ids[v.as(key, 201, "POST", environments, definition(object{"scope": "user"})).object(t)["id"].(string)] = key
	}
	v.clock.Advance(time.Minute)
	for id, ownersKey := range ids {
		one := environments + "/" + id
		for _, key := range keys {
			for _, c := range []struct {
				request
				want int // By the owner.
			}{
				{request{"GET", one, nil}, 200}, {request{"GET", one + "/build-diagnostics", nil}, 200}, {request{"GET", one + "/builds/none/diagnostics", nil}, 404},
				{request{"PATCH", one, object{}}, 200}, {request{"POST", one + "/builds/none/cancel", nil}, 404},
			} {
				if key != ownersKey {
					c.want = 404
				}
				v.as(key, c.want, c.method, c.path, c.body)
			}
			if key != ownersKey {
				v.as(key, 404, "POST", one+"/builds", nil)
				v.as(key, 404, "DELETE", one, nil)
			}
		}
	}
	v.detail(v.as(user, 403, "POST", environments, definition(object{"name": "x"})), "Manager role")
}

func TestListEnvironments(t *testing.T) {
	v := startParallel(t)
	_, user := v.human(emulator.RoleUser)
	accountID, account := v.account("ci")
	same(t, "none", string(v.call(200, "GET", environments, nil).raw), `{"environments":[]}`)
	for _, c := range []struct{ name, key, scope string }{
		{"one", v.BootstrapKey(), "organization"}, {"two", user, "user"}, {"three", account, "user"},
		{"four", v.BootstrapKey(), "user"}, {"five", v.BootstrapKey(), "organization"},
	} {
		v.as(c.key, 201, "POST", environments, definition(object{"name": c.name, "scope": c.scope}))
	}
	for _, c := range []struct{ key, query, want string }{
		{v.BootstrapKey(), "", "five four one"},
		{user, "", "five two one"},
		{account, "", "five three one"},
		{v.BootstrapKey(), "?serviceAccountId=" + accountID, "five three one"},
	} {
		same(t, c.query, v.environmentNames(c.key, c.query), c.want)
	}
	for _, path := range []string{environments + "?", environments + "/build-statuses?environmentIds=x&"} {
		v.detail(v.as(user, 403, "GET", path+"serviceAccountId="+accountID, nil), "serviceAccountId")
		v.as(account, 403, "GET", path+"serviceAccountId="+accountID, nil)
		v.detail(v.call(400, "GET", path+"serviceAccountId=sa_none", nil), `No service account with the ID "sa_none"`)
	}
	v.call(200, "DELETE", accounts+"/"+accountID, nil)
	v.call(400, "GET", environments+"?serviceAccountId="+accountID, nil)
}

// The listing has all that the single read has, but for the reasons of failures.
func TestListingLeavesOutReasons(t *testing.T) {
	v := startParallel(t)
	v.fail(emulator.BuildFailure{Name: "bad", Category: "validation", Reason: "make: exit 2", Excerpt: "the log"})
	good, bad := v.environment(object{"name": "good", "makeOrganizationDefault": true}), v.ready(object{"name": "bad"})
	list := v.call(200, "GET", environments, nil).object(t)
	same(t, "default", list["defaultEnvironmentId"], good)
	for i, id := range []string{bad, good} {
		single := v.environmentOf(id)
		build := single["latestBuild"].(object)
		if id == bad && (single["failureReason"] != "make: exit 2" || build["failureReason"] != "make: exit 2" || build["failureCategory"] != "validation" || build["excerpt"] != "the log") {
			t.Errorf("single read: %v", single)
		}
		delete(single, "failureReason")
		for _, field := range []string{"failureReason", "failureCategory", "excerpt"} {
			delete(build, field)
		}
		same(t, id, list["environments"].([]any)[i], single)
	}
}

func TestDeleteEnvironment(t *testing.T) {
	v := startParallel(t)
	id := v.environment(nil)
	one := environments + "/" + id
	v.detail(v.call(409, "DELETE", one, nil), "is running")
	build := v.environmentOf(id)["latestBuild"].(object)["id"].(string)
	v.call(204, "POST", one+"/builds/"+build+"/cancel", nil)
	v.call(204, "DELETE", one, nil)
	for _, c := range []struct{ method, path string }{
		{"GET", one}, {"DELETE", one}, {"GET", one + "/build-diagnostics"}, {"GET", one + "/builds/" + build + "/diagnostics"},
		{"POST", one + "/builds"}, {"POST", one + "/builds/" + build + "/cancel"},
	} {
		v.call(404, c.method, c.path, nil)
	}
	same(t, "environments", v.environmentNames(v.BootstrapKey(), ""), "")
}

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
	check.Must(t, v.SetDefaultEnvironment(""))
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
	v.call(204, "POST", path, nil) // There is one already.
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
	check.Must(v.t, v.SetSourceProvider(id, available))
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
