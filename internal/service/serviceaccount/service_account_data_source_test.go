package serviceaccount_test

import (
	"net/http"
	"slices"
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
		acctest.Is(t, "the account", e.MustRead(t, nil, accountType, config), want)
	}
	all := []any{want, map[string]any{"id": other, "name": "other", "description": nil, "status": "active"}}
	acctest.Is(t, "all", e.MustRead(t, nil, "agentyard_service_accounts", nil), map[string]any{"service_accounts": all})
	p := acctest.NewProcess(t, e, nil)
	if listed, out := p.List(accountType, nil); len(listed) != 2 || len(out.Errors) > 0 || !slices.Contains(p.Names, "ci / ../x") {
		t.Errorf("listed are %v: %s", p.Names, out)
	}
}
