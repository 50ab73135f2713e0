package deviations

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// unreached are the fields that no attribute sets or shows, with the reason.
var unreached = map[string]string{
	"AnalyticsMeta end_date":                             "repeats the argument; another value is an error",
	"AnalyticsMeta start_date":                           "as end_date",
	"BuildDiagnostics buildId":                           "repeats the argument, or the newest build of the environment",
	"BulkCreateResult error.message":                     "the emulator fails no part of a creation here; the tests of the fleet show it",
	"BulkCreateResult requestedQuantity":                 "repeats the argument",
	"CiEditResult sessions.error":                        "the emulator fails no edit here; the tests of the action show it",
	"CiEditResult sessions.message":                      "as error",
	"DefaultEnvironment defaultEnvironmentId":            "repeats the argument; another value is an error",
	"Deleted deleted":                                    "the status says it",
	"EnvironmentChange buildId":                          "without it, the provider waits for the latest build",
	"EnvironmentChange id":                               "without it, the provider finds the environment in the list",
	"EnvironmentList defaultEnvironmentId":               "the default environment says it, too",
	"FileUpload expiresAt":                               "the file is uploaded at once",
	"InvitationResult error":                             "the emulator refuses no invitation here; the tests of the invitation show it",
	"MemberList users.metadata":                          "no document says what it holds",
	"Message isUserVisible":                              "as visibility",
	"Message parentId":                                   "the messages are in their order",
	"Message updatedAt":                                  "no document says what changes a message",
	"Message visibility":                                 "how the service's own pages show a message",
	"MintedApiKey apiKey.name":                           "repeats the argument",
	"ProvisioningStep installSessionId":                  "shown as install_session_id where the computer itself has none",
	"SentMessage recipientAgentStatus":                   "the answer waits for the status of the session",
	"ServiceAccount createdAt":                           "tells which account a lost creation made",
	"Session artifacts":                                  "no document describes them",
	"UserAnalyticsMeta end_date":                         "repeats the argument",
	"UserAnalyticsMeta start_date":                       "repeats the argument",
	"UserUsageLimitsResult errors":                       "the emulator refuses no limit here; the tests of the limit show it",
	"WikiExport expiresAt":                               "the file is downloaded at once",
	"WorkspaceFile fileName":                             "repeats the argument",
	"createSession request sessionSettings.autonomyMode": "deprecated; two other settings have the same meaning",
	"updateSession request sessionSettings.autonomyMode": "deprecated; two other settings have the same meaning",
	"listSessionChildren parameter includeArtifacts":     "no attribute shows artifacts",
	"listSessionMessages parameter computerId":           "a session has one computer, which the service knows",
	"sendSessionMessage request computerId":              "a session has one computer, which the service knows",
	"sendSessionMessage request files.mime":              "the media type says it",
	"sendSessionMessage request files.parsedData":        "the service reads the file itself",
	"sendSessionMessage request files.path":              "a path on the user's own machine means nothing there",
}

// sent and shown are the fields of requests that were sent, and the fields of responses of which a variation had an effect. The
// keys are an operation and a path.
var sent, shown sync.Map

func place(operation string, path []string) string {
	return operation + " " + strings.Join(slices.DeleteFunc(slices.Clone(path), func(name string) bool { return name == "[]" }), ".")
}

// hasEffect notes whether a variation of a field had an effect.
func (v variation) hasEffect(is bool) {
	if is && len(v.path) > 0 && v.kind != unknownField {
		shown.Store(place(v.operation, v.path), true)
	}
}

// noteSent notes the fields of a request.
func (x exchange) noteSent() {
	for _, name := range x.query {
		sent.Store(place(x.operation, []string{name}), true)
	}
	var note func(path []string, v any)
	note = func(path []string, v any) {
		sent.Store(place(x.operation, path), true)
		switch v := v.(type) {
		case []any:
			for _, element := range v {
				note(path, element)
			}
		case map[string]any:
			for name, inner := range v {
				note(append(slices.Clone(path), name), inner)
			}
		}
	}
	note(nil, x.request)
}

// field is a field of the contract without fields of its own. Those of a component are the same field in all operations.
type field struct{ name, place string }

// fieldsOf returns the fields of a schema.
func fieldsOf(operation string, ref *openapi3.SchemaRef) []field {
	var fields []field
	var walk func(ref *openapi3.SchemaRef, owner string, path, within, above []string)
	walk = func(ref *openapi3.SchemaRef, owner string, path, within, above []string) {
		if slices.Contains(above, ref.Ref) {
			return // A tree's nodes have nodes.
		}
		if ref.Ref != "" {
			owner, within, above = ref.Ref[strings.LastIndex(ref.Ref, "/")+1:], nil, append(slices.Clone(above), ref.Ref)
		}
		schema := ref.Value
		switch {
		case len(schema.OneOf) > 0:
			for _, option := range schema.OneOf {
				walk(option, owner, path, within, above)
			}
		case schema.Type.Is(openapi3.TypeArray):
			walk(schema.Items, owner, path, within, above)
		case schema.Type.Is(openapi3.TypeObject) && !isFree(schema):
			for name, property := range schema.Properties {
				walk(property, owner, append(slices.Clone(path), name), append(slices.Clone(within), name), above)
			}
		case len(path) > 0:
			name := owner
			if len(within) > 0 {
				name += " " + strings.Join(within, ".")
			}
			fields = append(fields, field{name, place(operation, path)})
		}
	}
	walk(ref, operation, nil, nil, nil)
	return fields
}

// testFields checks that each field of the contract was sent, or that a variation of it had an effect.
func testFields(t *testing.T, document *contract.Document) {
	t.Helper()
	lacking, found := map[string]bool{}, map[string]bool{}
	note := func(name string, has bool) {
		if has {
			found[name] = true
		} else {
			lacking[name] = true
		}
	}
	for _, o := range document.Operations() {
		declared := document.Declared(o.ID)
		for _, parameter := range declared.Parameters {
			if p := parameter.Value; p.In == openapi3.ParameterInQuery {
				_, has := sent.Load(place(o.ID, []string{p.Name}))
				note(o.ID+" parameter "+p.Name, has)
			}
		}
		if body := declared.RequestBody; body != nil && body.Value.Content.Get("application/json") != nil {
			for _, f := range fieldsOf(o.ID, body.Value.Content.Get("application/json").Schema) {
				_, has := sent.Load(f.place)
				note(o.ID+" request "+strings.TrimPrefix(f.place, o.ID+" "), has)
			}
		}
		for status := 200; status < 300; status++ {
			if schema := responseSchema(document, o.ID, status); schema != nil {
				for _, f := range fieldsOf(o.ID, schema) {
					_, has := shown.Load(f.place)
					note(f.name, has)
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lacking)) {
		if !found[name] && !isListed(name) {
			t.Errorf("%s: no attribute shows it, or no specimen sets it in Full (or, for a cursor, has Paged)", name)
		}
	}
}

// isListed reports whether a field, or one above it, is known not to be reached.
func isListed(name string) bool {
	for above := range unreached {
		if name == above || strings.HasPrefix(name, above+".") || strings.HasPrefix(name, above+" ") {
			return isIn(unreached, above)
		}
	}
	return false
}

// changing are the parts of a text that differ in each organization.
var changing = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}|_[0-9A-Z]{26}|\d+`)

// masked returns what an action reports, without IDs and numbers.
func masked(progress []string, out acctest.Outcome) string {
	text := strings.Join(progress, "\n")
	for _, w := range out.Warnings {
		text += "\n" + w.Summary + ": " + w.Detail
	}
	return changing.ReplaceAllString(text, "")
}
