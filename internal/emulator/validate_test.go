package emulator_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// TestBodiesRefused sends bodies that break one rule each and expects a 400 that names what is wrong.
func TestBodiesRefused(t *testing.T) {
	v := startParallel(t)
	const create, bulk = "/api/v0/computers", "/api/v0/computers/bulk"
	long := func(n int) string { return strings.Repeat("x", n) }
	repos := func(n int) string {
		return strings.TrimSuffix(strings.Repeat(`"https://git.example/acme/app",`, n), ",")
	}
	v.detail(v.call(400, "POST", create, nil), "body is required")
	for _, c := range []struct{ path, body, want string }{
		{create, `[]`, "must be a JSON object"},
		{create, `{"name":`, "not valid JSON"},
		{create, `{"name":"a"} {}`, "not valid JSON"},
		{create, "{\"name\":\"\xff\"}", "UTF-8"},
		{create, `{}`, `"name" is required`},
		{create, `{"name":null}`, `"name" must be a string`},
		{create, `{"name":1}`, `"name" must be a string`},
		{create, `{"Name":"a"}`, `"Name" is not known`},
		{create, `{"name":"a","color":"red"}`, `"color" is not known`},
		{create, `{"name":""}`, `"name" must have 1 to 63`},
		{create, `{"name":"` + long(64) + `"}`, `"name" must have 1 to 63`},
		{create, `{"name":"a\u0000"}`, `NUL`},
		{create, `{"name":"a","remoteUser":"` + long(64) + `"}`, `"remoteUser"`},
		{create, `{"name":"a","remoteUser":""}`, `"remoteUser"`},
		{create, `{"name":"a","hostId":"x"}`, `"hostId" must be a UUID`},
		{create, `{"name":"a","provider":"other"}`, `"provider" must be one of byom, managed-a`},
		{create, `{"name":"a","provider":"managed-c"}`, `not available`},
		{create, `{"name":"a","autoInstallDeps":"yes"}`, `"autoInstallDeps" must be true or false`},
		{create, `{"name":"a","repos":"x"}`, `"repos" must be a list`},
		{create, `{"name":"a","repos":[1]}`, `"repos[0]" must be a string`},
		{create, `{"name":"a","repos":["acme/app"]}`, `"repos[0]" must be a URI`},
		{create, `{"name":"a","repos":["https://` + long(2041) + `"]}`, `"repos[0]" must have at most 2048`},
		{create, `{"name":"a","repos":[` + repos(21) + `]}`, `at most 20 items, not 21`},
		{create, `{"name":"a","provider":"byom","repos":[]}`, `"repos" is only for managed`},
		{create, `{"name":"a","provider":"byom","autoInstallDeps":false}`, `"autoInstallDeps" is only for managed`},
		{create, `{"name":"a","provider":"byom","source":{"kind":"computer","sourceComputerId":"x"}}`, `"source" is only for managed`},
		{create, `{"name":"a","source":{}}`, `"source.kind" is required`},
		{create, `{"name":"a","source":{"kind":"image"}}`, `"source.kind" must be one of`},
		{create, `{"name":"a","source":{"kind":"template","templateId":"template-base"}}`, `"source.isListed" is required`},
		{create, `{"name":"a","source":{"kind":"template","isListed":true}}`, `"source.templateId" is required`},
		{create, `{"name":"a","source":{"kind":"template","templateId":"template-base","isListed":true,"sourceComputerId":"x"}}`, `"source.sourceComputerId" is not known`},
		{create, `{"name":"a","source":{"kind":"computer","sourceComputerId":"x","isListed":true}}`, `"source.isListed" is not known`},
		{create, `{"name":"a","source":{"kind":"computer"}}`, `"source.sourceComputerId" is required`},
		{create, `{"name":"a","source":{"kind":"template","templateId":"template-base","isListed":true,"softwareDraft":{"workstreamId":"x"}}}`, `"source.softwareDraft.workstreamId" must be a UUID`},
		{create, `{"name":"a","source":{"kind":"template","templateId":"template-base","isListed":true,"softwareDraft":{"more":"x"}}}`, `"source.softwareDraft.more" is not known`},
		{create, `{"name":"a","serviceAccountId":""}`, `"serviceAccountId" must`},
		{bulk, `{"quantity":1,"namePrefix":"a","serviceAccountId":""}`, `"serviceAccountId" must`},
		{bulk, `{"namePrefix":"a"}`, `"quantity" is required`},
		{bulk, `{"quantity":1}`, `"namePrefix" is required`},
		{bulk, `{"quantity":0,"namePrefix":"a"}`, `between 1 and 20`},
		{bulk, `{"quantity":21,"namePrefix":"a"}`, `between 1 and 20`},
		{bulk, `{"quantity":1.5,"namePrefix":"a"}`, `must be an integer`},
		{bulk, `{"quantity":1,"namePrefix":"A"}`, `"namePrefix" must match`},
		{bulk, `{"quantity":1,"namePrefix":"a-"}`, `"namePrefix" must match`},
		{bulk, `{"quantity":1,"namePrefix":"` + long(59) + `"}`, `"namePrefix" must have 1 to 58`},
		{bulk, `{"quantity":1,"namePrefix":"a","provider":"byom"}`, `"provider" must be one of managed-a`},
		{bulk, `{"quantity":1,"namePrefix":"a","hostId":"` + uuidA + `"}`, `"hostId" is not known`},
		{"/api/v0/service-accounts", `{"name":"` + long(129) + `"}`, `"name" must have 1 to 128`},
		{"/api/v0/service-accounts", `{"name":"a","description":"` + long(1025) + `"}`, `"description" must have 0 to 1024`},
		{"/api/v0/service-accounts", `{"name":"a","status":"active"}`, `"status" is not known`},
		{create, `{"name":"` + long(1<<20) + `"}`, `larger than`},
	} {
		v.detail(v.call(400, "POST", c.path, c.body), c.want)
	}
	same(t, "computers were created", len(v.call(200, "GET", create, nil).object(t)["computers"].([]any)), 0)
}

func TestBodiesWhereNoneIsTaken(t *testing.T) {
	v := startParallel(t)
	id := v.call(201, "POST", "/api/v0/computers", object{"name": "a"}).object(t)["id"].(string)
	v.detail(v.call(400, "GET", "/api/v0/computers", object{}), "takes no body")
	v.detail(v.call(400, "DELETE", "/api/v0/computers/"+id, object{}), "takes no body")
	refresh := "/api/v0/computers/" + id + "/refresh"
	for body, want := range map[string]string{
		`{"mode":"resume"}`: `"mode" is not known`, `{"a":1,"b":2}`: `"b" is not known`, `[]`: "must be a JSON object", ` `: "not valid JSON", `{} {}`: "not valid JSON",
	} {
		v.detail(v.call(400, "POST", refresh, body), want)
	}
}

// A POST that takes no body takes an empty object: many clients always send JSON.
func TestEmptyObjectsWhereNoBodyIsTaken(t *testing.T) {
	v := startParallel(t)
	id := v.computer(object{"name": "a", "repos": twoRepos, "autoInstallDeps": true})["id"].(string)
	accountID, _ := v.account("ci")
	keys := "/api/v0/service-accounts/" + accountID + "/api-keys"
	key := v.mint(201, keys, object{"name": "k"})["id"].(string)
	v.clock.Advance(time.Minute)
	for path, want := range map[string]int{
		computers + "/" + id + "/activity":     200,
		computers + "/" + id + "/refresh":      200,
		computers + "/" + id + "/restart":      200,
		computers + "/" + id + "/install-deps": 202,
		keys + "/" + key + "/revoke":           204,
	} {
		v.call(want, "POST", path, object{})
	}
}

func TestContentTypeIsRequired(t *testing.T) {
	v := startParallel(t)
	for contentType, status := range map[string]int{
		"": 400, "text/plain": 400, "application/x-www-form-urlencoded": 400, "application/json-patch+json": 400,
		"application/json": 201, "application/json; charset=utf-8": 201, "Application/JSON;charset=UTF-8": 201, "application/json; charset": 201,
	} {
		req, err := http.NewRequestWithContext(t.Context(), "POST", v.URL()+"/api/v0/computers", strings.NewReader(fmt.Sprintf(`{"name":%q}`, uuid.NewString())))
		must(t, err)
		req.Header.Set("Authorization", "Bearer "+v.BootstrapKey())
		req.Header.Set("Content-Type", contentType)
		a, err := do(req)
		if err != nil || a.status != status {
			t.Fatalf("%q: %d %v", contentType, a.status, err)
		}
		if status == 400 {
			v.detail(a, "application/json")
		}
	}
}

func TestQueriesRefused(t *testing.T) {
	v := startParallel(t)
	id := v.call(201, "POST", "/api/v0/computers", object{"name": "a"}).object(t)["id"].(string)
	for query, want := range map[string]string{
		"?serviceAccountId=":                     `"serviceAccountId" must not be empty`,
		"?serviceAccountId=%00":                  "NUL",
		"/name/a?serviceAccountId=":              `"serviceAccountId" must not be empty`,
		"?color=red":                             `no query parameter "color"`,
		"?hostId=" + uuidA + "&hostId=" + uuidA:  "given 2 times",
		"?hostId=x":                              `"hostId" must be a UUID`,
		"?hostId=":                               `"hostId" must not be empty`,
		"?includeUnlisted=1":                     "must be true or false",
		"?includeProvisioningSteps=":             "must not be empty",
		"?a=%zz":                                 "cannot be parsed",
		"/" + id + "?includeProvisioningSteps=1": "must be true or false",
		"/" + id + "?includeUnlisted=true":       "no query parameter",
		"/" + id + "/metrics?start=yesterday":    `"start" must be a date`,
		"/name/a?includeUnlisted=true":           "no query parameter",
	} {
		v.detail(v.call(400, "GET", "/api/v0/computers"+query, nil), want)
	}
	_, user := v.human(emulator.RoleUser)
	v.detail(v.as(user, 400, "GET", "/api/v0/computers?serviceAccountId=", nil), "must not be empty")
}

func TestValidationErrorsAsArray(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{ValidationErrorsArray: true})
	o := v.call(400, "POST", "/api/v0/computers", object{"name": "", "color": "red"}).object(t)
	list, _ := o["errors"].([]any)
	if _, found := o["detail"]; found || len(list) != 2 || o["title"] != "Bad Request" {
		t.Fatalf("body: %v", o)
	}
	if text := list[1].(object)["message"].(string); !strings.Contains(text, `"color"`) {
		t.Errorf("second message: %s", text)
	}
	v.detail(v.call(404, "GET", "/api/v0/computers/x", nil), "No computer")
}
