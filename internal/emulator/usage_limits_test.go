package emulator_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const (
	globalLimits = organization + "/usage/limits/global"
	userLimits   = organization + "/usage/limits/users"
)

// setLimits sends one request with these entries, and all must be carried out.
func (v *env) setLimits(entries ...object) {
	v.t.Helper()
	if o := v.call(200, "PUT", userLimits, object{"users": entries}).object(v.t); len(o["errors"].([]any)) != 0 {
		v.t.Fatalf("errors: %v", o["errors"])
	}
}

// limits shows the global limit and those of the users, sorted by email.
func (v *env) limits() string {
	v.t.Helper()
	o := v.call(200, "GET", userLimits, nil).object(v.t)
	return fmt.Sprint(number(o["globalLimit"]), " ", pairs(o["userLimits"], "limit"))
}

// number keeps large numbers in digits.
func number(value any) any {
	if n, ok := value.(float64); ok {
		return int64(n)
	}
	return value
}

// pairs shows a list of entries by email, sorted.
func pairs(list any, field string) string {
	var texts []string
	for _, entry := range list.([]any) {
		texts = append(texts, fmt.Sprintf("%v:%v", entry.(object)["email"], number(entry.(object)[field])))
	}
	slices.Sort(texts)
	return strings.Join(texts, " ")
}

func TestGlobalUsageLimit(t *testing.T) {
	v := startParallel(t)
	check := func(method string, body any, want string) {
		t.Helper()
		same(t, method, string(v.call(200, method, globalLimits, body).raw), want)
	}
	check("GET", nil, `{"limit":null}`)
	check("PUT", object{"limit": nil}, `{"limit":null}`)
	for _, c := range []struct{ given, want string }{
		{"1000000", "1000000"}, {"1e6", "1000000"}, {"2500000.0", "2500000"}, {"9007199254740991", "9007199254740991"},
	} {
		check("PUT", `{"limit":`+c.given+`}`, `{"limit":`+c.want+`}`)
		check("GET", nil, `{"limit":`+c.want+`}`)
	}
	check("PUT", `{"limit":null}`, `{"limit":null}`)
	check("GET", nil, `{"limit":null}`)
}

func TestUserUsageLimits(t *testing.T) {
	v := startParallel(t)
	v.join("Ada@People.example", "bob@people.example")
	v.invite("pending@people.example")
	check := func(want string) {
		t.Helper()
		same(t, "limits", v.limits(), want)
	}
	check("<nil> Ada@People.example:<nil> bob@people.example:<nil> manager@agentyard.example:<nil>")
	v.call(200, "PUT", globalLimits, object{"limit": 9_000_000})
	o := v.call(200, "PUT", userLimits, object{"users": []object{
		{"email": "ada@people.EXAMPLE", "limit": 1_000_000}, {"email": "BOB@people.example", "limit": 2_000_000},
		{"email": "nobody@people.example", "limit": 1_000_000}, {"email": "no address", "limit": 1_000_000}, {"email": "", "limit": nil},
		{"email": "Pending@people.example", "limit": nil}, {"email": "manager@agentyard.example", "limit": nil},
	}}).object(t)
	same(t, "updated", pairs(o["updated"], "limit"), "Ada@People.example:1000000 bob@people.example:2000000 manager@agentyard.example:<nil>")
	same(t, "errors", o["errors"], []object{
		{"email": "nobody@people.example", "error": "The organization has no member with this email address."},
		{"email": "no address", "error": "The email address is malformed."},
		{"email": "", "error": "The email address is malformed."},
		{"email": "Pending@people.example", "error": "The invitation of this member is pending; a limit can be set once the member has joined."},
	})
	check("9000000 Ada@People.example:1000000 bob@people.example:2000000 manager@agentyard.example:<nil>")
	v.setLimits(object{"email": "ada@people.example", "limit": nil}, object{"email": "bob@people.example", "limit": 3_000_000})
	check("9000000 Ada@People.example:<nil> bob@people.example:3000000 manager@agentyard.example:<nil>")
	for _, email := range []string{" bob@people.example", "Bob <bob@people.example", "Bob <bob@people.example>"} {
		o := v.call(200, "PUT", userLimits, object{"users": []object{{"email": email, "limit": 1_000_000}}}).object(t)
		same(t, email, o["errors"], []object{{"email": email, "error": "The email address is malformed."}})
	}
	// All failed, and still the status is 200.
	same(t, "answer", string(v.call(200, "PUT", userLimits, object{"users": []object{{"email": "x", "limit": nil}}}).raw), `{"updated":[],"errors":[{"email":"x","error":"The email address is malformed."}]}`)
}
