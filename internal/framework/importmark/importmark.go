// Package importmark marks an object in private state from its import to its first update. Arguments that the service does not
// return are null in the state of such an object.
package importmark

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// key is what in private state marks an object from its import to its first update. Its value is unread or read.
const key = "imported"

var (
	// unread means that only the ID is known.
	unread = []byte(`"unread"`)
	read   = []byte(`"read"`)
)

// PrivateState is the part of the framework's private state that the provider uses. Its own type is in an internal package.
type PrivateState interface {
	Reader
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// Reader is private state that is only read.
type Reader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// Set marks an object that was imported by its ID only.
func Set(ctx context.Context, private PrivateState) diag.Diagnostics {
	return private.SetKey(ctx, key, unread)
}

// IsUnread reports whether an object was imported and has not been read yet.
func IsUnread(ctx context.Context, private PrivateState) bool {
	value, _ := private.GetKey(ctx, key)
	return string(value) == string(unread)
}

// IsRead reports whether a value of the private state says that an object was imported and read.
func IsRead(name string, value []byte) bool { return name == key && string(value) == string(read) }

// SetRead marks an imported object as read.
func SetRead(ctx context.Context, private PrivateState) diag.Diagnostics {
	if !IsUnread(ctx, private) {
		return nil
	}
	return private.SetKey(ctx, key, read)
}

// Remove removes the mark after an update, so that no later change is adopted.
func Remove(ctx context.Context, private PrivateState) diag.Diagnostics {
	return private.SetKey(ctx, key, nil)
}

// MayAdopt reports whether an object was imported and not updated since, and the argument has no prior value.
func MayAdopt(ctx context.Context, private PrivateState, prior attr.Value) bool {
	value, _ := private.GetKey(ctx, key)
	return len(value) > 0 && prior.IsNull()
}
