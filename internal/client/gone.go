package client

import (
	"errors"
	"fmt"
)

// GoneError says that an object does not exist any more: the service itself answers 404 for it, and where its collection
// can be listed, a listing lacks it.
type GoneError struct {
	// SeesNothing says that the listing is empty, so that nothing shows whose objects the API key sees.
	SeesNothing bool
	// Doubt is what else may explain it, as a sentence; empty where nothing does.
	Doubt string
	// Err is the service's answer.
	Err error
}

func (e *GoneError) Error() string { return "it does not exist: " + e.Err.Error() }

func (e *GoneError) Unwrap() error { return e.Err }

// UnprovenGoneError says that the service answers 404 for an object, but that its collection cannot be listed, so that
// the 404 may as well come from a wrong address or a key that does not see the object.
type UnprovenGoneError struct {
	// Err is the 404, Listing why there is no listing.
	Err, Listing error
}

func (e *UnprovenGoneError) Error() string {
	return fmt.Sprintf("%v; whether it is gone is not certain, because the listing that would show it failed: %v", e.Err, e.Listing)
}

func (e *UnprovenGoneError) Unwrap() error { return e.Listing }

// OtherOwnerError says that the API key sees the objects of another owner than the one that an object in the state has.
type OtherOwnerError struct {
	// Object is what it is, such as "computer", ID its identifier.
	Object, ID string
	// Owner is whose the object is, Caller whose objects the API key sees.
	Owner, Caller string
}

func (e *OtherOwnerError) Error() string {
	return fmt.Sprintf("the %s %s belongs to owner %s, but this API key sees the objects of owner %s only", e.Object, e.ID, e.Owner, e.Caller)
}

// IsGone reports that an object is known not to exist any more.
func IsGone(err error) bool {
	var gone *GoneError
	return errors.As(err, &gone)
}
