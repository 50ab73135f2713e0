package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

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

// Handler returns next with its traffic checked: each request that reaches it and each response that leaves it. Traffic
// is never changed, delayed responses are not held back, and panics pass through. Violations are reported, possibly from
// several goroutines at once, before the handler returns. A response with FaultHeader is not checked. A response that
// refuses as invalid what the contract allows is a violation too, unless it names a rule of Rules for it.
func (d *Document) Handler(next http.Handler, report func(Violation)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rt, params := d.find(r)
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
		r, x, err := read(r)
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
	openapi3.WithStringFormatValidator("date-time", openapi3.NewCallbackValidator(timeThatExists)),
	openapi3.WithStringFormatValidator("date", openapi3.NewCallbackValidator(dateThatExists)),
	openapi3.WithStringFormatValidator("uri", openapi3.NewCallbackValidator(absoluteURI)),
}

// timeThatExists looks at more than digits: there is no 30th of February.
func timeThatExists(value string) error {
	if _, err := time.Parse(time.RFC3339, value); err != nil {
		return errors.New("it is not a time that exists")
	}
	return nil
}

func dateThatExists(value string) error {
	if _, err := time.Parse(time.DateOnly, value); err != nil {
		return errors.New("it is not a date that exists")
	}
	return nil
}

func absoluteURI(value string) error {
	u, err := url.Parse(value)
	if err != nil || !u.IsAbs() {
		return errors.New("it is not an absolute URI")
	}
	return nil
}

// read reads the body of a request, and returns the request with its body intact.
func read(r *http.Request) (*http.Request, *Exchange, error) {
	whole := r.WithContext(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, err := io.ReadAll(r.Body)
	whole.Body = replay{Again(body, err), r.Body}
	if err != nil {
		err = fmt.Errorf("the body breaks off: %w", err)
	}
	return whole, &Exchange{Request: r, Sent: body}, err
}

// broken says what is wrong with a body that a lenient decoder would accept: it may read the first value only, and mend broken text.
func broken(body []byte) string {
	switch {
	case !utf8.Valid(body):
		return "a text that is not UTF-8"
	case !json.Valid(body):
		return "a text that is not one JSON value"
	case holdsLoneSurrogate(body):
		return "a lone surrogate"
	}
	return ""
}

// holdsLoneSurrogate looks for an escape such as \ud800 without its other half in valid JSON.
func holdsLoneSurrogate(body []byte) bool {
	for {
		_, escape, found := bytes.Cut(body, []byte{'\\'})
		if !found {
			return false
		}
		if escape[0] != 'u' {
			body = escape[1:]
			continue
		}
		first := codeUnit(escape)
		body = escape[5:]
		if !utf16.IsSurrogate(first) {
			continue
		}
		if !bytes.HasPrefix(body, []byte(`\u`)) || utf16.DecodeRune(first, codeUnit(body[1:])) == unicode.ReplacementChar {
			return true
		}
		body = body[6:]
	}
}

// codeUnit reads uXXXX.
func codeUnit(escape []byte) rune {
	n, _ := strconv.ParseUint(string(escape[1:5]), 16, 16) // Valid JSON has four digits there.
	return rune(n)
}

// checkResponse returns what is wrong with a response, if it is complete and not a programmed fault.
func (rt *route) checkResponse(x *Exchange, rec *recorder) error {
	if rec.status == 0 && !rec.hijacked { // The server answers so when a handler wrote nothing.
		rec.status, rec.header = http.StatusOK, rec.Header().Clone()
	}
	if rec.hijacked || rec.header.Get(FaultHeader) != "" {
		return nil
	}
	x.Status, x.Header, x.Received = rec.status, rec.header, rec.body.Bytes()
	answer := newWalker()
	rt.walkResponse(x, answer)
	return answer.err()
}
