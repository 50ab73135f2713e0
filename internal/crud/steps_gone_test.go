package crud

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// The state identifies the object even if the CLI does not support identities.
func TestGone_withoutAnIdentity(t *testing.T) {
	t.Parallel()
	resp := &resource.ReadResponse{State: prior()}
	Gone(t.Context(), nil, "api key", &bare{}, resp)
	tells(t, resp.Diagnostics, "Warning: Api Key Not Found: The api key 1 no longer exists.")
}

// hideable is a thing that may be visible only to its owner.
type hideable struct{ thingModel }

func (m *hideable) OwnerOnly() bool { return m.Mood.ValueString() == "shy" }

// An owner-only object is gone only if the API key that last read it gets a 404.
func TestGone_whereOnlyTheOwnerSeesIt(t *testing.T) {
	t.Parallel()
	withKey := func(key string) *client.Client {
		c, err := client.New(transport.Config{BaseURL: "https://api.agentyard.example", APIKey: key})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	own, other := withKey("own"), withKey("other")
	for name, tc := range map[string]struct {
		mood      string
		saw, asks *client.Client
		isHidden  bool
	}{
		"the same key":              {mood: "shy", saw: own, asks: own},
		"another key":               {mood: "shy", saw: own, asks: other, isHidden: true},
		"a state without a mark":    {mood: "shy", asks: other},
		"another key, seen by all":  {mood: "calm", saw: own, asks: other},
		"the same key, seen by all": {mood: "calm", saw: own, asks: own},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			state := stateOf(map[string]string{"id": "1", "name": "a", "mood": tc.mood})
			resp := &resource.ReadResponse{State: state, Identity: noIdentity()}
			resp.Private = private(resp.Private)
			if tc.saw != nil {
				Read(t.Context(), tc.saw, "thing", resource.ReadRequest{State: state}, resp, func(*hideable) (*thing, error) {
					return &thing{"1", "a", tc.mood}, nil
				})
			}
			Read(t.Context(), tc.asks, "thing", resource.ReadRequest{State: state}, resp, func(*hideable) (*thing, error) { return nil, errGone })
			deletion := &resource.DeleteResponse{}
			Delete(t.Context(), tc.asks, "thing", resource.DeleteRequest{State: state, Private: resp.Private}, deletion, func(*hideable) error { return errGone })
			if resp.State.Raw.IsNull() == tc.isHidden {
				t.Errorf("the state holds %v", resp.State.Raw)
			}
			if !tc.isHidden {
				tells(t, resp.Diagnostics, "Warning: Thing Not Found: ")
				tells(t, deletion.Diagnostics, "")
				return
			}
			const text = "Thing 1 is not visible to the provider's API key. Another API key last read it. Use that key. If the thing was deleted, run terraform state rm ADDRESS."
			tells(t, resp.Diagnostics, "Error: Cannot read thing: "+text)
			tells(t, deletion.Diagnostics, "Error: Cannot delete thing: "+text)
		})
	}
}

// Terraform compares private state, so it must not change with every read.
func TestSeen_isWrittenOnce(t *testing.T) {
	t.Parallel()
	c := client.Unconfigured("api_key", clock.System)
	var resp resource.ReadResponse
	resp.Private = private(resp.Private)
	var marks []string
	for range 2 {
		tells(t, Seen(t.Context(), c, &hideable{}, resp.Private), "")
		mark, _ := resp.Private.GetKey(t.Context(), seenByKey)
		marks = append(marks, string(mark))
	}
	if marks[0] == "" || marks[0] != marks[1] {
		t.Errorf("the marks are %q", marks)
	}
	var unmarked resource.ReadResponse
	unmarked.Private = private(unmarked.Private)
	tells(t, Seen(t.Context(), c, &thingModel{}, unmarked.Private), "")
	if mark, _ := unmarked.Private.GetKey(t.Context(), seenByKey); mark != nil {
		t.Errorf("what everybody sees has the mark %s", mark)
	}
}
