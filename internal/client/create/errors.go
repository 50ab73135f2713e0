package create

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

// ExistsError says that nothing was created because an object of that name exists that this run did not make.
type ExistsError struct {
	// Object is what it is, such as "computer".
	Object string
	// Name is its name, empty where an error names an object that has none. ID is its identifier in the service, ImportID what
	// `terraform import` takes.
	Name, ID, ImportID string
	// CreatedAt is zero where the service does not tell.
	CreatedAt time.Time
	// Others are further objects of the name.
	Others []ExistsError
}

// Describe describes objects.
func Describe[T any](found []T, describe func(*T) ExistsError) []ExistsError {
	all := make([]ExistsError, len(found))
	for i := range found {
		all[i] = describe(&found[i])
	}
	return all
}

// AlreadyExists is the error for objects that exist already; nil for none.
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
	if !e.CreatedAt.IsZero() {
		text += ", created at " + e.CreatedAt.UTC().Format(time.RFC3339)
	}
	if len(e.Others) > 0 {
		text += "; others with this name: " + ListIDs(e.Others)
	}
	return text
}

// LostError is a create request whose outcome is unknown: its response was lost, or does not tell whether the service acted.
type LostError struct {
	Object, Name string
	// Found are new objects, which the request or somebody else may have created.
	Found []ExistsError
	// Err is why the outcome is unknown, and why looking for the object failed, if it did.
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

// withName adds the name of an object that has one.
func withName(object, name string) string {
	if name == "" {
		return object
	}
	return fmt.Sprintf("%s %q", object, name)
}

// WrongObjectError says that a create request returned another object than a new one as requested.
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

// ListIDs names objects by their IDs.
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

// Causes writes joined errors in one line.
func Causes(err error) string {
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
