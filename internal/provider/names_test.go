package provider_test

import (
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// If the service does not know the ID of a data source, the error says how to look up the ID of a name. See also TestReferences.
func TestID_thatIsAName(t *testing.T) {
	t.Parallel()
	const (
		account     = "look up the ID with the data source agentyard_service_account."
		computer    = "look up the ID with the data source agentyard_computer."
		environment = "look up the ID with the data source agentyard_environment."
	)
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	for typeName, tc := range map[string]struct {
		config   acctest.Values
		at, want string
	}{
		"agentyard_computers":                     {acctest.Values{"service_account_id": "ci"}, "service_account_id", account},
		"agentyard_computer":                      {acctest.Values{"service_account_id": "ci", "name": "dev"}, "name", account},
		"agentyard_environment":                   {acctest.Values{"id": "my-env"}, "id", environment},
		"agentyard_computer_metrics":              {acctest.Values{"computer_id": "runner-1"}, "computer_id", computer},
		"agentyard_environments":                  {acctest.Values{"service_account_id": "ci"}, "service_account_id", account},
		"agentyard_environment_build_statuses":    {acctest.Values{"service_account_id": "ci", "environment_ids": []any{"env_1"}}, "service_account_id", account},
		"agentyard_environment_build_diagnostics": {acctest.Values{"environment_id": "my-env"}, "environment_id", environment},
		"agentyard_api_keys":                      {acctest.Values{"service_account_id": "ci"}, "service_account_id", account},
	} {
		t.Run("data "+typeName, func(t *testing.T) {
			t.Parallel()
			_, out := p.ReadData(typeName, tc.config)
			out.MustFail(t, tc.at, tc.want)
		})
	}
	_, out := p.ReadData("agentyard_computer", acctest.Values{"id": "runner-1"})
	out.MustFail(t, "id", computer)
}

// Terraform's own error would suggest another region or endpoint.
func TestImport_findsNothing(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	p := acctest.NewProcess(t, e, nil)
	for typeName, tc := range map[string]struct {
		id   string
		want []string
	}{
		"agentyard_computer":           {"runner-1", []string{`No computer with the ID "runner-1" exists`, `If "runner-1" is the computer's name, look up the ID with the data source agentyard_computer.`}},
		"agentyard_service_account":    {"ci", []string{`No service account with the ID "ci" exists`, "data source agentyard_service_account."}},
		"agentyard_environment":        {"my-env", []string{`No environment with the ID "my-env" exists`, "data source agentyard_environment."}},
		"agentyard_api_key":            {"ci/key_1", []string{`No API key with the ID "key_1" exists`, `If "ci" is the service account's name`}},
		"agentyard_computer_fleet":     {"web", []string{`No computer fleet with the ID "web" exists`, "Check the ID."}},
		"agentyard_wiki_run":           {"wiki_1", []string{`No wiki run with the ID "wiki_1" exists`, "Check the ID."}},
		"agentyard_global_usage_limit": {"organization", []string{"No global usage limit is set.", "apply without the import"}},
		"agentyard_user_usage_limit":   {"avery@agentyard.example", []string{`No user usage limit with the ID "avery@agentyard.example" exists`, "Check the ID."}},
	} {
		t.Run(typeName, func(t *testing.T) {
			t.Parallel()
			p.Import(p.NewInstance(typeName), tc.id).MustFail(t, "", append(tc.want, "Cannot Import ")...)
		})
	}
}
