package organization

import (
	"encoding/json"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

func TestMember_address(t *testing.T) {
	t.Parallel()
	var m memberModel
	if diags := m.FromAPI(t.Context(), &organization.Member{ID: "user_1", Email: "Ada@acme.example"}); diags.HasError() {
		t.Fatal(diags)
	}
	// A configured address keeps its case. Others do not.
	for email, want := range map[string]string{"ADA@acme.example": "Ada@acme.example", "ben@acme.example": "ben@acme.example"} {
		given := m
		_ = given.FromAPI(t.Context(), &organization.Member{ID: "user_1", Email: email})
		if got := given.Email.ValueString(); got != want {
			t.Errorf("%s: got %s, want %s", email, got, want)
		}
	}
}

func TestControlChange_unsetFields(t *testing.T) {
	t.Parallel()
	revision := int64(7)
	got := results.ObjectOf(controlChange, &organization.ControlChange{Revision: &revision, Settings: json.RawMessage("null")}).String()
	if got != `{"revision":7,"settings":<null>,"updated_at":<null>,"user":<null>}` {
		t.Errorf("got %s", got)
	}
	got = results.ObjectOf(controlChange, &organization.ControlChange{Revision: &revision, User: &organization.ControlUser{}}).Attributes()["user"].String()
	if got != `{"email":<null>,"id":<null>,"name":<null>}` {
		t.Errorf("an unknown user is %s", got)
	}
}

func TestControlChange_readsTheTimeInUTC(t *testing.T) {
	t.Parallel()
	var c organization.ControlChange
	if err := json.Unmarshal([]byte(`{"revision":1,"settings":{},"updatedAt":"2026-03-01T14:00:00.5+02:00"}`), &c); err != nil {
		t.Fatal(err)
	}
	if got := controlChange["updated_at"].Value(&c).String(); got != `"2026-03-01T12:00:00.5Z"` {
		t.Errorf("got %s", got)
	}
}
