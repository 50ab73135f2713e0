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

// What the contract does not allow is refused, with its places; the contract's tests show that it finds them. Rules that no schema can
// express name the field.
func TestRequestsRefused(t *testing.T) {
	v := startParallel(t)
	for _, c := range []badRequest{
		{"POST", computers, nil, "/: expected a body, found none"},
		{"GET", computers, object{}, "/: expected no body"},
		{"POST", computers, `{"name":`, "/: expected JSON"},
		{"POST", computers, `{"name":"a","nmae":"b"}`, "/nmae: expected no such field"},
		{"POST", computers, object{"name": strings.Repeat("x", 64), "hostId": "x"}, "/hostId: expected string (uuid), found string of another form (format). /name: expected string, at least 1 long, at most 63 long"},
		{"POST", computers, `{"name":"a\u0000"}`, "NUL"},
		{"POST", computers, object{"name": "a", "provider": "other"}, `"provider" must be one of byom, managed-a`},
		{"POST", computers, object{"name": "a", "provider": "byom", "repos": []string{}, "autoInstallDeps": false}, `"repos" is only for managed computers, not for the provider byom. The field "autoInstallDeps" is only`},
		{"POST", computers, object{"name": strings.Repeat("x", 1<<20)}, "larger than"},
		{"GET", computers + "?color=red", nil, "query color: expected no such parameter"},
		{"GET", computers + "?serviceAccountId=%00", nil, "NUL"},
		{"GET", computers + "?a=%zz", nil, "query: expected a query"},
		{"POST", computers + "/c/files/a..b/create-download", nil, "path fileName"},
	} {
		v.detail(v.call(400, c.method, c.path, c.body), c.want)
	}
	same(t, "computers were created", len(v.call(200, "GET", computers, nil).object(t)["computers"].([]any)), 0)
	same(t, "no escape", v.call(201, "POST", computers, `{"name":"a\\u0000"}`).object(t)["name"], `a\u0000`)
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

func TestValidationErrorsAsArray(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{ValidationErrorsArray: true})
	o := v.call(400, "POST", "/api/v0/computers", object{"name": "", "color": "red"}).object(t)
	list, _ := o["errors"].([]any)
	if _, found := o["detail"]; found || len(list) != 2 || o["title"] != "Bad Request" {
		t.Fatalf("body: %v", o)
	}
	if text := list[0].(object)["message"].(string); !strings.Contains(text, "/color") {
		t.Errorf("second message: %s", text)
	}
	v.detail(v.call(404, "GET", "/api/v0/computers/x", nil), "No computer")
}
