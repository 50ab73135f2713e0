package emulator_test

import (
	"strings"
	"testing"

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
