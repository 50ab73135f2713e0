package computer_test

import (
	"net/http"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func TestAccComputerDataSource_byIDAndByName(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	var made computerJSON
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "a b/../c"}, &made)
	is := func(name, attribute string, check knownvalue.Check) statecheck.StateCheck {
		return statecheck.ExpectKnownValue("data.agentyard_computer."+name, tfjsonpath.New(attribute), check)
	}
	e.Run(t, e.ReadStep(`
data "agentyard_computer" "by_id" {
  id = "`+made.ID+`"
}
data "agentyard_computer" "by_name" {
  name = "a b/../c"
}`,
		is("by_id", "name", knownvalue.StringExact("a b/../c")), is("by_id", "provisioning_steps", knownvalue.ListSizeExact(5)),
		is("by_name", "id", knownvalue.StringExact(made.ID)), is("by_name", "provisioning_steps", knownvalue.ListSizeExact(5)),
		is("by_name", "computer_source", knownvalue.Null()), is("by_name", "is_listed", knownvalue.Bool(true)),
	))
}

func TestAccComputerDataSource_ofAServiceAccount(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	account := newAccount(e)
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "theirs", "serviceAccountId": account}, nil)
	e.Run(t,
		resource.TestStep{Config: e.Config(`data "agentyard_computer" "x" { name = "theirs" }`), ExpectError: regexp.MustCompile(`Computer Not Found(.|\n)*service_account_id`)},
		e.ReadStep(`data "agentyard_computer" "x" {
  name               = "theirs"
  service_account_id = "`+account+`"
}
data "agentyard_computers" "x" {
  service_account_id = "`+account+`"
}`, statecheck.ExpectKnownValue("data.agentyard_computer.x", tfjsonpath.New("owner_id"), knownvalue.StringExact(account)),
			statecheck.ExpectKnownValue("data.agentyard_computers.x", tfjsonpath.New("computers"), knownvalue.ListSizeExact(1))),
	)
}

func TestAccComputerDataSource_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for hcl, want := range map[string]string{
		`data "agentyard_computer" "x" {}`:                                                   `Exactly one of these attributes must be configured: \[id,name\]|Missing Attribute Configuration`,
		"data \"agentyard_computer\" \"x\" {\n  id   = \"a\"\n  name = \"b\"\n}":             `Exactly one of these attributes must be configured|Invalid Attribute Combination`,
		"data \"agentyard_computer\" \"x\" {\n  id = \"a\"\n  service_account_id = \"b\"\n}": `Attribute "name" must be specified when`,
		`data "agentyard_computer" "x" { id = "00000000-0000-4000-8000-000000000000" }`:      `Computer Not Found`,
		`data "agentyard_computer" "x" { name = "nobody" }`:                                  `Computer Not Found`,
		`data "agentyard_computer" "x" { id = ".." }`:                                        `Cannot read computer(.|\n)*cannot\s+be\s+part`,
		`data "agentyard_computers" "x" { host_id = "not-a-uuid" }`:                          `must\s+be\s+a\s+UUID`,
		`data "agentyard_computers" "x" { service_account_id = "sa_unknown" }`:               `Cannot list computers(.|\n)*listComputers`,
	} {
		e.Run(t, resource.TestStep{Config: e.Config(hcl), ExpectError: regexp.MustCompile(want)})
	}
}

func TestAccComputersDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Run(t, e.ReadStep(`data "agentyard_computers" "x" {}`, statecheck.ExpectKnownValue("data.agentyard_computers.x", tfjsonpath.New("computers"), knownvalue.ListSizeExact(0))))
	for _, name := range []string{"first", "second", "third"} {
		e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": name}, nil)
		e.Clock.Advance(1e9)
	}
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "own", "provider": "byom", "hostId": hostA}, nil)
	e.API(http.MethodPost, "/api/v0/computers", map[string]any{"name": "hidden", "source": map[string]any{"kind": "template", "templateId": "template-base", "isListed": false}}, nil)
	at := func(name string, n int, attribute string) (string, tfjsonpath.Path) {
		return "data.agentyard_computers." + name, tfjsonpath.New("computers").AtSliceIndex(n).AtMapKey(attribute)
	}
	known := func(check knownvalue.Check, address string, path tfjsonpath.Path) statecheck.StateCheck {
		return statecheck.ExpectKnownValue(address, path, check)
	}
	first := func(name, attribute string) (string, tfjsonpath.Path) { return at(name, 0, attribute) }
	a1, p1 := first("listed", "name")
	a2, p2 := first("listed", "provisioning_steps")
	a3, p3 := first("by_host", "name")
	a4, p4 := at("steps", 4, "provisioning_steps")
	e.Run(t, e.ReadStep(`
data "agentyard_computers" "listed" {}
data "agentyard_computers" "all" {
  include_unlisted = true
}
data "agentyard_computers" "by_host" {
  host_id = "`+hostA+`"
}
data "agentyard_computers" "steps" {
  include_provisioning_steps = true
  include_unlisted           = true
}`,
		statecheck.ExpectKnownValue("data.agentyard_computers.listed", tfjsonpath.New("computers"), knownvalue.ListSizeExact(4)),
		statecheck.ExpectKnownValue("data.agentyard_computers.all", tfjsonpath.New("computers"), knownvalue.ListSizeExact(5)),
		statecheck.ExpectKnownValue("data.agentyard_computers.by_host", tfjsonpath.New("computers"), knownvalue.ListSizeExact(1)),
		known(knownvalue.StringExact("own"), a1, p1), known(knownvalue.Null(), a2, p2), known(knownvalue.StringExact("own"), a3, p3), known(knownvalue.ListSizeExact(5), a4, p4),
	))
}

func TestAccComputerProvidersDataSource(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	e.Run(t, e.ReadStep(`data "agentyard_computer_providers" "x" {}`,
		statecheck.ExpectKnownValue("data.agentyard_computer_providers.x", tfjsonpath.New("providers"), knownvalue.ListExact([]knownvalue.Check{knownvalue.StringExact("managed-a"), knownvalue.StringExact("managed-b")}))))
	e.Faults().Add(emulator.Fault{Operation: "listComputerProviders", Kind: emulator.FaultStatusBeforeCommit, Status: 500, Times: -1})
	e.Run(t, resource.TestStep{Config: e.Config(`data "agentyard_computer_providers" "x" {}`), ExpectError: regexp.MustCompile(`Cannot list computer providers(.|\n)*listComputerProviders(.|\n)*500`)})
}
