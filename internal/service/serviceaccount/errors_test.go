package serviceaccount_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

const accountType, keyType = "agentyard_service_account", "agentyard_api_key"

// A value that a validator rejects counts as set, so each mistake is one error.
func TestAPIKey_invalidConfiguration(t *testing.T) {
	t.Parallel()
	type rotation = map[string]any
	key := func(more acctest.Values) acctest.Values {
		config := acctest.Values{"service_account_id": "sa_1", "name": "a"}
		maps.Copy(config, more)
		return config
	}
	neverRotates := []string{"rotation requires triggers (not empty), interval, or before_expiry", "check the spelling", `triggers = { v = "1" }`}
	for name, tc := range map[string]struct {
		config acctest.Values
		at     string
		want   []string
	}{
		"key name of 129 characters":  {key(acctest.Values{"name": strings.Repeat("n", 129)}), "name", []string{"128"}},
		"empty key name":              {key(acctest.Values{"name": ""}), "name", []string{"name must be 1 to 128 characters long"}},
		"no time":                     {key(acctest.Values{"expires_at": "tomorrow"}), "expires_at", []string{"Invalid time", "RFC 3339"}},
		"no duration":                 {key(acctest.Values{"expires_in": "soon"}), "expires_in", []string{"Invalid duration", "30d"}},
		"no interval":                 {key(acctest.Values{"rotation": rotation{"interval": "1y"}}), "rotation.interval", []string{"Invalid duration", "30d"}},
		"grace above 10":              {key(acctest.Values{"rotation": rotation{"triggers": triggers("1"), "grace_period_minutes": 11}}), "rotation.grace_period_minutes", []string{"must be from 0 to 10, not"}},
		"negative grace":              {key(acctest.Values{"rotation": rotation{"triggers": triggers("1"), "grace_period_minutes": -1}}), "rotation.grace_period_minutes", []string{"must be from 0 to 10, not"}},
		"rotation of nothing":         {key(acctest.Values{"rotation": rotation{}}), "rotation", neverRotates},
		"rotation of empty triggers":  {key(acctest.Values{"rotation": rotation{"triggers": rotation{}}}), "rotation", neverRotates},
		"rotation of a grace period":  {key(acctest.Values{"expires_in": "1d", "rotation": rotation{"grace_period_minutes": 5}}), "rotation", neverRotates},
		"grace longer than the life":  {key(acctest.Values{"expires_in": "5m", "rotation": rotation{"triggers": triggers("1"), "grace_period_minutes": 10}}), "rotation.grace_period_minutes", []string{"Grace period too long", "Shorten grace_period_minutes"}},
		"before_expiry of whole life": {key(acctest.Values{"expires_in": "5d", "rotation": rotation{"before_expiry": "5d"}}), "rotation.before_expiry", []string{"Rotation period too long", "Shorten before_expiry"}},
		"grace over before_expiry":    {key(acctest.Values{"expires_in": "1d", "rotation": rotation{"before_expiry": "5m", "grace_period_minutes": 10}}), "rotation.grace_period_minutes", []string{"Grace period too long"}},
		"spaces in a life":            {key(acctest.Values{"expires_in": "30 days", "rotation": rotation{"before_expiry": "7d"}}), "expires_in", []string{"Invalid duration"}},
		"too short a life":            {key(acctest.Values{"expires_in": "500ms", "rotation": rotation{"before_expiry": "7d", "grace_period_minutes": 5}}), "expires_in", nil},
		"no time, and an interval":    {key(acctest.Values{"expires_at": "tomorrow", "rotation": rotation{"interval": "7d"}}), "expires_at", nil},
		"spaces in an interval":       {key(acctest.Values{"expires_in": "30d", "rotation": rotation{"interval": "20 days", "before_expiry": "7d"}}), "rotation.interval", nil},
		"a negative before_expiry":    {key(acctest.Values{"expires_in": "1d", "rotation": rotation{"before_expiry": "-1h", "grace_period_minutes": 5}}), "rotation.before_expiry", []string{"rotation.before_expiry must be a duration"}},
		"grace above everything":      {key(acctest.Values{"expires_in": "30m", "rotation": rotation{"before_expiry": "20m", "grace_period_minutes": 60}}), "rotation.grace_period_minutes", nil},

		"before_expiry without expiry": {key(acctest.Values{"rotation": rotation{"before_expiry": "6d"}}), "rotation.before_expiry", []string{"expires_in", "must be specified"}},
		"expiry in the past":           {key(acctest.Values{"expires_at": "2026-03-01T11:59:59Z"}), "expires_at", []string{"Expiry in the past", "Set a later time"}},
		"interval of whole life":       {key(acctest.Values{"expires_in": "30d", "rotation": rotation{"interval": "30d"}}), "rotation.interval", []string{"Rotation period too long", "Shorten interval"}},
		"interval of fixed life":       {key(acctest.Values{"expires_at": "2026-03-02T12:00:00Z", "rotation": rotation{"interval": "1d"}}), "rotation.interval", []string{"Rotation period too long", "later expires_at"}},
		"before_expiry of fixed life":  {key(acctest.Values{"expires_at": "2026-03-02T12:00:00Z", "rotation": rotation{"before_expiry": "2h"}}), "rotation.before_expiry", []string{"expires_in", "must be specified"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			tc.config["service_account_id"] = newAccount(e, "robots")
			e.Plan(t, e.NewInstance(t, keyType), tc.config).MustFail(t, tc.at, tc.want...)
			e.WantRequests(t, "createApiKey", 0)
		})
	}
	p := acctest.NewProcess(t, acctest.New(t), nil)
	both := p.Plan(p.NewInstance(keyType), key(acctest.Values{"expires_in": "1d", "expires_at": "2027-01-01T00:00:00Z"}))
	check.Says(t, both.Text(), "Invalid Attribute Combination")
}

func TestAPIKeyRevoke_errors(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	key := newKey(e, account, "k")
	for _, config := range []acctest.Values{{"service_account_id": "sa_unknown", "key_id": key.ID}, {"service_account_id": account, "key_id": "key_unknown"}} {
		e.MustNotInvoke(t, nil, "agentyard_api_key_revoke", config, "", "Cannot revoke API key", "404", "Check service_account_id and key_id")
	}
	check.Is(t, "the key works still", authenticates(e, key.Value), true)
}
