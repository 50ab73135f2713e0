package deviations

import (
	"encoding/json"
	"flag"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// aliases are attributes that show a field under another name, or that follow from it.
var aliases = map[string][]string{
	"computerSource": {"source"}, "source": {"source_id"},
	"ownerId": {"service_account_id"}, "ownerPrincipalKind": {"service_account_id"},
	"createdAt":   {"next_rotation_at"},
	"latestBuild": {"latest_build_id", "latest_build", "setup_script_sha256"},
	// A limit is in effect for each member.
	"globalLimit": {"effective_limits"}, "userLimits": {"effective_limits"}, "users": {"members", "effective_limits"},
}

// raw are attributes that pass on a part of a response as JSON.
var raw = regexp.MustCompile(`(^|\.)(raw|\w+_json|page_tree)$`)

// namedAs are words of errors for fields whose names differ between operations.
var namedAs = map[string]string{"id": "no ID", "sessionId": "no ID", "wikiRunId": "no ID"}

// tolerated are variations whose effect is right although it is more than the field's attribute, with the reason.
var tolerated = map[string]string{
	"editCiWorkflow sessions.[].prUrl":                         "the error says that the session has no pull request yet",
	"editCiWorkflow sessions.[].repoFullName":                  "the error says of which workflow there is no result",
	"createFileUpload fields":                                  "no document names the fields of the form, and a file storage may need none",
	"getComputer status":                                       "nothing else says that a new computer is active",
	"getGlobalUsageLimit limit":                                "without a limit there is nothing",
	"inviteMember role":                                        "an invitation with another role is not the one that was asked for",
	"getEnvironmentBuildStatuses builds.[].latestBuild.status": "the action waits, because a build with an unknown status has not ended",
	"getUserUsageLimits userLimits.[].limit":                   "a member without a limit has nothing to list",
	"listApiKeys apiKeys.[].isRevoked":                         "a key that is not said to be revoked is listed",
}

// used are the entries of all three tables that were needed.
var used sync.Map

func isIn(table map[string]string, key string) bool {
	_, ok := table[key]
	if ok {
		used.Store(key, true)
	}
	return ok
}

// reading is what an object shows: the leaves of its values by path.
type reading struct {
	leaves map[string]string
	out    acctest.Outcome
}

func readingOf(values map[string]tftypes.Value, out acctest.Outcome) reading {
	r := reading{map[string]string{}, out}
	for name, v := range values {
		flatten(r.leaves, name, v)
	}
	return r
}

// differences returns the attributes that differ, without indexes.
func (r reading) differences(other reading) []string {
	var paths []string
	for _, leaves := range []map[string]string{r.leaves, other.leaves} {
		for path := range leaves {
			if r.leaves[path] != other.leaves[path] {
				paths = append(paths, index.ReplaceAllString(path, ""))
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

var index = regexp.MustCompile(`\[[^\]]*\]`)

// isOf reports whether an attribute may show the varied field, one above it, or one in it.
func (v variation) isOf(attribute string) bool {
	for _, field := range slices.Concat(v.path, v.within) {
		names := strings.Split(attribute, ".")
		if slices.Contains(names, attributeName(field)) {
			return true
		}
		if slices.ContainsFunc(aliases[field], func(name string) bool { return slices.Contains(names, name) }) {
			used.Store(field, true)
			return true
		}
	}
	return false
}

// isNamedIn reports whether a text names the operation, and the field or one above it.
func (v variation) isNamedIn(text string) bool {
	isNamed := len(v.path) == 0 || len(v.within) > 0 && slices.ContainsFunc(v.within, func(field string) bool { return strings.Contains(text, field) })
	for _, field := range v.path {
		isNamed = isNamed || field != "[]" && strings.Contains(text, field) || namedAs[field] != "" && strings.Contains(text, namedAs[field])
	}
	return isNamed && strings.Contains(text, v.operation)
}

// mayFail reports whether a response with the variation may be refused, because it lacks or hides something that is required.
func (v variation) mayFail() bool {
	return v.kind == numberText || v.kind == wrapped || v.kind == bare || v.isRequired || v.endsPaging()
}

// endsPaging reports whether the variation contradicts the cursor of the next page.
func (v variation) endsPaging() bool { return v.isPaging() && v.kind == negated }

// checkErrors checks that there is an error only where a response may be refused, and that it names the operation and the field.
func (v variation) checkErrors(t *testing.T, out acctest.Outcome) {
	t.Helper()
	if v.isList && (v.kind == null || v.kind == absent) {
		return // What is not listed is not found.
	}
	for _, d := range out.Errors {
		text := strings.ReplaceAll(d.Summary+": "+d.Detail, "\n", " ")
		switch {
		case isIn(tolerated, v.key()):
		case !v.mayFail():
			t.Errorf("%s: an error: %s", v, text)
		case !v.isNamedIn(text):
			t.Errorf("%s: the error does not name the operation and the field: %s", v, text)
		}
	}
}

// explains reports whether an attribute may differ because of the variation.
func (v variation) explains(attribute string) bool {
	if v.endsPaging() {
		return true
	}
	if raw.MatchString(attribute) {
		return v.kind != wrapped && v.kind != bare
	}
	switch v.kind {
	case numberText, wrapped:
		return false
	case unknownField:
		return v.isCounts && v.isOf(attribute)
	case bare:
		return v.isOf(attribute)
	case null:
		return v.isList && len(v.path) <= 1 || v.isOf(attribute)
	}
	return v.isOf(attribute)
}

// check compares a reading with the plain one.
func (v variation) check(t *testing.T, plain, got reading) {
	t.Helper()
	v.checkErrors(t, got.out)
	differences := plain.differences(got)
	v.hasEffect(len(differences) > 0 || len(got.out.Errors) > 0)
	if len(got.out.Errors) > 0 {
		return
	}
	for _, attribute := range differences {
		if !v.explains(attribute) && !isIn(tolerated, v.key()) {
			t.Errorf("%s: %s differs", v, attribute)
		}
	}
}

// emptied returns the variation with an empty list in place of null.
func (v variation) emptied() variation {
	empty := v
	empty.change = func(body any) any { return changeAt(body, v.path, func(any) any { return []any{} }) }
	return empty
}

// varied are the operations whose responses were varied.
var varied sync.Map

// variations returns the variations of what was exchanged.
func (o organization) variations(document *contract.Document, seen []exchange) []variation {
	for _, x := range seen {
		if x.response != nil {
			varied.Store(x.operation, true)
		}
	}
	return variationsOf(document, seen)
}

// Responses that differ from the contract show the same, or are an error that names the operation and the field.
func TestResponses_ofReads(t *testing.T) {
	t.Parallel()
	document, err := contract.Load()
	check.Must(t, err)
	testReads(t, document)
}

// The same for resources and actions, and every response is read by one of them.
func TestResponses_slow(t *testing.T) { // It ends with what all others varied.
	acctest.Slow(t)
	document, err := contract.Load()
	check.Must(t, err)
	t.Run("reads", func(t *testing.T) { testReads(t, document) })
	t.Run("resources", func(t *testing.T) { testResources(t, document) })
	t.Run("actions", func(t *testing.T) { testActions(t, document) })
	if t.Failed() || strings.Contains(flag.Lookup("test.run").Value.String(), "/") { // A part of them may need no exception.
		return
	}
	for _, o := range document.Operations() {
		if _, ok := varied.Load(o.ID); !ok && hasBody(document, o.ID) {
			t.Errorf("no object reads the responses of %s", o.ID)
		}
	}
	testFields(t, document)
	for _, key := range slices.Concat(slices.Collect(maps.Keys(tolerated)), slices.Collect(maps.Keys(unreached)), slices.Collect(maps.Keys(aliases))) {
		if _, ok := used.Load(key); !ok {
			t.Errorf("%q is no longer needed", key)
		}
	}
}

func hasBody(document *contract.Document, operation string) bool {
	for status := 200; status < 300; status++ {
		if responseSchema(document, operation, status) != nil {
			return true
		}
	}
	return false
}

// deepest ends recursive schemas.
const deepest = 12

// fill fills in optional fields and empty lists, so that every field of the contract is varied.
func fill(schema *openapi3.SchemaRef, v any, depth int) any {
	if schema == nil {
		return v
	}
	for _, option := range schema.Value.OneOf {
		if v != nil && matches(option.Value, v) {
			return fill(option, v, depth)
		}
	}
	switch v := v.(type) {
	case []any:
		if len(v) == 0 && depth < deepest/2 {
			return valueOf(schema, "", depth)
		}
		for i := range v {
			v[i] = fill(schema.Value.Items, v[i], depth+1)
		}
	case map[string]any:
		for name, property := range schema.Value.Properties {
			if _, ok := v[name]; ok {
				v[name] = fill(property, v[name], depth+1)
			} else {
				v[name] = valueOf(property, name, depth+1)
			}
		}
	}
	return v
}

// valueOf returns a value of a schema. The texts of the elements of a list differ.
func valueOf(ref *openapi3.SchemaRef, text string, depth int) any {
	schema := ref.Value
	switch {
	case len(schema.OneOf) > 0:
		return valueOf(schema.OneOf[0], text, depth)
	case schema.Type.Is(openapi3.TypeObject):
		object := map[string]any{}
		for name, property := range schema.Properties {
			object[name] = valueOf(property, name+text, depth+1)
		}
		return object
	case schema.Type.Is(openapi3.TypeArray) && depth > deepest/2:
		return []any{}
	case schema.Type.Is(openapi3.TypeArray):
		return []any{valueOf(schema.Items, text+"-1", depth+1), valueOf(schema.Items, text+"-2", depth+1)}
	case schema.Type.Is(openapi3.TypeBoolean):
		return true
	case schema.Type.Is(openapi3.TypeInteger), schema.Type.Is(openapi3.TypeNumber):
		return json.Number("1772366400000")
	case len(schema.Enum) > 0:
		return schema.Enum[0]
	case schema.Format == "date-time":
		return "2026-03-01T12:00:00Z"
	case schema.Format == "date":
		return "2026-03-01"
	case schema.Format == "uri":
		return "https://files.agentyard.example/" + text
	}
	return text
}
