package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/querycheck"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// read is a data source with its arguments, and a condition on its results; empty for none.
type read struct {
	arguments string
	condition string
}

// plain is for data sources that need no arguments.
func plain(*testing.T) read { return read{} }

// dataSources returns what to read, by type without the provider's prefix. Some types are read in more than one way.
var dataSources = map[string]func(t *testing.T) read{
	"analytics_activity": days(""), "analytics_activity by client": days("client"),
	"analytics_my_cost": func(t *testing.T) read {
		t.Helper()
		r := days("")(t)
		r.arguments += "\nquery_key = \"headline_daily\""
		return r
	},
	"analytics_productivity": days(""),
	"analytics_productivity of last days": func(*testing.T) read {
		return read{"last_days = 2", `timecmp("${self.start_date}T00:00:00Z", "${self.end_date}T00:00:00Z") < 0`}
	},
	"analytics_tokens": days(""), "analytics_tokens by model": days("model"),
	"analytics_tools": days(""), "analytics_tools by tool": days("tool_name"),
	"analytics_users": func(t *testing.T) read {
		t.Helper()
		r := days("")(t)
		r.arguments += "\nmax_results = 100"
		return r
	},
	"api_keys": func(t *testing.T) read {
		t.Helper()
		key := ownKey(t)
		return read{fmt.Sprintf("service_account_id = %q", ownAccount(t).ID), contains("api_keys", key.ID)}
	},
	"ci_jobs": plain, "ci_repositories": plain, "ci_repository_owners": plain, "ci_runs": plain, "ci_scan": plain,
	"computer": func(t *testing.T) read {
		t.Helper()
		m := ownMachine(t)
		return read{fmt.Sprintf("id = %q", m.ID), fmt.Sprintf("self.name == %q", m.Name)}
	},
	"computer by name": func(t *testing.T) read {
		t.Helper()
		m := ownMachine(t)
		return read{fmt.Sprintf("name = %q", m.Name), fmt.Sprintf("self.id == %q", m.ID)}
	},
	"computer_metrics": func(t *testing.T) read {
		t.Helper()
		return read{arguments: fmt.Sprintf("computer_id = %q", activeManaged(t))}
	},
	"computer_providers": plain,
	"computers": func(t *testing.T) read {
		t.Helper()
		return read{"include_unlisted = true\ninclude_provisioning_steps = true", contains("computers", ownMachine(t).ID)}
	},
	"enterprise_control_history": func(*testing.T) read { return read{arguments: "max_results = 2"} },
	"enterprise_controls":        plain,
	"environment": func(t *testing.T) read {
		t.Helper()
		e := ownEnvironment(t)
		return read{fmt.Sprintf("id = %q", e.ID), fmt.Sprintf("self.name == %q", e.Name)}
	},
	"environment by name": func(t *testing.T) read {
		t.Helper()
		e := ownEnvironment(t)
		return read{fmt.Sprintf("name = %q", e.Name), fmt.Sprintf("self.id == %q", e.ID)}
	},
	"environment_build_diagnostics": func(t *testing.T) read {
		t.Helper()
		return read{fmt.Sprintf("environment_id = %q", ownEnvironment(t).ID), "self.build_id != \"\""}
	},
	"environment_build_diagnostics of a build": func(t *testing.T) read {
		t.Helper()
		e := ownEnvironment(t)
		found, err := connect(t).Environments.BuildDiagnostics(t.Context(), e.ID, "")
		must(t, err)
		return read{fmt.Sprintf("environment_id = %q\nbuild_id = %q", e.ID, found.BuildID), fmt.Sprintf("self.build_id == %q", found.BuildID)}
	},
	"environment_build_statuses": func(t *testing.T) read {
		t.Helper()
		return read{fmt.Sprintf("environment_ids = [%q]", ownEnvironment(t).ID), "length(self.builds) == 1"}
	},
	"environment_source_options": plain,
	"environments": func(t *testing.T) read {
		t.Helper()
		return read{"", contains("environments", ownEnvironment(t).ID)}
	},
	"member": func(t *testing.T) read {
		t.Helper()
		all := members(t)
		return read{fmt.Sprintf("email = %q", all[0].Email), fmt.Sprintf("self.id == %q", all[0].ID)}
	},
	"members": func(*testing.T) read { return read{"max_results = 100", "length(self.members) > 0"} },
	"service_account": func(t *testing.T) read {
		t.Helper()
		a := ownAccount(t)
		return read{fmt.Sprintf("id = %q", a.ID), fmt.Sprintf("self.name == %q", a.Name)}
	},
	"service_account by name": func(t *testing.T) read {
		t.Helper()
		a := ownAccount(t)
		return read{fmt.Sprintf("name = %q", a.Name), fmt.Sprintf("self.id == %q", a.ID)}
	},
	"service_accounts": func(t *testing.T) read {
		t.Helper()
		return read{"", contains("service_accounts", ownAccount(t).ID)}
	},
	"session": func(t *testing.T) read {
		t.Helper()
		id := anySession(t)
		return read{fmt.Sprintf("id = %q", id), fmt.Sprintf("self.id == %q", id)}
	},
	"session_children": func(t *testing.T) read {
		t.Helper()
		return read{arguments: fmt.Sprintf("session_id = %q", anySession(t))}
	},
	"session_messages": func(t *testing.T) read {
		t.Helper()
		return read{arguments: fmt.Sprintf("session_id = %q\nmax_results = 1", anySession(t))}
	},
	"sessions":     func(*testing.T) read { return read{arguments: "max_results = 20"} },
	"usage_limits": plain,
	"wiki_export": func(t *testing.T) read {
		t.Helper()
		run, _ := anyWiki(t)
		return read{fmt.Sprintf("wiki_run_id = %q\noutput_path = %q", run, t.TempDir()+"/wiki.zip"), "self.output_size > 0"}
	},
	"wiki_page": func(t *testing.T) read {
		t.Helper()
		run, page := anyWiki(t)
		if page == "" {
			skip(t, envWiki, "no wiki run has pages")
		}
		return read{fmt.Sprintf("wiki_run_id = %q\npage_id = %q", run, page), "self.path != \"\""}
	},
	"wiki_run": func(t *testing.T) read {
		t.Helper()
		run, _ := anyWiki(t)
		return read{fmt.Sprintf("id = %q", run), fmt.Sprintf("self.id == %q", run)}
	},
	"wiki_run_history": func(t *testing.T) read {
		t.Helper()
		return read{fmt.Sprintf("repo_url = %q", anyRun(t).RepoURL), "length(self.wiki_runs) > 0"}
	},
	"wiki_runs": plain,
	"wiki_search": func(t *testing.T) read {
		t.Helper()
		run, _ := anyWiki(t)
		return read{arguments: fmt.Sprintf("wiki_run_id = %q\nq = \"the\"\nlimit = 2", run)}
	},
}

// contains is a condition: a list of objects contains one with an ID.
func contains(list, id string) string {
	return fmt.Sprintf("contains(self.%s[*].id, %q)", list, id)
}

// days returns arguments for days that the service has data of: those of a day are there on the next one, in UTC.
func days(group string) func(t *testing.T) read {
	return func(*testing.T) read {
		day := func(back int) string { return clock.System.Now().UTC().AddDate(0, 0, -back).Format(time.DateOnly) }
		arguments := fmt.Sprintf("start_date = %q\nend_date = %q", day(4), day(2))
		if group != "" {
			arguments += fmt.Sprintf("\ngroup_by = %q", group)
		}
		return read{arguments: arguments}
	}
}

// Each data source can be read, and finds what the suite created.
func TestAccDataSource(t *testing.T) {
	t.Parallel()
	needService(t)
	for name, prepare := range dataSources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := prepare(t)
			typeName, _, _ := strings.Cut(name, " ")
			config := fmt.Sprintf("data \"agentyard_%s\" \"test\" {\n%s\n", typeName, r.arguments)
			if r.condition != "" {
				config += fmt.Sprintf("lifecycle {\n  postcondition {\n    condition     = %s\n    error_message = \"The object is missing.\"\n  }\n}\n", r.condition)
			}
			runSteps(t, nil, resource.TestStep{Config: config + "}\n", PlanOnly: true})
		})
	}
}

// list is a list resource with its configuration, and the least number of results.
type list struct {
	config string
	least  int
}

var listResources = map[string]func(t *testing.T) list{
	"api_key": func(t *testing.T) list {
		t.Helper()
		ownKey(t)
		return list{fmt.Sprintf("service_account_id = %q", ownAccount(t).ID), 1}
	},
	"computer": func(t *testing.T) list {
		t.Helper()
		ownMachine(t)
		return list{"include_unlisted = true", 1}
	},
	"environment": func(t *testing.T) list {
		t.Helper()
		ownEnvironment(t)
		return list{"", 1}
	},
	"member_invitation": func(t *testing.T) list {
		t.Helper()
		members(t) // Skips if the key's owner is no manager.
		return list{"", 1}
	},
	"service_account": func(t *testing.T) list {
		t.Helper()
		ownAccount(t)
		return list{"", 1}
	},
	"session":          func(*testing.T) list { return list{} },
	"user_usage_limit": func(*testing.T) list { return list{} },
	"wiki_run":         func(*testing.T) list { return list{} },
}

// Each list resource can be queried, with whole resources.
func TestAccList(t *testing.T) {
	t.Parallel()
	needService(t)
	needsCLI(t, 14)
	for name, prepare := range listResources {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := prepare(t)
			config := fmt.Sprintf("provider \"agentyard\" {}\nlist \"agentyard_%s\" \"test\" {\n  provider = agentyard\n  include_resource = true\n  limit = 1000\n", name)
			if l.config != "" {
				config += "  config {\n    " + l.config + "\n  }\n"
			}
			runSteps(t, nil, resource.TestStep{
				Query: true, Config: config + "}\n",
				QueryResultChecks: []querycheck.QueryResultCheck{querycheck.ExpectLengthAtLeast("agentyard_"+name+".test", l.least)},
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
