package serviceaccount

import (
	"errors"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

func TestKeyLeft(t *testing.T) {
	t.Parallel()
	found := []wire.Ref{{ID: "key_2"}}
	const revoke = `with key_id = "key_2".`
	for _, tc := range []struct {
		err  error
		says []string
	}{
		{&serviceaccounts.KeyLeftError{Found: found}, []string{"Its value is lost. Revoke it.\n", revoke}},
		{&serviceaccounts.KeyLeftError{KeyID: "key_1", Found: found}, []string{"Apply again after the grace period of the old key", revoke}},
		{errors.New("broken"), nil},
	} {
		remedy, field := keyLeft(tc.err)
		if field != "" || (remedy == "") != (tc.says == nil) {
			t.Errorf("%v: %q at %q", tc.err, remedy, field)
		}
		for _, says := range tc.says {
			if !strings.Contains(remedy, says) {
				t.Errorf("%v: %q lacks %q", tc.err, remedy, says)
			}
		}
	}
}
