// Package create makes one object of one request to create it: nothing is sent if its name is taken, and nothing is sent a second time if
// the response is lost. The exception is a key: it is created again once the lost one is revoked. The object is then searched for, and
// returned if it is certain enough which one it is. Otherwise, the error names the candidates. Begin with Named or, if names are not unique,
// Unnamed. Fleets (many at once) and keys (a secret) build on Ledger and LookAfterLoss.
package create

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// ExistsError says that nothing was created because this run found objects with the same name that it had not created.
type ExistsError struct {
	// Found are the objects; at least one.
	Found []wire.Ref
	// Field is the API's field at fault; empty if it is the name.
	Field string
}

// AlreadyExists returns an *ExistsError for objects that already exist, or nil if there are none.
func AlreadyExists(found []wire.Ref) error {
	if len(found) == 0 {
		return nil
	}
	return &ExistsError{Found: found}
}

func (e *ExistsError) Error() string {
	first, others := e.Found[0], e.Found[1:]
	text := fmt.Sprintf("the %s %s already exists", first.Object, first)
	if len(others) > 0 {
		text += ", and so do others: " + List(others)
	}
	return text
}

// LostError says that the outcome of a create request is unknown: its response was lost, or does not say whether the service
// acted.
type LostError struct {
	Object, Name string
	// Found are the new objects. The request or somebody else may have created them.
	Found []wire.Ref
	// Err says why the outcome is unknown and, if it applies, why the search for the object failed.
	Err error
}

// AnotherObject is the error for a response with another object than a request should have created. The service did answer, so nothing is
// searched for. Fleets and keys do search: other computers of the batch may be new, and a new key works although nobody has its value.
func AnotherObject(object, name string, found wire.Ref) error {
	return &LostError{Object: object, Name: name, Found: []wire.Ref{found}, Err: errors.New("the response has another object")}
}

func (e *LostError) Error() string {
	result, object := "no such "+e.Object+" was found", e.Object
	if len(e.Found) > 0 {
		result = "it may have created " + List(e.Found)
	}
	if e.Name != "" {
		object = fmt.Sprintf("%s %q", e.Object, e.Name)
	}
	reason := strings.ReplaceAll(e.Err.Error(), "\n", "; ")
	return fmt.Sprintf("the request to create the %s has an unknown outcome, and %s: %s", object, result, reason)
}

func (e *LostError) Unwrap() error { return e.Err }

// List names objects for an error, at most 20 of them.
func List(found []wire.Ref) string {
	const most = 20
	var names []string
	for _, ref := range found[:min(most, len(found))] {
		names = append(names, ref.String())
	}
	text := strings.Join(names, ", ")
	if len(found) > most {
		text += fmt.Sprintf(" and %d more", len(found)-most)
	}
	return text
}
