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
	// Noun is the field that may contain the object in the response.
	Noun string
	// Accept is the Accept header; empty means JSON.
	Accept string
}
