package serviceaccount_test

import (
	"maps"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const accountType, keyType = "agentyard_service_account", "agentyard_api_key"

type object struct {
	noun, creation string
	config         acctest.Values
}

// objects returns a valid configuration of each resource.
func objects(account string) map[string]object {
	return map[string]object{
		accountType: {"service account", "createServiceAccount", acctest.Values{"name": "new"}},
		keyType:     {"API key", "createApiKey", acctest.Values{"service_account_id": account, "name": "new", "rotation": map[string]any{"triggers": triggers("1")}}},
	}
}

func TestServiceAccounts_invalidConfiguration(t *testing.T) {
	t.Parallel()
	type rotation = map[string]any
	key := func(more acctest.Values) acctest.Values {
		config := acctest.Values{"service_account_id": "sa_1", "name": "a"}
		maps.Copy(config, more)
		return config
	}
	neverRotates := []string{"rotation requires triggers (not empty), interval, or before_expiry", "check the spelling", `triggers = { v = "1" }`}
	for name, tc := range map[string]struct {
		typeName string
		config   acctest.Values
		at       string
		want     []string
	}{
		"no name":           {accountType, acctest.Values{}, "name", []string{"required"}},
		"empty name":        {accountType, acctest.Values{"name": ""}, "name", []string{"name must not be empty"}},
		"empty description": {accountType, acctest.Values{"name": "n", "description": ""}, "description", []string{"description must not be empty"}},
		"empty status":      {accountType, acctest.Values{"name": "n", "status": ""}, "status", []string{"status must not be empty"}},

		"key name of 129 characters":   {keyType, key(acctest.Values{"name": strings.Repeat("n", 129)}), "name", []string{"128"}},
		"empty key name":               {keyType, key(acctest.Values{"name": ""}), "name", []string{"name must be 1 to 128 characters long"}},
		"no time":                      {keyType, key(acctest.Values{"expires_at": "tomorrow"}), "expires_at", []string{"Invalid Time", "RFC 3339"}},
		"no duration":                  {keyType, key(acctest.Values{"expires_in": "soon"}), "expires_in", []string{"Invalid Duration", "30d"}},
		"no interval":                  {keyType, key(acctest.Values{"rotation": rotation{"interval": "1y"}}), "rotation.interval", []string{"Invalid Duration", "30d"}},
		"grace above 10":               {keyType, key(acctest.Values{"rotation": rotation{"triggers": triggers("1"), "grace_period_minutes": 11}}), "rotation.grace_period_minutes", []string{"between 0 and 10"}},
		"negative grace":               {keyType, key(acctest.Values{"rotation": rotation{"triggers": triggers("1"), "grace_period_minutes": -1}}), "rotation.grace_period_minutes", []string{"between 0 and 10"}},
		"rotation of nothing":          {keyType, key(acctest.Values{"rotation": rotation{}}), "rotation", neverRotates},
		"rotation of empty triggers":   {keyType, key(acctest.Values{"rotation": rotation{"triggers": rotation{}}}), "rotation", neverRotates},
		"rotation of a grace period":   {keyType, key(acctest.Values{"expires_in": "1d", "rotation": rotation{"grace_period_minutes": 5}}), "rotation", neverRotates},
		"grace longer than the life":   {keyType, key(acctest.Values{"expires_in": "5m", "rotation": rotation{"triggers": triggers("1"), "grace_period_minutes": 10}}), "rotation.grace_period_minutes", []string{"Grace Period Too Long", "Shorten grace_period_minutes"}},
		"before_expiry of whole life":  {keyType, key(acctest.Values{"expires_in": "5d", "rotation": rotation{"before_expiry": "6d"}}), "rotation.before_expiry", []string{"Rotation Period Too Long", "Shorten before_expiry"}},
		"before_expiry without expiry": {keyType, key(acctest.Values{"rotation": rotation{"before_expiry": "6d"}}), "rotation.before_expiry", []string{"expires_in", "must be specified"}},
		"expiry in the past":           {keyType, key(acctest.Values{"expires_at": "2026-03-01T11:59:59Z"}), "expires_at", []string{"Expiry in the Past", "Set a later time"}},
		"interval of whole life":       {keyType, key(acctest.Values{"expires_in": "30d", "rotation": rotation{"interval": "30d"}}), "rotation.interval", []string{"Rotation Period Too Long", "Shorten interval"}},
		"interval of fixed life":       {keyType, key(acctest.Values{"expires_at": "2026-03-02T12:00:00Z", "rotation": rotation{"interval": "1d"}}), "rotation.interval", []string{"Rotation Period Too Long", "later expires_at"}},
		"before_expiry of fixed life":  {keyType, key(acctest.Values{"expires_at": "2026-03-02T12:00:00Z", "rotation": rotation{"before_expiry": "2h"}}), "rotation.before_expiry", []string{"expires_in", "must be specified"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			if tc.typeName == keyType {
				tc.config["service_account_id"] = newAccount(e, "robots")
			}
			before := len(e.Journal().Entries())
			p := acctest.NewProcess(t, e, nil)
			p.Plan(p.NewInstance(tc.typeName), tc.config).MustFail(t, tc.at, tc.want...)
			if sent := len(e.Journal().Entries()) - before; sent > 0 && tc.typeName == accountType || e.Journal().Count("createApiKey") > 0 {
				t.Errorf("the service was asked: %+v", e.Journal().Entries())
			}
		})
	}
	p := acctest.NewProcess(t, acctest.New(t), nil)
	both := p.Plan(p.NewInstance(keyType), key(acctest.Values{"expires_in": "1d", "expires_at": "2027-01-01T00:00:00Z"}))
	acctest.Says(t, both.Text(), "Invalid Attribute Combination")
	negative := p.Plan(p.NewInstance(keyType), key(acctest.Values{"expires_in": "1d", "rotation": rotation{"before_expiry": "-1h", "grace_period_minutes": 5}}))
	if text := negative.Text(); !strings.Contains(text, "Invalid Duration: rotation.before_expiry must be a duration") || strings.Contains(text, "Grace Period") {
		t.Errorf("a negative duration: %s", negative)
	}
}

// A value that a validator rejects counts as set, so no error follows from it.
func TestAPIKey_oneMistakeIsOneError(t *testing.T) {
	t.Parallel()
	type rotation = map[string]any
	for at, configs := range map[string][]acctest.Values{
		"expires_in": {
			{"expires_in": "30 days", "rotation": rotation{"before_expiry": "7d"}},
			{"expires_in": "500ms", "rotation": rotation{"before_expiry": "7d", "grace_period_minutes": 5}},
		},
		"expires_at":                    {{"expires_at": "tomorrow", "rotation": rotation{"interval": "7d"}}},
		"rotation.interval":             {{"expires_in": "30d", "rotation": rotation{"interval": "20 days", "before_expiry": "7d"}}},
		"rotation.before_expiry":        {{"expires_in": "30d", "rotation": rotation{"before_expiry": "7 days"}}, {"expires_in": "30d", "rotation": rotation{"before_expiry": "-7d"}}},
		"rotation.grace_period_minutes": {{"expires_in": "30m", "rotation": rotation{"before_expiry": "20m", "grace_period_minutes": 60}}},
	} {
		for _, config := range configs {
			config["service_account_id"], config["name"] = "sa_1", "ci"
			p := acctest.NewProcess(t, acctest.New(t), nil)
			out := p.Plan(p.NewInstance(keyType), config)
			out.MustFail(t, at)
			if len(out.Errors) != 1 {
				t.Errorf("%v: %s", config, out)
			}
		}
	}
}

func TestServiceAccount_nameTaken(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	taken := newAccount(e, "ci")
	p := acctest.NewProcess(t, e, nil)
	p.Apply(p.NewInstance(accountType), acctest.Values{"name": "ci"}).MustFail(t, "name", "already exists", "terraform import ADDRESS "+taken)
	if n := len(listAccounts(e)); n != 1 {
		t.Errorf("%d service accounts", n)
	}
}

// A caller who is not a manager gets an error that says which API key is needed.
func TestServiceAccounts_areForManagers(t *testing.T) {
	t.Parallel()
	e, account := newAccountEnv(t)
	_, user, err := e.AddHuman(emulator.Human{Email: "user@acme.example"})
	acctest.Must(t, err)
	for _, key := range []string{newKey(e, account, "robot").Value, user} {
		settings := acctest.Values{"api_key": key}
		p := acctest.NewProcess(t, e, settings)
		for typeName, object := range objects(account) { // A process says it once.
			p := acctest.NewProcess(t, e, settings)
			p.Plan(p.NewInstance(typeName), object.config).MustFail(t, "", "Cannot plan "+object.noun, "403", "member with the Manager role")
		}
		for _, source := range []dataSource{
			{"agentyard_service_account", acctest.Values{"id": account}}, {"agentyard_service_account", acctest.Values{"name": "robots"}},
			{"agentyard_service_accounts", nil}, {"agentyard_api_keys", acctest.Values{"service_account_id": account}},
		} {
			source.mustFail(t, p, "", "403", "member with the Manager role")
		}
	}
}

// dataSource is a data source's configuration.
type dataSource struct {
	typeName string
	config   acctest.Values
}

func (d dataSource) mustFail(t *testing.T, p *acctest.Process, at string, want ...string) {
	t.Helper()
	_, out := p.ReadData(d.typeName, d.config)
	out.MustFail(t, at, want...)
}

func TestServiceAccounts_dataSourceErrors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	newAccount(e, "ci")
	byID := func(id string) dataSource { return dataSource{"agentyard_service_account", acctest.Values{"id": id}} }
	byName := func(name string) dataSource {
		return dataSource{"agentyard_service_account", acctest.Values{"name": name}}
	}
	keysOf := func(id string) dataSource {
		return dataSource{"agentyard_api_keys", acctest.Values{"service_account_id": id}}
	}
	for _, tc := range []struct {
		source dataSource
		at     string
		want   []string
	}{
		{dataSource{"agentyard_service_account", nil}, "", []string{"Exactly one of these attributes must be configured: [id,name]"}},
		{dataSource{"agentyard_service_account", acctest.Values{"id": "a", "name": "b"}}, "id", []string{"Exactly one of these attributes must be configured"}},
		{byID(""), "id", []string{"id must not be empty"}},
		{byName(""), "name", []string{"name must not be empty"}},
		{byID("sa_unknown"), "id", []string{`No service account with the ID "sa_unknown" exists`}},
		{byName("CI"), "name", []string{"No service account named", "case"}},
		{byID(".."), "", []string{"Cannot read service account", "cannot be part"}},
		{keysOf(""), "service_account_id", []string{"service_account_id must not be empty"}},
		{keysOf("sa_unknown"), "service_account_id", []string{"Service Account Not Found"}},
		{keysOf(".."), "", []string{"Cannot list API keys", "cannot be part"}},
	} {
		tc.source.mustFail(t, acctest.NewProcess(t, e, nil), tc.at, tc.want...)
	}
}
