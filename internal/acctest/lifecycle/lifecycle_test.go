// Package lifecycle tests the life cycle and every form of import of each resource. All CLIs run the tests that end in
// _everyCLI; see internal/tools/test.sh.
package lifecycle

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/terraform"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// newOrganization returns an emulator with objects that were created outside Terraform. They can be seen at once.
func newOrganization(t *testing.T) *acctest.Organization {
	t.Helper()
	return acctest.NewOrganization(t, acctest.New(t, visibleAtOnce))
}

func visibleAtOnce(o *emulator.Options) {
	o.SessionDelay, o.SessionListDelay, o.MessageDelay = -1, -1, -1
}

func forEach(t *testing.T, test func(t *testing.T, r specimens.Resource, o *acctest.Organization)) {
	t.Helper()
	for _, r := range specimens.Resources {
		t.Run(r.Title(), func(t *testing.T) {
			t.Parallel()
			test(t, r, newOrganization(t))
		})
	}
}

// object is anything that the provider offers, with the arguments of its specimen.
type object struct {
	kind, typeName string
	schema         *tfprotov6.Schema
	arguments      specimens.Values
}

// eachObject visits each specimen. An action is the resource of the same name.
func eachObject(offered *tfprotov6.GetProviderSchemaResponse, visit func(object)) {
	for _, r := range specimens.Resources {
		full, _ := r.FullOrLeast()
		visit(object{"resource", r.Type, offered.ResourceSchemas[r.Type], full})
	}
	for _, r := range specimens.Operations {
		visit(object{"resource", r.Type, offered.ResourceSchemas[r.Type], r.Values})
	}
	for _, r := range specimens.Data {
		visit(object{"data", r.Type, offered.DataSourceSchemas[r.Type], r.Values})
	}
	for _, r := range specimens.Lists {
		visit(object{"list", r.Type, offered.ListResourceSchemas[r.Type], r.Values})
	}
	for _, r := range specimens.Ephemerals {
		visit(object{"ephemeral", r.Type, offered.EphemeralResourceSchemas[r.Type], r.Values})
	}
}

// Create, update in place, import by ID and by identity, and destroy. The plan after each step is empty, and the identity is in the state.
func TestAccResource_lifeCycle_everyCLI(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		steps := r.Steps(o.Fill, acctest.HasActions(t)) // The test library reads identities only from such a CLI.
		for i := range steps {
			if steps[i].Config != "" {
				steps[i].Config = o.Config(steps[i].Config)
			}
		}
		steps[1].Check = func(*terraform.State) error {
			if r.Listing.Path != "" && len(o.Find(r.Listing)) == 0 {
				return fmt.Errorf("%s has no row with %s, which Listing.Has of the specimen wants", r.Listing.Path, r.Listing.Has)
			}
			return nil
		}
		resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: o.Factories, Steps: steps})
		if r.Listing.Path != "" && len(o.Find(r.Listing)) > 0 {
			t.Errorf("%s still shows it after the destruction", r.Listing.Path)
		}
	})
}

// An import ID or identity that cannot be one, or that nothing has, is an error that says what it is.
func TestResource_importErrors(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, r specimens.Resource, o *acctest.Organization) {
		p := acctest.NewProcess(t, o.Env, nil)
		mustMatch := func(out acctest.Outcome, want string) {
			if !regexp.MustCompile(want).MatchString(out.Text()) {
				t.Errorf("%q does not match %q", out.Text(), want)
			}
		}
		if r.Creates != "" && r.ImportID == "" && r.Identity[0] == "id" { // The service chose the ID.
			_, i := o.Created(t, r.Type, o.In(r.Least))
			prefix := i.ID()[:strings.Index(i.ID(), "_")+1] // Empty for a UUID.
			for _, id := range []string{"", "..", "../computers", "a/b", "a b"} {
				mustMatch(p.Import(p.NewInstance(r.Type), id), "Invalid import ID(.|\n)*its ID at the service, such as "+prefix+"(.|\n)*"+regexp.QuoteMeta(strconv.Quote(id)))
			}
			for _, id := range []string{otherID(i.ID()), "%2e%2e", "a%2fb"} {
				mustMatch(p.Import(p.NewInstance(r.Type), id), specimens.NonExistent)
			}
		}
		for id, want := range r.NoImport {
			mustMatch(p.Import(p.NewInstance(r.Type), specimens.Fill(o.Fill).Text(id)), want)
		}
		if r.NoIdentity != nil {
			mustMatch(p.ImportByIdentity(p.NewInstance(r.Type), r.NoIdentity), "Invalid import ID")
		}
	})
}

// Resources that are renamed without moved blocks are deleted and created in one apply. Each creation waits until its name is free.
func TestAccResource_renamedWithoutMoved(t *testing.T) {
	t.Parallel()
	e := acctest.NewRealTime(t, func(o *emulator.Options) { o.Provisioning.Step = time.Millisecond })
	const resources = `
resource "agentyard_service_account" "ADDRESS" {
  name = "robot"
}
resource "agentyard_api_key" "ADDRESS" {
  service_account_id = agentyard_service_account.ADDRESS.id
  name               = "ci"
}
resource "agentyard_computer" "ADDRESS" {
  name = "c"
}
resource "agentyard_computer_fleet" "ADDRESS" {
  name_prefix = "f"
  quantity    = 2
}
resource "agentyard_environment" "ADDRESS" {
  name           = "ci"
  wait_for_build = false
  repositories   = [{ url = "https://git.example/acme/app", script = "make" }]
}
`
	cli := acctest.NewCLI(t, e, strings.ReplaceAll(resources, "ADDRESS", "before"))
	cli.MustRun("apply", "-auto-approve", "-input=false")
	cli.Write("main.tf", strings.ReplaceAll(resources, "ADDRESS", "after"))
	check.Says(t, cli.MustRun("apply", "-auto-approve", "-input=false").Output, "5 added, 0 changed, 5 destroyed")
	cli.MustPlanEmpty()
}

// A page of the emulator has two objects.
func TestFind_readsAllPages(t *testing.T) {
	t.Parallel()
	check.Is(t, "sessions", len(newOrganization(t).Find(specimens.Listing{Path: "/api/v0/sessions", Rows: "sessions", ID: "sessionId"})), 3)
}
