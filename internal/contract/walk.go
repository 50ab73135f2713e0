package contract

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// step is one part of a path: as it is in a value, and as a report may show it.
type step struct {
	key   string // Of an object.
	index int    // Of a list, if it is one.
	shown string
}

type path []step

func (p path) String() string {
	if len(p) == 0 {
		return "/"
	}
	var b strings.Builder
	for i, s := range p {
		if i > 0 || s.key != "" || s.shown == "*" { // Otherwise it is a header, a parameter, or the status.
			b.WriteByte('/')
		}
		b.WriteString(s.shown)
	}
	return b.String()
}

// walker goes over values along their schemas. It notes deviations, and the assumptions that it meets.
type walker struct {
	found []Deviation
	seen  map[string]bool
}

func newWalker() *walker { return &walker{seen: map[string]bool{}} }

func (w *walker) add(kind Kind, at path, expected, found, mark string) {
	w.found = append(w.found, Deviation{Kind: kind, Place: at.String(), Expected: expected, Found: found, Assumption: mark, path: slices.Clone(at)})
}

// err returns all deviations as an error.
func (w *walker) err() error {
	var all []error
	for _, d := range w.found {
		all = append(all, fmt.Errorf("%s at %s: expected %s, found %s", d.Kind, d.Place, d.Expected, d.Found))
	}
	return errors.Join(all...)
}

// see notes an assumption about the form of what is there, and returns its ID.
func (w *walker) see(id string) string {
	if id != "" {
		w.seen[id] = true
	}
	return id
}

// valid returns the assumptions that were met without a deviation.
func (w *walker) valid() []string {
	var ids []string
	for id := range w.seen {
		if !slices.ContainsFunc(w.found, func(d Deviation) bool { return d.Assumption == id }) {
			ids = append(ids, id)
		}
	}
	return ids
}

// markOf returns the ID of an assumption about a form. One about a rule says nothing here.
func markOf(extensions ...map[string]any) string {
	for _, e := range extensions {
		if mark, ok := e["x-assumption"].(map[string]any); ok && mark["rule"] != true {
			id, _ := mark["id"].(string)
			return id
		}
	}
	return ""
}

// value compares a value with its schema. The mark is that of the innermost assumption around it.
func (w *walker) value(ref *openapi3.SchemaRef, v any, at path, mark string) {
	s := ref.Value
	if id := w.see(markOf(ref.Extensions, s.Extensions)); id != "" {
		mark = id
	}
	if v == nil {
		if !s.Nullable {
			w.add(WrongType, at, describe(s), "null", mark)
		}
		return
	}
	if len(s.OneOf) > 0 {
		w.choice(s, v, at, mark)
	}
	for _, part := range s.AllOf {
		w.value(part, v, at, mark)
	}
	if !hasType(s, v) {
		found := typeOf(v)
		if text, ok := v.(string); ok && isNumber(text) {
			found = "string of a number"
		}
		w.add(WrongType, at, describe(s), found, mark)
		return
	}
	switch v := v.(type) {
	case map[string]any:
		w.object(s, v, at, mark)
	case []any:
		w.list(s, v, at, mark)
	default:
		w.scalar(s, v, at, mark)
	}
}

// choice compares a value with the form that is closest to it.
func (w *walker) choice(s *openapi3.Schema, v any, at path, mark string) {
	_, branch, matches := closest(s, v, at, mark)
	for _, d := range branch.found {
		if len(d.path) == len(at)+1 && isKind(s, d) {
			w.add(WrongEnum, d.path, "one of "+strings.Join(kinds(s, d.path[len(at)].key), ", "), d.Found, mark)
			return // What else differs is that of another kind.
		}
	}
	w.found = append(w.found, branch.found...)
	for id := range branch.seen {
		w.seen[id] = true
	}
	if matches > 1 {
		w.add(WrongType, at, "exactly one of the forms", "several", mark)
	}
}

// closest tries all forms and returns the one with the fewest deviations, what is in it, and how many forms have none. A form
// of another type, or whose own word for its kind is another one, is far. What is inside of its fields counts least, because
// another form may not have such a field at all.
func closest(s *openapi3.Schema, v any, at path, mark string) (best *openapi3.SchemaRef, inside *walker, matches int) {
	least := 0
	for _, form := range s.OneOf {
		branch := newWalker()
		branch.value(form, v, at, mark)
		far := 0
		for _, d := range branch.found {
			switch {
			case len(d.path) == len(at) && d.Kind == WrongType:
				far += 10_000_000
			case len(d.path) == len(at)+1 && isKind(s, d):
				far += 100_000
			case len(d.path) == len(at)+1:
				far += 1000
			default:
				far++
			}
		}
		if far == 0 {
			matches++
		}
		if best == nil || far < least {
			best, inside, least = form, branch, far
		}
	}
	return best, inside, matches
}

// isKind reports a deviation of the field that tells the forms apart: it has words of its own in each.
func isKind(s *openapi3.Schema, d Deviation) bool {
	name := d.path[len(d.path)-1].key
	return d.Kind == WrongEnum && !slices.ContainsFunc(s.OneOf, func(form *openapi3.SchemaRef) bool {
		field := form.Value.Properties[name]
		return field == nil || len(field.Value.Enum) == 0
	})
}

// kinds returns the words of a field in all forms.
func kinds(s *openapi3.Schema, name string) []string {
	var words []string
	for _, form := range s.OneOf {
		for _, word := range form.Value.Properties[name].Value.Enum {
			words = append(words, fmt.Sprint(word))
		}
	}
	return words
}

func (w *walker) object(s *openapi3.Schema, v map[string]any, at path, mark string) {
	if name, inner := wrapped(s, v); inner != nil {
		w.add(Wrapped, at, "the fields of the object", "a field "+shownKey(name)+" with the object", mark)
		v, at = inner, append(at, step{key: name, shown: shownKey(name)})
	}
	for _, name := range s.Required {
		if _, ok := v[name]; !ok {
			field := s.Properties[name]
			inner := mark
			if id := markOf(field.Extensions, field.Value.Extensions); id != "" {
				inner = id
			}
			w.add(MissingField, append(at, step{key: name, shown: name}), describe(field.Value), "absent", inner)
		}
	}
	for name, value := range v {
		field, more := s.Properties[name], s.AdditionalProperties
		switch {
		case field != nil:
			w.value(field, value, append(at, step{key: name, shown: name}), mark)
		case more.Schema != nil:
			w.value(more.Schema, value, append(at, step{key: name, shown: "*"}), mark)
		case more.Has != nil && !*more.Has:
			w.add(NewField, append(at, step{key: name, shown: shownKey(name)}), "no such field", typeOf(value), mark)
		}
	}
}

// wrapped returns the object that stands in a field of its own, which the contract does not have.
func wrapped(s *openapi3.Schema, v map[string]any) (name string, inner map[string]any) {
	isOpen := s.AdditionalProperties.Has == nil || *s.AdditionalProperties.Has
	if len(v) != 1 || isOpen && len(s.Required) == 0 {
		return "", nil
	}
	for name, value := range v {
		inner, _ := value.(map[string]any)
		for field := range inner {
			if s.Properties[name] == nil && s.Properties[field] != nil {
				return name, inner
			}
		}
	}
	return "", nil
}

func (w *walker) list(s *openapi3.Schema, v []any, at path, mark string) {
	if n := uint64(len(v)); n < s.MinItems || s.MaxItems != nil && n > *s.MaxItems {
		w.add(WrongFormat, at, describe(s), fmt.Sprintf("a list of %d", n), mark)
	}
	for i, value := range v {
		if s.Items != nil {
			w.value(s.Items, value, append(at, step{index: i, shown: "*"}), mark)
		}
	}
}

// scalar leaves it to the library to read patterns, formats, and bounds.
func (w *walker) scalar(s *openapi3.Schema, v any, at path, mark string) {
	if len(s.Enum) == 0 && s.Format == "" && s.Pattern == "" && s.MinLength == 0 && s.MaxLength == nil && s.Min == nil && s.Max == nil && s.Not == nil {
		return
	}
	alone := s
	if len(s.OneOf)+len(s.AllOf) > 0 { // These were looked at.
		rest := *s
		rest.OneOf, rest.AllOf = nil, nil
		alone = &rest
	}
	err := alone.VisitJSON(v, formats...)
	var wrong *openapi3.SchemaError
	switch {
	case err == nil:
	case errors.As(err, &wrong) && wrong.SchemaField == "enum":
		w.add(WrongEnum, at, describe(s), shownWord(s, v), mark)
	default:
		w.add(WrongFormat, at, describe(s), typeOf(v)+" of another form", mark)
	}
}

func hasType(s *openapi3.Schema, v any) bool {
	if s.Type == nil {
		return true
	}
	name := typeOf(v)
	return s.Type.Is(name) || name == openapi3.TypeInteger && s.Type.Is(openapi3.TypeNumber)
}

// typeOf names the type of a JSON value as schemas do.
func typeOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return openapi3.TypeBoolean
	case string:
		return openapi3.TypeString
	case []any:
		return openapi3.TypeArray
	case map[string]any:
		return openapi3.TypeObject
	case json.Number:
		if isInteger(v.String()) {
			return openapi3.TypeInteger
		}
	}
	return openapi3.TypeNumber
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// isInteger reports a number without a fraction; 1e3 and 1.0 are such numbers.
func isInteger(number string) bool {
	if !strings.ContainsAny(number, ".eE") {
		return true
	}
	f, err := strconv.ParseFloat(number, 64)
	return err == nil && f == math.Trunc(f)
}

// describe says what a schema allows.
func describe(s *openapi3.Schema) string {
	var parts []string
	switch {
	case len(s.Enum) > 0:
		words := make([]string, len(s.Enum))
		for i, word := range s.Enum {
			words[i] = fmt.Sprint(word)
		}
		parts = append(parts, "one of "+strings.Join(words, ", "))
	case s.Type != nil && s.Format != "":
		parts = append(parts, strings.Join(*s.Type, " or ")+" ("+s.Format+")")
	case s.Type != nil:
		parts = append(parts, strings.Join(*s.Type, " or "))
	case len(s.OneOf) > 0:
		for _, form := range s.OneOf {
			parts = append(parts, describe(form.Value))
		}
	default:
		parts = append(parts, "any value")
	}
	if s.MinLength > 0 {
		parts = append(parts, fmt.Sprintf("at least %d long", s.MinLength))
	}
	if s.MaxLength != nil {
		parts = append(parts, fmt.Sprintf("at most %d long", *s.MaxLength))
	}
	if s.Min != nil {
		parts = append(parts, fmt.Sprintf("at least %g", *s.Min))
	}
	if s.Max != nil {
		parts = append(parts, fmt.Sprintf("at most %g", *s.Max))
	}
	if s.MinItems > 0 {
		parts = append(parts, fmt.Sprintf("at least %d", s.MinItems))
	}
	if s.MaxItems != nil {
		parts = append(parts, fmt.Sprintf("at most %d", *s.MaxItems))
	}
	if s.Nullable {
		parts = append(parts, "or null")
	}
	return strings.Join(slices.Compact(parts), ", ")
}
