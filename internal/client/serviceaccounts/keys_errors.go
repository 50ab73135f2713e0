package serviceaccounts

import (
	"fmt"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

// UnrevokedError says that keys with lost values are still valid, because revoking them failed.
type UnrevokedError struct {
	Found []wire.Ref
	// Err says why the response was lost, and why the revocation failed.
	Err error
}

func (e *UnrevokedError) Error() string {
	return fmt.Sprintf("the response with the value of a new API key was lost, and revoking the key failed, so API key %s is still valid: %s", create.ListIDs(e.Found), create.Causes(e.Err))
}

func (e *UnrevokedError) Unwrap() error { return e.Err }

// RotatedError says that the service refused to rotate a key, and that newer live keys with its name exist. An earlier
// rotation may have created one of them.
type RotatedError struct {
	// KeyID is the key that was not rotated.
	KeyID string
	Found []wire.Ref
	// Err is the service's response.
	Err error
}

func (e *RotatedError) Error() string {
	return fmt.Sprintf("API key %s cannot be rotated, and a newer valid API key with the same name exists, %s: %s", e.KeyID, create.ListIDs(e.Found), create.Causes(e.Err))
}

func (e *RotatedError) Unwrap() error { return e.Err }

// LostRotationError says that a key was rotated, that the response with the new value was lost, and that the rotated key has no
// replacement.
type LostRotationError struct {
	// KeyID is the key that was rotated.
	KeyID        string
	GraceMinutes int64
	// Err says why there is no replacement.
	Err error
}

func (e *LostRotationError) Error() string {
	validity := "no longer works"
	if e.GraceMinutes > 0 {
		validity = "works for at most " + phrase.Count(int(e.GraceMinutes), "more minute")
	}
	return fmt.Sprintf("API key %s was rotated and %s, but its new value was lost, and it has no replacement: %s", e.KeyID, validity, create.Causes(e.Err))
}

func (e *LostRotationError) Unwrap() error { return e.Err }
