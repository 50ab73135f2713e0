package evidence

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// object is a kind of object of the service, as the page of the evidence shows it.
type object struct {
	name string
	// path is a part of the paths of its operations. The first object that fits is the right one.
	path string
	// types are the Terraform types for it, without agentyard_.
	types string
}

var objects = []object{
	{"API keys", "/api-keys", "api_key api_key_revoke api_keys"},
	{"Service accounts", "/service-accounts", "service_account service_accounts"},
	{"Files of computers", "/files/", "computer_file_download computer_file_upload"},
	{"Computers", "/computers", "computer computer_activity computer_fleet computer_install_deps computer_metrics computer_providers computer_refresh computer_restart computers"},
	{"Default environment", "/environments/default", "default_environment"},
	{"Environment builds", "build", "environment_build environment_build_cancel environment_build_diagnostics environment_build_statuses"},
	{"Environments", "/environments", "environment environment_source_options environments"},
	{"Wikis", "/wiki", "wiki_export wiki_page wiki_run wiki_run_history wiki_runs wiki_search wiki_video_upload_url"},
	{"CI workflows", "/automations/ci", "ci_jobs ci_repositories ci_repository_owners ci_runs ci_scan ci_workflow_edit"},
	{"Session messages", "/messages", "session_answer session_message session_messages"},
	{"Sessions", "/sessions", "session session_children session_interrupt sessions"},
	{"Members", "/organization/users", "member member_invitation member_remove members"},
	{"Usage limits", "/usage/limits", "global_usage_limit usage_limits user_usage_limit user_usage_limits"},
	{"Enterprise controls", "/enterprise-controls", "enterprise_control_history enterprise_controls"},
	{"Analytics", "/analytics", "analytics_activity analytics_my_cost analytics_productivity analytics_tokens analytics_tools analytics_users"},
}

func objectOf(path string) string {
	for _, o := range objects {
		if strings.Contains(path, o.path) {
			return o.name
		}
	}
	return ""
}

const pageHead = `---
page_title: "Evidence"
description: |-
  See what the service's documents state, what the provider assumes, and what a real service has confirmed.
---

# Evidence

The provider follows the service's API documents. Where they are silent, it makes an assumption. This page lists all %d assumptions.
%s

` + "```sh" + `
agentyard-probe -out report
make assumptions REPORT=report/report.json
` + "```" + `

The first command compares your organization with the assumptions. See [Troubleshooting](../guides/troubleshooting#unexpected-answers-of-the-service).
The second one, in a checkout of the provider, adds the report to this page.

An assumption is **confirmed** if the answers agreed with it, and **refuted** if one did not. It stays refuted until a maintainer
corrects it. Operations **beyond the documents** are
known from other sources. In the tables, the spec and the guides are the service's documents, and the reference is a dated copy of
its public reference.

`

// Page returns the page of the evidence.
func Page(doc *contract.Document, record Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, pageHead, len(doc.Assumptions()), summary(doc, record))
	owners := map[string]string{} // Of operations.
	for _, o := range doc.Operations() {
		owners[o.ID] = objectOf(o.Path)
	}
	for _, o := range objects {
		o.write(&b, doc, record, owners)
	}
	b.WriteString("## Several objects\n\n")
	assumptions(&b, record, doc.Assumptions(), func(a contract.Assumption) bool { return ownerOf(a, owners) == "" })
	return strings.TrimRight(b.String(), "\n") + "\n"
}

func summary(doc *contract.Document, record Record) string {
	results := map[Result]int{}
	newest := ""
	for _, a := range doc.Assumptions() {
		if e, ok := record[a.ID]; ok {
			results[e.Result]++
			newest = max(newest, e.day())
		}
	}
	if newest == "" {
		return "**No real service has been tried yet, so none of them is confirmed.**"
	}
	return fmt.Sprintf("A real service has confirmed %d of them and refuted %d. The newest report is of %s.", results[Confirmed], results[Refuted], newest)
}

func (o object) write(b *strings.Builder, doc *contract.Document, record Record, owners map[string]string) {
	var stated []string
	var beyond []contract.Operation
	for _, operation := range doc.Operations() {
		switch {
		case owners[operation.ID] != o.name:
		case operation.Beyond == "":
			stated = append(stated, "`"+operation.ID+"`")
		default:
			beyond = append(beyond, operation)
		}
	}
	var types []string
	for _, name := range strings.Fields(o.types) {
		types = append(types, "`agentyard_"+name+"`")
	}
	fmt.Fprintf(b, "## %s\n\n- **For:** %s\n", o.name, strings.Join(types, ", "))
	if len(stated) > 0 {
		fmt.Fprintf(b, "- **In the documents:** %s\n", strings.Join(stated, ", "))
	}
	b.WriteString("\n")
	if len(beyond) > 0 {
		table(b, "", []string{"beyond the documents", "source", "result"}, len(beyond), func(i int) []string {
			return []string{"`" + beyond[i].ID + "`", beyond[i].Beyond, record.text(beyond[i].ID)}
		})
	}
	assumptions(b, record, doc.Assumptions(), func(a contract.Assumption) bool { return ownerOf(a, owners) == o.name })
}

// ownerOf returns the object that an assumption is about, or nothing if it is about several.
func ownerOf(a contract.Assumption, owners map[string]string) string {
	owner := ""
	for i, id := range a.Operations {
		if i > 0 && owners[id] != owner {
			return ""
		}
		owner = owners[id]
	}
	return owner
}

func assumptions(b *strings.Builder, record Record, all []contract.Assumption, suits func(contract.Assumption) bool) {
	some := slices.DeleteFunc(all, func(a contract.Assumption) bool { return !suits(a) })
	table(b, "No assumptions.", []string{"assumption", "what is assumed, and what is open", "result"}, len(some), func(i int) []string {
		return []string{"`" + some[i].ID + "`", some[i].Why, record.text(some[i].ID)}
	})
}

// text says what is known, and since when.
func (r Record) text(id string) string {
	e, ok := r[id]
	if !ok {
		return string(NotSeen)
	}
	return fmt.Sprintf("%s on %s (%s %s): `%s`", e.Result, e.day(), e.Tool, e.Version, strings.ReplaceAll(e.Observed, "`", ""))
}

// day is that of the report, such as 2026-01-31.
func (e Entry) day() string { return e.Time.Format(time.DateOnly) }
