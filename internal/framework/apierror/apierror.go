// Package apierror translates the client's errors into diagnostics.
package apierror

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// Option describes an object to For: AtStatus, Advice, Existing, Own, or several as Options.
type Option interface{ addTo(*failure) }

// Options are several options in one.
type Options []Option

// Advice replaces the remedy for a status with one that is true of this object alone.
type Advice map[int]string

// AtStatus maps a status to the attribute at fault.
type AtStatus map[int]path.Path

// Denied is the key in AtStatus of the attribute that a successful response denies.
const Denied = http.StatusOK

// AtAccount puts a 404 on the service account.
var AtAccount = AtStatus{http.StatusNotFound: path.Root("service_account_id")}

// Existing returns what else to do about an existing object, besides importing it.
type Existing func(wire.Ref) string

// Own returns the remedy for an error that only one area has, and the attribute at fault; both are empty for other errors.
type Own func(error) (remedy string, at path.Path)

func (o Options) addTo(f *failure) {
	for _, option := range o {
		option.addTo(f)
	}
}
func (a Advice) addTo(f *failure)   { maps.Copy(f.advice, a) }
func (a AtStatus) addTo(f *failure) { maps.Copy(f.atStatus, a) }
func (e Existing) addTo(f *failure) { f.existing = e }
func (o Own) addTo(f *failure)      { f.own = append(f.own, o) }

type failure struct {
	verb, object string
	err          error
	advice       Advice
	atStatus     AtStatus
	existing     Existing
	own          []Own
}

// For returns an error that verb ("create") failed on object ("computer"), with the cause and a remedy. It returns nothing if
// err is nil.
func For(verb, object string, err error, options ...Option) diag.Diagnostics {
	if err == nil {
		return nil
	}
	remedy, at := newFailure(verb, object, err, options).remedy()
	detail := Sentences(err)
	if remedy != "" {
		detail += "\n\n" + remedy
	}
	summary := "Cannot " + verb + " " + object
	api, ok := errors.AsType[*transport.APIError](err)
	isUnauthorized := ok && api.Status == http.StatusUnauthorized && api.FromService
	if isUnauthorized && err.Error() == api.Error() { // The object is not to blame, and nothing else went wrong.
		summary = "API key rejected"
		detail = phrase.Join(detail, "The key was sent to "+api.Host+".")
	}
	if at.Equal(path.Empty()) {
		return diag.Diagnostics{diag.NewErrorDiagnostic(summary, detail)}
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(at, summary, detail)}
}

// NotConfirmed is the remedy after a response with another value than the requested one.
const NotConfirmed = "The service returned success, but another value. Look up the current value in the web app, and apply again."

// applyFirst is the remedy while a provider setting is unknown. It is empty before the provider is configured.
func applyFirst(missing *transport.UnconfiguredError) string {
	if missing.Setting == "" {
		return ""
	}
	return fmt.Sprintf("If the plan creates the resource that %[1]s depends on, or updates it in place, such as a key that is rotated, first run terraform apply -target=ADDRESS with its address. "+
		"If the plan replaces or destroys it, undo that change first.", missing.Setting)
}

// Remedy returns only what to do if verb failed on object; empty if there is no advice.
func Remedy(verb, object string, err error, options ...Option) string {
	remedy, _ := newFailure(verb, object, err, options).remedy()
	return remedy
}

func newFailure(verb, object string, err error, options []Option) *failure {
	f := &failure{verb: verb, object: object, err: err, advice: Advice{}, atStatus: AtStatus{}}
	Options(options).addTo(f)
	return f
}

// remedy returns what to do, and the attribute at fault.
func (f *failure) remedy() (string, path.Path) {
	var exists *create.ExistsError
	var missing *transport.UnconfiguredError
	var api *transport.APIError
	var response *wire.ResponseError
	var unanswered *transport.TransportError
	for _, own := range f.own {
		if remedy, at := own(f.err); remedy != "" {
			return remedy, at
		}
	}
	switch {
	case errors.As(f.err, &exists):
		return f.afterExists(exists.Found, exists.Field), takenAt[exists.Field]
	case f.afterLoss() != "":
		return f.afterLoss(), path.Empty()
	case errors.As(f.err, &missing):
		return applyFirst(missing), path.Empty()
	case collection.IsNew(f.err):
		return "The " + f.object + " is new, and the service may not show it yet. Apply again in a few minutes.", path.Empty()
	case errors.As(f.err, &api):
		return f.afterResponse(api)
	case errors.Is(f.err, context.Canceled):
		return phrase.Join("The run was interrupted.", cmp.Or(f.mayHaveActed(), "To continue, run again.")), path.Empty()
	case deadlineIn(f.err) != "":
		return phrase.Join(deadlineIn(f.err), cmp.Or(f.mayHaveActed(), "Then run again.")), path.Empty()
	case errors.Is(f.err, transport.ErrTooLarge):
		return "Read less, for example with max_results.", path.Empty()
	case errors.As(f.err, &response) && response.Denies:
		return NotConfirmed, f.atStatus[Denied]
	case errors.As(f.err, &response):
		return phrase.Join("The state was not changed.", checkConnection, f.mayHaveActed()), path.Empty()
	case errors.As(f.err, &unanswered):
		return phrase.Join(connectionRemedy(f.err), cmp.Or(f.mayHaveActed(), "Then run again.")), path.Empty()
	}
	return "", path.Empty()
}

// afterLoss is the remedy after a lost response. It is empty for any other failure.
func (f *failure) afterLoss() string {
	var lost *create.LostError
	switch {
	case errors.As(f.err, &lost) && len(lost.Found) > 0:
		return leftAsItIs + importing(lost.Found) + f.otherwise(lost)
	case errors.As(f.err, &lost) && lost.Name == "":
		return phrase.Join(cmp.Or(Foreign(f.err), deadlineIn(f.err)), "It may still appear. Before you apply again, check the service: the next apply creates another one.")
	case errors.As(f.err, &lost):
		return phrase.Join(cmp.Or(Foreign(f.err), deadlineIn(f.err)), "Apply again. If the object exists by then, an error reports its ID, and no duplicate is created.")
	}
	return ""
}

// afterExists covers every object that may have the name: an unmanaged object, a renamed resource, or a replaced resource.
func (f *failure) afterExists(found []wire.Ref, field string) string {
	remedy := "Nothing was created.\n"
	if f.verb == "create" {
		remedy += fmt.Sprintf("If this run deletes %s, apply again.\n", phrase.Verb(len(found), "it", "them"))
	}
	remedy += importing(found) + f.existing.Lines(found)
	if f.verb == "create" {
		remedy += "\nIf you renamed the resource, add a moved block."
		remedy += fmt.Sprintf("\nIf the resource is replaced with create_before_destroy, its own or that of a resource that depends on it, change %s too.", takenAt[field])
	}
	return remedy
}

// takenAt are the attributes of ExistsError.Field.
var takenAt = map[string]path.Path{"": path.Root("name"), "namePrefix": path.Root("name_prefix")}

// NameTaken are the options of an update whose new name may belong to another object.
func NameTaken(object string) Options {
	advice := fmt.Sprintf("Another %[1]s has this name. If this run renames or deletes that %[1]s, apply again. Otherwise, choose another name. "+
		"To exchange two names, first apply a temporary name for one of them. "+
		"If a list with count lost an element, use for_each with the names as keys, or apply with -parallelism above the number of names.", object)
	return Options{Advice{http.StatusConflict: advice}, AtStatus{http.StatusConflict: path.Root("name")}}
}

const leftAsItIs = "No object was changed or added to the state.\n"

// importing is conditional, because a second resource for the same object would eventually delete it.
func importing(found []wire.Ref) string {
	it := phrase.Verb(len(found), "it", "them")
	condition := fmt.Sprintf("If no resource manages %s, in this or another configuration, import %s:", it, it)
	var commands []string
	for _, e := range found {
		if command := "terraform import ADDRESS " + cmp.Or(e.ImportID, e.ID); !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	if len(commands) == 1 {
		return condition + " " + commands[0]
	}
	return condition + "\n" + strings.Join(commands, "\n")
}

// otherwise is the alternative to importing an object that was found after a lost response.
func (f *failure) otherwise(lost *create.LostError) string {
	if lost.Name == "" {
		return "\nOtherwise, apply again to create another one."
	}
	return f.existing.Lines(lost.Found)
}

// Lines returns lines with the alternatives to importing objects, without duplicates; empty for a nil Existing.
func (e Existing) Lines(found []wire.Ref) string {
	if e == nil {
		return ""
	}
	var lines []string
	for _, object := range found {
		for line := range strings.SplitSeq(e(object), "\n") {
			if !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	return "\n" + strings.Join(lines, "\n")
}

// remedies are what to do after a status of the service. The last two are for all others.
var remedies = map[int]string{
	http.StatusBadRequest:          "Correct the value that the message names.",
	http.StatusUnprocessableEntity: "Correct the value that the message names.",
	http.StatusUnauthorized:        "The API key is wrong, revoked, or expired. Set api_key (or AGENTYARD_API_KEY) to a valid key.",
	http.StatusPaymentRequired:     "The API documents do not say what this status means here. The organization's plan may not include this: ask an administrator of the organization.",
	http.StatusForbidden:           "The owner of the API key lacks permission, or the organization's settings forbid this. Service accounts and objects of other owners require the key of a member with the Manager role or higher.",
	http.StatusNotFound:            "The object, or one that it refers to, was not found, or the provider's API key cannot see it. If it was deleted, plan again. Otherwise, check the IDs in the configuration, the API key, and the path in base_url.",
	http.StatusConflict:            "Resolve the conflict, or wait until the service has finished its work. Then apply again.",
	http.StatusFailedDependency:    "The API documents do not say what this status means here. The service may not reach the computer or its file storage: check that the computer is active, or try again later.",
	http.StatusTooManyRequests:     "The service's rate limit was exceeded, and the provider stopped waiting. Try again later. " + staySlow,
	http.StatusNotImplemented:      "This server does not offer the operation. Check base_url.",
	http.StatusInternalServerError: "The service failed. Try again later.",
	http.StatusOK:                  "The service does not return this status for this request. Check base_url.",
}

const staySlow = "Set requests_per_second in the provider block to stay below the limit."

// afterResponse is the remedy for an error response, and the attribute at fault.
func (f *failure) afterResponse(e *transport.APIError) (string, path.Path) {
	if !e.FromService {
		return phrase.Join(Foreign(e), f.mayHaveActed()), path.Empty()
	}
	at, status := path.Empty(), e.Status
	if place, ok := f.atStatus[status]; ok {
		at = place
	}
	if _, ok := remedies[status]; !ok {
		status = http.StatusOK
		if e.MayHaveActed() {
			status = http.StatusInternalServerError
		}
	}
	remedy := cmp.Or(f.advice[e.Status], phrase.Join(remedies[status], f.mayHaveActed()))
	if e.Status == http.StatusNotFound && len(at.Steps()) > 0 && f.advice[e.Status] == "" {
		remedy = fmt.Sprintf("The object was not found, or the provider's API key cannot see it. Check %s.", at)
	}
	object := strings.TrimSuffix(at.String(), "_id")
	if _, isNamed := usualIDs[strings.ReplaceAll(object, "_", " ")]; isNamed && (e.Status == http.StatusNotFound || e.Status == http.StatusBadRequest) {
		remedy = phrase.Join(remedy, fmt.Sprintf("If %s is a name, look up the ID with the data source agentyard_%s.", at, object))
	}
	return phrase.Join(remedy, pathDecoded(e)), at
}

// usualIDs are the objects whose names are easily taken for IDs, with how their IDs begin; "" for UUIDs. Each has a data source by name.
var usualIDs = map[string]string{"computer": "", "environment": "env_", "service account": "sa_"}

// NoSuch says that no object has an ID, and what to do if the ID is a name.
func NoSuch(object, id string) string {
	return phrase.Join(fmt.Sprintf("No %s with the ID %q exists, or the provider's API key cannot see it.", object, id), cmp.Or(NameHint(object, id), "Check the ID."))
}

// IsUsualID reports whether an ID has the form that the service gives to IDs of an object. Other forms may exist.
func IsUsualID(object, id string) bool {
	if prefix := usualIDs[object]; prefix != "" {
		return strings.HasPrefix(id, prefix)
	}
	return uuid.Validate(id) == nil
}

// NameHint says what to do if an ID is a name. It is empty for no ID, for an ID in the usual form, and for objects that are never looked up by name.
func NameHint(object, id string) string {
	if _, isNamed := usualIDs[object]; isNamed && id != "" && !IsUsualID(object, id) {
		return fmt.Sprintf("If %q is the %s's name, look up the ID with the data source agentyard_%s.", id, object, strings.ReplaceAll(object, " ", "_"))
	}
	return ""
}

// mayHaveActed returns a sentence if the service may have completed the failed request.
func (f *failure) mayHaveActed() string {
	unanswered, isUnanswered := errors.AsType[*transport.TransportError](f.err)
	api, isAnswered := errors.AsType[*transport.APIError](f.err)
	isSent := isUnanswered && unanswered.Op.Changes() && !unanswered.Unsent
	isFailed := isAnswered && api.Op.Changes() && api.MayHaveActed()
	if isSent || isFailed {
		return "The service may have completed the request. It is safe to run again."
	}
	return ""
}

const (
	checkConnection  = "Check base_url, the network, and any proxy."
	needsCertificate = "The server at base_url, or a gateway in front of it, requires a client certificate, which the provider cannot send. Set base_url to an address that requires none."
)

// connections are what to do about errors of a connection that never go away by themselves, and what Go says about them.
var connections = []struct{ says, remedy string }{
	{x509.UnknownAuthorityError{}.Error(), "The certificate of base_url, or of a proxy, is from an unknown CA. On Linux, set SSL_CERT_FILE to a file with the CA's certificate. On macOS and Windows, add it to the system's store."},
	{http.ErrSchemeMismatch.Error(), "The server at base_url uses plain HTTP. Correct the port in base_url, or start it with http:// instead of https:// if the server is on this machine."},
	{"tls: " + transport.CertificateRequired, needsCertificate},
	{"remote error: tls: handshake failure", "The server at base_url, or a proxy, refused the TLS connection. It may require a client certificate, which the provider cannot send."},
	{transport.ErrHeldBack.Error(), "The service's rate limit was exceeded, and the provider stopped waiting. " + staySlow},
	{transport.ErrProxyRefused.Error(), "The proxy does not allow connections to the host of base_url. Have it allowed, or add the host to NO_PROXY."},
	{transport.ErrProxyLogin.Error(), "A proxy requires a login. Set HTTPS_PROXY to a URL with the proxy's user name and password, such as http://USER:PASSWORD@HOST:PORT."},
}

// isRefusedHere reports whether nothing listens at an address of this machine that is not a proxy's.
func isRefusedHere(err error) bool {
	_, dialed, _ := strings.Cut(err.Error(), ": dial tcp ")
	isHere := strings.HasPrefix(dialed, "127.") || strings.HasPrefix(dialed, "[::1]")
	return isHere && strings.HasSuffix(dialed, "connection refused") && !strings.Contains(err.Error(), "proxyconnect")
}

func connectionRemedy(err error) string {
	if isRefusedHere(err) {
		return "Nothing listens at base_url on this machine. If it is an emulator, start it, and set base_url to the address that it prints."
	}
	for _, c := range connections {
		if strings.Contains(err.Error(), c.says) {
			return c.remedy
		}
	}
	return checkConnection
}

// Foreign says that a response is not the service's, so its status proves nothing; empty if there is no such response.
func Foreign(err error) string {
	var api *transport.APIError
	if !errors.As(err, &api) || api.FromService {
		return ""
	}
	why := "It may come from a gateway, a proxy, or a login page. Check base_url, including its path. If it is correct, try again later."
	switch {
	case api.Detail == transport.CertificateRequired:
		why = needsCertificate
	case api.Status == http.StatusRequestEntityTooLarge:
		why = "A gateway or a proxy refused the request because it is too large, so the service did not act. Send less at once, or raise the limit of the gateway or proxy."
	}
	return phrase.Join(fmt.Sprintf("The response %d of %s to %s %s is not in the service's format.", api.Status, api.Host, api.Op.Method, api.Op.Route), why, pathDecoded(api))
}

// pathDecoded is a possible cause of a 404 if the path has a URL in it.
func pathDecoded(e *transport.APIError) string {
	if e.Status != http.StatusNotFound || !strings.Contains(e.Op.Route, "{repoUrl}") {
		return ""
	}
	return "A proxy may also have decoded %2F in the path of the request. It must pass paths unchanged."
}

const outOfTime = "The operation exceeded its timeout. To allow more time, raise it in the timeouts block."

// deadlineIn names the setting that timed out. A deadline without a transport error comes from a timeouts block.
func deadlineIn(err error) string {
	var unanswered *transport.TransportError
	switch isUnanswered := errors.As(err, &unanswered); {
	case isUnanswered && unanswered.Timeout == "request_timeout":
		return "The service did not respond within request_timeout; slow operations get at least 5 minutes. To allow more time, raise request_timeout in the provider block."
	case isUnanswered && unanswered.Timeout == "timeouts", !isUnanswered && errors.Is(err, context.DeadlineExceeded):
		return outOfTime
	}
	return ""
}

// Sentences returns an error's text as a sentence. Joined errors are separate lines.
func Sentences(err error) string {
	lines := strings.Split(err.Error(), "\n")
	if joined, ok := err.(interface{ Unwrap() []error }); !ok || len(lines) < len(joined.Unwrap()) {
		return sentence(err.Error())
	}
	for i, line := range lines {
		lines[i] = sentence(line)
	}
	return strings.Join(lines, "\n")
}

// sentence capitalizes the first letter, except in an operation's name, and adds a period.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if first, _, _ := strings.Cut(s, " "); first == strings.ToLower(first) {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "!") {
		s += "."
	}
	return s
}
