package serviceaccounts

import (
	"fmt"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
)

// UnrevokedError says that keys live on whose values nobody has, because revoking them failed.
type UnrevokedError struct {
	Found []create.ExistsError
	// Err is why the values were lost, and why the revocation failed.
	Err error
}

func (e *UnrevokedError) Error() string {
	return fmt.Sprintf("the response with the value of a new API key was lost, and revoking the key failed, so API key %s is still valid: %s", create.ListIDs(e.Found), create.Causes(e.Err))
}

func (e *UnrevokedError) Unwrap() error { return e.Err }

// RotatedError says that the service does not rotate a key, and that there are newer live keys of its name, one of which
// an earlier rotation may have made. Nothing proves whose they are as long as the grace period runs.
type RotatedError struct {
	// KeyID is the key that was to be rotated.
	KeyID string
	Found []create.ExistsError
	// Err is the service's refusal.
	Err error
}

func (e *RotatedError) Error() string {
	return fmt.Sprintf("API key %s cannot be rotated, and a newer valid API key with the same name exists, %s: %s", e.KeyID, create.ListIDs(e.Found), create.Causes(e.Err))
}

func (e *RotatedError) Unwrap() error { return e.Err }
