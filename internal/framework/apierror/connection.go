package apierror

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

const proxyLogin = "A proxy requires a login. Set HTTPS_PROXY to a URL with the proxy's user name and password, such as http://USER:PASSWORD@HOST:PORT."

const checkConnection = "Check base_url, the network, and any proxy."

// connectionRemedy depends on why there is no response.
func connectionRemedy(err error) string {
	var unknownCA x509.UnknownAuthorityError
	switch {
	case errors.As(err, &unknownCA):
		return "The certificate of base_url, or of a proxy, is from an unknown CA. On Linux, set SSL_CERT_FILE to a file with the CA's certificate. On macOS and Windows, add it to the system's store."
	case errors.Is(err, http.ErrSchemeMismatch):
		return "The server at base_url uses plain HTTP. Correct the port in base_url, or start it with http:// instead of https:// if the server is on this machine."
	case errors.Is(err, transport.ErrHeldBack):
		return "The service's rate limit was exceeded, and the provider stopped waiting. " + staySlow
	case errors.Is(err, transport.ErrProxyLogin):
		return proxyLogin
	}
	return checkConnection
}

// afterForeignResponse is the remedy for a response that is not in the service's format, so its status proves nothing.
func (f *failure) afterForeignResponse(e *transport.APIError) string {
	more := ""
	switch {
	case e.Status == http.StatusTooManyRequests:
		more = phrase.Join("If base_url is correct, a gateway in front of the service limits the request rate.", retryAfter(e), staySlow)
	case isFromGateway(e):
		more = "If base_url is correct, the service is currently unreachable. Try again later."
	}
	return phrase.Join(notTheService(e), more, f.mayHaveActed())
}

// notTheService says where a response may come from that is not in the service's format.
func notTheService(e *transport.APIError) string {
	who := "another web server or a proxy"
	switch {
	case e.Status == http.StatusProxyAuthRequired:
		return proxyLogin
	case e.Status < http.StatusBadRequest, e.Status == http.StatusUnauthorized, e.Status == http.StatusForbidden:
		who = "a login page or a proxy"
	case e.Status == http.StatusTooManyRequests, isFromGateway(e):
		who = "a gateway"
	}
	return fmt.Sprintf("The response %d to %s %s is not in the service's format. It may come from %s. Check base_url, including its path.", e.Status, e.Method, e.Route, who)
}

// isFromGateway reports whether gateways return a status because they got no response from the service.
func isFromGateway(e *transport.APIError) bool {
	return e.Status >= http.StatusInternalServerError && e.Status != http.StatusNotImplemented || e.Status == http.StatusRequestTimeout || http.StatusText(e.Status) == ""
}

// Foreign names the server that responded instead of the service; empty if there is none.
func Foreign(err error) string {
	var api *transport.APIError
	if errors.As(err, &api) && !api.FromService {
		return notTheService(api)
	}
	return ""
}

// whyLost names the server that responded instead of the service, or the setting that timed out.
func (f *failure) whyLost() string { return cmp.Or(Foreign(f.err), deadlineIn(f.err)) }

// deadlineIn names the setting that timed out. A deadline without a transport error comes from a timeouts block.
func deadlineIn(err error) string {
	failed := all[*transport.TransportError](err)
	for _, e := range failed {
		switch {
		case e.Timeout == "request_timeout" && e.AtLeast > 0:
			return fmt.Sprintf("The service did not respond within %v, the minimum for this operation. To allow more time, set a higher request_timeout in the provider block.", e.AtLeast)
		case e.Timeout == "request_timeout":
			return "The service did not respond within request_timeout. To allow more time, raise request_timeout in the provider block."
		case e.Timeout == "timeouts":
			return outOfTime
		}
	}
	if errors.Is(err, context.DeadlineExceeded) && len(failed) == 0 {
		return outOfTime
	}
	return ""
}

const outOfTime = "The operation exceeded its timeout. To allow more time, raise it in the timeouts block."
