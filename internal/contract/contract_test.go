package contract

import (
	"bytes"
	"encoding/json"
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

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

func document(t *testing.T) *Document {
	t.Helper()
	d, err := Load()
	check.Must(t, err)
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
	check.Must(t, document(t).spec.Validate(t.Context(), openapi3.EnableSchemaFormatValidation()))
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
			t.Errorf("the host %q does not end in .example; write an address without one as a path", host[1])
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

func TestHandlerChecksRefusals(t *testing.T) {
	t.Parallel()
	rule := func(ids string) map[string]string { return map[string]string{RuleHeader: ids} }
	const restart, good = "/api/v0/computers/c/restart", `{}`
	refused := response{status: 400, body: problem400}
	for _, c := range []struct {
		name, body string
		next       response
		side       Side
		want       string // Part of the violation; empty if there is none.
	}{
		{"no rule", good, refused, Response, "no rule was named"},
		{"a rule of the operation", good, response{400, problem400, rule("not-active")}, Response, ""},
		{"two rules", good, response{400, problem400, rule("nul-character, not-active")}, Response, ""},
		{"a rule of another operation", good, response{400, problem400, rule("byom-clone")}, Response, `rule "byom-clone", which restartComputer does not have`},
		{"a rule that is not listed", good, response{400, problem400, rule("whim")}, Response, `rule "whim"`},
		{"another status", good, response{404, `{"detail":"No.","status":404,"title":"Not Found"}`, nil}, Response, ""},
		{"a programmed fault", good, response{400, problem400, map[string]string{FaultHeader: "status-before-commit"}}, Response, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			violations, _ := exchange(t, c.next, post, restart, c.body, nil)
			checkViolation(t, violations, c.side, c.next.status, c.want)
		})
	}
}

func TestRulesSayWhy(t *testing.T) {
	t.Parallel()
	d := document(t)
	var ids []string
	for _, r := range Rules() {
		if slices.Contains(ids, r.ID) {
			t.Errorf("%s is listed twice", r.ID)
		}
		ids = append(ids, r.ID)
		if len(r.Text) < 20 || !strings.HasSuffix(r.Text, ".") || !slices.Contains([]Source{Spec, Assumed}, r.Source) {
			t.Errorf("%s needs a sentence and a source: %q, %q", r.ID, r.Text, r.Source)
		}
		for _, id := range r.Operations {
			if !slices.ContainsFunc(d.Operations(), func(o Operation) bool { return o.ID == id }) {
				t.Errorf("%s is a rule of %s, which the contract lacks", r.ID, id)
			}
		}
	}
}

// examples have the format that a field has in the contract.
var examples = map[string]string{
	"uuid":      "00000000-0000-4000-8000-000000000000",
	"date-time": "2026-01-01T00:00:00Z",
	"date":      "2026-01-01",
	"uri":       "https://example.com/text",
	"email":     "text@example.com",
}

// sample returns a value that has every field of a schema. Of a choice, it follows the form with the given index.
func sample(s *openapi3.Schema, form, depth int) any {
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Pattern != "" && s.Default != nil:
		return s.Default
	case len(s.OneOf) > 0:
		return sample(s.OneOf[form%len(s.OneOf)].Value, form, depth)
	case s.Type.Is(openapi3.TypeObject):
		fields := map[string]any{}
		for name, field := range s.Properties {
			fields[name] = sample(field.Value, form, depth+1)
		}
		if more := s.AdditionalProperties.Schema; more != nil {
			fields["any key"] = sample(more.Value, form, depth+1)
		}
		return fields
	case s.Type.Is(openapi3.TypeArray) && depth > 4: // A tree has no end.
		return []any{}
	case s.Type.Is(openapi3.TypeArray):
		return []any{sample(s.Items.Value, form+depth, depth+1)}
	case s.Type.Is(openapi3.TypeBoolean):
		return true
	case s.Type.Is(openapi3.TypeInteger), s.Type.Is(openapi3.TypeNumber):
		if s.Min != nil {
			return json.Number(strings.TrimSuffix(string(mustJSON(*s.Min)), ".0"))
		}
		return json.Number("1")
	case s.Format != "" && examples[s.Format] != "":
		return examples[s.Format]
	default:
		return "text"
	}
}

func mustJSON(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
