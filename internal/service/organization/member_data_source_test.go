package organization_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
