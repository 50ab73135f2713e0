package transport

import (
	"net/http"
	"net/url"
	"time"
)

// maxBody is how much of one response is read, in bytes.
const maxBody = 64 << 20

// Operation is one operation of the API.
type Operation struct {
	// Name is the operationId.
	Name   string
	Method string
	// Route is the path with its placeholders.
	Route string
	// Repeatable marks a POST that may be sent twice without harm. All other methods are repeatable.
	Repeatable bool
	// Slow marks an operation that may take minutes. Each attempt has at least slowTime, and is not retried after a timeout,
	// because the service would start over.
	Slow bool
}

// slowTime is the minimum timeout of one attempt at a slow operation, even if request_timeout is shorter.
const slowTime = 5 * time.Minute

// Changes reports whether the operation may change something.
func (o Operation) Changes() bool { return o.Method != http.MethodGet }

// Request is one call of an operation.
type Request struct {
	Op Operation
	// Path has the values of the route's placeholders, in order.
	Path  []string
	Query url.Values
	// Body is sent as JSON; nil means no body.
	Body any
	// Accept is the Accept header; empty means JSON.
	Accept string
}

// Get returns a request without a body. Path has the values of the route's placeholders, in order.
func Get(name, route string, path ...string) Request { return to(http.MethodGet, name, route, path) }

// Post is Get with another method, as are Put, Patch, and Delete.
func Post(name, route string, path ...string) Request { return to(http.MethodPost, name, route, path) }

func Put(name, route string, path ...string) Request { return to(http.MethodPut, name, route, path) }

func Patch(name, route string, path ...string) Request {
	return to(http.MethodPatch, name, route, path)
}

func Delete(name, route string, path ...string) Request {
	return to(http.MethodDelete, name, route, path)
}

func to(method, name, route string, path []string) Request {
	return Request{Op: Operation{Name: name, Method: method, Route: route}, Path: path}
}

// With returns the request with a body.
func (r Request) With(body any) Request {
	r.Body = body
	return r
}

// Where returns the request with a query.
func (r Request) Where(query url.Values) Request {
	r.Query = query
	return r
}

// Repeatable returns the request of a POST that may be sent twice without harm.
func (r Request) Repeatable() Request {
	r.Op.Repeatable = true
	return r
}
