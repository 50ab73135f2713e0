package collection

import (
	"errors"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

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
	var missing *MissingError
	if !transport.IsNotFound(err) || errors.As(err, &missing) {
		return err
	}
	return &MissingError{Err: err}
}

// IsGone reports whether an object is known to no longer exist.
func IsGone(err error) bool {
	var missing *MissingError
	return errors.As(err, &missing) && !missing.IsNew
}

// IsNew reports whether an object is missing but may be visible later.
func IsNew(err error) bool {
	var missing *MissingError
	return errors.As(err, &missing) && missing.IsNew
}
