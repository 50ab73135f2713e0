// Package apierror translates the client's errors into diagnostics.
package apierror

import (
	"cmp"
	"context"
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
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// Option describes an object to For: Fields, Unique, AtStatus, Advice, Given, Existing, or several as Options.
type Option interface{ addTo(*failure) }

// Options are several options in one.
type Options []Option

// Advice replaces the general remedy for a status.
type Advice map[int]string

// AtStatus maps a status to the attribute at fault.
type AtStatus map[int]path.Path

// Given returns the configured value of an argument; empty if there is none. With it, the error of a missing object quotes its ID.
type Given func(argument string) string

// Existing returns what else to do about an existing object, besides importing it.
type Existing func(wire.Ref) string

// Own returns the remedy for an error that only one area has, and the API's field at fault; both are empty for other errors.
type Own func(error) (remedy, field string)

func (o Options) addTo(f *failure) {
	for _, option := range o {
		option.addTo(f)
	}
}
func (a Advice) addTo(f *failure)   { maps.Copy(f.advice, a) }
func (a AtStatus) addTo(f *failure) { maps.Copy(f.atStatus, a) }
func (e Existing) addTo(f *failure) { f.existing = e }
func (o Own) addTo(f *failure)      { f.own = append(f.own, o) }
func (g Given) addTo(f *failure)    { f.given = g }

type failure struct {
	verb, object string
	err          error
	fields       Fields
	unique       Unique
	advice       Advice
	atStatus     AtStatus
	given        Given
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
	if at.Equal(path.Empty()) {
		return diag.Diagnostics{diag.NewErrorDiagnostic(summary, detail)}
	}
	return diag.Diagnostics{diag.NewAttributeErrorDiagnostic(at, summary, detail)}
}

// ApplyFirst is the remedy while a provider setting is unknown. It is empty before the provider is configured.
func ApplyFirst(missing *transport.UnconfiguredError) string {
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
	f := &failure{verb: verb, object: object, err: err, fields: Fields{}, advice: Advice{}, atStatus: AtStatus{}}
	f.given = func(string) string { return "" }
	Options(options).addTo(f)
	return f
}

// remedy returns what to do, and the attribute at fault.
func (f *failure) remedy() (string, path.Path) {
	var exists *create.ExistsError
	var others *computers.ForeignComputersError
	var missing *transport.UnconfiguredError
	var api *transport.APIError
	var response *wire.ResponseError
	var unanswered *transport.TransportError
	for _, own := range f.own {
		if remedy, field := own(f.err); remedy != "" {
			return remedy, f.fieldOf(field)
		}
	}
	switch {
	case errors.As(f.err, &exists) && exists.Field != "":
		return f.afterTaken(exists), f.fieldOf(exists.Field)
	case errors.As(f.err, &exists):
		return f.afterExists(exists.Found), f.fieldOf("name")
	case errors.As(f.err, &others) && others.Err == nil:
		return f.afterExists(others.Existing()), f.fieldOf("namePrefix")
	case f.afterLoss() != "":
		return f.afterLoss(), path.Empty()
	case errors.As(f.err, &missing):
		return ApplyFirst(missing), path.Empty()
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
	case errors.As(f.err, &response):
		return phrase.Join("The state was not changed.", checkConnection, f.mayHaveActed()), path.Empty()
	case errors.As(f.err, &unanswered):
		return phrase.Join(connectionRemedy(f.err), cmp.Or(f.mayHaveActed(), "Then run again.")), path.Empty()
	}
	return "", path.Empty()
}

// fieldOf returns the attribute of a field, or the empty path.
func (f *failure) fieldOf(name string) path.Path {
	if at, ok := f.fields[name]; ok {
		return at
	}
	return path.Empty()
}

// afterLoss is the remedy after a lost response. It is empty for any other failure.
func (f *failure) afterLoss() string {
	var lost *create.LostError
	var others *computers.ForeignComputersError
	var stranger *create.WrongObjectError
	switch {
	case errors.As(f.err, &lost) && len(lost.Found) > 0:
		return leftAsItIs + importing(lost.Found) + f.otherwise(lost)
	case errors.As(f.err, &others):
		return leftAsItIs + importing(others.Existing()) + f.existing.Lines(others.Existing())
	case errors.As(f.err, &lost) && lost.Name == "":
		return phrase.Join(f.whyLost(), "It may still appear. Before you apply again, check the service: the next apply creates another one.")
	case errors.As(f.err, &lost):
		return phrase.Join(f.whyLost(), "Apply again. If the object exists by then, an error reports its ID, and no duplicate is created.")
	case errors.As(f.err, &stranger):
		return "The state was not changed. Before you apply again, check the service for what the request created."
	}
	return ""
}

// afterExists covers every object that may have the name: an unmanaged object, a renamed resource, or a replaced resource.
func (f *failure) afterExists(found []wire.Ref) string {
	remedy := "Nothing was created.\n"
	if f.verb == "create" {
		remedy += fmt.Sprintf("If this run deletes %s, apply again.\n", phrase.Verb(len(found), "it", "them"))
	}
	remedy += importing(found) + f.existing.Lines(found)
	if f.verb == "create" {
		remedy += "\nIf you renamed the resource, add a moved block."
	}
	if f.verb == "create" && f.existing == nil {
		remedy += "\nIf the resource is replaced with create_before_destroy, change the name too."
	}
	return remedy
}

// afterTaken is the remedy if another object has the value of a field that is not the name.
func (f *failure) afterTaken(e *create.ExistsError) string {
	change := fmt.Sprintf("If this is another machine, correct %s.", f.fieldOf(e.Field))
	if f.verb != "create" {
		return "Nothing was changed. " + change
	}
	return "Nothing was created.\n" + importing(e.Found) + "\n" + change
}

// NameTaken is the advice if a new name belongs to another object.
func NameTaken(object string) string {
	return fmt.Sprintf("Another %[1]s has this name. If this run renames or deletes that %[1]s, apply again. Otherwise, choose another name. "+
		"To exchange two names, first apply a temporary name for one of them.", object)
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

// afterResponse is the remedy for an error response.
func (f *failure) afterResponse(e *transport.APIError) (string, path.Path) {
	if !e.FromService {
		return f.afterForeignResponse(e), path.Empty()
	}
	remedy, at := f.general(e), path.Empty()
	if place, ok := f.atStatus[e.Status]; ok {
		at = place
	}
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		if found, ok := f.fields.Find(e.Detail); ok {
			remedy, at = fmt.Sprintf("Correct the value of %s.", found), found
		}
	case http.StatusConflict:
		if found, ok := f.fields.Find(e.Detail); ok && f.isUnique(found) {
			remedy, at = fmt.Sprintf("The value of %s is already in use. Choose another value.", found), found
		}
	}
	if advice := f.advice[e.Status]; advice != "" {
		remedy = advice
	}
	return f.withNames(e.Status, remedy, at), at
}

// named are the objects whose names are easily taken for IDs. Each has an argument, such as computer_id, and a data source.
var named = []string{"computer", "environment", "service account"}

// withNames adds to a 404, or to a 400 at the argument, that the argument may have a name instead of an ID. The plan accepts any
// text, because the form of the service's IDs is not documented.
func (f *failure) withNames(status int, remedy string, at path.Path) string {
	for _, object := range named {
		argument := strings.ReplaceAll(object, " ", "_") + "_id"
		id, isAt := f.given(argument), at.Equal(path.Root(argument))
		isMissing := status == http.StatusNotFound
		switch {
		case id == "":
		case isAt && isMissing && f.advice[status] == "":
			return NoSuch(object, id)
		case isAt && status == http.StatusBadRequest, isMissing && (isAt || at.Equal(path.Empty())):
			remedy = phrase.Join(remedy, NameHint(object, id))
		}
	}
	return remedy
}

// NoSuch says that no object has an ID, and what to do if the ID is a name.
func NoSuch(object, id string) string {
	return phrase.Join(fmt.Sprintf("No %s with the ID %q exists, or the provider's API key cannot see it.", object, id), cmp.Or(NameHint(object, id), "Check the ID."))
}

// IsUsualID reports whether an ID has the form that the service gives to IDs of an object. Other forms may exist.
func IsUsualID(object, id string) bool {
	switch object {
	case "service account":
		return strings.HasPrefix(id, "sa_")
	case "environment":
		return strings.HasPrefix(id, "env_")
	}
	return uuid.Validate(id) == nil
}

// NameHint says what to do if an ID is a name. It is empty for no ID, for an ID in the usual form, and for objects that are never looked up by name.
func NameHint(object, id string) string {
	if id != "" && !IsUsualID(object, id) && slices.Contains(named, object) {
		return fmt.Sprintf("If %q is the %s's name, look up the ID with the data source agentyard_%s.", id, object, strings.ReplaceAll(object, " ", "_"))
	}
	return ""
}

// general is the remedy for a status without specific advice.
func (f *failure) general(e *transport.APIError) string {
	switch e.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return "Correct the configuration."
	case http.StatusUnauthorized:
		return "The API key is wrong, revoked, or expired. Set api_key (or AGENTYARD_API_KEY) to a valid key."
	case http.StatusPaymentRequired:
		return f.afterPaymentRequired(e.Route)
	case http.StatusForbidden:
		return "The owner of the API key lacks permission, or the organization's settings forbid this. Service accounts and objects of other owners require the key of a member with the Manager role or higher."
	case http.StatusNotFound:
		return f.afterNotFound(e)
	case http.StatusConflict:
		return "Resolve the conflict, or wait until the service has finished its work. Then apply again."
	case http.StatusTooManyRequests:
		if e.TooLong {
			return phrase.Join("The service's rate limit requires a longer wait than the provider allows.", retryAfter(e), "Try again after that time.")
		}
		return phrase.Join("The service's rate limit was exceeded, and the provider stopped waiting.", retryAfter(e), staySlow)
	case http.StatusFailedDependency:
		if !strings.HasPrefix(e.Route, "/api/v0/computers/{") {
			return "The service could not reach another system that it needs. Try again later."
		}
		return "The computer's daemon or the file storage could not be reached. Check that the computer is active, then try again."
	case http.StatusNotImplemented:
		return "This server does not offer the operation."
	}
	switch {
	case wasRepeated(e):
		return phrase.Join("The service failed, and the provider used all retries (max_retries). Try again later.", f.mayHaveActed())
	case e.Status >= http.StatusInternalServerError:
		return phrase.Join("The service failed. Try again later.", f.mayHaveActed())
	case e.MayHaveActed():
		return phrase.Join("The service did not finish the request in time. Try again later.", f.mayHaveActed())
	}
	return "The service does not return this status for this request. Check base_url."
}

const staySlow = "Set requests_per_second in the provider block to stay below the limit."

func retryAfter(e *transport.APIError) string {
	if e.RetryAfter == "" {
		return ""
	}
	return "The service returned Retry-After " + e.RetryAfter + "."
}

// wasRepeated reports whether the client retries a request after this failure. It never retries a create.
func wasRepeated(e *transport.APIError) bool {
	switch e.Status {
	case http.StatusGatewayTimeout:
		return e.Method != http.MethodPost && !e.Slow
	case http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable:
		return e.Method != http.MethodPost
	}
	return false
}

// afterPaymentRequired advises removing the object only if the operation would keep it.
func (f *failure) afterPaymentRequired(route string) string {
	excluded := "The organization's plan does not include this. Upgrade the plan"
	if strings.HasPrefix(route, "/api/v0/service-accounts") {
		excluded += " to the Team tier or higher"
	}
	switch verb, _, _ := strings.Cut(f.verb, " "); verb {
	case "create", "plan", "open", "update", "set":
		return excluded + ", or remove the " + f.object + " from the configuration."
	}
	return excluded + "."
}

// afterNotFound depends on which ID is unknown: the object's own, or one that it refers to.
func (f *failure) afterNotFound(e *transport.APIError) string {
	ids := "the IDs"
	if argument, ok := f.atStatus[http.StatusNotFound]; ok {
		ids = argument.String()
	}
	var remedy string
	switch verb, _, _ := strings.Cut(f.verb, " "); verb {
	case "create", "plan", "open":
		remedy = "An object that the " + f.object + " refers to was not found, or the provider's API key cannot see it. Check " + ids + " in the configuration."
	case "update", "set", "rotate", "delete":
		remedy = "It no longer exists, or the provider's API key can no longer see it. Plan again: the plan shows what is left."
	default:
		remedy = "The object was not found, or the provider's API key cannot see it. Check " + ids + " and the API key."
	}
	if !strings.Contains(e.Route, "{") {
		remedy += " Otherwise, check the path in base_url."
	}
	return remedy
}

// mayHaveActed returns a sentence if the service may have completed one of the failed requests.
func (f *failure) mayHaveActed() string {
	acted := false
	for _, e := range all[*transport.TransportError](f.err) {
		acted = acted || e.Changes && !e.Unsent
	}
	for _, e := range all[*transport.APIError](f.err) {
		acted = acted || e.MayHaveActed() && e.Method != http.MethodGet && e.Method != http.MethodHead
	}
	if !acted {
		return ""
	}
	return "The service may have completed the request. It is safe to run again."
}

// all returns every error of a type in err's tree, because several requests may have failed.
func all[T error](err error) []T {
	var found []T
	if e, ok := any(err).(T); ok {
		found = append(found, e)
	}
	for _, inner := range wrappedBy(err) {
		found = append(found, all[T](inner)...)
	}
	return found
}

func wrappedBy(err error) []error {
	switch e := err.(type) { //nolint:errorlint // This is what unwraps.
	case interface{ Unwrap() []error }:
		return e.Unwrap()
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return []error{inner}
		}
	}
	return nil
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
