package deviations

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// ofTomorrow is a value that no enum has.
const ofTomorrow = "of-tomorrow"

// variation is one way in which the responses of one operation differ from those of the contract.
type variation struct {
	operation string
	kind      kind
	// path is the field; empty for the whole body. The path of an element of a list ends in "[]".
	path []string
	// isRequired says that the contract requires the field.
	isRequired bool
	// isList says that the field is a list.
	isList bool
	// isCounts says that the field is an object of numbers only, which may be shown as a map.
	isCounts bool
	// within are the names of the fields in the values.
	within []string
	change func(body any) any
}

type kind string

const (
	unknownField kind = "an unknown field"
	unknownEnum  kind = "an unknown enum value"
	negated      kind = "the other truth"
	absent       kind = "absent"
	null         kind = "null"
	numberText   kind = "a number as a string"
	wrapped      kind = "wrapped"
	bare         kind = "not in an envelope"
	harmless     kind = "everything that must change nothing"
)

// grouped returns the variations for writes, which take several steps each. Those that must change nothing are one for each
// operation. Null is left out, because the refreshes and reads show that it is read like an absent field, and the other truth,
// because it may refuse what is asked for.
func grouped(variations []variation) []variation {
	var groups []variation
	together := map[string]int{}
	for _, v := range variations {
		switch v.kind {
		case null, negated:
		case unknownField:
			at, ok := together[v.operation]
			if !ok {
				together[v.operation] = len(groups)
				groups = append(groups, variation{operation: v.operation, kind: harmless, change: v.change})
				continue
			}
			before := groups[at].change
			groups[at].change = func(body any) any { return v.change(before(body)) }
		default:
			groups = append(groups, v)
		}
	}
	return groups
}

func (v variation) key() string { return v.operation + " " + strings.Join(v.path, ".") }

func (v variation) String() string {
	return fmt.Sprintf("%s: %s: %s", v.operation, strings.Join(v.path, "."), v.kind)
}

// service stands between the provider and the emulator. It records exchanges, and varies the responses of one operation.
type service struct {
	mu        sync.Mutex
	varied    *variation
	isFilled  bool
	exchanges []exchange
}

// exchange is a request and its response. Bodies are nil unless they are JSON.
type exchange struct {
	operation string
	query     []string
	request   any
	status    int
	response  any
}

// vary changes the responses from now on; nil leaves them. With isFilled, optional fields are filled in before.
func (s *service) vary(v *variation, isFilled bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.varied, s.isFilled, s.exchanges = v, isFilled, nil
}

func (s *service) seen() []exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.exchanges)
}

func (s *service) layer(next http.Handler) http.Handler {
	document, err := contract.Load()
	if err != nil {
		panic(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation, ok := document.Match(r)
		if !ok || !strings.HasPrefix(r.UserAgent(), "terraform-provider-") {
			next.ServeHTTP(w, r)
			return
		}
		var sent bytes.Buffer
		_, _ = sent.ReadFrom(r.Body)
		r.Body = http.NoBody
		if sent.Len() > 0 {
			r.Body = readCloser{bytes.NewReader(sent.Bytes())}
		}
		answer := httptest.NewRecorder()
		next.ServeHTTP(answer, r)
		body := answer.Body.Bytes()

		s.mu.Lock()
		defer s.mu.Unlock()
		x := exchange{operation: operation, query: slices.Collect(maps.Keys(r.URL.Query())), request: decode(sent.Bytes()), status: answer.Code, response: decode(body)}
		x.noteSent()
		if x.status < http.StatusMultipleChoices && x.response != nil {
			if s.isFilled {
				x.response = fill(responseSchema(document, operation, x.status), x.response, 0)
			}
			before := encode(x.response)
			changed := decode(before)
			if s.varied != nil && s.varied.operation == operation {
				changed = s.varied.change(changed)
			}
			if s.isFilled || s.varied != nil {
				body = encode(changed)
				w.Header().Set(contract.FaultHeader, "deviates")
			}
		}
		s.exchanges = append(s.exchanges, x)
		maps.Copy(w.Header(), answer.Header())
		w.Header().Del("Content-Length")
		w.WriteHeader(answer.Code)
		_, _ = w.Write(body)
	})
}

type readCloser struct{ *bytes.Reader }

func (readCloser) Close() error { return nil }

func decode(body []byte) any {
	var v any
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	if decoder.Decode(&v) != nil {
		return nil
	}
	return v
}

func encode(v any) []byte {
	body, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return body
}

// responseSchema returns the schema of a response, or nil.
func responseSchema(document *contract.Document, operation string, status int) *openapi3.SchemaRef {
	response := document.Declared(operation).Responses.Status(status)
	if response == nil {
		return nil
	}
	if media := response.Value.Content.Get("application/json"); media != nil {
		return media.Schema
	}
	return nil
}

// variationsOf returns all variations of the responses, each once.
func variationsOf(document *contract.Document, exchanges []exchange) []variation {
	bodies := map[string][]any{}
	schemas := map[string]*openapi3.SchemaRef{}
	for _, x := range exchanges {
		schema := responseSchema(document, x.operation, x.status)
		x.noteSent()
		if x.status < http.StatusMultipleChoices && x.response != nil && schema != nil {
			bodies[x.operation] = append(bodies[x.operation], x.response)
			schemas[x.operation] = schema
		}
	}
	var all []variation
	for _, operation := range slices.Sorted(maps.Keys(bodies)) {
		d := deriver{operation: operation}
		d.whole(schemas[operation], bodies[operation])
		d.walk(nil, schemas[operation].Value, bodies[operation])
		all = append(all, d.found...)
	}
	return all
}

type deriver struct {
	operation string
	found     []variation
}

// add adds a variation of all values at a path, which change returns changed.
func (d *deriver) add(k kind, path []string, change func(any) any) *variation {
	path = slices.Clone(path)
	d.found = append(d.found, variation{operation: d.operation, kind: k, path: path, change: func(body any) any { return changeAt(body, path, change) }})
	return &d.found[len(d.found)-1]
}

// missing is what a change returns for a field that it removes.
type missing struct{}

// changeAt changes the values at a path. Fields that are absent are passed as missing, except for those above the last one.
func changeAt(v any, path []string, change func(any) any) any {
	if len(path) == 0 {
		return change(v)
	}
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = changeAt(v[i], path[1:], change)
		}
	case map[string]any:
		inner, ok := v[path[0]]
		switch {
		case !ok && len(path) > 1:
			return v
		case !ok:
			inner = missing{}
		}
		changed := changeAt(inner, path[1:], change)
		if _, removed := changed.(missing); removed {
			delete(v, path[0])
		} else {
			v[path[0]] = changed
		}
	}
	return v
}

// whole adds the variations of the body as a whole: in its noun, in a common envelope, and a list without its envelope.
func (d *deriver) whole(schema *openapi3.SchemaRef, bodies []any) {
	nouns := []string{"data"}
	if name := schema.Ref[strings.LastIndex(schema.Ref, "/")+1:]; name != "" {
		nouns = append(nouns, strings.ToLower(name[:1])+name[1:])
	}
	for _, noun := range nouns {
		d.add(wrapped, nil, func(body any) any { return map[string]any{noun: body} })
	}
	for name, property := range schema.Value.Properties {
		if property.Value.Type.Is(openapi3.TypeArray) {
			list := d.add(bare, nil, func(body any) any { return body.(map[string]any)[name] })
			for _, body := range bodies {
				others := maps.Clone(body.(map[string]any))
				delete(others, name)
				list.within = fieldsIn(others, list.within)
			}
		}
	}
}

// walk adds the variations of the values at a path.
func (d *deriver) walk(path []string, schema *openapi3.Schema, values []any) {
	values = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	if len(values) == 0 {
		return
	}
	for _, option := range schema.OneOf {
		d.walk(path, option.Value, slices.DeleteFunc(slices.Clone(values), func(v any) bool { return !matches(option.Value, v) }))
	}
	switch {
	case schema.Type.Is(openapi3.TypeArray):
		d.array(path, schema, values)
	case schema.Type.Is(openapi3.TypeObject) && !isFree(schema):
		d.object(path, schema, values)
	case schema.Type.Is(openapi3.TypeString) && len(schema.Enum) > 0:
		d.add(unknownEnum, path, func(v any) any { return ifPresent(v, ofTomorrow) })
	case schema.Type.Is(openapi3.TypeBoolean):
		d.add(negated, path, func(v any) any {
			if is, ok := v.(bool); ok {
				return !is
			}
			return v
		})
	case schema.Type.Is(openapi3.TypeNumber), schema.Type.Is(openapi3.TypeInteger):
		d.add(numberText, path, func(v any) any {
			if n, ok := v.(json.Number); ok {
				return n.String()
			}
			return v
		})
	}
}

// ifPresent returns the replacement of a value, but leaves an absent or null one.
func ifPresent(v, replacement any) any {
	if _, ok := v.(missing); ok || v == nil {
		return v
	}
	return replacement
}

// isFree reports whether an object may have any fields, which the provider passes on as they are.
func isFree(schema *openapi3.Schema) bool {
	allowed := schema.AdditionalProperties
	return allowed.Schema != nil || allowed.Has == nil || *allowed.Has
}

func (d *deriver) array(path []string, schema *openapi3.Schema, values []any) {
	var elements []any
	for _, v := range values {
		list, _ := v.([]any)
		elements = append(elements, list...)
	}
	d.walk(append(path, "[]"), schema.Items.Value, elements)
}

func (d *deriver) object(path []string, schema *openapi3.Schema, values []any) {
	isCounts := true
	for _, property := range schema.Properties {
		isCounts = isCounts && (property.Value.Type.Is(openapi3.TypeNumber) || property.Value.Type.Is(openapi3.TypeInteger))
	}
	d.add(unknownField, path, func(v any) any {
		object, ok := v.(map[string]any)
		switch {
		case ok && isCounts:
			object["addedTomorrow"] = json.Number("7")
		case ok:
			object["addedTomorrow"], object["added_tomorrow"] = map[string]any{"a": []any{nil, 1}}, "x"
		}
		return v
	}).isCounts = isCounts
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		var inner []any
		for _, v := range values {
			if value, ok := v.(map[string]any)[name]; ok {
				inner = append(inner, value)
			}
		}
		at := append(slices.Clone(path), name)
		isRequired := slices.Contains(schema.Required, name)
		if len(inner) > 0 {
			for k, value := range map[kind]any{absent: missing{}, null: nil} {
				v := d.add(k, at, func(any) any { return value })
				v.isRequired, v.isList, v.within = isRequired, schema.Properties[name].Value.Type.Is(openapi3.TypeArray), fieldsIn(inner, nil)
			}
		}
		d.walk(at, schema.Properties[name].Value, inner)
	}
}

// fieldsIn adds the names of all fields in a value.
func fieldsIn(v any, names []string) []string {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			names = fieldsIn(element, names)
		}
	case map[string]any:
		for name, inner := range v {
			names = fieldsIn(inner, append(names, name))
		}
	}
	return names
}

// matches reports whether a value is of one of several schemas, by its required fields and its constants.
func matches(schema *openapi3.Schema, v any) bool {
	object, ok := v.(map[string]any)
	if !ok {
		return schema.Type.Is(openapi3.TypeString) && fmt.Sprintf("%T", v) == "string" || schema.Type.Is(openapi3.TypeArray) && fmt.Sprintf("%T", v) == "[]interface {}"
	}
	for _, name := range schema.Required {
		value, ok := object[name]
		if enum := schema.Properties[name].Value.Enum; !ok || len(enum) == 1 && enum[0] != value {
			return false
		}
	}
	return true
}

// attributeName returns the name of the attribute for a field: in snake case, with an acronym as one word.
func attributeName(field string) string {
	var name strings.Builder
	letters := []rune(field)
	for i, r := range letters {
		startsWord := i > 0 && unicode.IsUpper(r) && (unicode.IsLower(letters[i-1]) || unicode.IsDigit(letters[i-1]) || i+1 < len(letters) && unicode.IsLower(letters[i+1]))
		if startsWord && letters[i-1] != '_' {
			name.WriteRune('_')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}
