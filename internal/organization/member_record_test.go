package organization

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
)

func TestMember_unsetFields(t *testing.T) {
	t.Parallel()
	var m memberModel
	if diags := m.FromAPI(t.Context(), &client.Member{ID: "user_1", Email: "Ada@acme.example"}); diags.HasError() {
		t.Fatal(diags)
	}
	if m.ID.ValueString() != "user_1" || m.Email.ValueString() != "Ada@acme.example" || !m.FirstName.IsNull() || !m.LastName.IsNull() || !m.CreatedAt.IsNull() || !m.LastSignInAt.IsNull() {
		t.Errorf("got %+v", m)
	}
	if m.Metadata.IsNull() || len(m.Metadata.Elements()) != 0 {
		t.Errorf("metadata that is missing is %s", m.Metadata)
	}
	// An address that was asked for stays as it is spelled, and no other one does.
	for email, want := range map[string]string{"ADA@acme.example": "Ada@acme.example", "ben@acme.example": "ben@acme.example"} {
		given := m
		_ = given.FromAPI(t.Context(), &client.Member{ID: "user_1", Email: email})
		if got := given.Email.ValueString(); got != want {
			t.Errorf("%s: got %s, want %s", email, got, want)
		}
	}
}

func TestControlChange_unsetFields(t *testing.T) {
	t.Parallel()
	revision := int64(7)
	var m controlChangeModel
	if diags := m.FromAPI(t.Context(), &client.ControlChange{Revision: &revision, Settings: json.RawMessage("null")}); diags.HasError() {
		t.Fatal(diags)
	}
	if m.Revision.ValueInt64() != 7 || !m.Settings.IsNull() || m.User != nil || !m.UpdatedAt.IsNull() {
		t.Errorf("got %+v", m)
	}
	if _ = m.FromAPI(t.Context(), &client.ControlChange{Revision: &revision, User: &client.ControlUser{}}); m.User == nil || !m.User.ID.IsNull() || !m.User.Email.IsNull() || !m.User.Name.IsNull() {
		t.Errorf("an unknown user is %+v", m.User)
	}
}

func TestControlChange_readsTheTimeInUTC(t *testing.T) {
	t.Parallel()
	var c client.ControlChange
	if err := json.Unmarshal([]byte(`{"revision":1,"settings":{},"updatedAt":"2026-03-01T14:00:00.5+02:00"}`), &c); err != nil {
		t.Fatal(err)
	}
	var m controlChangeModel
	if _ = m.FromAPI(t.Context(), &c); m.UpdatedAt.ValueString() != "2026-03-01T12:00:00.5Z" || c.UpdatedAt.Location() != time.UTC {
		t.Errorf("got %s", m.UpdatedAt)
	}
}

// The error about settings that cannot be read does not quote them.
func TestControlChange_brokenSettings(t *testing.T) {
	t.Parallel()
	revision := int64(7)
	var m controlChangeModel
	diags := m.FromAPI(t.Context(), &client.ControlChange{Revision: &revision, Settings: json.RawMessage(`{"apiKey":"no-secret" Z}`)})
	if len(diags) != 1 || !strings.Contains(diags[0].Detail(), "revision 7") || strings.Contains(diags[0].Detail(), "Z") || strings.Contains(diags[0].Detail(), "no-secret") {
		t.Errorf("got %v", diags)
	}
}
