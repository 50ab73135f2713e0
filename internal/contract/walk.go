package contract

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// walker compares values with their schemas. It notes deviations, and the assumptions that it meets.
type walker struct {
	found []Deviation
	seen  map[string]bool
	spots map[string]spot // By the keys that lead to a value.
}

// spot is a place as a report may show it, and the innermost assumption around it.
type spot struct{ place, mark string }

func newWalker() *walker { return &walker{seen: map[string]bool{}} }

func (w *walker) add(kind Kind, place, expected, found, mark string) {
	d := Deviation{Kind: kind, Place: cmp.Or(place, "/"), Expected: expected, Found: found, Assumption: mark}
	if !slices.Contains(w.found, d) {
		w.found = append(w.found, d)
	}
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

// value compares a value at a place with its schema. The mark is that of the assumption around it.
func (w *walker) value(ref *openapi3.SchemaRef, v any, place, mark string) {
	if name, inner := wrapped(ref.Value, v); inner != nil {
		w.add(Wrapped, place, "the fields of the object", "a field "+shownKey(name)+" with the object", mark)
		v, place = inner, place+"/"+shownKey(name)
	}
	w.spots = map[string]spot{}
	w.meet(ref, v, "", spot{place, mark})
	w.compare(ref.Value, v, "")
}

// wrapped returns the object that stands in a field of its own, which the contract does not have.
func wrapped(s *openapi3.Schema, v any) (name string, inner map[string]any) {
	fields, _ := v.(map[string]any)
	isOpen := s.AdditionalProperties.Has == nil || *s.AdditionalProperties.Has
	if len(fields) != 1 || isOpen && len(s.Required) == 0 {
		return "", nil
	}
	for name, value := range fields {
		inner, _ := value.(map[string]any)
		for field := range inner {
			if s.Properties[name] == nil && s.Properties[field] != nil {
				return name, inner
			}
		}
	}
	return "", nil
}

// meet notes the assumptions about what is there, and where it is.
func (w *walker) meet(ref *openapi3.SchemaRef, v any, keys string, at spot) {
	s := ref.Value
	at.mark = cmp.Or(w.see(markOf(ref.Extensions, s.Extensions)), at.mark)
	w.spots[keys] = at
	for _, part := range s.AllOf {
		w.meet(part, v, keys, at)
	}
	if len(s.OneOf) > 0 && v != nil {
		w.meet(closest(s, v), v, keys, at)
	}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if field := s.Properties[name]; field != nil {
				w.meet(field, value, keys+"\x00"+name, spot{at.place + "/" + name, at.mark})
			} else if more := s.AdditionalProperties.Schema; more != nil {
				w.meet(more, value, keys+"\x00"+name, spot{at.place + "/*", at.mark})
			}
		}
	case []any:
		for i, value := range v {
			if s.Items != nil {
				w.meet(s.Items, value, keys+"\x00"+strconv.Itoa(i), spot{at.place + "/*", at.mark})
			}
		}
	}
}

// closest returns the form of a choice from which a value differs least. What is inside of its fields counts least, because another
// form may not have such a field at all.
func closest(s *openapi3.Schema, v any) (best *openapi3.SchemaRef) {
	least := 0
	for _, form := range s.OneOf {
		if far := distance(form.Value, v); best == nil || far < least {
			best, least = form, far
		}
	}
	return best
}

func distance(s *openapi3.Schema, v any) (far int) {
	for _, e := range differences(s, v) {
		switch depth := len(e.JSONPointer()); {
		case depth == 0 && e.SchemaField == "type":
			far += 10_000_000
		case depth == 1 && e.SchemaField == "enum":
			far += 100_000 // Its own word for its kind is another one.
		case depth <= 1:
			far += 1000
		default:
			far++
		}
	}
	return far
}

// differences asks the library for all errors.
func differences(s *openapi3.Schema, v any) []*openapi3.SchemaError {
	var all []*openapi3.SchemaError
	var collect func(err error)
	collect = func(err error) {
		switch err := err.(type) { //nolint:errorlint // The library returns these types.
		case openapi3.MultiError:
			for _, e := range err {
				collect(e)
			}
		case *openapi3.SchemaError:
			all = append(all, err)
		}
	}
	collect(s.VisitJSON(v, append([]openapi3.SchemaValidationOption{openapi3.MultiErrors()}, formats...)...))
	return all
}

// compare notes how a value differs from a schema. The keys lead to the value.
func (w *walker) compare(s *openapi3.Schema, v any, keys string) {
	for _, e := range differences(s, v) {
		pointer := e.JSONPointer()
		inside := strings.Join(append([]string{keys}, pointer...), "\x00")
		at := w.spots[inside]
		switch e.SchemaField {
		case "oneOf":
			if errors.Is(e.Origin, openapi3.ErrOneOfConflict) {
				w.add(WrongType, at.place, "exactly one of the forms", "several", at.mark)
			} else {
				w.compare(closest(e.Schema, e.Value).Value, e.Value, inside)
			}
		case "allOf":
			for _, part := range e.Schema.AllOf {
				w.compare(part.Value, e.Value, inside)
			}
		case "discriminator":
			kinds := slices.Sorted(maps.Keys(e.Schema.Discriminator.Mapping))
			w.add(WrongEnum, at.place+"/"+e.Schema.Discriminator.PropertyName, "one of "+strings.Join(kinds, ", "), shownWord(e.Schema, e.Value), at.mark)
		case "required":
			name := pointer[len(pointer)-1]
			parent := strings.TrimSuffix(inside, "\x00"+name)
			field := e.Schema.Properties[name]
			w.add(MissingField, w.spots[parent].place+"/"+name, describe(field.Value), "absent", cmp.Or(markOf(field.Extensions, field.Value.Extensions), w.spots[parent].mark))
		case "properties":
			for name, value := range e.Value.(map[string]any) {
				if e.Schema.Properties[name] == nil {
					w.add(NewField, at.place+"/"+shownKey(name), "no such field", typeOf(value), at.mark)
				}
			}
		case "enum":
			w.add(WrongEnum, at.place, describe(e.Schema), shownWord(e.Schema, e.Value), at.mark)
		case "type", "nullable":
			found := typeOf(e.Value)
			if text, ok := e.Value.(string); ok && isNumber(text) {
				found = "string of a number"
			}
			w.add(WrongType, at.place, describe(e.Schema), found, at.mark)
		default:
			w.add(WrongFormat, at.place, describe(e.Schema), typeOf(e.Value)+" of another form", at.mark)
		}
	}
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
		f, _ := v.Float64()
		return typeOf(f)
	case float64:
		if v == math.Trunc(v) { // 1e3 and 1.0 are such numbers.
			return openapi3.TypeInteger
		}
	}
	return openapi3.TypeNumber
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
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
	bound := func(isSet bool, format string, n any) {
		if isSet {
			parts = append(parts, fmt.Sprintf(format, n))
		}
	}
	bound(s.MinLength > 0, "at least %d long", s.MinLength)
	bound(s.MaxLength != nil, "at most %d long", deref(s.MaxLength))
	bound(s.Min != nil, "at least %.0f", deref(s.Min))
	bound(s.Max != nil, "at most %.0f", deref(s.Max))
	bound(s.MinItems > 0, "at least %d", s.MinItems)
	bound(s.MaxItems != nil, "at most %d", deref(s.MaxItems))
	if s.Nullable {
		parts = append(parts, "or null")
	}
	return strings.Join(slices.Compact(parts), ", ")
}

func deref[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// looksLikeName reports a name of a field or a word of an enum: short, of ASCII letters, _ and -, and with few digits and capitals.
// Keys, IDs, and addresses do not look so. In some words, all letters are capitals.
func looksLikeName(text string) bool {
	small, capitals, digits := 0, 0, 0
	for i, r := range text {
		switch {
		case r >= 'a' && r <= 'z':
			small++
		case r >= 'A' && r <= 'Z':
			capitals++
		case i > 0 && r >= '0' && r <= '9':
			digits++
		case r != '_' && r != '-' || i == 0 && r == '-':
			return false
		}
	}
	if small == 0 {
		return len(text) <= 40 && capitals > 0 && digits == 0
	}
	return len(text) <= 40 && capitals <= 5 && digits <= 2
}

// shownKey returns the name of a field that the contract does not have if it looks like one, which begins with a small letter.
func shownKey(name string) string {
	if looksLikeName(name) && (name[0] < 'A' || name[0] > 'Z') {
		return name
	}
	return "key"
}

// shownWord returns the value of an enum if the contract has it, in whatever case, or if it looks like the words that it has: a
// person's name has capitals or blanks, which those have not.
func shownWord(s *openapi3.Schema, v any) string {
	text, ok := v.(string)
	if !ok {
		return "another " + typeOf(v)
	}
	capitals := false
	for _, known := range s.Enum {
		word := fmt.Sprint(known)
		if strings.EqualFold(word, text) {
			return text
		}
		capitals = capitals || strings.ToLower(word) != word
	}
	if !looksLikeName(text) || !capitals && strings.ToLower(text) != text {
		return "another string"
	}
	return text
}
