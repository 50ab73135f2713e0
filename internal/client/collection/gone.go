package collection

import (
	"errors"
	"fmt"
)

// GoneError says that an object does not exist any more: the service itself answers 404 for it, and where its collection
// can be listed, a listing lacks it.
type GoneError struct {
	// Err is the service's response.
	Err error
}

func (e *GoneError) Error() string { return "the object does not exist: " + e.Err.Error() }

func (e *GoneError) Unwrap() error { return e.Err }

// UnprovenGoneError says that the service answers 404 for an object, but that its collection cannot be listed, so that
// the 404 may as well come from a wrong address or a key that does not see the object.
type UnprovenGoneError struct {
	// Err is the 404, Listing why there is no listing.
	Err, Listing error
}

func (e *UnprovenGoneError) Error() string {
	return fmt.Sprintf("%v; the object may still exist, because the list that would show it failed: %v", e.Err, e.Listing)
}

func (e *UnprovenGoneError) Unwrap() error { return e.Listing }

// IsGone reports that an object is known not to exist any more.
func IsGone(err error) bool {
	var gone *GoneError
	return errors.As(err, &gone)
}

// NotYetVisibleError says that the service answers 404 for an object that was created a moment ago. It may show it later.
type NotYetVisibleError struct {
	// Err is the 404.
	Err error
}

func (e *NotYetVisibleError) Error() string {
	return "a new object may not be visible yet: " + e.Err.Error()
}

func (e *NotYetVisibleError) Unwrap() error { return e.Err }
