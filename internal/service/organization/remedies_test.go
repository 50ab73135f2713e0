package organization

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
)

// The errors of limits and invitations have their own remedies, at the argument at fault.
func TestRemedies(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		remedy      func(error) (remedy, field string)
		err         error
		field, says string
	}{
		{limitRemedy, &organization.RefusedError{Email: "a@x"}, "email", "The limit of this member was not changed."},
		{limitRemedy, errors.New("broken"), "", ""},
		{invitationRemedy, &organization.RefusedError{Email: "a@x"}, "email", "Nobody was invited"},
		{invitationRemedy, &organization.RefusedError{Email: "a@x", Field: "role"}, "role", "Set role to the one that the service kept"},
		{invitationRemedy, errors.New("broken"), "", ""},
	} {
		remedy, field := tc.remedy(fmt.Errorf("wrapped: %w", tc.err))
		if field != tc.field || !strings.Contains(remedy, tc.says) || (remedy == "") != (tc.says == "") {
			t.Errorf("%T: %q at %q, want %q at %q", tc.err, remedy, field, tc.says, tc.field)
		}
	}
}
