package serviceaccount_test

import (
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func noLiveKey(t *testing.T, e *acctest.Env) {
	t.Helper()
	if left := liveKeys(e); len(left) > 0 {
		t.Errorf("the emulator still holds the live keys %v", left)
	}
}

// Every run creates its own key, and revokes it at its end.
func TestAPIKeyEphemeral(t *testing.T) {
	t.Parallel()
	for expiry, expiresAt := range map[any]string{nil: "2026-03-01T13:00:00Z", "30m": "2026-03-01T12:30:00Z"} {
		e, account := newAccountEnv(t)
		o := openKey(t, e, account, acctest.Values{"expires_in": expiry})
		if o.out.MustSucceed(t); !o.isNew || !keyValues.MatchString(o.key) || o.expiresAt != expiresAt {
			t.Errorf("the key is new: %t, and expires at %s, want %s", o.isNew, o.expiresAt, expiresAt)
		}
		noLiveKey(t, e)
		e.WantRequests(t, "createApiKey", 1)
	}
}

// A lost response leaves no key behind.
func TestAPIKeyEphemeral_lostAnswers(t *testing.T) {
	t.Parallel()
	for _, fault := range []emulator.Fault{
		{Operation: "createApiKey", Kind: emulator.FaultDropAfterCommit},
		{Operation: "createApiKey", Kind: emulator.FaultTruncatedBody},
		{Operation: "revokeApiKey", Kind: emulator.FaultDropAfterCommit},
		{Operation: "revokeApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 503},
	} {
		e, account := newAccountEnv(t)
		older := newKey(e, account, "deploy-v1")
		e.Faults().Add(fault)
		openKey(t, e, account, nil).out.MustSucceed(t)
		if live := liveKeys(e); len(live) != 1 || live[0] != older.ID {
			t.Errorf("%s of %s: the live keys are %v, want %s alone", fault.Kind, fault.Operation, live, older.ID)
		}
	}
}

func TestAPIKeyEphemeral_errors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		arguments acctest.Values
		fault     emulator.Fault
		at        string
		want      []string
	}{
		"name of 129 characters": {acctest.Values{"name": strings.Repeat("n", 129)}, emulator.Fault{}, "name", []string{"128"}},
		"no duration":            {acctest.Values{"expires_in": "soon"}, emulator.Fault{}, "expires_in", []string{"Invalid duration", "30d"}},
		"403":                    {nil, emulator.Fault{Operation: "createApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 403}, "", []string{"Cannot open API key", "Manager role"}},
		"400 about the expiry":   {acctest.Values{"expires_in": "2s"}, emulator.Fault{Operation: "createApiKey", Kind: emulator.FaultRateLimited, RetryAfter: "10"}, "", []string{"Cannot open API key", "expiresAt", "Correct"}},
		"close fails":            {nil, emulator.Fault{Operation: "revokeApiKey", Kind: emulator.FaultStatusBeforeCommit, Status: 503, Times: -1}, "", []string{"Cannot revoke API key", "was not revoked and works until it expires"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, account := newAccountEnv(t)
			if tc.fault.Kind != "" {
				e.Faults().Add(tc.fault)
			}
			openKey(t, e, account, tc.arguments).out.MustFail(t, tc.at, tc.want...)
		})
	}
}
