package collection

import (
	"errors"
	"net/http"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// CannotList reports whether the service refuses the listing to this caller, who may still read single objects.
func CannotList(err error) bool {
	switch transport.StatusOf(err) {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return true
	}
	return false
}

// MissingError says that the service does not have an object.
type MissingError struct {
	// Err says what the service returned, such as its 404.
	Err error
	// IsNew says that the object was created a moment ago, and may be visible later.
	IsNew bool
}

func (e *MissingError) Error() string {
	if e.IsNew {
		return "a new object may not be visible yet: " + e.Err.Error()
	}
	return "the object does not exist: " + e.Err.Error()
}

func (e *MissingError) Unwrap() error { return e.Err }

// Gone turns the service's own 404 for an object into a *MissingError: the object does not exist. Any other error stays.
func Gone(err error) error {
	if _, isMissing := errors.AsType[*MissingError](err); isMissing || !transport.IsNotFound(err) {
		return err
	}
	return &MissingError{Err: err}
}

// IsGone reports whether an object is known to no longer exist.
func IsGone(err error) bool {
	missing, ok := errors.AsType[*MissingError](err)
	return ok && !missing.IsNew
}

// youngFor is how long the service may not show a new object: a minute, and two for the difference between the clocks of the service.
const youngFor = 3 * time.Minute

// IsYoung reports whether an object that is missing may not be visible yet. Now is the service's time.
func IsYoung(now, createdAt time.Time) bool { return now.Before(createdAt.Add(youngFor)) }

// IsNew reports whether an object is missing but may be visible later.
func IsNew(err error) bool {
	missing, ok := errors.AsType[*MissingError](err)
	return ok && missing.IsNew
}
