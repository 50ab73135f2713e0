package create

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

// ExistsError says that nothing was created because this run found an object with the same name that it had not created.
type ExistsError struct {
	// Object is the type of the object, such as "computer".
	Object string
	// Name is the object's name; empty if an error describes an object without one. ID is the object's ID in the service, and
	// ImportID is the argument of `terraform import`.
	Name, ID, ImportID string
	// CreatedAt is zero if the service does not return it.
	CreatedAt time.Time
	// Field is the API's field whose value the object has, and Taken describes the value. Empty if it is the name.
	Field, Taken string
	// Others are further objects with the name.
	Others []ExistsError
}

// Describe converts objects for an error.
func Describe[T any](found []T, describe func(*T) ExistsError) []ExistsError {
	all := make([]ExistsError, len(found))
	for i := range found {
		all[i] = describe(&found[i])
	}
	return all
}

// AlreadyExists returns an *ExistsError for objects that already exist, or nil if there are none.
func AlreadyExists(found []ExistsError) error {
	if len(found) == 0 {
		return nil
	}
	first := found[0]
	first.Others = found[1:]
	return &first
}

func (e *ExistsError) Error() string {
	text := fmt.Sprintf("%s named %q already exists with ID %s", phrase.WithArticle(e.Object), e.Name, e.ID)
	if e.Field != "" {
		text = fmt.Sprintf("%s already belongs to the %s %q with ID %s", e.Taken, e.Object, e.Name, e.ID)
	}
	if !e.CreatedAt.IsZero() {
		text += ", created at " + e.CreatedAt.UTC().Format(time.RFC3339)
	}
	if len(e.Others) > 0 {
		text += "; others with this name: " + ListIDs(e.Others)
	}
	return text
}

// LostError says that the outcome of a create request is unknown: its response was lost, or does not say whether the service
// acted.
type LostError struct {
	Object, Name string
	// Found are the new objects. The request or somebody else may have created them.
	Found []ExistsError
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

// WrongObjectError says that a create request did not return a new object as requested.
type WrongObjectError struct {
	Object, Name string
	// Found is the object in the response.
	Found ExistsError
	// Problem completes a sentence that starts with "it".
	Problem string
}

func (e *WrongObjectError) Error() string {
	return fmt.Sprintf("the request to create the %s returned the wrong object, %s: it %s", withName(e.Object, e.Name), ListIDs([]ExistsError{e.Found}), e.Problem)
}

// ListIDs formats the IDs of objects for an error.
func ListIDs(found []ExistsError) string {
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
