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
		"agentyard_computer":                   {acctest.Values{"service_account_id": "ci", "name": "dev"}, "name", account},
		"agentyard_environment":                {acctest.Values{"id": "my-env"}, "id", environment},
		"agentyard_environment_build_statuses": {acctest.Values{"service_account_id": "ci", "environment_ids": []any{"env_1"}}, "service_account_id", account},
		"agentyard_computer_metrics":           {acctest.Values{"computer_id": "runner-1"}, "computer_id", computer},
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
