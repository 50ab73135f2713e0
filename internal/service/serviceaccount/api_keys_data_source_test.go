package serviceaccount_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestAccAPIKeysDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	account := newAccount(e, "ci")
	hcl := "data \"agentyard_api_keys\" \"x\" {\n  service_account_id = \"" + account + "\"\n}\n"
	keys := func(checks ...knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.agentyard_api_keys.x", tfjsonpath.New("api_keys"), knownvalue.ListExact(checks))
	}
	e.Run(t, stepThenEmpty(e, hcl, nil, keys()))

	newKey(e, newAccount(e, "other"), "not theirs")
	first := newKey(e, account, "first")
	e.Clock.Advance(time.Minute)
	e.API(http.MethodPost, "/api/v0/service-accounts/"+account+"/api-keys", map[string]any{"name": "second", "expiresAt": acctest.Start.Add(time.Hour).UnixMilli()}, nil)
	e.Clock.Advance(time.Minute)
	revokeKey(e, account, first.ID)
	// Newest first, with fingerprints but without values.
	key := func(name, createdAt string, expiresAt, isRevoked, revokedAt knownvalue.Check) knownvalue.Check {
		return knownvalue.ObjectExact(map[string]knownvalue.Check{
			"id": knownvalue.StringRegexp(regexp.MustCompile(`^key_`)), "name": knownvalue.StringExact(name), "fingerprint": knownvalue.StringRegexp(regexp.MustCompile(`.`)),
			"created_at": knownvalue.StringExact(createdAt), "expires_at": expiresAt, "is_revoked": isRevoked, "revoked_at": revokedAt,
		})
	}
	e.Run(t, stepThenEmpty(e, hcl, nil, keys(
		key("second", "2026-03-01T12:01:00Z", knownvalue.StringExact("2026-03-01T13:00:00Z"), knownvalue.Bool(false), knownvalue.Null()),
		key("first", "2026-03-01T12:00:00Z", knownvalue.Null(), knownvalue.Bool(true), knownvalue.StringExact("2026-03-01T12:02:00Z")),
	)))
}
