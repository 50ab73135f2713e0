package collection

import (
	"errors"
	"fmt"
)

// MissingError says that the service returned 404 for an object. Without Listing and IsNew, the object is gone: a listing of its
// collection, if there is one, does not have it.
type MissingError struct {
	// Err is the 404.
	Err error
	// Listing is why the collection could not be listed. A wrong base_url, or a key that cannot see the object, may also cause
	// the 404.
	Listing error
	// IsNew says that the object was created a moment ago, and may be visible later.
	IsNew bool
}

func (e *MissingError) Error() string {
	switch {
	case e.Listing != nil:
		return fmt.Sprintf("%v; the object may still exist, because the list that would show it failed: %v", e.Err, e.Listing)
	case e.IsNew:
		return "a new object may not be visible yet: " + e.Err.Error()
	}
	return "the object does not exist: " + e.Err.Error()
}

func (e *MissingError) Unwrap() error {
	if e.Listing != nil {
		return e.Listing
	}
	return e.Err
}

// IsGone reports whether an object is known to no longer exist.
func IsGone(err error) bool {
	var missing *MissingError
	return errors.As(err, &missing) && missing.Listing == nil && !missing.IsNew
}

// IsUnproven reports whether an object is missing but may still exist, because its collection could not be listed.
func IsUnproven(err error) bool {
	var missing *MissingError
	return errors.As(err, &missing) && missing.Listing != nil
}

// IsNew reports whether an object is missing but may be visible later.
func IsNew(err error) bool {
	var missing *MissingError
	return errors.As(err, &missing) && missing.IsNew
}
