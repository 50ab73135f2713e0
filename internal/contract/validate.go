package contract

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
)

// FaultHeader marks a response that a programmed fault made. Such a response breaks the contract on purpose.
const FaultHeader = "X-Agentyard-Emulator-Fault"

// Side says which half of an exchange broke the contract.
type Side string

// The two sides.
const (
	Request  Side = "request"
	Response Side = "response"
)

// Violation is a request or a response that the contract does not allow.
type Violation struct {
	// Operation is the operation's ID; it is empty if the contract has none for this method and path.
	Operation string
	// Method and Path are those of the request; the path is as it was sent, without the query.
	Method, Path string
	// Status is the HTTP status of the response, also if the request is at fault: 400 means that the service noticed.
	// It is 0 if there was no response.
	Status int
	// Side says whose mistake it is.
	Side Side
	// Err says what is wrong. It holds no values of bodies, for these may be secrets.
	Err error
}

// Handler returns next with its traffic checked. Violations are reported before it returns, possibly from several goroutines at once.
// A response with FaultHeader is not checked. One that refuses what the contract allows is a violation, unless it names a rule of Rules.
func (d *Document) Handler(next http.Handler, report func(Violation)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rt, params, _ := d.find(r)
		rec := &recorder{ResponseWriter: w}
		violation := Violation{Method: r.Method, Path: r.URL.EscapedPath()}
		tell := func(side Side, err error) {
			if err != nil {
				violation.Side, violation.Status, violation.Err = side, rec.status, err
				report(violation)
			}
		}
		if rt == nil {
			defer func() { tell(Request, fmt.Errorf("the contract has no operation %s %s", r.Method, violation.Path)) }()
			next.ServeHTTP(rec, r)
			return
		}
		violation.Operation = rt.ID
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		x := &Exchange{Request: r, Sent: body}
		if err == nil {
			sent := newWalker()
			rt.walkRequest(r.Context(), x, params, sent)
			err = sent.err()
		}
		// Deferred, for only then is the status known; and the handler may end with a panic.
		defer func() { tell(Request, err) }()
		next.ServeHTTP(rec, r)
		tell(Response, rt.checkResponse(x, rec))
		if err == nil {
			tell(Response, rt.checkRefusal(rec))
		}
	})
}

// formats are those that the OpenAPI library does not check unless it is told how.
var formats = []openapi3.SchemaValidationOption{
	openapi3.WithStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)),
	openapi3.WithStringFormatValidator("email", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForEmail)),
	openapi3.WithStringFormatValidator("date-time", openapi3.NewCallbackValidator(func(v string) error { _, err := time.Parse(time.RFC3339, v); return err })),
	openapi3.WithStringFormatValidator("date", openapi3.NewCallbackValidator(func(v string) error { _, err := time.Parse(time.DateOnly, v); return err })),
	openapi3.WithStringFormatValidator("uri", openapi3.NewCallbackValidator(func(v string) error {
		if u, err := url.Parse(v); err != nil || !u.IsAbs() {
			return errors.New("it is not an absolute URI")
		}
		return nil
	})),
}

// checkResponse returns what is wrong with a response, if it is complete and not a programmed fault.
func (rt *route) checkResponse(x *Exchange, rec *recorder) error {
	if rec.status == 0 { // The server answers so when a handler wrote nothing.
		rec.status, rec.header = http.StatusOK, rec.Header().Clone()
	}
	if rec.header.Get(FaultHeader) != "" {
		return nil
	}
	x.Status, x.Header, x.Received = rec.status, rec.header, rec.body.Bytes()
	answer := newWalker()
	rt.walkResponse(x, answer)
	return answer.err()
}

// recorder passes a response on as it is written and keeps a copy.
type recorder struct {
	http.ResponseWriter
	status int
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) WriteHeader(status int) {
	if r.status != 0 {
		return
	}
	if status >= http.StatusOK { // Lower ones only announce the response.
		r.status, r.header = status, r.Header().Clone()
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *recorder) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	r.body.Write(p)
	return r.ResponseWriter.Write(p)
}
