// Package contract holds the OpenAPI document of the service and checks traffic against it. The document is this
// project's reading of the API; what it assumes beyond the API's documentation is marked with x-assumption, and operations that
// the documentation lacks with x-beyond.
package contract

import (
	"cmp"
	_ "embed"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/routers"
)

//go:embed openapi.yaml
var source []byte

// Document is the loaded contract. Its methods may be called from any goroutine.
type Document struct {
	spec        *openapi3.T
	routes      []route
	assumptions func() []Assumption // Found when they are asked for: the emulator needs none.
}

// Operation is one operation of the API.
type Operation struct {
	// ID is the operationId, such as "createComputer".
	ID string
	// Method is the HTTP method in capitals.
	Method string
	// Path is the whole path, with parameters in braces.
	Path string
	// Tag is the area the operation belongs to.
	Tag string
	// Beyond is the source of an operation that none of the documents has which the contract follows.
	Beyond string
}

// route is an operation, prepared for matching.
type route struct {
	Operation
	declared *routers.Route
	segments []string
	query    map[string]*openapi3.Parameter
}

// Load returns the contract. It is read once; an error means that the document in this package is broken.
var Load = sync.OnceValues(func() (*Document, error) {
	loader := openapi3.NewLoader()
	spec, err := loader.LoadFromData(source)
	if err != nil {
		return nil, fmt.Errorf("read the contract: %w; correct internal/contract/openapi.yaml", err)
	}
	d := newDocument(spec)
	d.assumptions = sync.OnceValue(d.findAssumptions)
	return d, nil
})

func newDocument(spec *openapi3.T) *Document {
	d := &Document{spec: spec}
	for path, item := range spec.Paths.Map() {
		for method, operation := range item.Operations() {
			beyond, _ := operation.Extensions["x-beyond"].(string)
			rt := route{
				Operation: Operation{operation.OperationID, method, path, strings.Join(operation.Tags, ", "), beyond},
				declared:  &routers.Route{Spec: spec, Path: path, PathItem: item, Method: method, Operation: operation},
				segments:  strings.Split(path, "/"),
				query:     map[string]*openapi3.Parameter{},
			}
			for _, p := range slices.Concat(item.Parameters, operation.Parameters) {
				if p.Value.In == openapi3.ParameterInQuery {
					rt.query[p.Value.Name] = p.Value
				}
			}
			d.routes = append(d.routes, rt)
		}
	}
	slices.SortFunc(d.routes, compareRoutes)
	return d
}

// compareRoutes sorts by path and method. "{" sorts after every letter, so at the first segment that differs, a literal one
// comes before a parameter, and the first route that matches is the right one.
func compareRoutes(a, b route) int {
	return cmp.Or(slices.Compare(a.segments, b.segments), strings.Compare(a.Method, b.Method))
}

// Operations returns all operations, sorted by path and method.
func (d *Document) Operations() []Operation {
	operations := make([]Operation, len(d.routes))
	for i := range d.routes {
		operations[i] = d.routes[i].Operation
	}
	return operations
}

// Declared returns an operation as the document declares it, or nil.
func (d *Document) Declared(operationID string) *openapi3.Operation {
	for i := range d.routes {
		if d.routes[i].ID == operationID {
			return d.routes[i].declared.Operation
		}
	}
	return nil
}

// Allows reports whether a field of a named schema may have a value, which is JSON.
func (d *Document) Allows(schema, field string, value []byte) bool {
	v, ok := decode(value)
	return ok && d.spec.Components.Schemas[schema].Value.Properties[field].Value.VisitJSON(v, formats...) == nil
}

// Match returns the ID of the operation a request is for, or false if the contract has none.
func (d *Document) Match(r *http.Request) (operationID string, ok bool) {
	operationID, _, _ = d.Find(r)
	return operationID, operationID != ""
}

// Find returns the operation of a request and the values of its path. Without one, it returns the methods that the path has.
func (d *Document) Find(r *http.Request) (operationID string, params map[string]string, methods []string) {
	rt, params, methods := d.find(r)
	if rt != nil {
		operationID = rt.ID
	}
	return operationID, params, methods
}

// find returns the route of a request and the values of its path parameters. Segments are decoded after they are
// split, so an escaped slash stays inside of its value; the routers of the OpenAPI library do not manage that.
func (d *Document) find(r *http.Request) (found *route, params map[string]string, methods []string) {
	var segments []string
	for s := range strings.SplitSeq(r.URL.EscapedPath(), "/") {
		value, err := url.PathUnescape(s)
		if err != nil {
			return nil, nil, nil
		}
		segments = append(segments, value)
	}
	for i := range d.routes {
		rt := &d.routes[i]
		if params, ok := rt.match(segments); ok && rt.Method == r.Method {
			return rt, params, nil
		} else if ok {
			methods = append(methods, rt.Method)
		}
	}
	return nil, nil, distinct(methods)
}

func (rt *route) match(segments []string) (map[string]string, bool) {
	if len(segments) != len(rt.segments) {
		return nil, false
	}
	params := map[string]string{}
	for i, s := range rt.segments {
		switch {
		case strings.HasPrefix(s, "{"):
			if segments[i] == "" {
				return nil, false
			}
			params[strings.Trim(s, "{}")] = segments[i]
		case s != segments[i]:
			return nil, false
		}
	}
	return params, true
}
