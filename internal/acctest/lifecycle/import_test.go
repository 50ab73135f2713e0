package lifecycle_test

import (
	"net/http"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

// A name is no import ID, but the error of an import by name says which ID the object with that name has.
func TestImport_byNameSaysTheID(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for object, body := range map[string]map[string]any{
		"computer":        {"name": "ci", "provider": "byom"},
		"environment":     {"name": "ci", "scope": "organization", "repositories": []any{}},
		"service-account": {"name": "ci"},
	} {
		e.API(http.MethodPost, "/api/v0/"+object+"s", body, nil)
	}
	for typeName, list := range map[string]string{"computer": "computers", "environment": "environments", "service_account": "serviceAccounts"} {
		var listed map[string][]struct{ ID, Name string }
		e.API(http.MethodGet, "/api/v0/"+map[bool]string{true: "service-accounts", false: list}[list == "serviceAccounts"], nil, &listed)
		p := acctest.NewProcess(t, e, nil)
		i := p.NewInstance("agentyard_" + typeName)
		p.Import(i, "ci").MustFail(t, "", "Cannot import", `"ci" is the name of the `, listed[list][0].ID, "Import it by that ID.")
		p.Import(i, "other").MustFail(t, "", "Cannot import", "look up the ID with the data source agentyard_"+typeName)
	}
}
