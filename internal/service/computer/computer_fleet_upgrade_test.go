package computer_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// stateV0 is a state of schema version 0: computers is a list, has attributes that were removed later, and lacks one of the
// two computers. replace_failed was added later.
const stateV0 = `{
  "id": "web", "name_prefix": "web", "quantity": 3, "provider_type": "managed-a", "repos": ["https://git.example/acme/app"],
  "auto_install_deps": true, "service_account_id": null, "wait_for_active": false, "timeouts": {"create": "2m", "update": null, "delete": null},
  "computers": [
    {"id": "c1", "name": "web-1", "status": "active", "hostname": "h1", "remote_user": "agent", "relay_client_url": "wss://c", "relay_agent_url": "wss://a",
     "cloned_repo_directories": ["/home/agent/app"], "provisioning_steps": [{"id": "s", "name": "n", "status": "completed", "error": null, "started_at": null, "completed_at": null}],
     "host_id": null, "is_listed": true, "provider_type": "managed-a", "created_at": "2026-03-01T12:00:00Z", "install_session_id": null,
     "owner_principal_kind": "human", "owner_id": "u1", "computer_source": null},
    {"id": "c3", "name": "web-3", "status": "error", "hostname": null, "remote_user": null, "relay_client_url": null, "relay_agent_url": null, "cloned_repo_directories": null}
  ]
}`

func TestFleet_upgradesTheListToAMap(t *testing.T) {
	t.Parallel()
	server, err := provider.NewServer("test")
	acctest.Must(t, err)
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	acctest.Must(t, err)
	resp, err := server.UpgradeResourceState(t.Context(), &tfprotov6.UpgradeResourceStateRequest{TypeName: fleetType, Version: 0, RawState: &tfprotov6.RawState{JSON: []byte(stateV0)}})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatalf("%v %+v", err, resp.Diagnostics)
	}
	state, err := resp.UpgradedState.Unmarshal(schemas.ResourceSchemas[fleetType].ValueType())
	acctest.Must(t, err)
	i := &acctest.Instance{Type: fleetType, State: state}
	for name, want := range map[string]map[string]string{
		"web-1": {"id": "c1", "status": "active", "hostname": "h1", "remote_user": "agent", "relay_client_url": "wss://c", "relay_agent_url": "wss://a", "cloned_repo_directories": ""},
		"web-2": {"id": "", "status": "missing", "hostname": "", "remote_user": "", "relay_client_url": "", "relay_agent_url": "", "cloned_repo_directories": ""},
		"web-3": {"id": "c3", "status": "error", "hostname": "", "remote_user": "", "relay_client_url": "", "relay_agent_url": "", "cloned_repo_directories": ""},
	} {
		if got := fleetComputers(i)[name]; !maps.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if got := fleetNames(i); !slices.Equal(got, numbered(1, 3)) || i.ID() != "web" || i.Attribute("provider_type") != "managed-a" {
		t.Errorf("the fleet is %v %s", got, state)
	}
	var values map[string]tftypes.Value
	acctest.Must(t, state.As(&values))
	for name, want := range map[string]bool{"wait_for_active": false, "replace_failed": true} {
		if !values[name].Equal(tftypes.NewValue(tftypes.Bool, want)) {
			t.Errorf("%s is %s, want %t", name, values[name], want)
		}
	}
}
