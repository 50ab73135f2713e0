package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
)

// Exchange is a request and its answer, as a client sees them.
type Exchange struct {
	// Request is read without its body.
	Request *http.Request
	// Sent and Received are the bodies.
	Sent, Received []byte
	Status         int
	Header         http.Header
	// Cut is true if the answer ended early.
	Cut bool
}

// Kind is a kind of deviation.
type Kind string

// The kinds of deviations.
const (
	NewField     Kind = "new field"
	MissingField Kind = "missing field"
	WrongType    Kind = "type"
	WrongEnum    Kind = "enum"
	WrongFormat  Kind = "format"
	Wrapped      Kind = "wrapped"
	NewStatus    Kind = "new status"
	NewOperation Kind = "new operation"
	Refused      Kind = "refused"
	BadRequest   Kind = "request"
	NotJSON      Kind = "not JSON"
	OtherRule    Kind = "rule"
)

// Deviation is a place where an exchange and the contract differ. It holds names and types, and no values.
type Deviation struct {
	Kind Kind
	// Place is the path of a field with * for each index and each key of a map, or "query NAME" and the like.
	Place string
	// Expected and Found describe the two sides.
	Expected, Found string
	// Assumption is the ID of the assumption that it refutes, if there is one.
	Assumption string
}

// Checked is what an exchange shows.
type Checked struct {
	// Operation is that of the contract; its ID is empty if there is none, and its path has no values then either.
	Operation Operation
	// Request and Response are the deviations of each side.
	Request, Response []Deviation
	// Confirmed are the IDs of the assumptions that the exchange shows to be right.
	Confirmed []string
}

// Check compares an exchange with the contract. Unlike Handler, it needs nothing that only the emulator sends, so that it can
// judge any server. A refused request that the contract allows is not among the deviations: only the caller knows its purpose.
func (d *Document) Check(ctx context.Context, x *Exchange) *Checked {
	r := x.Request
	rt, params, _ := d.find(r)
	if rt == nil {
		operation := Operation{Method: r.Method, Path: d.withoutValues(r.URL.EscapedPath())}
		return &Checked{Operation: operation, Request: []Deviation{{Kind: NewOperation, Place: "path", Expected: "an operation of the contract", Found: r.Method + " " + operation.Path}}}
	}
	c := &Checked{Operation: rt.Operation}
	sent, answer := newWalker(), newWalker()
	rt.walkRequest(ctx, x, params, sent)
	rt.walkResponse(x, answer)
	c.Request, c.Response = sent.found, answer.found
	for i := range c.Request {
		c.Request[i].Found += " (" + string(c.Request[i].Kind) + ")"
		c.Request[i].Kind, c.Request[i].Assumption = BadRequest, ""
	}
	confirmed := answer.valid()
	if x.Status >= 200 && x.Status < 300 && len(sent.found) == 0 {
		confirmed = append(confirmed, sent.valid()...)
	}
	c.Confirmed = distinct(confirmed)
	return c
}

// CheckRequest returns how a request differs from the contract. Its operation is there.
func (d *Document) CheckRequest(r *http.Request, body []byte) []Deviation {
	rt, params, _ := d.find(r)
	w := newWalker()
	rt.walkRequest(r.Context(), &Exchange{Request: r, Sent: body}, params, w)
	slices.SortFunc(w.found, func(a, b Deviation) int { return strings.Compare(a.Place, b.Place) })
	return w.found
}

// CheckBody returns how the body of a request for an operation differs from the contract.
func (d *Document) CheckBody(operationID string, body []byte) []Deviation {
	w := newWalker()
	value, _ := decode(body)
	w.value(d.Declared(operationID).RequestBody.Value.Content["application/json"].Schema, value, "", "")
	return w.found
}

// withoutValues returns a path in which each segment that is in no path of the contract is replaced.
func (d *Document) withoutValues(path string) string {
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if s != "" && !slices.ContainsFunc(d.routes, func(rt route) bool { return slices.Contains(rt.segments, s) }) {
			segments[i] = "{}"
		}
	}
	return strings.Join(segments, "/")
}

var bearer = regexp.MustCompile(`^Bearer \S+$`)

// walkRequest looks at the parameters and the body of a request.
func (rt *route) walkRequest(ctx context.Context, x *Exchange, params map[string]string, w *walker) {
	if !bearer.MatchString(x.Request.Header.Get("Authorization")) {
		w.add(MissingField, "header Authorization", "a bearer credential", "none", "")
	}
	values, err := url.ParseQuery(x.Request.URL.RawQuery)
	if err != nil {
		w.add(WrongFormat, "query", "a query", "another text", "")
	}
	for name, given := range values {
		switch p := rt.query[name]; {
		case p == nil:
			w.add(NewField, "query "+shownKey(name), "no such parameter", "a parameter", "")
		case len(given) > 1 && !p.Schema.Value.Type.Is(openapi3.TypeArray):
			w.add(WrongFormat, "query "+name, "one value", "several", "")
		}
	}
	options := &openapi3filter.Options{SchemaValidationOptions: formats, SkipSettingDefaults: true} // A check changes no request.
	input := &openapi3filter.RequestValidationInput{Request: x.Request, Route: rt.declared, PathParams: params, Options: options}
	for _, ref := range slices.Concat(rt.declared.PathItem.Parameters, rt.declared.Operation.Parameters) {
		p := ref.Value
		given := p.In == openapi3.ParameterInPath || p.In == openapi3.ParameterInQuery && values.Has(p.Name)
		if given {
			w.see(markOf(p.Extensions, ref.Extensions))
			w.see(markOf(p.Schema.Extensions, p.Schema.Value.Extensions))
		}
		if err := openapi3filter.ValidateParameter(ctx, input, p); err != nil {
			found := "another value"
			if !given {
				found = "none"
			}
			w.add(WrongFormat, p.In+" "+p.Name, describe(p.Schema.Value), found, "")
		}
	}
	body := rt.declared.Operation.RequestBody
	switch {
	case len(x.Sent) == 0:
		if body != nil && body.Value.Required {
			w.add(MissingField, "", "a body", "none", "")
		}
		return
	case body == nil:
		w.add(NewField, "", "no body", "a body", "")
		return
	}
	mark := w.see(markOf(body.Value.Extensions, body.Extensions))
	if given := x.Request.Header.Get("Content-Type"); contentType(given) != "application/json" {
		w.add(WrongFormat, "header Content-Type", "application/json", shownType(given), "")
	}
	value, ok := decode(x.Sent)
	if !ok || !utf8.Valid(x.Sent) { // A lenient decoder reads the first value only, and mends broken text.
		w.add(NotJSON, "", "JSON", form(x.Sent), mark)
		return
	}
	w.value(body.Value.Content["application/json"].Schema, value, "", mark)
}

// walkResponse looks at the status, the headers, and the body of an answer.
func (rt *route) walkResponse(x *Exchange, w *walker) {
	ref := rt.declared.Operation.Responses.Status(x.Status)
	if ref == nil {
		statuses := slices.Sorted(maps.Keys(rt.declared.Operation.Responses.Map()))
		w.add(NewStatus, "status", strings.Join(statuses, ", "), strconv.Itoa(x.Status), "")
		return
	}
	response := ref.Value
	mark := w.see(markOf(response.Extensions, ref.Extensions))
	if ref.Ref != "" {
		mark = "" // What operations share is assumed about the status, and not about the body.
	}
	for name, header := range response.Headers {
		rt.walkHeader(name, header.Value, x.Header.Values(name), w)
	}
	media := response.Content["application/json"]
	given := contentType(x.Header.Get("Content-Type"))
	switch {
	case len(response.Content) == 0:
		if len(x.Received) > 0 && (x.Status < 300 || x.Status > 399) { // A redirect may come with a page for people.
			w.add(WrongType, "", "no body", "a body", mark)
		}
		return
	case media == nil || given != "application/json" && response.Content[given] != nil:
		return
	case x.Cut:
		w.add(NotJSON, "", "JSON", "a body that breaks off", mark)
		return
	}
	value, ok := decode(x.Received)
	if !ok {
		w.add(NotJSON, "", "JSON", form(x.Received), mark)
		return
	}
	if given != "application/json" {
		w.add(WrongFormat, "header Content-Type", "application/json", shownType(given), "")
	}
	w.value(media.Schema, value, "", mark)
}

func (rt *route) walkHeader(name string, header *openapi3.Header, given []string, w *walker) {
	at := "header " + name
	switch {
	case len(given) == 0 && header.Required:
		w.add(MissingField, at, describe(header.Schema.Value), "none", "")
	case len(given) > 0:
		var value any = given[0]
		if isNumber(given[0]) && !header.Schema.Value.Type.Is(openapi3.TypeString) {
			value = json.Number(given[0])
		}
		w.value(header.Schema, value, at, "")
	}
}

// decode reads a body that is one JSON value.
func decode(body []byte) (any, bool) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, false
	}
	_, err := decoder.Token()
	return value, err == io.EOF
}

func form(body []byte) string {
	switch trimmed := bytes.TrimSpace(body); {
	case len(trimmed) == 0:
		return "an empty body"
	case trimmed[0] == '<':
		return "HTML or XML"
	default:
		return "another text"
	}
}

// contentType is a Content-Type without its parameters.
func contentType(header string) string {
	given, _, _ := strings.Cut(header, ";")
	return strings.ToLower(strings.TrimSpace(given))
}

// shownType names the usual content types; any other may be a value.
func shownType(header string) string {
	given := contentType(header)
	if slices.Contains([]string{"text/html", "text/plain", "text/json", "application/problem+json", "application/octet-stream", "application/xml"}, given) {
		return given
	}
	if given == "" {
		return "none"
	}
	return "another type"
}
