package transport

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// APIError is a response of the service that reports a failure.
type APIError struct {
	// Operation is the operation's name in the contract, such as "createComputer".
	Operation string
	Method    string
	// Route is the operation's path with its placeholders, such as "/api/v0/computers/{computerId}".
	Route string
	// Status is the HTTP status code.
	Status int
	// Detail is what the service says went wrong; never empty.
	Detail string
	// RequestID identifies the request at the service, where it says so.
	RequestID string
	// RetryAfter is the raw header, where the service sent one.
	RetryAfter string
	// TooLong says that the service asks for a longer pause than is made.
	TooLong bool
	// Slow says that the operation is one that is not sent again once time ran out for it.
	Slow bool
	// Repeated says that an earlier attempt at the request got no response, although the service may have acted on it.
	Repeated bool
	// FromService says that the body is an error of the service, and not the page of a proxy or another server at base_url.
	FromService bool
}

func (e *APIError) Error() string {
	text := fmt.Sprintf("%s (%s %s) returned %d: %s", e.Operation, e.Method, e.Route, e.Status, e.Detail)
	if e.RequestID != "" {
		text = strings.TrimSuffix(text, ".") + " (request " + e.RequestID + ")"
	}
	return text
}

// TransportError is a request that got no usable answer: the connection failed, timed out, or what came was cut off or not JSON.
type TransportError struct {
	Operation string
	Method    string
	Route     string
	// Unsent says that the service surely did not act: nothing was sent, or all that was sent was refused with 429.
	Unsent bool
	// Changes says that the request was one that changes something.
	Changes bool
	// Timeout names the setting whose time ran out: "request_timeout" for one attempt, "timeouts" for the whole call, else empty.
	Timeout string
	// AtLeast is the time that the operation has even where request_timeout is shorter, if that ran out, else 0.
	AtLeast time.Duration
	Err     error
}

func (e *TransportError) Error() string {
	return fmt.Sprintf("%s (%s %s) failed: %v", e.Operation, e.Method, e.Route, e.Err)
}

func (e *TransportError) Unwrap() error { return e.Err }

// StatusOf returns the HTTP status of the service's response behind err, or 0 if there was none.
func StatusOf(err error) int {
	var api *APIError
	if errors.As(err, &api) {
		return api.Status
	}
	return 0
}

// IsNotFound reports that the service itself answered 404. The 404 page of another server at base_url says nothing about an object.
func IsNotFound(err error) bool { return StatusOf(err) == http.StatusNotFound && !IsForeign(err) }

// IsConflict reports that the service itself answered 409.
func IsConflict(err error) bool { return StatusOf(err) == http.StatusConflict && !IsForeign(err) }

// IsForeign reports a response that is not one of the service's errors, as of a proxy or of another server at base_url.
func IsForeign(err error) bool {
	var api *APIError
	return errors.As(err, &api) && !api.FromService
}

// IsRepeated reports a response to a request on which the service may have acted before.
func IsRepeated(err error) bool {
	var api *APIError
	return errors.As(err, &api) && api.Repeated
}

// IsAmbiguous reports that the service may have acted on a request although it failed.
func IsAmbiguous(err error) bool {
	var transport *TransportError
	if errors.As(err, &transport) {
		return !transport.Unsent
	}
	var api *APIError
	return errors.As(err, &api) && api.MayHaveActed()
}

// MayHaveActed reports a status that leaves open what came of the request. Below 500 these are 408 and those of no standard,
// such as 499, by which a gateway says that somebody gave up while the service was at work. Every other refusal was given before.
func (e *APIError) MayHaveActed() bool {
	switch {
	case e.Status == http.StatusNotImplemented:
		return false
	case e.Status >= http.StatusInternalServerError, e.Status == http.StatusRequestTimeout:
		return true
	}
	return e.Status >= http.StatusBadRequest && http.StatusText(e.Status) == ""
}

// newAPIError reads both error forms of the service, and anything a proxy may answer in its place.
func newAPIError(op Operation, resp *http.Response, body []byte) *APIError {
	e := &APIError{Operation: op.Name, Method: op.Method, Route: op.Route, Status: resp.StatusCode, RetryAfter: resp.Header.Get("Retry-After"), Slow: op.Slow}
	e.readBody(body)
	if location := resp.Header.Get("Location"); e.Detail == "" && resp.StatusCode < http.StatusBadRequest && location != "" {
		e.Detail = "a redirect, which the provider does not follow because it sends the API key only to base_url; correct base_url"
	}
	if e.Detail == "" {
		e.Detail = "no explanation (" + http.StatusText(resp.StatusCode) + ")"
	}
	return e
}

// readBody decodes every field by itself, so that one of an unexpected type does not hide the others.
func (e *APIError) readBody(body []byte) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return
	}
	detail, hasDetail := TextOf(fields["detail"])
	title, hasTitle := TextOf(fields["title"])
	// An old form has the text alone in "error"; anything else there is not for people.
	old, hasOld := TextOf(fields["error"])
	requestID, hasRequestID := TextOf(fields["requestId"])
	var items []json.RawMessage
	hasItems := json.Unmarshal(fields["errors"], &items) == nil && items != nil

	e.FromService = hasDetail || hasTitle || hasOld || hasRequestID || hasItems
	e.RequestID = requestID
	e.Detail = cmp.Or(detail, messagesOf(items), title, old)
}

// messagesOf joins the findings of a list, which are texts or objects with a message.
func messagesOf(items []json.RawMessage) string {
	var messages []string
	for _, item := range items {
		text, ok := TextOf(item)
		if !ok {
			var object map[string]json.RawMessage
			_ = json.Unmarshal(item, &object)
			text, _ = TextOf(object["message"])
		}
		if text != "" {
			messages = append(messages, text)
		}
	}
	return strings.Join(messages, "; ")
}

// TextOf returns a JSON string; ok is false for every other value, null included.
func TextOf(raw json.RawMessage) (text string, ok bool) {
	var decoded *string
	if json.Unmarshal(raw, &decoded) != nil || decoded == nil {
		return "", false
	}
	return *decoded, true
}
