package adopt

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// privateState is a private state in memory. As in the framework, a value without length removes its key.
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

// Adoption is for what was imported, until its first update or for a day, and only where nothing is known.
func TestAllowed(t *testing.T) {
	t.Parallel()
	ctx, p := t.Context(), privateState{}
	expect := func(when string, unread, null, known bool) {
		t.Helper()
		if Unread(ctx, p) != unread || Allowed(ctx, p, types.StringNull()) != null || Allowed(ctx, p, types.StringValue("x")) != known {
			t.Errorf("%s: unread %v, null is adopted %v, a known value %v", when, Unread(ctx, p), Allowed(ctx, p, types.StringNull()), Allowed(ctx, p, types.StringValue("x")))
		}
	}
	expect("never imported", false, false, false)
	Imported(ctx, p)
	expect("imported", true, true, false)
	Read(ctx, p)
	expect("read", false, true, false)
	read(ctx, p, clock.System.Now().Add(adoptedWithin/2))
	expect("read later", false, true, false)
	read(ctx, p, clock.System.Now().Add(adoptedWithin+time.Minute))
	expect("read after a day", false, false, false)
	Imported(ctx, p)
	Read(ctx, p)
	Done(ctx, p)
	expect("updated", false, false, false)
}
