package transport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// APIError is an error response.
type APIError struct {
	Op     Operation
	Status int
	// Host is the host of the request, with its port.
	Host string
	// Detail is the service's message; never empty.
	Detail string
	// Metadata has the simple values in the metadata of the error, as the start of JSON on one line; it may be empty.
	Metadata string
	// RequestID is the service's ID of the request; empty if the response has none.
	RequestID string
	// Once says that the request must not be sent twice.
	Once bool
	// Repeated says that an earlier attempt got no response, although the service may have acted on it.
	Repeated bool
	// FromService says that the body is an error of the service, and not from a proxy or another server at base_url. The service
	// sends no redirects.
	FromService bool
	// isDocumented says that the body has a documented field, and not only those of other servers too.
	isDocumented bool
}

func (e *APIError) Error() string {
	text := fmt.Sprintf("%s (%s %s) returned %d: %s", e.Op.Name, e.Op.Method, e.Op.Route, e.Status, e.Detail)
	if e.Metadata != "" {
		text = strings.TrimSuffix(text, ".") + " (" + e.Metadata + ")"
	}
	if e.RequestID != "" {
		text = strings.TrimSuffix(text, ".") + " (request " + e.RequestID + ")"
	}
	return text
}

// TransportError says that a request got no usable response: the connection failed, the request timed out, or the response was
// cut off or not JSON.
type TransportError struct {
	Op Operation
	// Unsent says that the service did not act: nothing was sent, or every attempt was rejected with 429.
	Unsent bool
	// Timeout names the setting of the timeout that expired: "request_timeout" for one attempt, "timeouts" for the whole call;
	// otherwise empty.
	Timeout string
	Err     error
}

func (e *TransportError) Error() string {
	return fmt.Sprintf("%s (%s %s) failed: %v", e.Op.Name, e.Op.Method, e.Op.Route, e.Err)
}

func (e *TransportError) Unwrap() error { return e.Err }

// StatusOf returns the HTTP status of the service's error response in err, or 0 if there is none.
func StatusOf(err error) int {
	if api, ok := errors.AsType[*APIError](err); ok {
		return api.Status
	}
	return 0
}

// IsNotFound reports whether the service itself returned 404. A 404 from another server at base_url says nothing about an
// object.
func IsNotFound(err error) bool { return StatusOf(err) == http.StatusNotFound && !IsForeign(err) }

// IsConflict reports whether the service itself returned 409.
func IsConflict(err error) bool { return StatusOf(err) == http.StatusConflict && !IsForeign(err) }

// IsForeign reports whether an error response came from a proxy or another server at base_url.
func IsForeign(err error) bool {
	var api *APIError
	return errors.As(err, &api) && !api.FromService
}

// ErrTooLarge says that a response is larger than the provider reads. A retry would get the same response.
var ErrTooLarge = fmt.Errorf("is larger than %d bytes", maxBody)

// IsRepeated reports whether the service may have acted on an earlier attempt of the request.
func IsRepeated(err error) bool {
	var api *APIError
	return errors.As(err, &api) && api.Repeated
}

// IsAmbiguous reports whether the service may have acted on a failed request.
func IsAmbiguous(err error) bool {
	if transport, ok := errors.AsType[*TransportError](err); ok {
		return !transport.Unsent
	}
	var api *APIError
	return errors.As(err, &api) && api.MayHaveActed()
}

// MayHaveActed reports whether the response leaves the outcome open. Below 500, these are 408 and nonstandard statuses such as
// 499, which gateways return when a client gives up while the service is working. With any other status, the service did not
// act. The status of another server proves nothing, which matters if the request must not be sent twice, except for a limit that a gateway
// checks before it passes a request on.
func (e *APIError) MayHaveActed() bool {
	switch {
	case e.Once && !e.FromService && e.Status != http.StatusTooManyRequests && e.Status != http.StatusRequestEntityTooLarge:
		return true
	case e.Status == http.StatusNotImplemented:
		return false
	case e.Status >= http.StatusInternalServerError, e.Status == http.StatusRequestTimeout:
		return true
	}
	return http.StatusText(e.Status) == ""
}

// ErrorOf returns the error for an unsuccessful response, in either error format of the service or from a proxy. The service may quote the
// API key, which is masked.
func (c *Conn) ErrorOf(op Operation, resp *http.Response, body []byte) *APIError {
	e := &APIError{Op: op, Status: resp.StatusCode, Host: c.base.Host}
	e.readBody(body)
	if location := resp.Header.Get("Location"); e.Detail == "" && resp.StatusCode < http.StatusBadRequest && location != "" {
		e.Detail = "a redirect, which the provider does not follow because it sends the API key only to base_url; correct base_url"
	}
	if !e.FromService && bytes.Contains(body, []byte("No required SSL certificate was sent")) {
		e.Detail = CertificateRequired
	}
	if e.Detail == "" {
		e.Detail = "no explanation (" + http.StatusText(resp.StatusCode) + ")"
	}
	e.Detail, e.Metadata = strings.ReplaceAll(e.Detail, c.apiKey, "***"), strings.ReplaceAll(e.Metadata, c.apiKey, "***")
	if e.isDocumented && e.Status < http.StatusInternalServerError {
		c.service.note(dateOf(resp.Header), c.Clock.Now())
	}
	return e
}

// readBody decodes each field separately, so that one with an unexpected type does not hide the others.
func (e *APIError) readBody(body []byte) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(body, &fields) != nil {
		return
	}
	detail, hasDetail := wire.TextOf(fields["detail"])
	title, hasTitle := wire.TextOf(fields["title"])
	// The old format has a string in "error". Any other value there is not a message.
	old, hasOld := wire.TextOf(fields["error"])
	requestID, hasRequestID := wire.TextOf(fields["requestId"])
	var items []json.RawMessage
	hasItems := json.Unmarshal(fields["errors"], &items) == nil && items != nil

	e.FromService = e.Status >= http.StatusBadRequest && (hasDetail || hasTitle || hasOld || hasRequestID || hasItems)
	e.isDocumented = e.FromService && (hasDetail || hasTitle)
	e.RequestID = requestID
	e.Detail = cmp.Or(detail, wire.Messages(items), title, old)
	var metadata map[string]any
	if json.Unmarshal(fields["metadata"], &metadata) != nil {
		return
	}
	maps.DeleteFunc(metadata, func(_ string, value any) bool {
		switch value.(type) {
		case string, float64, bool:
			return false
		}
		return true // It may contain the request.
	})
	if len(metadata) > 0 {
		sorted, _ := json.Marshal(metadata) // Decoded JSON can be encoded.
		e.Metadata = fmt.Sprintf("%.*s", maxMetadata, sorted)
		if len(e.Metadata) < len(sorted) {
			e.Metadata += "…"
		}
	}
}

// maxMetadata is how much of an error's metadata is shown, in characters.
const maxMetadata = 200
