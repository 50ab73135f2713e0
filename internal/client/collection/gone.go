package collection

import (
	"errors"
	"fmt"
)

// GoneError says that an object no longer exists: the service returned 404 for it, and a listing of its collection, if there
// is one, does not have it.
type GoneError struct {
	// Err is the service's response.
	Err error
}

func (e *GoneError) Error() string { return "the object does not exist: " + e.Err.Error() }

func (e *GoneError) Unwrap() error { return e.Err }

// UnprovenGoneError says that the service returned 404 for an object, and that its collection could not be listed. A wrong
// base_url, or a key that cannot see the object, may also cause the 404.
type UnprovenGoneError struct {
	// Err is the 404. Listing is why the collection could not be listed.
	Err, Listing error
}

func (e *UnprovenGoneError) Error() string {
	return fmt.Sprintf("%v; the object may still exist, because the list that would show it failed: %v", e.Err, e.Listing)
}

func (e *UnprovenGoneError) Unwrap() error { return e.Listing }

// IsGone reports whether an object is known to no longer exist.
func IsGone(err error) bool {
	var gone *GoneError
	return errors.As(err, &gone)
}

// NotYetVisibleError says that the service returned 404 for an object that was created a moment ago, and may return it later.
type NotYetVisibleError struct {
	// Err is the 404.
	Err error
}

func (e *NotYetVisibleError) Error() string {
	return "a new object may not be visible yet: " + e.Err.Error()
}

func (e *NotYetVisibleError) Unwrap() error { return e.Err }
