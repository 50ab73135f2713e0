package create

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
)

// ExistsError says that nothing was created because this run found objects with the same name that it had not created.
type ExistsError struct {
	// Found are the objects; at least one.
	Found []wire.Ref
	// Field is the API's field whose value the object has, and Taken describes the value. Empty if it is the name.
	Field, Taken string
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
	text := fmt.Sprintf("%s named %q already exists with ID %s", phrase.WithArticle(first.Object), first.Name, first.ID)
	if e.Field != "" {
		text = fmt.Sprintf("%s already belongs to the %s %q with ID %s", e.Taken, first.Object, first.Name, first.ID)
	}
	if !first.CreatedAt.IsZero() {
		text += ", created at " + first.CreatedAt.UTC().Format(time.RFC3339)
	}
	if len(others) > 0 {
		text += "; others with this name: " + ListIDs(others)
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

func (e *LostError) Error() string {
	result := "no such " + e.Object + " was found"
	if len(e.Found) > 0 {
		result = "it may have created " + ListIDs(e.Found)
	}
	return fmt.Sprintf("the request to create the %s has an unknown outcome, and %s: %s", withName(e.Object, e.Name), result, Causes(e.Err))
}

func (e *LostError) Unwrap() error { return e.Err }

// withName adds the object's name, if it has one.
func withName(object, name string) string {
	if name == "" {
		return object
	}
	return fmt.Sprintf("%s %q", object, name)
}

// AnotherObject is the error for a response that has another object than the one that a request should have created.
func AnotherObject(object, name string, found wire.Ref) error {
	return &LostError{Object: object, Name: name, Found: []wire.Ref{found}, Err: errors.New("the response has another object")}
}

// ListIDs formats the IDs of objects for an error.
func ListIDs(found []wire.Ref) string {
	names := make([]string, len(found))
	for i, e := range found {
		names[i] = e.ID
		if !e.CreatedAt.IsZero() {
			names[i] += " (created at " + e.CreatedAt.UTC().Format(time.RFC3339) + ")"
		}
	}
	return phrase.Names(names, phrase.MaxNamed)
}

// Causes formats joined errors on one line.
func Causes(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
