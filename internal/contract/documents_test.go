package contract

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// facts are the statuses of operations ("GET /api/v0/wiki") and the values of enumerations that the API documents list. They do not
// come from the contract, so that an edit of the contract cannot drift from the documents.
func facts(t *testing.T) (statuses, enumerations map[string][]string) {
	t.Helper()
	statuses, enumerations = map[string][]string{}, map[string][]string{}
	for _, words := range rows(t, "testdata/documents.txt") {
		if words[0] == "enum" {
			enumerations[words[1]] = words[2:]
		} else {
			statuses[words[0]+" "+words[1]] = words[2:]
		}
	}
	return statuses, enumerations
}

// rows returns the words of each line of a table, without comments and bars.
func rows(t *testing.T, file string) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(file)
	check.Must(t, err)
	for line := range strings.Lines(string(text)) {
		if words := slices.DeleteFunc(strings.Fields(line), func(word string) bool { return word == "|" }); len(words) > 0 && words[0] != "#" {
			all = append(all, words)
		}
	}
	return all
}

// common are the statuses that each operation has, because the emulator returns them for every one.
var common = []string{"400", "401", "403", "429", "500"}

// The contract has the operations of the documents with their statuses, and those that this project adds. Only the latter are marked.
// An operation that the documents lack, and no other, says with x-beyond where it comes from.
func TestStatusesAreThoseOfTheDocuments(t *testing.T) {
	t.Parallel()
	d := document(t)
	documented, _ := facts(t)
	for _, o := range d.Operations() {
		route := o.Method + " " + o.Path
		want := documented[route]
		check.Is(t, o.ID+" is documented, or x-beyond says why not", want != nil, o.Beyond == "")
		delete(documented, route)
		responses := operation(t, d, o.ID).Responses.Map()
		for _, code := range slices.Concat(want, common) {
			if responses[code] == nil && (o.ID != "listComputerProviders" || code != "403") { // Every key may read that list.
				t.Errorf("%s has no %s", o.ID, code)
			}
		}
		for code, response := range responses {
			isMarked := strings.Contains(response.Ref, "Assumed") || code < "400" && response.Value.Extensions["x-assumption"] != nil
			if isAssumed := !slices.Contains(want, code); o.Beyond == "" && isAssumed != isMarked && (code >= "400" || isAssumed) {
				t.Errorf("%s: %s is not in the documents: %t, marked as assumed: %t", o.ID, code, isAssumed, isMarked)
			}
		}
	}
	for missing := range documented {
		t.Errorf("the contract lacks %s", missing)
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
	check.Must(t, err)
	check.Must(t, json.Unmarshal(text, &whole))
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
