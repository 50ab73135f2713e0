package modifier

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
)

// imported is what in private state marks an object from its import to its first update: arguments that the service does not return are
// null in its state. The value is unread or read.
const imported = "imported"

var (
	// unread means that only the ID is known.
	unread = []byte(`"unread"`)
	read   = []byte(`"read"`)
)

// PrivateState is the part of the framework's private state that the provider uses. Its own type is in an internal package.
type PrivateState interface {
	PrivateReader
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// PrivateReader is private state that is only read.
type PrivateReader interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
}

// SetImported marks an object that was imported by its ID only.
func SetImported(ctx context.Context, private PrivateState) diag.Diagnostics {
	return private.SetKey(ctx, imported, unread)
}

// IsUnread reports whether an object was imported and has not been read yet.
func IsUnread(ctx context.Context, private PrivateState) bool {
	value, _ := private.GetKey(ctx, imported)
	return string(value) == string(unread)
}

// IsRead reports whether a value of the private state says that an object was imported and read.
func IsRead(name string, value []byte) bool { return name == imported && string(value) == string(read) }

// SetRead marks an imported object as read.
func SetRead(ctx context.Context, private PrivateState) diag.Diagnostics {
	if !IsUnread(ctx, private) {
		return nil
	}
	return private.SetKey(ctx, imported, read)
}

// RemoveImported removes the mark after an update, so that no later change is adopted.
func RemoveImported(ctx context.Context, private PrivateState) diag.Diagnostics {
	return private.SetKey(ctx, imported, nil)
}

// MayAdopt reports whether an object was imported and not updated since, and the argument has no prior value.
func MayAdopt(ctx context.Context, private PrivateState, prior attr.Value) bool {
	value, _ := private.GetKey(ctx, imported)
	return len(value) > 0 && prior.IsNull()
}
