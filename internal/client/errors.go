package client

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// APIError is an answer of the service that reports a failure.
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
}

func (e *APIError) Error() string {
	text := fmt.Sprintf("%s (%s %s) answered %d: %s", e.Operation, e.Method, e.Route, e.Status, e.Detail)
	if e.RequestID != "" {
		text += " (request " + e.RequestID + ")"
	}
	return text
}

// TransportError is a request that got no usable answer: the connection failed, timed out, or what came was cut off or not JSON.
type TransportError struct {
	Operation string
	Method    string
	Route     string
	// Unsent says that the request surely did not reach the service.
	Unsent bool
	Err    error
}

func (e *TransportError) Error() string {
	return fmt.Sprintf("%s (%s %s) got no usable answer: %v", e.Operation, e.Method, e.Route, e.Err)
}

func (e *TransportError) Unwrap() error { return e.Err }

// ExistsError says that nothing was created because an object of that name exists that this run did not make.
type ExistsError struct {
	// Object is what it is, such as "computer".
	Object string
	// Name is its name, ID its identifier in the service, ImportID what `terraform import` takes.
	Name, ID, ImportID string
	// CreatedAt is zero where the service does not tell.
	CreatedAt time.Time
}

func (e *ExistsError) Error() string {
	text := fmt.Sprintf("a %s named %q exists already, with ID %s", e.Object, e.Name, e.ID)
	if !e.CreatedAt.IsZero() {
		text += ", created at " + e.CreatedAt.UTC().Format(time.RFC3339)
	}
	return text
}

// LostError is a create whose answer was lost and whose object could not be found afterwards.
type LostError struct {
	Object, Name string
	// Err is why the answer is missing.
	Err error
}

func (e *LostError) Error() string {
	return fmt.Sprintf("the answer to creating the %s %q was lost, and no such %s is found: %v", e.Object, e.Name, e.Object, e.Err)
}

func (e *LostError) Unwrap() error { return e.Err }

// StatusOf returns the HTTP status of the service's answer behind err, or 0 if there was none.
func StatusOf(err error) int {
	var api *APIError
	if errors.As(err, &api) {
		return api.Status
	}
	return 0
}

// IsNotFound reports that the service answered 404.
func IsNotFound(err error) bool { return StatusOf(err) == http.StatusNotFound }

// IsConflict reports that the service answered 409.
func IsConflict(err error) bool { return StatusOf(err) == http.StatusConflict }

// isAmbiguous reports that the service may have acted on a request although it failed.
func isAmbiguous(err error) bool {
	var transport *TransportError
	if errors.As(err, &transport) {
		return !transport.Unsent
	}
	return StatusOf(err) >= http.StatusInternalServerError && StatusOf(err) != http.StatusNotImplemented
}

// newAPIError reads both error forms of the service, and anything a proxy may answer in its place.
func newAPIError(op operation, resp *http.Response, body []byte) *APIError {
	e := &APIError{Operation: op.name, Method: op.method, Route: op.route, Status: resp.StatusCode, RetryAfter: resp.Header.Get("Retry-After")}
	var known struct {
		Detail    string `json:"detail"`
		Title     string `json:"title"`
		RequestID string `json:"requestId"`
		Errors    []struct {
			Message string `json:"message"`
		} `json:"errors"`
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &known) == nil {
		e.RequestID = known.RequestID
		e.Detail = known.Detail
		if e.Detail == "" {
			var messages []string
			for _, item := range known.Errors {
				if item.Message != "" {
					messages = append(messages, item.Message)
				}
			}
			e.Detail = strings.Join(messages, "; ")
		}
		if e.Detail == "" {
			e.Detail = known.Title
		}
		if e.Detail == "" {
			// An old form has the text alone in "error"; anything else there is not for people.
			_ = json.Unmarshal(known.Error, &e.Detail)
		}
	}
	if location := resp.Header.Get("Location"); e.Detail == "" && resp.StatusCode >= 300 && resp.StatusCode < 400 && location != "" {
		e.Detail = "a redirect, which is not followed because the API key goes only to base_url; check base_url"
	}
	if e.Detail == "" {
		e.Detail = "no explanation (" + http.StatusText(resp.StatusCode) + ")"
	}
	return e
}
