// Package privatestate has what the provider keeps about an object beside its attributes. Terraform stores it in the state, and shows it to
// nobody. A plan may depend on it, because it is a part of the state. Only a create, a read, an update, an import, and a destroy
// that fails write it.
//
//	key           objects          life span
//	seen_by       all              from the create or the first read, for ever; changes when another API key reads the object
//	imported      all              from an import to the first update; "unread" until the first read, then "read"
//	never_active  computer, fleet  per computer: from the create until a read or a wait sees it active; an import never sets it;
//	                               its value: whether it failed before anybody could use it
//	unfinished    environment      from an apply that left its last steps undone, until an apply does them or a read finds them done
//	expires_at    api_key          from the create, for ever; each new key changes it
//	in_grace      api_key          from a rotation with a grace period until a read sees that none of the old keys lives
package privatestate

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// ExpiresAt is the key that says whether an API key's expires_at came from the configuration. The service may set one too; treating that as
// a removed argument would rotate the key in every apply.
const ExpiresAt = "expires_at"

// InGrace is the key that lists the old API keys in their grace periods. There may be more than the attribute previous_key_id names.
const InGrace = "in_grace"

const (
	seenBy      = "seen_by"
	imported    = "imported"
	neverActive = "never_active"
	unfinished  = "unfinished"

	importUnread, importRead = "unread", "read" // The values of imported: the ID alone is known, or more.
)

// Reader is private state that is only read.
type Reader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// State is the part of the framework's private state that the provider uses. Its own type is in an internal package.
type State interface {
	Reader
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func get[V any](ctx context.Context, r Reader, key string) (v V, isSet bool) {
	stored, _ := r.GetKey(ctx, key)
	err := json.Unmarshal(stored, &v)
	return v, err == nil
}

func set(ctx context.Context, s State, key string, v any) diag.Diagnostics {
	stored, _ := json.Marshal(v) // Texts, booleans, and collections of them can always be encoded.
	return s.SetKey(ctx, key, stored)
}

// IsAtRest reports whether the keys ask for nothing: they are only the last reader, an import that was read, and the given ones.
func IsAtRest(values map[string][]byte, alsoAtRest ...string) bool {
	for key, value := range values {
		isRead := key == imported && string(value) == `"`+importRead+`"`
		if key != seenBy && !isRead && !slices.Contains(alsoAtRest, key) {
			return false
		}
	}
	return true
}

// LastReader identifies the API key that last read an object, or its key_owner, without revealing it.
type LastReader struct {
	Salt string `json:"salt"`
	Hash string `json:"hash"`
}

// ReaderOf returns who last read an object, if that is known.
func ReaderOf(ctx context.Context, r Reader) (LastReader, bool) {
	return get[LastReader](ctx, r, seenBy)
}

// SetReader records who last read an object.
func SetReader(ctx context.Context, s State, by LastReader) diag.Diagnostics {
	return set(ctx, s, seenBy, by)
}

// MarkImported marks an object that was imported by its ID only: arguments that the service does not return are null in its state.
func MarkImported(ctx context.Context, s State) diag.Diagnostics {
	return set(ctx, s, imported, importUnread)
}

// IsImportUnread reports whether an object was imported and has not been read yet.
func IsImportUnread(ctx context.Context, r Reader) bool {
	mark, _ := get[string](ctx, r, imported)
	return mark == importUnread
}

// MarkImportRead marks an imported object as read.
func MarkImportRead(ctx context.Context, s State) diag.Diagnostics {
	if !IsImportUnread(ctx, s) {
		return nil
	}
	return set(ctx, s, imported, importRead)
}

// ForgetImport removes the mark after an update, so that no later change is adopted.
func ForgetImport(ctx context.Context, s State) diag.Diagnostics { return s.SetKey(ctx, imported, nil) }

// MayAdopt reports whether an object was imported and not updated since, and the argument has no prior value.
func MayAdopt(ctx context.Context, r Reader, prior attr.Value) bool {
	_, isImported := get[string](ctx, r, imported)
	return isImported && prior.IsNull()
}

// IDs returns the IDs that a key lists.
func IDs(ctx context.Context, r Reader, key string) []string {
	ids, _ := get[[]string](ctx, r, key)
	return ids
}

// SetIDs lists IDs under a key, or removes the key if there are none.
func SetIDs(ctx context.Context, s State, key string, ids []string) diag.Diagnostics {
	if len(ids) == 0 {
		return s.SetKey(ctx, key, nil)
	}
	return set(ctx, s, key, slices.Sorted(slices.Values(ids)))
}

// NeverActive returns, by ID, the computers that this configuration created and that nothing has seen active. The value is true if they
// failed before anybody could use them.
func NeverActive(ctx context.Context, r Reader) map[string]bool {
	failedBeforeUse, _ := get[map[string]bool](ctx, r, neverActive)
	return failedBeforeUse
}

// SetNeverActive records what NeverActive returns, or removes the key if there are no such computers.
func SetNeverActive(ctx context.Context, s State, failedBeforeUse map[string]bool) diag.Diagnostics {
	if len(failedBeforeUse) == 0 {
		return s.SetKey(ctx, neverActive, nil)
	}
	return set(ctx, s, neverActive, failedBeforeUse)
}

// Steps are what an apply has left to do. The state alone cannot tell a build of the apply from somebody else's, nor a default that was missed
// from one that was changed later.
type Steps struct {
	// Build is the wait for a build, and Default is making the environment the organization's default.
	Build, Default bool
	// Before is the latest build before the one to wait for, if the apply started that.
	Before string `json:",omitempty"`
}

// Unfinished returns the steps that an earlier apply left.
func Unfinished(ctx context.Context, r Reader) Steps {
	left, _ := get[Steps](ctx, r, unfinished)
	return left
}

// SetUnfinished records the steps that are left, or removes the key if none are.
func SetUnfinished(ctx context.Context, s State, left Steps) diag.Diagnostics {
	if !left.Build && !left.Default {
		return s.SetKey(ctx, unfinished, nil)
	}
	return set(ctx, s, unfinished, left)
}

// IsExpiryConfigured reports whether an API key's expires_at came from the configuration.
func IsExpiryConfigured(ctx context.Context, r Reader) bool {
	isConfigured, _ := get[bool](ctx, r, ExpiresAt)
	return isConfigured
}

// SetExpiryConfigured records whether an API key's expires_at came from the configuration.
func SetExpiryConfigured(ctx context.Context, s State, isConfigured bool) diag.Diagnostics {
	return set(ctx, s, ExpiresAt, isConfigured)
}
