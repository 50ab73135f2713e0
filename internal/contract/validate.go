package contract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
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
		input := &openapi3filter.RequestValidationInput{Route: rt.declared, PathParams: params, Options: options}
		r, err := rt.checkRequest(input, r)
		// Deferred, for only then is the status known; and the handler may end with a panic.
		defer func() { tell(Request, err) }()
		next.ServeHTTP(rec, r)
		tell(Response, rt.checkResponse(r.Context(), input, rec))
		if err == nil {
			tell(Response, rt.checkRefusal(rec))
		}
	})
}

// options are what the OpenAPI library is told. Defaults are not filled in, for that would change the request.
var options = newOptions()

func newOptions() *openapi3filter.Options {
	o := &openapi3filter.Options{
		MultiError:                        true,
		RejectWhenRequestBodyNotSpecified: true,
		SkipSettingDefaults:               true,
		AuthenticationFunc:                bearerGiven,
		SchemaValidationOptions: []openapi3.SchemaValidationOption{
			openapi3.WithStringFormatValidator("uuid", openapi3.NewRegexpFormatValidator(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)),
			openapi3.WithStringFormatValidator("email", openapi3.NewRegexpFormatValidator(openapi3.FormatOfStringForEmail)),
			openapi3.WithStringFormatValidator("date-time", openapi3.NewCallbackValidator(timeThatExists)),
			openapi3.WithStringFormatValidator("date", openapi3.NewCallbackValidator(dateThatExists)),
			openapi3.WithStringFormatValidator("uri", openapi3.NewCallbackValidator(absoluteURI)),
		},
	}
	o.WithCustomSchemaErrorFunc(func(e *openapi3.SchemaError) string {
		text := fmt.Sprintf("%s at /%s", e.Reason, strings.Join(e.JSONPointer(), "/"))
		if e.Origin != nil && (e.SchemaField == "oneOf" || e.SchemaField == "allOf") {
			text += " (" + e.Origin.Error() + ")"
		}
		return text
	})
	return o
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

var bearer = regexp.MustCompile(`^Bearer \S+$`)

// bearerGiven only looks for a credential; whether it is valid is the service's business.
func bearerGiven(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	if !bearer.MatchString(input.RequestValidationInput.Request.Header.Get("Authorization")) {
		return errors.New("the Authorization header holds no bearer credential")
	}
	return nil
}

// checkRequest returns what is wrong with a request, and the request with its body intact.
func (rt *route) checkRequest(input *openapi3filter.RequestValidationInput, r *http.Request) (*http.Request, error) {
	whole := r.WithContext(r.Context())
	if r.Body == nil {
		r.Body = http.NoBody
	}
	body, readErr := io.ReadAll(r.Body)
	whole.Body = replay{io.MultiReader(bytes.NewReader(body), failing{readErr}), r.Body}

	// The library reads the copy's body and may set it anew.
	input.Request = r.Clone(r.Context())
	input.Request.Body, input.Request.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	if readErr != nil {
		return whole, fmt.Errorf("the body breaks off: %w", readErr)
	}
	return whole, errors.Join(rt.checkQuery(r.URL.RawQuery), checkText(body), openapi3filter.ValidateRequest(r.Context(), input))
}

// checkText finds what the library's decoder passes over: it reads the first value of a body only, and mends broken text.
func checkText(body []byte) error {
	switch {
	case len(body) == 0:
		return nil
	case !utf8.Valid(body):
		return errors.New("the body is not UTF-8")
	case !json.Valid(body):
		return errors.New("the body is not one JSON value")
	case holdsLoneSurrogate(body):
		return errors.New("the body holds a lone surrogate")
	}
	return nil
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

// checkQuery finds what the library does not look for: undeclared parameters and repeated ones.
func (rt *route) checkQuery(raw string) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return fmt.Errorf("the query cannot be parsed: %w", err)
	}
	var problems []error
	for name, given := range values {
		switch p := rt.query[name]; {
		case p == nil:
			problems = append(problems, fmt.Errorf("the query parameter %q is not declared", name))
		case len(given) > 1 && !p.Schema.Value.Type.Is(openapi3.TypeArray):
			problems = append(problems, fmt.Errorf("the query parameter %q was given %d times", name, len(given)))
		}
	}
	return errors.Join(problems...)
}

// checkResponse returns what is wrong with a response, if it is complete and not a programmed fault.
func (rt *route) checkResponse(ctx context.Context, input *openapi3filter.RequestValidationInput, rec *recorder) error {
	if rec.status == 0 && !rec.hijacked { // The server answers so when a handler wrote nothing.
		rec.status, rec.header = http.StatusOK, rec.Header().Clone()
	}
	if rec.hijacked || rec.header.Get(FaultHeader) != "" {
		return nil
	}
	response := rt.declared.Operation.Responses.Status(rec.status)
	switch {
	case response == nil:
		statuses := slices.Sorted(maps.Keys(rt.declared.Operation.Responses.Map()))
		return fmt.Errorf("the status %d is not declared; declared are %s", rec.status, strings.Join(statuses, ", "))
	case len(response.Value.Content) == 0 && rec.body.Len() > 0:
		return fmt.Errorf("an answer of status %d has no body, but this has %d bytes", rec.status, rec.body.Len())
	}
	return openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
		RequestValidationInput: input,
		Status:                 rec.status,
		Header:                 rec.header,
		Body:                   io.NopCloser(bytes.NewReader(rec.body.Bytes())),
		Options:                options,
	})
}
