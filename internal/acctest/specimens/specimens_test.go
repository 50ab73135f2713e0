package specimens_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// An object without a specimen would be in no test that walks over all objects.
func TestSpecimens_everyObject(t *testing.T) {
	t.Parallel()
	server, err := provider.NewServer("test")
	check.Must(t, err)
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	check.Must(t, err)
	offered := map[string]bool{}
	for name := range schemas.ResourceSchemas {
		if _, isAction := schemas.ActionSchemas[name]; !isAction && name != "agentyard_session_answer" {
			offered["resource "+name] = true
		}
	}
	for name := range schemas.DataSourceSchemas {
		offered["data source "+name] = true
	}
	for name := range schemas.ListResourceSchemas {
		offered["list "+name] = true
	}
	for name := range schemas.EphemeralResourceSchemas {
		offered["ephemeral resource "+name] = true
	}
	for name := range schemas.ActionSchemas {
		if offered["operation "+name] = true; schemas.ResourceSchemas[name] == nil {
			t.Errorf("the action %s is no resource", name)
		}
	}
	offered["operation agentyard_session_answer"] = true
	var titles []string
	atService := map[string]bool{}
	add := func(kind, typeName, title, notAtService string) {
		titles = append(titles, kind+" "+title)
		atService[kind+" "+typeName] = atService[kind+" "+typeName] || notAtService == "" || kind == "resource" || kind == "operation"
		check.Is(t, "the provider has the "+kind+" "+typeName, offered[kind+" "+typeName], true)
	}
	for _, r := range specimens.Resources {
		add("resource", r.Type, r.Title(), r.NotAtService)
	}
	for kind, reads := range map[string][]specimens.Read{"data source": specimens.Data, "list": specimens.Lists, "ephemeral resource": specimens.Ephemerals} {
		for _, r := range reads {
			add(kind, r.Type, r.Title(), r.NotAtService)
		}
	}
	for _, o := range specimens.Operations {
		add("operation", o.Type, o.Title(), o.NotAtService)
	}
	objects, err := os.ReadFile("../../evidence/objects.txt")
	check.Must(t, err)
	for name := range offered {
		if _, object, _ := strings.Cut(name, "agentyard_"); !strings.Contains("\n"+string(objects), "\n"+object+": ") {
			t.Errorf("%s has no line in internal/evidence/objects.txt", name)
		}
		if !atService[name] {
			t.Errorf("%s has no specimen, or none of which a real service is asked: add it to its area in internal/acctest/specimens", name)
		}
	}
	slices.Sort(titles)
	check.Is(t, "titles, each once", len(slices.Compact(slices.Clone(titles))), len(titles))
}

// Each list with pages is also read in several pages: otherwise no test varies the cursor.
func TestSpecimens_everyListInPages(t *testing.T) {
	t.Parallel()
	document, err := contract.Load()
	check.Must(t, err)
	var operations []string
	for _, o := range document.Operations() {
		if document.Declared(o.ID).Parameters.GetByInAndName("query", "cursor") != nil {
			operations = append(operations, o.ID)
		}
	}
	rows := slices.DeleteFunc(slices.Clone(specimens.Data), func(r specimens.Read) bool { return !r.Paged })
	if len(operations) != len(rows) {
		t.Errorf(`%q have pages, but %d rows of Data have Paged: add one with the name "in pages"`, operations, len(rows))
	}
}
