package ci

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

const (
	actionCreate = "create"
	actionEdit   = "edit"
	actionDelete = "delete"
)

var workflowActions = []string{actionCreate, actionEdit, actionDelete}

// check is not part of the schema because it runs three times: validation does not know the values of variables, and the
// plan does not know computed values.
func (m *ciWorkflowEditModel) check(ctx context.Context) diag.Diagnostics {
	var found diag.Diagnostics
	must(&found, path.Root("action"), m.Action, "Invalid action", fmt.Sprintf("must be %s, not %q", phrase.Either(workflowActions), m.Action.ValueString()), isIn(workflowActions))
	must(&found, path.Root("service_automation_id"), m.ServiceAutomationID, "Blank value", "must not be blank", isNotBlank)
	must(&found, path.Root("automation_name"), m.AutomationName, "Blank value", "must not be blank", isNotBlank)
	must(&found, path.Root("mode_id"), m.ModeID, "Blank value", "must not be blank", isNotBlank)
	if m.Changes.IsNull() && m.Action.ValueString() == actionEdit {
		found.AddAttributeError(path.Root("changes"), "Missing changes", "changes is required if action is edit.")
	}
	found.Append(m.checkRepos(ctx)...)
	found.Append(m.checkChanges(ctx)...)
	return found
}

func (m *ciWorkflowEditModel) checkRepos(ctx context.Context) diag.Diagnostics {
	var found diag.Diagnostics
	if m.Repos.IsUnknown() {
		return nil
	}
	if len(m.Repos.Elements()) == 0 {
		found.AddAttributeError(path.Root("repos"), "Missing repositories", "repos must contain at least one repository.")
	}
	named := map[string]int{}
	for i, element := range m.Repos.Elements() {
		at := path.Root("repos").AtListIndex(i)
		object, ok := element.(types.Object)
		if !ok || object.IsUnknown() {
			continue
		}
		var repo ciRepoModel // Null becomes an object with null fields, which is rejected below.
		found.Append(object.As(ctx, &repo, basetypes.ObjectAsOptions{UnhandledNullAsEmpty: true})...)
		required(&found, at.AtName("repo_full_name"), repo.RepoFullName)
		must(&found, at.AtName("repo_full_name"), repo.RepoFullName, "Invalid repository",
			fmt.Sprintf("must be owner/name, such as acme/api, without whitespace and the characters ?#%%\\, not %q", repo.RepoFullName.ValueString()), isRepository)
		must(&found, at.AtName("file_path"), repo.FilePath, "Blank value", "must not be blank", isNotBlank)
		if action := m.Action.ValueString(); repo.FilePath.IsNull() && (action == actionEdit || action == actionDelete) {
			found.AddAttributeError(at.AtName("file_path"), "Missing workflow path", fmt.Sprintf("%s is required if action is %s. The data source agentyard_ci_scan lists the workflows.", at.AtName("file_path"), action))
		}
		if repo.RepoFullName.IsUnknown() || repo.FilePath.IsUnknown() {
			continue
		}
		// Repository names are case-insensitive.
		key := strings.ToLower(repo.RepoFullName.ValueString()) + "\n" + repo.FilePath.ValueString()
		if first, isTwice := named[key]; isTwice {
			found.AddAttributeError(at, "Duplicate workflow", fmt.Sprintf("%s has the same repository and file as repos[%d]. Remove one of them.", at, first))
			continue
		}
		named[key] = i
	}
	return found
}

func (m *ciWorkflowEditModel) checkChanges(ctx context.Context) diag.Diagnostics {
	if !value.IsSet(m.Changes) {
		return nil
	}
	var changes ciChangesModel
	found := m.Changes.As(ctx, &changes, basetypes.ObjectAsOptions{})
	at := path.Root("changes")
	for i, element := range changes.GithubEvents.Elements() {
		event, ok := element.(types.String)
		if !ok {
			continue
		}
		required(&found, at.AtName("github_events").AtListIndex(i), event)
		must(&found, at.AtName("github_events").AtListIndex(i), event, "Blank value", "must not be blank", isNotBlank)
	}
	return found
}

// required rejects null, because a required attribute may still be set to a null variable.
func required(found *diag.Diagnostics, at path.Path, v types.String) {
	if v.IsNull() {
		found.AddAttributeError(at, "Missing value", fmt.Sprintf("%s must not be null. If it comes from a variable, set the variable.", at))
	}
}

// must rejects a known value that accepts does not accept.
func must(found *diag.Diagnostics, at path.Path, v types.String, summary, be string, accepts func(string) bool) {
	if value.IsSet(v) && !accepts(v.ValueString()) {
		found.AddAttributeError(at, summary, fmt.Sprintf("%s %s.", at, be))
	}
}

func isIn(names []string) func(string) bool {
	return func(s string) bool { return slices.Contains(names, s) }
}

func isNotBlank(s string) bool { return strings.TrimSpace(s) != "" }

func isRepository(s string) bool {
	owner, name, found := strings.Cut(s, "/")
	return found && owner != "" && name != "" && !strings.Contains(s, "..") && !strings.ContainsAny(name, "/") && !strings.ContainsAny(s, `?#%\`) && !strings.ContainsFunc(s, isBlankOrControl)
}

func isBlankOrControl(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }
