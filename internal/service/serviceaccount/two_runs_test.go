package serviceaccount_test

import (
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// The response is lost before the service acts, and another run creates the same object while this one searches for its own.
func TestServiceAccount_foundAfterALostResponseIsAWarning(t *testing.T) {
	t.Parallel()
	for _, kind := range []emulator.FaultKind{emulator.FaultDropAfterCommit, ""} {
		e := acctest.New(t)
		if kind != "" {
			e.Faults().Add(emulator.Fault{Operation: "createServiceAccount", Kind: kind})
		}
		i := e.NewInstance(t, accountType)
		out := acctest.NewProcess(t, e, patient).Apply(i, acctest.Values{"name": "ci"})
		out.MustSucceed(t)
		if kind == "" {
			if out.WarningText() != "" {
				t.Errorf("an ordinary apply warns: %s", out.WarningText())
			}
			continue
		}
		acctest.Says(t, out.WarningText(), "Found after a lost response", `service account "ci" (`+i.ID(), "If another run created this, two states have it")
	}
}

// Nothing proves that a key without an expiry is this run's. The milliseconds of an expiry that was computed do.
func TestAPIKey_revokedAfterALostResponseIsAWarning(t *testing.T) {
	t.Parallel()
	for expiry, warns := range map[string]bool{"": true, "expires_at": true, "expires_in": false} {
		e, account := newAccountEnv(t)
		config := keyOf(account, nil)
		switch expiry {
		case "expires_at":
			config[expiry] = "2030-01-01T00:00:00Z"
		case "expires_in":
			config[expiry] = "30d"
		}
		e.Faults().Add(emulator.Fault{Operation: "createApiKey", Kind: emulator.FaultDropAfterCommit})
		i := e.NewInstance(t, keyType)
		out := acctest.NewProcess(t, e, patient).Apply(i, config)
		out.MustSucceed(t)
		keys := listKeys(e, account)
		lost := keys[slices.IndexFunc(keys, func(k keyJSON) bool { return k.IsRevoked })]
		if text := out.WarningText(); !warns && text != "" {
			t.Errorf("with %q, it warns: %s", expiry, text)
		} else if warns {
			acctest.Says(t, text, "Found after a lost response", lost.ID, lost.Fingerprint, "If another run created that key")
		}
	}
}
