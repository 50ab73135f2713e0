package acceptance

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// read is a data source with its arguments, and a condition on its results; empty for none. Texts such as $machine stand for what
// values returns.
type read struct{ arguments, condition string }

// days are some that the service has data of: those of a day are there on the next one, in UTC.
const days = "start_date = $first_day\nend_date = $last_day\n"

// dataSources are what to read, by type without the provider's prefix. Some types are read in more than one way.
var dataSources = map[string]read{
	"analytics_activity": {arguments: days}, "analytics_activity by client": {arguments: days + `group_by = "client"`},
	"analytics_my_cost":                        {arguments: days + `query_key = "headline_daily"`},
	"analytics_productivity":                   {arguments: days},
	"analytics_productivity of last days":      {"last_days = 2", `timecmp("${self.start_date}T00:00:00Z", "${self.end_date}T00:00:00Z") < 0`},
	"analytics_tokens":                         {arguments: days},
	"analytics_tokens by model":                {arguments: days + `group_by = "model"`},
	"analytics_tools":                          {arguments: days},
	"analytics_tools by tool":                  {arguments: days + `group_by = "tool_name"`},
	"analytics_users":                          {arguments: days + "max_results = 100"},
	"api_keys":                                 {"service_account_id = $account", "contains(self.api_keys[*].id, $key)"},
	"ci_jobs":                                  {},
	"ci_repositories":                          {},
	"ci_repository_owners":                     {},
	"ci_runs":                                  {},
	"ci_scan":                                  {},
	"computer":                                 {"id = $machine", "self.name == $named_machine"},
	"computer by name":                         {"name = $named_machine", "self.id == $machine"},
	"computer_metrics":                         {arguments: "computer_id = $managed"},
	"computer_providers":                       {},
	"computers":                                {"include_unlisted = true\ninclude_provisioning_steps = true", "contains(self.computers[*].id, $machine)"},
	"enterprise_control_history":               {arguments: "max_results = 2"},
	"enterprise_controls":                      {},
	"environment":                              {"id = $environment", "self.name == $named_environment"},
	"environment by name":                      {"name = $named_environment", "self.id == $environment"},
	"environment_build_diagnostics":            {"environment_id = $environment", `self.build_id != ""`},
	"environment_build_diagnostics of a build": {"environment_id = $environment\nbuild_id = $build", "self.build_id == $build"},
	"environment_build_statuses":               {"environment_ids = [$environment]", "length(self.builds) == 1"},
	"environment_source_options":               {},
	"environments":                             {"", "contains(self.environments[*].id, $environment)"},
	"member":                                   {"email = $email", "self.id == $member"},
	"members":                                  {"max_results = 100", "length(self.members) > 0"},
	"service_account":                          {"id = $account", "self.name == $named_account"},
	"service_account by name":                  {"name = $named_account", "self.id == $account"},
	"service_accounts":                         {"", "contains(self.service_accounts[*].id, $account)"},
	"session":                                  {"id = $session", "self.id == $session"},
	"session_children":                         {arguments: "session_id = $session"},
	"session_messages":                         {arguments: "session_id = $session\nmax_results = 1"},
	"sessions":                                 {arguments: "max_results = 20"},
	"usage_limits":                             {},
	"wiki_export":                              {"wiki_run_id = $run\noutput_path = $file", "self.output_size > 0"},
	"wiki_page":                                {"wiki_run_id = $run\npage_id = $page", `self.path != ""`},
	"wiki_run":                                 {"id = $run", "self.id == $run"},
	"wiki_run_history":                         {"repo_url = $repository", "length(self.wiki_runs) > 0"},
	"wiki_runs":                                {},
	"wiki_search":                              {arguments: "wiki_run_id = $run\nq = \"the\"\nlimit = 2"},
}

var variable = regexp.MustCompile(`\$[a-z_]+`)

// value returns what a text such as $machine stands for. It skips the test if the key's owner may not have such an object.
func value(t *testing.T, name string) string {
	t.Helper()
	day := func(back int) string { return clock.System.Now().UTC().AddDate(0, 0, -back).Format(time.DateOnly) }
	switch name {
	case "$first_day":
		return day(4)
	case "$last_day":
		return day(2)
	case "$account":
		return ownAccount(t).ID
	case "$named_account":
		return ownAccount(t).Name
	case "$key":
		return ownKey(t).ID
	case "$machine":
		return ownMachine(t).ID
	case "$named_machine":
		return ownMachine(t).Name
	case "$managed":
		return activeManaged(t)
	case "$environment":
		return ownEnvironment(t).ID
	case "$named_environment":
		return ownEnvironment(t).Name
	case "$build":
		found, err := connect(t).Environments.BuildDiagnostics(t.Context(), ownEnvironment(t).ID, "")
		must(t, err)
		return found.BuildID
	case "$email":
		return members(t)[0].Email
	case "$member":
		return members(t)[0].ID
	case "$session":
		return anySession(t)
	case "$run":
		run, _ := anyWiki(t)
		return run
	case "$page":
		_, page := anyWiki(t)
		if page == "" {
			skip(t, envWiki, "no wiki run has pages")
		}
		return page
	case "$repository":
		return anyRun(t).RepoURL
	case "$file":
		return t.TempDir() + "/wiki.zip"
	}
	t.Fatalf("nothing is %s", name)
	return ""
}

// Each data source can be read, and finds what the suite created.
func TestAccDataSource(t *testing.T) {
	t.Parallel()
	needService(t)
	for name, r := range dataSources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			typeName, _, _ := strings.Cut(name, " ")
			config := fmt.Sprintf("data \"agentyard_%s\" \"test\" {\n%s\n", typeName, r.arguments)
			if r.condition != "" {
				config += fmt.Sprintf("lifecycle {\n  postcondition {\n    condition     = %s\n    error_message = \"The object is missing.\"\n  }\n}\n", r.condition)
			}
			config = variable.ReplaceAllStringFunc(config, func(name string) string { return fmt.Sprintf("%q", value(t, name)) })
			runSteps(t, nil, resource.TestStep{Config: config + "}\n", PlanOnly: true})
		})
	}
}

// list is a list resource with its configuration, and the value of what it must find; empty for none.
type list struct{ config, finds string }

var listResources = map[string]list{
	"api_key":           {"service_account_id = $account", "$key"},
	"computer":          {"include_unlisted = true", "$machine"},
	"environment":       {"", "$environment"},
	"member_invitation": {"", "$member"},
	"service_account":   {"", "$account"},
	"session":           {},
	"user_usage_limit":  {},
	"wiki_run":          {},
}

// Each list resource can be queried, with whole resources.
func TestAccList(t *testing.T) {
	t.Parallel()
	needService(t)
	needsCLI(t, 14)
	for name, l := range listResources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			least := 0
			if l.finds != "" {
				value(t, l.finds)
				least = 1
			}
			config := fmt.Sprintf("provider \"agentyard\" {}\nlist \"agentyard_%s\" \"test\" {\n  provider = agentyard\n  include_resource = true\n  limit = 1000\n", name)
			if l.config != "" {
				config += "  config {\n    " + l.config + "\n  }\n"
			}
			config = variable.ReplaceAllStringFunc(config, func(name string) string { return fmt.Sprintf("%q", value(t, name)) })
			runSteps(t, nil, resource.TestStep{
				Query: true, Config: config + "}\n",
				QueryResultChecks: []querycheck.QueryResultCheck{querycheck.ExpectLengthAtLeast("agentyard_"+name+".test", least)},
			})
		})
	}
}

// activeManaged returns the ID of an active managed computer. Reading the metrics of one that exists changes nothing.
func activeManaged(t *testing.T) string {
	t.Helper()
	all, err := connect(t).Computers.List(t.Context(), computers.Filter{})
	must(t, err)
	for _, c := range all {
		if c.ProviderType != computers.ProviderBYOM && c.Status == computers.StatusActive && !isOurs(c.Name) {
			return c.ID
		}
	}
	return ownManaged(t).ID
}

// anySession returns the ID of a session that nobody deletes meanwhile. Reading one that exists changes nothing.
func anySession(t *testing.T) string {
	t.Helper()
	all, err := connect(t).Sessions.List(t.Context(), "", 20)
	must(t, err)
	names := map[string]string{}
	for _, m := range allMachines(t) {
		names[m.ID] = m.Name
	}
	for _, s := range all {
		if !isOurs(nameOfSession(names[s.ComputerID], s)) {
			return s.ID
		}
	}
	return ownSession(t).ID
}

func allMachines(t *testing.T) []computers.Computer {
	t.Helper()
	all, err := connect(t).Computers.List(t.Context(), computers.Filter{IncludeUnlisted: true})
	must(t, err)
	return all
}
