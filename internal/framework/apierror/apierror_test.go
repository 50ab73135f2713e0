package apierror

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

const (
	fixedRoute = "/api/v0/things"
	idRoute    = "/api/v0/things/{thingId}"
	acted      = "The service may have completed the request. It is safe to run again."
)

// translate returns the path and the two paragraphs of the only error.
func translate(t *testing.T, verb string, err error, options ...Option) (at, what, remedy string) {
	t.Helper()
	diags := For(verb, "computer", err, options...)
	if len(diags) != 1 || diags[0].Severity() != diag.SeverityError || diags[0].Summary() != "Cannot "+verb+" computer" {
		t.Fatalf("got %v", diags)
	}
	if d, ok := diags[0].(diag.DiagnosticWithPath); ok {
		at = d.Path().String()
	}
	what, remedy, _ = strings.Cut(diags[0].Detail(), "\n\n")
	return at, what, remedy
}

// A status has one remedy. The object's advice replaces it, and its attribute shows the error.
func TestFor_statuses(t *testing.T) {
	t.Parallel()
	const hint = "If service_account_id is a name, look up the ID with the data source agentyard_service_account."
	account, source := path.Root("service_account_id"), path.Root("source_id")
	for name, tc := range map[string]struct {
		status   int
		method   string
		options  Options
		at, want string
	}{
		"400":                             {status: 400, want: remedies[400]},
		"422":                             {status: 422, want: remedies[400]},
		"401":                             {status: 401, want: remedies[401]},
		"402":                             {status: 402, want: remedies[402]},
		"403":                             {status: 403, want: remedies[403]},
		"404":                             {status: 404, want: remedies[404]},
		"409":                             {status: 409, want: remedies[409]},
		"424":                             {status: 424, want: remedies[424]},
		"429":                             {status: 429, want: remedies[429]},
		"500":                             {status: 500, want: remedies[500] + " " + acted},
		"503 of a GET":                    {status: 503, method: "GET", want: remedies[500]},
		"507":                             {status: 507, want: remedies[500] + " " + acted},
		"408":                             {status: 408, want: remedies[500] + " " + acted},
		"501":                             {status: 501, want: remedies[501]},
		"405":                             {status: 405, want: "The service does not return this status for this request. Check base_url."},
		"with advice":                     {status: 400, options: Options{Advice{400: "Do that."}}, want: "Do that."},
		"with advice on another":          {status: 400, options: Options{Advice{404: "Do that."}}, want: remedies[400]},
		"at an argument":                  {status: 403, options: Options{AtStatus{403: source}}, at: "source_id", want: remedies[403]},
		"404 at an argument":              {status: 404, options: Options{AtStatus{404: source}}, at: "source_id", want: "The object was not found, or the provider's API key cannot see it. Check source_id."},
		"404 at an ID":                    {status: 404, options: Options{AtStatus{404: account}}, at: "service_account_id", want: "The object was not found, or the provider's API key cannot see it. Check service_account_id. " + hint},
		"404 at an ID, with advice":       {status: 404, options: Options{AtStatus{404: account}, Advice{404: "Do that."}}, at: "service_account_id", want: "Do that. " + hint},
		"400 at an ID, with advice":       {status: 400, options: Options{AtStatus{400: account}, Advice{400: "Do that."}}, at: "service_account_id", want: "Do that. " + hint},
		"another status at an ID":         {status: 409, options: Options{AtStatus{409: account}}, at: "service_account_id", want: remedies[409]},
		"404 at no argument, with advice": {status: 404, options: Options{Advice{404: "Do that."}}, want: "Do that."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := &transport.APIError{Op: transport.Operation{Name: "useThing", Method: cmp.Or(tc.method, "POST"), Route: idRoute}, Status: tc.status, Host: "api.agentyard.example", Detail: "no", FromService: true}
			at, what, remedy := translate(t, "create", fmt.Errorf("wrapped: %w", e), tc.options)
			if at != tc.at || remedy != tc.want {
				t.Errorf("at %q:\n%s\nwant at %q:\n%s", at, remedy, tc.at, tc.want)
			}
			check.Is(t, "what failed", what, sentence("wrapped: "+e.Error()))
		})
	}
}

// Only an ID in another form than the usual one may be a name.
func TestNameHint(t *testing.T) {
	t.Parallel()
	for of, want := range map[[2]string]bool{
		{"computer", "c0000000-0000-4000-8000-000000000001"}: false, {"environment", "env_1"}: false, {"service account", "sa_1"}: false,
		{"computer", "ada"}: true, {"environment", "ada"}: true, {"service account", "ada"}: true, {"session", "ada"}: false, {"computer", ""}: false,
	} {
		check.Is(t, fmt.Sprint("a hint for ", of), NameHint(of[0], of[1]) != "", want)
	}
}

// A rejected key is not the object's failure, unless something else went wrong before.
func TestFor_rejectedKey(t *testing.T) {
	t.Parallel()
	rejected := &transport.APIError{Op: transport.Operation{Name: "listThings", Method: "GET"}, Status: 401, Host: "api.agentyard.example", Detail: "no", FromService: true}
	if d := For("plan", "computer", rejected)[0]; d.Summary() != "API key rejected" || !strings.HasSuffix(d.Detail(), remedies[401]+" The key was sent to api.agentyard.example.") {
		t.Error(d)
	}
	lost := &create.LostError{Object: "computer", Name: "ci", Err: errors.Join(errors.New("EOF"), rejected)}
	check.Is(t, "the summary", For("create", "computer", lost)[0].Summary(), "Cannot create computer")
}

// Only a refusal by base_url itself is about an emulator.
func TestFor_nothingListens(t *testing.T) {
	t.Parallel()
	for refused, want := range map[string]string{
		"dial tcp 127.0.0.1:9":                                      "Nothing listens at base_url",
		"proxyconnect tcp: dial tcp 127.0.0.1:9":                    checkConnection,
		"dial tcp: lookup a.example on 127.0.0.53:53: dial udp ::1": checkConnection,
		"dial tcp 10.0.0.7:443":                                     checkConnection,
	} {
		err := &transport.TransportError{Err: errors.New(refused + ": connect: connection refused"), Unsent: true}
		if _, _, remedy := translate(t, "read", err); !strings.HasPrefix(remedy, want) {
			t.Errorf("%s: %s", refused, remedy)
		}
	}
}

func TestFor_requestsWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	const (
		network   = "Check base_url, the network, and any proxy."
		slow      = "The service did not respond within request_timeout; slow operations get at least 5 minutes. To allow more time, raise request_timeout in the provider block."
		outOfTime = "The operation exceeded its timeout. To allow more time, raise it in the timeouts block."
	)
	for timeout, want := range map[string]string{"": network, "request_timeout": slow, "timeouts": outOfTime} {
		for _, method := range []string{"PATCH", "GET"} {
			for _, unsent := range []bool{true, false} {
				for _, verb := range []string{"create", "read", "update", "delete"} {
					e := &transport.TransportError{Op: transport.Operation{Name: "useThing", Method: method, Route: idRoute}, Unsent: unsent, Timeout: timeout, Err: errors.New("EOF")}
					want := want + " Then run again."
					if method == "PATCH" && !unsent {
						want = strings.TrimSuffix(want, "Then run again.") + acted
					}
					if _, what, remedy := translate(t, verb, fmt.Errorf("wrapped: %w", e)); remedy != want || !strings.Contains(what, "useThing") || !strings.Contains(what, "EOF") {
						t.Errorf("%s, unsent %t, timeout %q, %s: %s\n%s\nwant:\n%s", method, unsent, timeout, verb, what, remedy, want)
					}
				}
			}
		}
	}
}

func TestFor_whatElseGoesWrong(t *testing.T) {
	t.Parallel()
	sent := &transport.TransportError{Op: transport.Operation{Name: "createThing", Method: "POST"}, Err: errors.New("EOF")}
	get, post := transport.Operation{Method: "GET"}, transport.Operation{Method: "POST"}
	const appears = "Apply again. If the object exists by then, an error reports its ID, and no duplicate is created."
	for name, tc := range map[string]struct {
		err                error
		want, remedy, also string
	}{
		"lost": {
			err:  &create.LostError{Object: "computer", Name: "n", Err: sent},
			want: "The request to create the computer \"n\" has an unknown outcome, and no such computer was found:", remedy: appears,
		},
		"lost after request_timeout": {
			err:    &create.LostError{Object: "computer", Name: "n", Err: &transport.TransportError{Op: post, Timeout: "request_timeout", Err: context.DeadlineExceeded}},
			remedy: "The service did not respond within request_timeout; slow operations get at least 5 minutes. To allow more time, raise request_timeout in the provider block. " + appears,
		},
		"504 for a slow read, which is not repeated": {
			err:  &transport.APIError{Op: transport.Operation{Name: "scanThings", Method: "GET", Slow: true}, Status: 504, Detail: "late", FromService: true},
			want: "scanThings", remedy: "The service failed. Try again later.",
		},
		"lost, and the look failed too": {
			err:  &create.LostError{Object: "computer", Name: "n", Err: errors.Join(sent, &transport.APIError{Op: transport.Operation{Name: "listThings", Method: "GET"}, Status: 500, Detail: "no", FromService: true})},
			want: "createThing", also: "listThings", remedy: appears,
		},
		"a write without an answer, and a read that failed": {
			err:  errors.Join(sent, &transport.APIError{Op: transport.Operation{Name: "listThings", Method: "GET"}, Status: 507, Detail: "no", FromService: true}),
			want: "createThing", also: "listThings", remedy: "The service failed. Try again later. " + acted,
		},
		"interrupted":          {err: context.Canceled, want: "Context canceled.", remedy: "The run was interrupted. To continue, run again."},
		"interrupted read":     {err: &transport.TransportError{Op: get, Err: context.Canceled}, remedy: "The run was interrupted. To continue, run again."},
		"interrupted write":    {err: &transport.TransportError{Op: post, Err: context.Canceled}, remedy: "The run was interrupted. " + acted},
		"interrupted, unsent":  {err: &transport.TransportError{Op: post, Unsent: true, Err: context.Canceled}, remedy: "The run was interrupted. To continue, run again."},
		"deadline of a wait":   {err: fmt.Errorf("waiting: %w", context.DeadlineExceeded), remedy: "The operation exceeded its timeout. To allow more time, raise it in the timeouts block. Then run again."},
		"deadline of a look":   {err: &transport.TransportError{Op: get, Err: context.DeadlineExceeded}, remedy: "Check base_url, the network, and any proxy. Then run again."},
		"too large":            {err: transport.NewTransportError(transport.Operation{}, transport.ErrTooLarge), remedy: "Read less, for example with max_results."},
		"unconfigured":         {err: &transport.UnconfiguredError{Setting: "base_url"}, want: "The provider's base_url is not known yet.", remedy: "If the plan creates the resource that base_url depends on, or updates it in place, such as a key that is rotated, first run terraform apply -target=ADDRESS with its address. If the plan replaces or destroys it, undo that change first."},
		"anything else":        {err: errors.New("odd"), want: "Odd."},
		"an answer and a wait": {err: errors.Join(errors.New("odd"), context.DeadlineExceeded), want: "Odd.\n", also: "Context deadline exceeded.", remedy: "The operation exceeded its timeout. To allow more time, raise it in the timeouts block. Then run again."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, what, remedy := translate(t, "create", tc.err)
			if at != "" || remedy != tc.remedy || !strings.Contains(what, tc.want) || !strings.Contains(what, tc.also) {
				t.Errorf("at %q: %s\n%s\nwant %q, %q and:\n%s", at, what, remedy, tc.want, tc.also, tc.remedy)
			}
		})
	}
}

func TestFor_whatExistsAlready(t *testing.T) {
	t.Parallel()
	made := func(object, id string) wire.Ref {
		return wire.Ref{Object: object, Name: "n", ID: id, ImportID: "import-" + id, CreatedAt: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}
	}
	taken := func(object string) error { return &create.ExistsError{Found: []wire.Ref{made(object, "1")}} }
	said := func(object, id string) string {
		return fmt.Sprintf("The %s \"n\" (%s, created at 2026-03-01T00:00:00Z) already exists.", object, id)
	}
	sent := &transport.TransportError{Op: transport.Operation{Name: "createThing", Method: "POST", Route: fixedRoute}, Err: errors.New("EOF")}
	sweep := Existing(func(e wire.Ref) string { return "Or sweep " + e.ID + "." })
	const (
		exists  = "Nothing was created.\nIf this run deletes it, apply again.\n"
		exist   = "Nothing was created.\nIf this run deletes them, apply again.\n"
		moved   = "\nIf you renamed the resource, add a moved block."
		replace = "\nIf the resource is replaced with create_before_destroy, its own or that of a resource that depends on it, change name too."
		adopt   = "If no resource manages it, in this or another configuration, import it:"
		adopt2  = "If no resource manages them, in this or another configuration, import them:"
		another = "\nOtherwise, apply again to create another one."
	)
	for name, tc := range map[string]struct {
		err     error
		options []Option
		at      string
		want    []string
		remedy  string
	}{
		"one": {
			err: fmt.Errorf("%w", taken("computer")), at: "name", want: []string{said("computer", "1")},
			remedy: exists + adopt + " terraform import ADDRESS import-1" + moved + replace,
		},
		"another remedy": {
			err: taken("API key"), options: []Option{sweep}, at: "name", want: []string{said("API key", "1")},
			remedy: exists + adopt + " terraform import ADDRESS import-1\nOr sweep 1." + moved + replace,
		},
		"two": {
			err: &create.ExistsError{Found: []wire.Ref{{Object: "API key", Name: "n", ID: "1", ImportID: "import-1"}, made("API key", "2")}}, options: []Option{sweep}, at: "name",
			want:   []string{"The API key \"n\" (1) already exists, and so do others: \"n\" (2, created at 2026-03-01T00:00:00Z)."},
			remedy: exist + adopt2 + "\nterraform import ADDRESS import-1\nterraform import ADDRESS import-2\nOr sweep 1.\nOr sweep 2." + moved + replace,
		},
		"two of which the same is said": {
			err: &create.ExistsError{Found: []wire.Ref{{Object: "computer", Name: "n", ID: "1", ImportID: "import-1"}, made("computer", "2")}}, at: "name",
			remedy: exist + adopt2 + "\nterraform import ADDRESS import-1\nterraform import ADDRESS import-2" + moved + replace,
		},
		"computers with a fleet's names": {
			err:     &create.ExistsError{Field: "namePrefix", Found: []wire.Ref{{Object: "computer", Name: "web-1", ID: "1", ImportID: "sa/web"}, {Object: "computer", Name: "web-2", ID: "2", ImportID: "sa/web"}}},
			options: []Option{sweep}, at: "name_prefix",
			want:   []string{"The computer \"web-1\" (1) already exists, and so do others: \"web-2\" (2)."},
			remedy: exist + adopt2 + " terraform import ADDRESS sa/web\nOr sweep 1.\nOr sweep 2." + moved + strings.Replace(replace, "change name", "change name_prefix", 1),
		},
		"two after a lost answer": {
			err:    &create.LostError{Object: "computer", Name: "n", Found: []wire.Ref{made("computer", "1"), made("computer", "2")}, Err: sent},
			want:   []string{"unknown outcome", "createThing", "may have created", "(1, created at", "(2, created at"},
			remedy: "No object was changed or added to the state.\n" + adopt2 + "\nterraform import ADDRESS import-1\nterraform import ADDRESS import-2",
		},
		"one after a lost answer, without a name": {
			err: &create.LostError{Object: "session on the computer 7", Found: []wire.Ref{made("session", "1")}, Err: sent}, options: []Option{sweep},
			want:   []string{"The request to create the session on the computer 7 has an unknown outcome, and it may have created \"n\" (1, created at"},
			remedy: "No object was changed or added to the state.\n" + adopt + " terraform import ADDRESS import-1" + another,
		},
		"none after a lost answer, without a name": {
			err: &create.LostError{Object: "session on the computer 7", Err: sent}, options: []Option{sweep},
			want:   []string{"and no such session on the computer 7 was found: createThing"},
			remedy: "It may still appear. Before you apply again, check the service: the next apply creates another one.",
		},
		"an answer with another object": {
			err:    create.AnotherObject("computer", "n", made("computer", "1")),
			want:   []string{"it may have created \"n\" (1, created at", "the response has another object."},
			remedy: "No object was changed or added to the state.\nIf no resource manages it, in this or another configuration, import it: terraform import ADDRESS import-1",
		},
		"an answer that is none": {
			err:    &transport.TransportError{Op: transport.Operation{Name: "changeThing", Method: "PATCH", Route: idRoute}, Err: &wire.ResponseError{Problem: "it has no ID"}},
			want:   []string{"changeThing", "it has no ID."},
			remedy: "The state was not changed. Check base_url, the network, and any proxy. The service may have completed the request. It is safe to run again.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, what, remedy := translate(t, "create", tc.err, tc.options...)
			if at != tc.at || remedy != tc.remedy {
				t.Errorf("at %q:\n%s\nwant at %q:\n%s", at, remedy, tc.at, tc.remedy)
			}
			check.Says(t, what, tc.want...)
		})
	}
}

// An area's own remedy comes before the general one, and is shown at its attribute.
func TestFor_ownRemedies(t *testing.T) {
	t.Parallel()
	notFound := &transport.APIError{Op: transport.Operation{Name: "getThing", Method: "GET", Route: idRoute}, Status: 404, Detail: "no", FromService: true}
	own := Own(func(err error) (string, path.Path) {
		if errors.Is(err, notFound) {
			return "Do that.", path.Root("email")
		}
		return "", path.Empty()
	})
	if at, _, remedy := translate(t, "create", fmt.Errorf("wrapped: %w", notFound), own); at != "email" || remedy != "Do that." {
		t.Errorf("at %q: %s", at, remedy)
	}
	if at, _, remedy := translate(t, "create", &transport.APIError{Status: 400, FromService: true}, own); at != "" || remedy != remedies[400] {
		t.Errorf("at %q: %s", at, remedy)
	}
}

// Whatever the status, a response that is not from the service leads to base_url and to no attribute, even if a search followed.
func TestFor_answersOfOthers(t *testing.T) {
	t.Parallel()
	for _, status := range []int{302, 400, 401, 403, 404, 407, 429, 502} {
		e := &transport.APIError{Op: transport.Operation{Name: "createThing", Method: "POST", Route: idRoute}, Status: status, Host: "proxy.example", Once: status != 429, Detail: "no"}
		want := fmt.Sprintf("The response %d of proxy.example to POST %s is not in the service's format. It may come from a gateway, a proxy, or a login page. Check base_url, including its path. If it is correct, try again later.", status, idRoute)
		for i, err := range []error{e, &create.LostError{Object: "computer", Name: "a", Err: e}, &create.LostError{Object: "session", Err: e}} {
			at, _, remedy := translate(t, "create", err, AtStatus{status: path.Root("name")}, Advice{status: "Do that."})
			if at != "" || !strings.HasPrefix(remedy, want) || i == 0 && strings.HasSuffix(remedy, acted) != e.Once {
				t.Errorf("%d, %T: at %q: %s", status, err, at, remedy)
			}
		}
	}
}

// What a gateway certainly says, and what is possible.
func TestFor_gateways(t *testing.T) {
	t.Parallel()
	post, history := transport.Operation{Method: "POST", Route: fixedRoute}, transport.Operation{Method: "GET", Route: "/api/v0/wiki/history/{repoUrl}"}
	for want, e := range map[string]*transport.APIError{
		"format. A gateway or a proxy refused the request because it is too large, so the service did not act. Send less at once, or raise the limit of the gateway or proxy.": {Op: post, Status: 413, Once: true},
		"format. " + needsCertificate: {Op: history, Status: 400, Detail: transport.CertificateRequired},
		"try again later. A proxy may also have decoded %2F in the path of the request. It must pass paths unchanged.": {Op: history, Status: 404},
		remedies[404] + " A proxy may also have decoded %2F in the path of the request. It must pass paths unchanged.": {Op: history, Status: 404, FromService: true},
	} {
		if _, _, remedy := translate(t, "read", e); !strings.HasSuffix(remedy, want) {
			t.Errorf("got %s\nwant %s", remedy, want)
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
		needsCertificate + " Then run again.":                                                              errors.New("remote error: tls: certificate required"),
		checkConnection:                                                                                    io.EOF,
	} {
		if _, _, remedy := translate(t, "create", &transport.TransportError{Op: transport.Operation{Name: "createComputer"}, Unsent: true, Err: err}); !strings.Contains(remedy, want) {
			t.Errorf("%v: %s", err, remedy)
		}
	}
}
