package computer_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"
	"github.com/hashicorp/terraform-plugin-testing/querycheck/queryfilter"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func hidden(name string) map[string]any {
	return map[string]any{"name": name, "source": map[string]any{"kind": "template", "templateId": "template-base", "isListed": false}}
}

func listConfig(name, arguments, config string) string {
	return fmt.Sprintf("list \"agentyard_computer\" %q {\n  provider = agentyard\n%s\n  config {\n%s\n  }\n}\n", name, arguments, config)
}

func TestAccComputerList(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.New(t)
	account := newAccount(e)
	managed := makeComputer(e, map[string]any{"name": "managed", "repos": []string{"https://git.example/acme/app"}})
	own := makeComputer(e, ownMachine("own"))
	unlisted := makeComputer(e, hidden("hidden"))
	theirs := makeComputer(e, map[string]any{"name": "theirs", "serviceAccountId": account})

	identity := func(c computerJSON) map[string]knownvalue.Check {
		return map[string]knownvalue.Check{"id": knownvalue.StringExact(c.ID)}
	}
	at := func(list string) string { return "agentyard_computer." + list }
	named := func(list string, c computerJSON) querycheck.QueryResultCheck {
		return querycheck.ExpectResourceDisplayName(at(list), queryfilter.ByResourceIdentity(identity(c)), knownvalue.StringExact(c.Name))
	}
	whole := func(list string, c computerJSON, values map[string]knownvalue.Check) querycheck.QueryResultCheck {
		var checks []querycheck.KnownValueCheck
		for name, check := range values {
			checks = append(checks, querycheck.KnownValueCheck{Path: tfjsonpath.New(name), KnownValue: check})
		}
		return querycheck.ExpectResourceKnownValues(at(list), queryfilter.ByResourceIdentity(identity(c)), checks)
	}
	e.Journal().Reset()
	e.Run(t, resource.TestStep{
		Query: true,
		Config: e.Config(listConfig("plain", "", "") +
			listConfig("all", "include_resource = true", "include_unlisted = true") +
			listConfig("by_host", "", "host_id = \""+hostA+"\"") +
			listConfig("of_account", "include_resource = true", "service_account_id = \""+account+"\"") +
			listConfig("two", "limit = 2", "include_unlisted = true")),
		QueryResultChecks: []querycheck.QueryResultCheck{
			querycheck.ExpectLength(at("plain"), 2), querycheck.ExpectLength(at("all"), 3), querycheck.ExpectLength(at("by_host"), 1),
			querycheck.ExpectLength(at("of_account"), 1), querycheck.ExpectLength(at("two"), 2),
			querycheck.ExpectIdentity(at("plain"), identity(managed)), querycheck.ExpectNoIdentity(at("plain"), identity(unlisted)),
			querycheck.ExpectIdentity(at("by_host"), identity(own)), querycheck.ExpectIdentity(at("of_account"), identity(theirs)),
			named("all", managed), named("all", own), named("all", unlisted), named("of_account", theirs),
			whole("all", managed, map[string]knownvalue.Check{
				"status": knownvalue.StringExact("active"), "wait_for_active": knownvalue.Bool(true),
				"cloned_repo_directories": knownvalue.ListSizeExact(1), "repos": knownvalue.Null(), "timeouts": knownvalue.Null(), "service_account_id": knownvalue.Null(),
			}),
			whole("all", own, map[string]knownvalue.Check{"provider_type": knownvalue.StringExact("byom"), "host_id": knownvalue.StringExact(hostA), "source": knownvalue.Null()}),
			whole("all", unlisted, map[string]knownvalue.Check{"source": knownvalue.ObjectPartial(map[string]knownvalue.Check{
				"kind": knownvalue.StringExact("template"), "template_id": knownvalue.StringExact("template-base"), "is_listed": knownvalue.Bool(false),
			})}),
			whole("of_account", theirs, map[string]knownvalue.Check{"service_account_id": knownvalue.StringExact(account)}),
		},
	})
	for _, entry := range e.Journal().Entries() {
		if entry.Operation != "listComputers" {
			t.Errorf("%s was sent", entry.Operation)
		}
	}
}

func TestAccComputerList_errors(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	for config, want := range map[string]string{
		`host_id = "not-a-uuid"`:            `must\s+be\s+a\s+UUID`,
		`service_account_id = ""`:           `must not be empty`,
		`service_account_id = "sa_unknown"`: `Cannot list computers(.|\n)*listComputers(.|\n)*404`,
	} {
		e := acctest.New(t)
		e.Run(t, resource.TestStep{Query: true, Config: e.Config(listConfig("x", "", config)), ExpectError: regexp.MustCompile(want)})
	}
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: "listComputers", Kind: emulator.FaultStatusBeforeCommit, Status: 500, Times: -1})
	e.Run(t, resource.TestStep{Query: true, Config: e.Config(listConfig("x", "", "")), ExpectError: regexp.MustCompile(`Cannot list computers(.|\n)*listComputers(.|\n)*500`)})
}

// The configuration that a query generates imports a whole organization.
func TestAccComputerList_adopts500(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	const total = 500
	e := acctest.NewRealTime(t, func(o *emulator.Options) { o.Provisioning.Step = time.Millisecond })
	account := newAccount(e)

	theirs := 20
	makeComputers(e, "theirs", account, theirs)
	for n := range 10 {
		makeComputers(e, fmt.Sprint("pool-", n), "", 20)
	}
	first := makeComputer(e, map[string]any{"name": "first", "repos": []string{"https://git.example/acme/app"}, "autoInstallDeps": true, "remoteUser": "dev"})
	for n := range 20 {
		makeComputer(e, hidden(fmt.Sprint("hidden-", n)))
		makeComputer(e, map[string]any{"name": fmt.Sprint("listed-", n), "source": map[string]any{"kind": "execution-template", "templateId": "template-base", "isListed": true}})
		makeComputer(e, map[string]any{"name": fmt.Sprint("copy-", n), "source": map[string]any{"kind": "computer", "sourceComputerId": first.ID}})
	}
	for n := len(computers(e)) + theirs; n < total; n++ {
		body := map[string]any{"name": fmt.Sprintf("own \"%d\" ${x} %%{y}", n), "provider": "byom"}
		if n%2 == 0 {
			body["hostId"] = fmt.Sprintf("1b4e28ba-2fa1-41d2-883f-%012d", n)
		}
		makeComputer(e, body)
	}

	cli := acctest.NewCLI(t, e, "")
	cli.Write("computers.tfquery.hcl", acctest.Example(t, "guides/adopting-an-organization/computers.tfquery.hcl")+
		listConfig("robots", "include_resource = true", "service_account_id = \""+account+"\""))
	e.Journal().Reset()
	cli.MustRun("query", "-generate-config-out=generated.tf")
	if n := len(e.Journal().Entries()); n != 2 {
		t.Errorf("the query sent %d requests for 2 lists", n)
	}
	generated, err := os.ReadFile(filepath.Join(cli.Dir, "generated.tf"))
	acctest.Must(t, err)
	if n := strings.Count(string(generated), "resource \"agentyard_computer\""); n != total {
		t.Fatalf("configuration of %d computers was generated, want %d", n, total)
	}

	e.Journal().Reset()
	plan := cli.MustRun("plan", "-input=false", "-out=plan")
	acctest.Says(t, plan.Output, fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy.", total))
	t.Logf("%d requests to plan the import of %d computers", len(e.Journal().Entries()), total)
	cli.MustRun("apply", "-input=false", "plan")
	cli.MustPlanEmpty()
	for _, entry := range e.Journal().Entries() {
		if entry.Method != http.MethodGet {
			t.Errorf("%s was sent", entry.Operation)
		}
	}
}
