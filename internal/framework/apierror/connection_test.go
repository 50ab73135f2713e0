package apierror

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Whatever the status, a response that is not from the service leads to base_url and to no attribute.
func TestFor_answersOfOthers(t *testing.T) {
	t.Parallel()
	const (
		login   = "a login page or a proxy"
		server  = "another web server or a proxy"
		gateway = "a gateway"
	)
	for status, tc := range map[int]struct{ who, more string }{
		302: {login, ""}, 401: {login, ""}, 403: {login, ""},
		400: {server, ""}, 404: {server, ""}, 405: {server, ""}, 409: {server, ""}, 422: {server, ""},
		429: {gateway, " If base_url is correct, a gateway in front of the service limits the request rate. The service returned Retry-After 7. " + staySlow},
		500: {gateway, " If base_url is correct, the service is currently unreachable. Try again later."},
		502: {gateway, " If base_url is correct, the service is currently unreachable. Try again later."},
		503: {gateway, " If base_url is correct, the service is currently unreachable. Try again later."},
	} {
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE"} {
			for _, verb := range []string{"create", "read", "update", "delete"} {
				e := &transport.APIError{Operation: "useThing", Method: method, Route: idRoute, Status: status, Detail: "the name is odd", RetryAfter: "7"}
				at, _, remedy := translate(t, verb, e, thingFields, Advice{status: "Do that."})
				want := fmt.Sprintf("The response %d to %s %s is not in the service's format. It may come from %s. Check base_url, including its path.%s", status, method, idRoute, tc.who, tc.more)
				if status >= 500 && method != "GET" {
					want += " " + acted
				}
				if at != "" || remedy != want {
					t.Errorf("%d after %s, %s: at %q:\n%s\nwant:\n%s", status, method, verb, at, remedy, want)
				}
			}
		}
	}
}

// A connection that always fails the same way has a remedy of its own.
func TestFor_connections(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"On Linux, set SSL_CERT_FILE to a file with the CA's certificate.":                                 &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}},
		"start it with http:// instead of https://":                                                        http.ErrSchemeMismatch,
		"Set HTTPS_PROXY to a URL with the proxy's user name and password":                                 &net.OpError{Op: "proxyconnect", Err: transport.ErrProxyLogin},
		"The service's rate limit was exceeded, and the provider stopped waiting. Set requests_per_second": transport.ErrHeldBack,
		checkConnection: io.EOF,
	} {
		if _, _, remedy := translate(t, "create", &transport.TransportError{Operation: "createComputer", Unsent: true, Err: err}); !strings.Contains(remedy, want) {
			t.Errorf("%v: %s", err, remedy)
		}
	}
}

// The response of another server to a create request is named even if a search for the object followed.
func TestFor_otherServers(t *testing.T) {
	t.Parallel()
	page := &transport.APIError{Operation: "createComputer", Method: "POST", Route: fixedRoute, Once: true, Detail: "no explanation"}
	for status, want := range map[int]string{
		302: "It may come from a login page or a proxy. Check base_url",
		404: "It may come from another web server or a proxy. Check base_url",
		407: "Set HTTPS_PROXY",
		502: "It may come from a gateway. Check base_url",
	} {
		page.Status = status
		for _, err := range []error{page, &create.LostError{Object: "computer", Name: "a", Err: page}, &create.LostError{Object: "session", Err: page}} {
			_, _, remedy := translate(t, "create", err)
			if !strings.Contains(remedy, want) || !errors.As(err, new(*create.LostError)) && !strings.Contains(remedy, acted) {
				t.Errorf("%d, %T: %s", status, err, remedy)
			}
		}
	}
}
