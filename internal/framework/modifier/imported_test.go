package modifier

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// privateState is private state in memory. As in the framework, an empty value removes its key.
type privateState map[string][]byte

func (p privateState) GetKey(_ context.Context, key string) ([]byte, diag.Diagnostics) {
	return p[key], nil
}

func (p privateState) SetKey(_ context.Context, key string, value []byte) diag.Diagnostics {
	if len(value) == 0 {
		delete(p, key)
		return nil
	}
	p[key] = value
	return nil
}

// Only an imported object without a prior value adopts, and only until its first update.
func TestMayAdopt(t *testing.T) {
	t.Parallel()
	ctx, p := t.Context(), privateState{}
	expect := func(when string, unread, null, known bool) {
		t.Helper()
		if IsUnread(ctx, p) != unread || MayAdopt(ctx, p, types.StringNull()) != null || MayAdopt(ctx, p, types.StringValue("x")) != known {
			t.Errorf("%s: unread %v, null is adopted %v, a known value %v", when, IsUnread(ctx, p), MayAdopt(ctx, p, types.StringNull()), MayAdopt(ctx, p, types.StringValue("x")))
		}
	}
	expect("never imported", false, false, false)
	SetImported(ctx, p)
	expect("imported", true, true, false)
	SetRead(ctx, p)
	expect("read", false, true, false)
	SetRead(ctx, p)
	expect("read again", false, true, false)
	RemoveImported(ctx, p)
	expect("updated", false, false, false)
}
