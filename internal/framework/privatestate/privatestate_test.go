package privatestate

import (
	"context"
	"strings"
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
		if IsImportUnread(ctx, p) != unread || MayAdopt(ctx, p, types.StringNull()) != null || MayAdopt(ctx, p, types.StringValue("x")) != known {
			t.Errorf("%s: unread %v, null is adopted %v, a known value %v", when, IsImportUnread(ctx, p), MayAdopt(ctx, p, types.StringNull()), MayAdopt(ctx, p, types.StringValue("x")))
		}
	}
	expect("never imported", false, false, false)
	MarkImported(ctx, p)
	expect("imported", true, true, false)
	MarkImportRead(ctx, p)
	expect("read", false, true, false)
	MarkImportRead(ctx, p)
	expect("read again", false, true, false)
	ForgetImport(ctx, p)
	expect("updated", false, false, false)
}

// The keys and values are in the states of users, so they must not change.
func TestValuesInStates(t *testing.T) {
	t.Parallel()
	for want, write := range map[string]func(State) diag.Diagnostics{
		`seen_by {"salt":"s","hash":"h"}`: func(s State) diag.Diagnostics { return SetReader(t.Context(), s, LastReader{Salt: "s", Hash: "h"}) },
		`imported "unread"`:               func(s State) diag.Diagnostics { return MarkImported(t.Context(), s) },
		`imported "read"`: func(s State) diag.Diagnostics {
			return append(MarkImported(t.Context(), s), MarkImportRead(t.Context(), s)...)
		},
		`unfinished {"Build":true,"Default":false}`: func(s State) diag.Diagnostics { return SetUnfinished(t.Context(), s, Steps{Build: true}) },
		`unfinished {"Build":true,"Default":false,"Before":"b"}`: func(s State) diag.Diagnostics {
			return SetUnfinished(t.Context(), s, Steps{Build: true, Before: "b"})
		},
		`never_active {"a":true,"b":false}`: func(s State) diag.Diagnostics {
			return SetNeverActive(t.Context(), s, map[string]bool{"b": false, "a": true})
		},
		`expires_at true`: func(s State) diag.Diagnostics { return SetExpiryConfigured(t.Context(), s, true) },
	} {
		key, value, _ := strings.Cut(want, " ")
		p := privateState{}
		if diags := write(p); diags.HasError() || len(p) != 1 || string(p[key]) != value {
			t.Errorf("%v in place of %s; %v", p, want, diags)
		}
	}
}

// Before says something only of a step that is left.
func TestSetUnfinished_removesTheKeyWithTheLastStep(t *testing.T) {
	t.Parallel()
	p := privateState{}
	SetUnfinished(t.Context(), p, Steps{Build: true, Before: "b"})
	SetUnfinished(t.Context(), p, Steps{Before: "b"})
	if len(p) > 0 {
		t.Errorf("left are %s", p)
	}
}
