package crud

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// The state identifies the object even if the CLI does not support identities.
func TestGone_withoutAnIdentity(t *testing.T) {
	t.Parallel()
	resp := &resource.ReadResponse{State: prior()}
	HandleGone(t.Context(), anyClient, "api key", &bare{}, resp)
	tells(t, resp.Diagnostics, "Warning: Api key not found: The api key 1 no longer exists.")
}

// hideable is a thing that may be visible only to its owner.
type hideable struct{ thingModel }

func (m *hideable) OwnerOnly() bool { return m.Mood.ValueString() == "shy" }

// providers answers each request as the list of providers, which shows that base_url leads to the API.
type providers struct{}

func (providers) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"providers": []}`)), Request: r}, nil
}

// keyed returns a client with an API key and a key_owner, which may be empty.
func keyed(t *testing.T, key, owner string) *client.Client {
	t.Helper()
	c, err := client.New(transport.Config{BaseURL: "https://api.agentyard.example", APIKey: key, KeyOwner: owner, Transport: providers{}})
	check.Must(t, err)
	return c
}

// An owner-only object is gone only if the API key that last read it, or a key of the same key_owner, gets a 404. The warning
// about any other object says that it was last read with another one.
func TestGone_withAnotherKey(t *testing.T) {
	t.Parallel()
	const (
		other      = " It was last read with another API key or key_owner."
		prevention = " If each run uses a new key, set key_owner in the provider block to prevent this error."
	)
	own, successor := keyed(t, "own", ""), keyed(t, "successor", "")
	owned, ownedSuccessor, stranger := keyed(t, "own", "ci"), keyed(t, "successor", "ci"), keyed(t, "own", "blue")
	for name, tc := range map[string]struct {
		saw, asks *client.Client
		// reader is empty if the object is gone.
		reader string
		// prevention is the last sentence of the error.
		prevention string
	}{
		"the same key":                         {saw: own, asks: own},
		"another key":                          {saw: own, asks: successor, reader: other, prevention: prevention},
		"a state without a mark":               {asks: successor},
		"another key of the same owner":        {saw: owned, asks: ownedSuccessor},
		"a key of another owner":               {saw: owned, asks: stranger, reader: other},
		"key_owner was set since":              {saw: own, asks: owned, reader: other},
		"key_owner was set, and a key changed": {saw: own, asks: ownedSuccessor, reader: other},
		"key_owner was removed since":          {saw: owned, asks: own, reader: other, prevention: prevention},
	} {
		for _, mood := range []string{"shy", "calm"} {
			t.Run(name+", "+mood, func(t *testing.T) {
				t.Parallel()
				state := stateOf(map[string]string{"id": "1", "name": "a", "mood": mood})
				resp := &resource.ReadResponse{State: state, Identity: noIdentity()}
				resp.Private = private(resp.Private)
				if tc.saw != nil {
					Read(t.Context(), tc.saw, "thing", resource.ReadRequest{State: state}, resp, func(*hideable) (*thing, error) {
						return &thing{"1", "a", mood}, nil
					})
				}
				Read(t.Context(), tc.asks, "thing", resource.ReadRequest{State: state}, resp, func(*hideable) (*thing, error) { return nil, errGone })
				deletion := &resource.DeleteResponse{}
				Delete(t.Context(), tc.asks, "thing", resource.DeleteRequest{State: state, Private: resp.Private}, deletion, func(*hideable) error { return errGone })
				isHidden := mood == "shy" && tc.reader != ""
				if resp.State.Raw.IsNull() == isHidden {
					t.Errorf("the state holds %v", resp.State.Raw)
				}
				if isHidden {
					text := "Thing 1 is not visible to the provider's API key." + tc.reader + " If the thing was deleted, run terraform state rm ADDRESS. Otherwise, use a key of its owner." + tc.prevention
					equals(t, resp.Diagnostics, "Error: Cannot read thing: "+text)
					equals(t, deletion.Diagnostics, "Error: Cannot delete thing: "+text)
					return
				}
				hint := ""
				if tc.reader != "" {
					hint = tc.reader + " If that key belongs to another organization, do not apply."
				}
				equals(t, resp.Diagnostics, "Warning: Thing not found: The thing 1 no longer exists. It is removed from the state. If it is still configured, the next apply creates it again."+hint)
				equals(t, deletion.Diagnostics, "")
			})
		}
	}
}

func equals(t *testing.T, diags diag.Diagnostics, want string) {
	t.Helper()
	check.Is(t, "said", said(diags), want)
}

// Terraform compares private state, so it must not change with every read, nor with every key of a key_owner.
func TestRecordReader_isWrittenOnce(t *testing.T) {
	t.Parallel()
	var resp resource.ReadResponse
	resp.Private = private(resp.Private)
	var marks []string
	for _, c := range []*client.Client{
		keyed(t, "own", ""), keyed(t, "own", ""), keyed(t, "own", "ci"), keyed(t, "own", "ci"), keyed(t, "successor", "ci"), keyed(t, "own", "blue"), keyed(t, "own", ""), keyed(t, "successor", ""),
	} {
		tells(t, RecordReader(t.Context(), c, resp.Private), "")
		mark, _ := resp.Private.GetKey(t.Context(), "seen_by")
		if n := len(marks); n == 0 || marks[n-1] != string(mark) {
			marks = append(marks, string(mark))
		}
		if text := string(mark); strings.Contains(text, "own\"") || strings.Contains(text, "ci") || len(text) > 64 {
			t.Errorf("the mark is %s", text)
		}
	}
	check.Is(t, "marks", len(marks), 5)
}

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
			create.NoteFound(ctx, &transport.Conn{}, f)
		}
		diags := found()
		tells(t, diags, tc.start, tc.parts...)
		check.Is(t, name+": a warning", len(diags) == 1, len(tc.found) > 0)
	}
}

func TestCreate_warnsOfWhatItFound(t *testing.T) {
	t.Parallel()
	for _, err := range []error{nil, errRefused} {
		req := resource.CreateRequest{Plan: tfsdk.Plan{Raw: raw(map[string]string{"id": "?", "name": "a", "mood": "?"}), Schema: thingSchema}}
		resp := &resource.CreateResponse{State: tfsdk.State{Raw: tftypes.NewValue(thingType, nil), Schema: thingSchema}, Identity: noIdentity()}
		resp.Private = private(resp.Private)
		Create(t.Context(), anyClient, "thing", req, resp, func(ctx context.Context, _ *thingModel) (*thing, error) {
			create.NoteFound(ctx, &transport.Conn{}, create.Found{Ref: wire.Ref{Object: "thing", ID: "1"}})
			return &thing{"1", "a", "calm"}, err
		})
		want := "Warning: Found after a lost response: "
		if err != nil {
			want = "Error: Cannot create thing: " // Nothing is in the state.
		}
		tells(t, resp.Diagnostics, want)
	}
}
