package serviceaccounts

import (
	"fmt"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/phrase"
)

// KeyLeftError says that live keys are left whose values are lost, or may be lost.
type KeyLeftError struct {
	// KeyID is the key that the service refused to rotate: an earlier rotation may have created one of the keys that were found.
	// It is empty for keys that were created just now and that could not be revoked.
	KeyID string
	Found []wire.Ref
	// Err is the service's response, or says why the response was lost and the revocation failed.
	Err error
}

func (e *KeyLeftError) Error() string {
	if e.KeyID == "" {
		return fmt.Sprintf("the response with the value of a new API key was lost, and revoking the key failed, so API key %s is still valid: %s", create.ListIDs(e.Found), create.Causes(e.Err))
	}
	return fmt.Sprintf("API key %s cannot be rotated, and a newer valid API key with the same name exists, %s: %s", e.KeyID, create.ListIDs(e.Found), create.Causes(e.Err))
}

func (e *KeyLeftError) Unwrap() error { return e.Err }

// lostRotation says that a key was rotated, that the response with the new value was lost, and that the key has no replacement.
func lostRotation(rotated Renewal, err error) error {
	validity := "no longer works"
	if rotated.GraceMinutes > 0 {
		validity = "works for at most " + phrase.Count(int(rotated.GraceMinutes), "more minute")
	}
	return fmt.Errorf("API key %s was rotated and %s, but its new value was lost, and it has no replacement: %w", rotated.ID, validity, err)
}
