package crud

import (
	"context"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// What a creation found after a lost response is one warning. An ordinary creation has none.
func TestWithFound(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	computer := func(id string) create.Found {
		return create.Found{Ref: wire.Ref{Object: "computer", Name: "ci-" + id, ID: id, CreatedAt: at}}
	}
	key := create.Found{Ref: wire.Ref{Object: "API key", Name: "ci", ID: "k1", CreatedAt: at}, Revoked: "f1"}
	for name, tc := range map[string]struct {
		found []create.Found
		start string
		parts []string
	}{
		"nothing": {},
		"one": {
			[]create.Found{computer("1")}, "Warning: Found after a lost response: The response to a creation was lost or unusable.",
			[]string{`computer "ci-1" (1, created at 2026-03-01T12:00:00Z)`, "If another run created this, two states have it", "terraform state rm"},
		},
		"several": {[]create.Found{computer("1"), computer("2")}, "Warning: Found after a lost response: ", []string{`computer "ci-1" (1, `, `, "ci-2" (2, `}},
		"a key": {
			[]create.Found{key}, "Warning: Found after a lost response: The response to a request for a new API key was lost or unusable.",
			[]string{`revoked the API key "ci" (k1, created at 2026-03-01T12:00:00Z) with the fingerprint f1`, "does not work there any more"},
		},
	} {
		ctx, found := WithFound(t.Context())
		for _, f := range tc.found {
			create.NoteFound(ctx, f)
		}
		diags := found()
		tells(t, diags, tc.start, tc.parts...)
		if (len(diags) == 1) != (len(tc.found) > 0) {
			t.Errorf("%s: %v", name, diags)
		}
	}
}

func TestCreate_warnsOfWhatItFound(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errRefused} {
		req := resource.CreateRequest{Plan: tfsdk.Plan{Raw: raw(map[string]string{"id": "?", "name": "a", "mood": "?"}), Schema: thingSchema}}
		resp := &resource.CreateResponse{State: tfsdk.State{Raw: tftypes.NewValue(thingType, nil), Schema: thingSchema}, Identity: noIdentity()}
		resp.Private = private(resp.Private)
		Create(t.Context(), anyClient, "thing", req, resp, func(ctx context.Context, _ *thingModel) (*thing, error) {
			create.NoteFound(ctx, create.Found{Ref: wire.Ref{Object: "thing", ID: "1"}})
			return &thing{"1", "a", "calm"}, err
		})
		want := "Warning: Found after a lost response: "
		if err != nil {
			want = "Error: Cannot create thing: " // Nothing is in the state.
		}
		tells(t, resp.Diagnostics, want)
	}
}
