package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// facts are the statuses of operations ("GET /api/v0/wiki") and the values of enumerations that the API documents list. They do not
// come from the contract, so that an edit of the contract cannot drift from the documents.
func facts(t *testing.T) (statuses, enumerations map[string][]string) {
	t.Helper()
	text, err := os.ReadFile("testdata/documents.txt")
	must(t, err)
	statuses, enumerations = map[string][]string{}, map[string][]string{}
	for line := range strings.Lines(string(text)) {
		words := slices.DeleteFunc(strings.Fields(line), func(word string) bool { return word == "|" })
		switch {
		case len(words) == 0 || words[0] == "#":
		case words[0] == "enum":
			enumerations[words[1]] = words[2:]
		default:
			statuses[words[0]+" "+words[1]] = words[2:]
		}
	}
	return statuses, enumerations
}

// The contract has the statuses of the documents, and those that this project adds. Only the latter are marked.
func TestStatusesAreThoseOfTheDocuments(t *testing.T) {
	t.Parallel()
	d := document(t)
	documented, _ := facts(t)
	assumed := map[string][]int{}
	for _, operations := range allExpected() {
		for _, o := range operations {
			assumed[o.id] = o.assumed
		}
	}
	for _, o := range d.Operations() {
		route := o.Method + " " + o.Path
		want := slices.Clone(documented[route])
		if isDocumented := want != nil; isDocumented != (o.Beyond == "") {
			t.Errorf("%s: documented is %t, and x-beyond says %q", o.ID, isDocumented, o.Beyond)
		}
		delete(documented, route)
		for _, status := range assumed[o.ID] {
			want = append(want, strconv.Itoa(status))
		}
		slices.Sort(want)
		responses := operation(t, d, o.ID).Responses.Map()
		if got := slices.Sorted(maps.Keys(responses)); !slices.Equal(got, want) {
			t.Errorf("%s has the statuses %v, want %v", o.ID, got, want)
		}
		for code, response := range responses {
			status, err := strconv.Atoi(code)
			must(t, err)
			isMarked := strings.Contains(response.Ref, "Assumed") || status < 400 && response.Value.Extensions["x-assumption"] != nil
			if isAssumed := slices.Contains(assumed[o.ID], status); o.Beyond == "" && isAssumed != isMarked && (status >= 400 || isAssumed) {
				t.Errorf("%s: %d is assumed: %t, marked: %t", o.ID, status, isAssumed, isMarked)
			}
		}
	}
	for route := range documented {
		t.Errorf("the contract lacks %s", route)
	}
}

// beyondSchemas are only in operations with x-beyond.
var beyondSchemas = []string{"Message", "ContentBlock", "MessageImage", "MessageFile", "SentMessage", "InviteMember", "InvitationResult", "listSessionMessages"}

// Each enumeration of the documents is in the contract, and each unmarked one of the contract is in the documents.
func TestEnumerationsAreThoseOfTheDocuments(t *testing.T) {
	t.Parallel()
	d := document(t)
	_, documented := facts(t)
	var whole struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas map[string]any }
	}
	text, err := d.spec.MarshalJSON()
	must(t, err)
	must(t, json.Unmarshal(text, &whole))
	values, marked := map[string][]string{}, map[string]bool{}
	var walk func(place string, node any, isMarked bool)
	walk = func(place string, node any, isMarked bool) {
		switch node := node.(type) {
		case []any:
			for _, child := range node {
				walk(place, child, isMarked)
			}
		case map[string]any:
			isMarked = isMarked || node["x-assumption"] != nil
			if name, ok := node["name"].(string); ok && node["in"] != nil {
				place += "." + name
			}
			if list, ok := node["enum"].([]any); ok {
				marked[place] = isMarked
				for _, value := range list {
					values[place] = append(values[place], fmt.Sprint(value))
				}
			}
			for key, child := range node {
				switch key {
				case "not", "enum", "default", "required", "x-assumption":
				case "properties":
					for name, property := range child.(map[string]any) {
						walk(place+"."+name, property, isMarked)
					}
				default:
					walk(place, child, isMarked)
				}
			}
		}
	}
	for name, schema := range whole.Components.Schemas {
		walk(name, schema, false)
	}
	for _, item := range whole.Paths {
		for _, raw := range item {
			var operation struct {
				OperationID string
				Parameters  any
			}
			if json.Unmarshal(raw, &operation) == nil && operation.OperationID != "" { // Otherwise, these are the parameters of all.
				walk(operation.OperationID, operation.Parameters, false)
			}
		}
	}
	for place, got := range values {
		name, _, _ := strings.Cut(place, ".")
		want, isDocumented := documented[place]
		switch {
		case isDocumented && !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))):
			t.Errorf("%s has the values %v, want %v", place, got, want)
		case !isDocumented && !marked[place] && !slices.Contains(beyondSchemas, name):
			t.Errorf("the documents have no values of %s, and nothing marks them as assumed: %v", place, got)
		}
	}
	for place := range documented {
		if values[place] == nil {
			t.Errorf("the contract lacks the values of %s", place)
		}
	}
}
