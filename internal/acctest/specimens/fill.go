package specimens

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-testing/terraform"
)

// Fill returns what a place such as "$account" stands for. Nil leaves the argument out.
type Fill func(place string) any

var place = regexp.MustCompile(`\$[a-z_]+[0-9]?`)

// In returns a copy of the values with every place filled in, in keys too.
func (f Fill) In(v Values) Values {
	if v == nil {
		return nil
	}
	return f.in(v).(Values)
}

func (f Fill) in(v any) any {
	switch v := v.(type) {
	case string:
		if place.FindString(v) == v && v != "" {
			return f(v)
		}
		return f.Text(v)
	case []any:
		filled := make([]any, len(v))
		for i := range v {
			filled[i] = f.in(v[i])
		}
		return filled
	case Values:
		filled := Values{}
		for name := range v {
			if inner := f.in(v[name]); inner != nil || v[name] == nil {
				filled[f.Text(name)] = inner
			}
		}
		return filled
	}
	return v
}

// Text returns a text with every place filled in.
func (f Fill) Text(text string) string {
	return place.ReplaceAllStringFunc(text, func(name string) string { return fmt.Sprint(f(name)) })
}

// HCL returns arguments as they stand in a block. JSON is an expression of HCL.
func HCL(v Values) string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(v)) {
		value, err := json.Marshal(v[name])
		if err != nil {
			panic(err)
		}
		fmt.Fprintf(&text, "%s = %s\n", name, value)
	}
	return text.String()
}

// Block returns a block with the label "test".
func Block(kind, typeName, arguments string) string {
	return fmt.Sprintf("%s %q \"test\" {\n%s}\n", kind, typeName, arguments)
}

// Listing is a GET whose response has the objects of a type.
type Listing struct {
	Path string
	// Also is the path of the objects that Path lacks, for who needs all of them. It may be empty.
	Also string
	// Rows is the field of the list. Empty if the response is the object.
	Rows string
	// ID is the field of the ID. Empty for "id".
	ID string
	// Has are texts in the JSON of the specimen alone.
	Has []string
}

// Find returns the IDs of the objects of a response that are specimens.
func (l Listing) Find(body []byte, f Fill) (ids []string, err error) {
	rows := []json.RawMessage{body}
	if l.Rows != "" {
		var answer map[string]json.RawMessage
		if err := json.Unmarshal(body, &answer); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(answer[l.Rows], &rows); err != nil {
			return nil, err
		}
	}
	field := l.ID
	if field == "" {
		field = "id"
	}
	for _, row := range rows {
		var compact bytes.Buffer
		var object map[string]any
		if err := json.Compact(&compact, row); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(row, &object); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(l.Has, func(text string) bool { return !strings.Contains(compact.String(), f.Text(text)) }) {
			ids = append(ids, fmt.Sprint(object[field]))
		}
	}
	return ids, nil
}

// ImportIDOf returns the import ID of the resource in a state.
func (r Resource) ImportIDOf(s *terraform.State) (string, error) {
	attributes := s.RootModule().Resources[r.Address()].Primary.Attributes
	return r.ImportIDFrom(func(name string) string { return attributes[name] }), nil
}

var braced = regexp.MustCompile(`{\w+}`)

// ImportIDFrom returns the import ID of a resource with these attributes.
func (r Resource) ImportIDFrom(attribute func(name string) string) string {
	return braced.ReplaceAllStringFunc(cmp.Or(r.ImportID, "{id}"), func(name string) string { return attribute(strings.Trim(name, "{}")) })
}
