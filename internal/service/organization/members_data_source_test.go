package organization_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// bootstrap is the email address of the manager in every new emulator.
const bootstrap = "manager@agentyard.example"

// join adds a member, a minute after the previous one, and returns the member's ID and API key.
func join(t *testing.T, e *acctest.Env, h emulator.Human) (id, key string) {
	t.Helper()
	if e.Clock != nil {
		e.Clock.Advance(time.Minute)
	}
	id, key, err := e.AddHuman(h)
	acctest.Must(t, err)
	return id, key
}

// joinMany adds n members: m0@acme.example and so on.
func joinMany(t *testing.T, e *acctest.Env, n int) {
	t.Helper()
	for i := range n {
		join(t, e, emulator.Human{Email: fmt.Sprintf("m%d@acme.example", i)})
	}
}

func TestMembers_everyField(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	ada, _ := join(t, e, emulator.Human{Email: "Ada.O'Neil+ci@Acme.example", FirstName: "Ada", LastName: "O'Neil", Metadata: map[string]any{
		"team": "core", "level": 3, "lead": true, "tags": []string{"a", "b"}, "office": nil, "": "empty",
	}})
	ben, _ := join(t, e, emulator.Human{Email: "ben@acme.example"})
	acctest.Must(t, e.Invite("cho@acme.example", ""))
	members := e.MustRead(t, nil, "agentyard_members", nil)["members"].([]any)
	if first := members[0].(map[string]any); len(members) != 3 || first["email"] != bootstrap || first["last_sign_in_at"] != "2026-03-01T12:00:00Z" {
		t.Fatalf("the members are %v", members)
	}
	acctest.Is(t, "the members", members[1:], []any{
		map[string]any{
			"id": ada, "email": "Ada.O'Neil+ci@Acme.example", "first_name": "Ada", "last_name": "O'Neil", "created_at": "2026-03-01T12:01:00Z", "last_sign_in_at": nil,
			"metadata": map[string]any{"team": "core", "level": "3", "lead": "true", "tags": `["a","b"]`, "office": "null", "": "empty"},
		},
		map[string]any{
			"id": ben, "email": "ben@acme.example", "first_name": nil, "last_name": nil, "created_at": "2026-03-01T12:02:00Z", "last_sign_in_at": nil, "metadata": map[string]any{},
		},
	})
}

// No more pages are read than max_results needs. The emulator's pages have two members.
func TestMembers_maxResults(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 6)
	for most, want := range map[any]struct{ found, requests int }{nil: {7, 4}, 3: {3, 2}} {
		e.Journal().Reset()
		if found := e.MustRead(t, nil, "agentyard_members", acctest.Values{"max_results": most})["members"].([]any); len(found) != want.found {
			t.Errorf("max_results %v: %d found, want %d", most, len(found), want.found)
		}
		e.WantRequests(t, "listMembers", want.requests)
	}
	for _, typeName := range []string{"agentyard_members", "agentyard_enterprise_control_history"} {
		_, out := acctest.NewProcess(t, e, nil).ReadData(typeName, acctest.Values{"max_results": 0})
		out.MustFail(t, "max_results", "max_results must be at least 1, not")
	}
}

// A configured address keeps its case.
func TestMember_byEmail(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	joinMany(t, e, 3)
	id, _ := join(t, e, emulator.Human{Email: "Ada+ci@Acme.example", FirstName: "Ada", LastName: "Adams", Metadata: map[string]any{"team": "core"}})
	for _, email := range []string{"Ada+ci@Acme.example", "ada+CI@acme.example"} {
		acctest.Is(t, email, e.MustRead(t, nil, "agentyard_member", acctest.Values{"email": email}), map[string]any{
			"id": id, "email": email, "first_name": "Ada", "last_name": "Adams", "created_at": "2026-03-01T12:04:00Z", "last_sign_in_at": nil, "metadata": map[string]any{"team": "core"},
		})
	}
}

func TestMember_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	acctest.Must(t, e.Invite("invited@acme.example", ""))
	notFound := []string{"Member not found", "no member with the email address", "A pending invitation is not a member yet. Check the address."}
	for email, want := range map[any][]string{
		"nobody@acme.example":  notFound,
		"invited@acme.example": notFound,
		"M0 <m0@acme.example>": {"email must be an email address"},
		nil:                    {"required"},
	} {
		_, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_member", acctest.Values{"email": email})
		out.MustFail(t, "email", want...)
	}
}
