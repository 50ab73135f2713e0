package computer_test

import (
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestComputerDataSource_byIDAndByName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	made := newComputer(e, map[string]any{"name": "a b/../c"})
	theirs := newComputer(e, map[string]any{"name": "theirs", "serviceAccountId": account})
	for id, config := range map[string]acctest.Values{
		made.ID: {"id": made.ID}, made.ID + " by name": {"name": "a b/../c"}, theirs.ID: {"name": "theirs", "service_account_id": account},
	} {
		got := e.MustRead(t, nil, computerType, config)
		if steps := got["provisioning_steps"].([]any); len(steps) != 5 || got["id"] != id[:len(made.ID)] || got["computer_source"] != nil || got["is_listed"] != true || (got["owner_id"] == account) != (id == theirs.ID) {
			t.Errorf("%v reads %v", config, got)
		}
	}
	for _, tc := range []struct {
		config acctest.Values
		at     string
		want   []string
	}{
		{nil, "", []string{"Exactly one of these attributes must be configured: [id,name]"}},
		{acctest.Values{"id": "a", "name": "b"}, "id", []string{"Exactly one of these attributes must be configured"}},
		{acctest.Values{"id": "a", "service_account_id": "b"}, "service_account_id", []string{`Attribute "name" must be specified when`}},
		{acctest.Values{"id": nobody}, "id", []string{"Computer not found"}},
		{acctest.Values{"name": "nobody"}, "name", []string{"Computer not found"}},
		{acctest.Values{"name": "theirs"}, "name", []string{"Computer not found", "service_account_id"}},
	} {
		e.MustNotRead(t, nil, computerType, tc.config, tc.at, tc.want...)
	}
}

func TestComputersDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, account := e.ServiceAccountKey()
	for _, body := range []map[string]any{{"name": "first"}, {"name": "second"}, ownMachine("own"), hidden("hidden"), {"name": "theirs", "serviceAccountId": account}} {
		newComputer(e, body)
		e.Clock.Advance(time.Second)
	}
	for _, tc := range []struct {
		config acctest.Values
		want   []any
	}{
		{nil, []any{"own", "second", "first"}}, // Newest first.
		{acctest.Values{"include_unlisted": true}, []any{"hidden", "own", "second", "first"}},
		{acctest.Values{"host_id": hostA}, []any{"own"}},
		{acctest.Values{"include_provisioning_steps": true}, []any{"own", "second", "first"}},
		{acctest.Values{"service_account_id": account}, []any{"theirs"}},
	} {
		var names []any
		for _, one := range e.MustRead(t, nil, "agentyard_computers", tc.config)["computers"].([]any) {
			c := one.(map[string]any)
			names = append(names, c["name"])
			if steps, _ := c["provisioning_steps"].([]any); (len(steps) == 5) != (tc.config["include_provisioning_steps"] == true) && c["name"] != "own" {
				t.Errorf("the steps are %v", c["provisioning_steps"])
			}
		}
		acctest.Is(t, "the computers", names, tc.want)
	}
	e.MustNotRead(t, nil, "agentyard_computers", acctest.Values{"host_id": "not-a-uuid"}, "host_id", "must be a UUID")
	e.MustNotRead(t, nil, "agentyard_computers", acctest.Values{"service_account_id": "sa_unknown"}, "service_account_id", "Cannot list computers", "listComputers")
}

func TestComputerProvidersDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	acctest.Is(t, "the providers", e.MustRead(t, nil, "agentyard_computer_providers", nil)["providers"], []any{"managed-a", "managed-b"})
}
