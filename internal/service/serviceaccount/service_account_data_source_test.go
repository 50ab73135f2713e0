package serviceaccount_test

import (
	"net/http"
	"reflect"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestServiceAccountDataSources(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	other, id := newAccount(e, "other"), newAccount(e, "ci / ../x")
	e.API(http.MethodPatch, "/api/v0/service-accounts/"+id, map[string]any{"description": "builds", "status": "inactive"}, nil)
	want := map[string]any{"id": id, "name": "ci / ../x", "description": "builds", "status": "inactive"}
	for _, config := range []acctest.Values{{"id": id}, {"name": "ci / ../x"}} {
		read, out := acctest.NewProcess(t, e, nil).ReadData(accountType, config)
		if got := acctest.Plainly(t, read); len(out.Errors) > 0 || !reflect.DeepEqual(got, want) {
			t.Errorf("%v reads %v: %s", config, got, out)
		}
	}
	read, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_service_accounts", nil)
	all := []any{want, map[string]any{"id": other, "name": "other", "description": nil, "status": "active"}}
	if got := acctest.Plainly(t, read); len(out.Errors) > 0 || !reflect.DeepEqual(got["service_accounts"], all) {
		t.Errorf("all are %v: %s", got, out)
	}
}

// The contract does not say whether account names are unique. In the emulator they are.
func TestServiceAccountDataSource_twoOfTheSameName(t *testing.T) {
	t.Parallel()
	address := acctest.StandIn(t, map[string]string{
		"/api/v0/service-accounts": `{"serviceAccounts":[{"id":"sa_2","name":"ci","status":"active"},{"id":"sa_1","name":"ci","status":"active"}]}`,
	})
	_, out := acctest.NewProcess(t, acctest.New(t), acctest.Values{"base_url": address}).ReadData(accountType, acctest.Values{"name": "ci"})
	out.MustFail(t, "name", "Service Account Is Ambiguous", "2 service accounts", "sa_1, sa_2", "Set id instead")
}
