package create

import (
	"fmt"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
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
	text := fmt.Sprintf("%s named %q exists already, with ID %s", phrase.WithArticle(e.Object), e.Name, e.ID)
	if !e.CreatedAt.IsZero() {
		text += ", created at " + e.CreatedAt.UTC().Format(time.RFC3339)
	}
	if len(e.Others) > 0 {
		text += "; so " + phrase.Verb(len(e.Others), "does", "do") + " " + ListIDs(e.Others)
	}
	return text
}

// LostError is a request that creates something and whose answer was lost, where nothing proves what it made.
type LostError struct {
	Object, Name string
	// Found are objects that were not known before, which may be what the request made or what others did. They are not touched.
	Found []ExistsError
	// Err is why the answer is missing, and why recovering failed, if it did.
	Err error
}

func (e *LostError) Error() string {
	if len(e.Found) > 0 {
		return fmt.Sprintf("%s, and nothing proves that it made what is found now, %s: %s", e.what(), ListIDs(e.Found), Causes(e.Err))
	}
	return fmt.Sprintf("%s, and no such %s is found: %s", e.what(), e.Object, Causes(e.Err))
}

// what says whether there was an answer: one of a failing service does not tell whether it acted.
func (e *LostError) what() string {
	if transport.StatusOf(e.Err) != 0 {
		return fmt.Sprintf("it is not certain whether the %s was created", calling(e.Object, e.Name))
	}
	return fmt.Sprintf("the answer to creating the %s was lost", calling(e.Object, e.Name))
}

// calling is an object with its name, where it has one.
func calling(object, name string) string {
	if name == "" {
		return object
	}
	return fmt.Sprintf("%s %q", object, name)
}

func (e *LostError) Unwrap() error { return e.Err }

// WrongObjectError says that the service answered a creation with another object than the one that was asked for.
type WrongObjectError struct {
	Object, Name string
	// Found is the object in the answer. It is not taken over.
	Found ExistsError
	// Err says what is wrong with it.
	Err error
}

func (e *WrongObjectError) Error() string {
	return fmt.Sprintf("creating the %s was answered with the %s %s, which is not taken over: %v", calling(e.Object, e.Name), e.Object, ListIDs([]ExistsError{e.Found}), e.Err)
}

func (e *WrongObjectError) Unwrap() error { return e.Err }

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
