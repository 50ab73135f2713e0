package organization

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
)

// The errors of limits and invitations have their own remedies, at the argument at fault.
func TestRemedies(t *testing.T) {
	t.Parallel()
	limits := limitOptions[1].(apierror.Own)
	for _, tc := range []struct {
		remedy      apierror.Own
		err         error
		field, says string
	}{
		{limits, &organization.RefusedError{Email: "a@x"}, "email", "The limit of this member was not changed."},
		{limits, errors.New("broken"), "", ""},
		{invitationRemedy, &organization.RefusedError{Email: "a@x"}, "email", "Nobody was invited"},
		{invitationRemedy, &organization.RefusedError{Email: "a@x", Field: "role"}, "role", "Set role to the one that the service kept"},
		{invitationRemedy, errors.New("broken"), "", ""},
	} {
		remedy, at := tc.remedy(fmt.Errorf("wrapped: %w", tc.err))
		if at.String() != tc.field || !strings.Contains(remedy, tc.says) || (remedy == "") != (tc.says == "") {
			t.Errorf("%T: %q at %q, want %q at %q", tc.err, remedy, at, tc.says, tc.field)
		}
	}
}
