package contract

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func document(t *testing.T) *Document {
	t.Helper()
	d, err := Load()
	must(t, err)
	return d
}

const (
	get    = http.MethodGet
	post   = http.MethodPost
	put    = http.MethodPut
	patch  = http.MethodPatch
	remove = http.MethodDelete
)

func TestDocumentIsValid(t *testing.T) {
	t.Parallel()
	must(t, document(t).spec.Validate(t.Context(), openapi3.EnableSchemaFormatValidation()))
}

func TestEveryOperationIsDeclared(t *testing.T) {
	t.Parallel()
	d := document(t)
	var want, got []string
	for tag, operations := range allExpected() {
		for _, o := range operations {
			want = append(want, tag+" "+o.id)
		}
	}
	for _, o := range d.Operations() {
		got = append(got, o.Tag+" "+o.ID)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the contract has %v, want %v", got, want)
	}
}

// An operation that the API's documentation lacks, and no other, says where it comes from.
func TestOperationsBeyondTheDocumentation(t *testing.T) {
	t.Parallel()
	d := document(t)
	beyond := map[string]bool{}
	for _, operations := range expectedBeyond {
		for _, o := range operations {
			beyond[o.id] = true
		}
	}
	for _, o := range d.Operations() {
		if _, marked := operation(t, d, o.ID).Extensions["x-beyond"]; marked != beyond[o.ID] {
			t.Errorf("%s has x-beyond: %t, want %t", o.ID, marked, beyond[o.ID])
		}
	}
}

func operation(t *testing.T, d *Document, id string) *openapi3.Operation {
	t.Helper()
	for i := range d.routes {
		if d.routes[i].ID == id {
			return d.routes[i].declared.Operation
		}
	}
	t.Fatalf("the contract lacks %s", id)
	return nil
}

// The form of an error is that of the API version; that of a success is never left open.
func TestOperationsAreComplete(t *testing.T) {
	t.Parallel()
	d := document(t)
	v0 := map[string]bool{"#/components/schemas/Problem": true, "#/components/schemas/InvalidRequest": true}
	for i := range d.routes {
		rt := &d.routes[i]
		o := rt.declared.Operation
		if o.OperationID == "" || o.Summary == "" || len(o.Tags) != 1 {
			t.Errorf("%s %s needs an operationId, a summary and one tag", rt.Method, rt.Path)
		}
		if len(rt.declared.Spec.Security) != 1 || o.Security != nil {
			t.Errorf("%s: the bearer credential has to be demanded of all operations alike", rt.ID)
		}
		for code, response := range o.Responses.Map() {
			content := response.Value.Content["application/json"]
			switch {
			case code == "204" || code == "302":
				if len(response.Value.Content) > 0 {
					t.Errorf("%s: status %s has no body", rt.ID, code)
				}
			case content == nil || content.Schema == nil:
				t.Errorf("%s: status %s needs a schema", rt.ID, code)
			case code >= "400" && v0[content.Schema.Ref] != strings.HasPrefix(rt.Path, "/api/v0/"):
				t.Errorf("%s: status %s has the error body of the other API version", rt.ID, code)
			}
		}
		if o.RequestBody != nil && o.RequestBody.Value.Content["application/json"] == nil {
			t.Errorf("%s: the request body is not JSON", rt.ID)
		}
		// Many clients send {} where an operation takes no body, so every POST takes that; GET and DELETE do not.
		if body := o.RequestBody; rt.Method == post && body == nil || (rt.Method == get || rt.Method == remove) && body != nil {
			t.Errorf("%s: a body is declared: %t", rt.ID, body != nil)
		}
	}
}

// A request schema that is open would let a misspelled field pass.
func TestRequestsAreClosed(t *testing.T) {
	t.Parallel()
	d := document(t)
	seen := map[*openapi3.Schema]bool{}
	var closed func(where string, s *openapi3.Schema)
	closed = func(where string, s *openapi3.Schema) {
		if seen[s] {
			return
		}
		seen[s] = true
		if s.Type.Is(openapi3.TypeObject) {
			additional := s.AdditionalProperties
			if additional.Schema == nil && (additional.Has == nil || *additional.Has) {
				t.Errorf("%s is open", where)
			}
		}
		for name, p := range s.Properties {
			closed(where+"."+name, p.Value)
		}
		if s.Items != nil {
			closed(where+"[]", s.Items.Value)
		}
		for _, variant := range slices.Concat(s.OneOf, s.AllOf) {
			closed(where, variant.Value)
		}
	}
	for i := range d.routes {
		if body := d.routes[i].declared.Operation.RequestBody; body != nil {
			closed(d.routes[i].ID, body.Value.Content["application/json"].Schema.Value)
		}
	}
	if len(seen) == 0 {
		t.Error("no request schema was looked at")
	}
}

func TestAssumptionsSayWhy(t *testing.T) {
	t.Parallel()
	d := document(t)
	whys, ids := map[string]string{}, map[string]bool{}
	documents := regexp.MustCompile(`\b([Tt]he (spec|reference|guides)|client|live)\b|not (shown|stated)`)
	for _, a := range d.Assumptions() {
		if first, _, _ := strings.Cut(a.Why, ". "); documents.MatchString(first) {
			t.Errorf("%s begins with the documents, and not with what is assumed: %q", a.ID, first)
		}
		if !regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`).MatchString(a.ID) || ids[a.ID] {
			t.Errorf("an assumption needs an ID of its own: %q at %s", a.ID, a.Place)
		}
		ids[a.ID], whys[a.ID] = true, a.Why
		if len(a.Areas) == 0 && a.Place != "" { // Rules without operations concern all areas.
			t.Errorf("no operation uses what %s is about", a.ID)
		}
	}
	assumed, refusal := 0, regexp.MustCompile(`\breturns? 400\b`)
	for _, r := range Rules() {
		if r.Source == Assumed {
			assumed++
			if !refusal.MatchString(r.Text) {
				t.Errorf("%s does not say which request returns 400, so that no answer can refute it: %q", r.ID, r.Text)
			}
		}
	}
	if marks := bytes.Count(source, []byte("x-assumption: {")); marks == 0 || marks+assumed != len(ids) {
		t.Errorf("%d marks and %d assumed rules are %d assumptions", marks, assumed, len(ids))
	}
	for _, o := range d.Operations() {
		if why, marked := operation(t, d, o.ID).Extensions["x-beyond"].(string); marked {
			whys[o.ID] = why
		}
	}
	for id, why := range whys {
		if len(why) < 20 || !strings.HasSuffix(why, ".") {
			t.Errorf("%s needs a reason, in a sentence: %q", id, why)
		}
	}
}

func TestComponentsAreUsed(t *testing.T) {
	t.Parallel()
	c := document(t).routes[0].declared.Spec.Components
	for kind, names := range map[string]iter.Seq[string]{
		"schemas": maps.Keys(c.Schemas), "responses": maps.Keys(c.Responses),
		"requestBodies": maps.Keys(c.RequestBodies), "parameters": maps.Keys(c.Parameters),
	} {
		for name := range names {
			if !bytes.Contains(source, fmt.Appendf(nil, `"#/components/%s/%s"`, kind, name)) {
				t.Errorf("the component %s/%s is not used", kind, name)
			}
		}
	}
}

// Addresses are neutral, and identifiers of providers are the neutral ones or none.
func TestNoRealNames(t *testing.T) {
	t.Parallel()
	hosts := regexp.MustCompile(`[a-z]+://([^/"'\s]*)`).FindAllSubmatch(source, -1)
	if len(hosts) == 0 {
		t.Error("no address was looked at")
	}
	for _, host := range hosts {
		if !strings.HasSuffix(string(host[1]), ".example") {
			t.Errorf("the host %q does not end in .example", host[1])
		}
	}
	schemas := document(t).routes[0].declared.Spec.Components.Schemas
	for name, schema := range map[string]*openapi3.SchemaRef{
		"ProviderKind": schemas["ProviderKind"], "ApiProvider": schemas["ApiProvider"],
		"Computer.providerType":   schemas["Computer"].Value.Properties["providerType"],
		"CreateComputer.provider": schemas["CreateComputer"].Value.Properties["provider"],
	} {
		if len(schema.Value.Enum) > 0 {
			t.Errorf("%s lists identifiers: %v", name, schema.Value.Enum)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	d := document(t)
	for _, c := range []struct{ method, target, want string }{
		{get, "/api/v0/computers", "listComputers"},
		{get, "/api/v0/computers/providers", "listComputerProviders"},
		{get, "/api/v0/computers/some-id", "getComputer"},
		{get, "/api/v0/computers/name/metrics", "getComputerByName"},
		{get, "/api/v0/computers/name/a%2Fb", "getComputerByName"},
		{post, "/api/v0/computers/some-id/files/a%20b.txt/create-upload", "createFileUpload"},
		{get, "/api/v0/environments/default", "getEnvironment"},
		{get, "/api/v0/wiki/history/https%3A%2F%2Fgit.example%2Facme%2Fapp", "getWikiHistory"},
		{get, "/api/v0/wiki/history/export", "getWikiHistory"},
		{get, "/api/v0/wiki/history/https://git.example/acme/app", ""},
		{get, "/api/v0/computers/", ""},
		{get, "/api/v0/computers/some-id/", ""},
		{put, "/api/v0/computers", ""},
		{get, "/api/v0/openapi.json", ""},
		{get, "/analytics/users", ""},
	} {
		r := httptest.NewRequestWithContext(t.Context(), c.method, c.target, http.NoBody)
		got, ok := d.Match(r)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("%s %s: got %q, %t, want %q", c.method, c.target, got, ok, c.want)
		}
	}
}
