package computer_test

import (
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// To a key whose role is too low, the service returns 404 for each computer of a service account, although it exists.
func TestComputer_aKeyWithATooLowRole(t *testing.T) {
	t.Parallel()
	for typeName, config := range map[string]acctest.Values{computerType: {"name": "a"}, fleetType: fleetOf(2)} {
		e := acctest.New(t)
		_, account := e.ServiceAccountKey()
		config["service_account_id"] = account
		_, i := e.Created(t, typeName, config)
		key := e.MemberKey("user@agentyard.example", emulator.RoleUser)
		before := len(computers(e))
		for _, run := range []func(*acctest.Process) acctest.Outcome{
			func(p *acctest.Process) acctest.Outcome { return p.Plan(i, config) },
			func(p *acctest.Process) acctest.Outcome { return p.Destroy(i) },
		} {
			out := run(acctest.NewProcess(t, e, acctest.Values{"api_key": key, "max_retries": 0}))
			out.MustFail(t, "", "403", "Manager")
			if i.State.IsNull() || len(computers(e)) != before {
				t.Errorf("%s: %d computers are left, and the state is %s", typeName, len(computers(e)), i.State)
			}
		}
		// If the account itself is gone, so are its computers.
		e.API(http.MethodDelete, "/api/v0/service-accounts/"+account, nil, nil)
		if out := acctest.NewProcess(t, e, nil).Destroy(i); len(out.Errors) > 0 {
			t.Errorf("%s: %v", typeName, out)
		}
	}
}

// The API key belongs to the service account, so the computer has an owner without any configuration. The same key imports it, and the
// owner that is then configured changes nothing.
func TestComputer_withTheKeyOfAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	key, account := e.ServiceAccountKey()
	p := acctest.NewProcess(t, e, acctest.Values{"api_key": key})
	i, imported := p.NewInstance(computerType), p.NewInstance(computerType)
	p.Apply(i, acctest.Values{"name": "mine"}).MustDo(t, acctest.ActionCreate)
	if i.Attribute("owner_id") != account || i.Attribute("service_account_id") != "" {
		t.Errorf("the state is %s", i.State)
	}
	p.Import(imported, i.ID()).MustSucceed(t)
	p.Plan(imported, acctest.Values{"name": "mine", "service_account_id": account}).MustDo(t, acctest.ActionUpdate)
	for _, one := range []*acctest.Instance{i, imported} {
		p.Plan(one, acctest.Values{"name": "mine"}).MustDo(t, acctest.ActionNone)
	}
	p.Apply(i, acctest.Values{"name": "renamed"}).MustDo(t, acctest.ActionUpdate)
}
