package ci

import (
	"cmp"
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/phrase"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

const defaultMode = "code-review"

type ciWorkflowEditModel struct {
	Action              types.String `tfsdk:"action"`
	Repos               types.List   `tfsdk:"repos"`
	Changes             types.Object `tfsdk:"changes"`
	AutomationName      types.String `tfsdk:"automation_name"`
	ServiceAutomationID types.String `tfsdk:"service_automation_id"`
	ModeID              types.String `tfsdk:"mode_id"`
}

type ciRepoModel struct {
	RepoFullName types.String `tfsdk:"repo_full_name"`
	FilePath     types.String `tfsdk:"file_path"`
}

type ciChangesModel struct {
	Name                    types.String `tfsdk:"name"`
	YAMLParams              types.String `tfsdk:"yaml_params"`
	CustomPrompt            types.String `tfsdk:"custom_prompt"`
	Schedule                types.String `tfsdk:"schedule"`
	GithubEvents            types.List   `tfsdk:"github_events"`
	CustomCIModel           types.String `tfsdk:"custom_ci_model"`
	CustomCIReasoningEffort types.String `tfsdk:"custom_ci_reasoning_effort"`
}

// request omits everything but the workflows for a delete, and sets defaults only for a create.
func (m *ciWorkflowEditModel) request(ctx context.Context) (ci.EditWorkflowRequest, diag.Diagnostics) {
	body := ci.EditWorkflowRequest{Action: m.Action.ValueString()}
	var repos []ciRepoModel
	diags := m.Repos.ElementsAs(ctx, &repos, false)
	for _, repo := range repos {
		body.Repos = append(body.Repos, ci.Target{RepoFullName: repo.RepoFullName.ValueString(), FilePath: value.StringPointer(repo.FilePath)})
	}
	if body.Action == actionDelete {
		return body, diags
	}
	if !m.Changes.IsNull() {
		var changes ciChangesModel
		diags.Append(m.Changes.As(ctx, &changes, basetypes.ObjectAsOptions{})...)
		body.Changes = changes.request()
	}
	body.AutomationName, body.ServiceAutomationID, body.ModeID = value.StringPointer(m.AutomationName), value.StringPointer(m.ServiceAutomationID), value.StringPointer(m.ModeID)
	if body.Action == actionCreate && body.ServiceAutomationID == nil {
		body.ServiceAutomationID = new(uuid.NewString())
	}
	if body.Action == actionCreate && body.ModeID == nil {
		body.ModeID = new(defaultMode)
	}
	return body, diags
}

// sort orders what has no order, and ignores case in the names of repositories. What is not known yet stays as it is.
func (m *ciWorkflowEditModel) sort(ctx context.Context) {
	var repos []ciRepoModel
	if value.IsSet(m.Repos) && !m.Repos.ElementsAs(ctx, &repos, false).HasError() {
		for i := range repos {
			if name := repos[i].RepoFullName; value.IsSet(name) {
				repos[i].RepoFullName = types.StringValue(strings.ToLower(name.ValueString()))
			}
		}
		slices.SortFunc(repos, func(a, b ciRepoModel) int {
			return cmp.Or(strings.Compare(a.RepoFullName.String(), b.RepoFullName.String()), strings.Compare(a.FilePath.String(), b.FilePath.String()))
		})
		m.Repos, _ = types.ListValueFrom(ctx, m.Repos.ElementType(ctx), repos)
	}
	var changes ciChangesModel
	if value.IsSet(m.Changes) && !m.Changes.As(ctx, &changes, basetypes.ObjectAsOptions{}).HasError() && value.IsSet(changes.GithubEvents) {
		events := slices.Clone(changes.GithubEvents.Elements())
		slices.SortFunc(events, func(a, b attr.Value) int { return strings.Compare(a.String(), b.String()) })
		changes.GithubEvents = types.ListValueMust(types.StringType, events)
		m.Changes, _ = types.ObjectValueFrom(ctx, m.Changes.AttributeTypes(ctx), changes)
	}
}

func (m *ciChangesModel) request() *ci.Changes {
	changes := &ci.Changes{
		Name: value.StringPointer(m.Name), YAMLParams: value.StringPointer(m.YAMLParams), CustomPrompt: value.StringPointer(m.CustomPrompt), Schedule: value.StringPointer(m.Schedule),
		CustomCIModel: value.StringPointer(m.CustomCIModel), CustomCIReasoningEffort: value.StringPointer(m.CustomCIReasoningEffort),
	}
	if !m.GithubEvents.IsNull() {
		changes.GithubEvents = append([]string{}, value.Strings(m.GithubEvents)...) // An empty list must be sent, not omitted.
	}
	return changes
}

// WorkflowEdit is agentyard_ci_workflow_edit.
var WorkflowEdit = crud.Operation{
	Name: "ci_workflow_edit",
	Description: "Opens pull requests that create, change, or delete a CI workflow in repositories of the organization. Merging a pull request should apply its change. Until then, the workflow of its branch may already run." + crud.AnyKey + "\n\n" +
		"**Permissions.** The data source `agentyard_ci_repositories` should show whether the API key's owner and the service's app can write to a repository" + crud.Assumed("ci-repositories") + " The API documents do not say which of them must.\n\n" +
		"**Partial failures.** A failed repository should not stop the others" + crud.Assumed("edit-ci-workflow") + " A message names the failed repositories, those whose result is unknown, and the pull requests that were opened.\n\n" +
		"**Duration.** One request edits all repositories. The provider waits 5 minutes for it, or `request_timeout` if that is longer." + crud.AssumedFormat,
	ActionNotes: "\n\n**Errors.** The action fails if one repository fails.\n\n**Invoking again.** Each invocation should open new pull requests, so the provider does not retry an uncertain request. " +
		"A second apply does not invoke the action again unless its trigger changes. To invoke it, run `terraform apply -invoke=action.agentyard_ci_workflow_edit.NAME`.\n\n" +
		"**Interrupts.** If you interrupt the apply, check the repositories listed in the first progress message.",
	ResourceNotes: "\n\n**Applying again.** Each creation should open new pull requests, so the provider does not retry an uncertain request. " +
		"If all repositories fail, nothing is stored, and the next apply runs the operation again. If some fail, the apply ends with a warning, and the next one opens no pull requests. " +
		"To fail the apply, use a `postcondition` as in the example. Then remove the finished repositories from `repos`, and apply again.",
	Arguments: map[string]schema.Attribute{
		"action": schema.StringAttribute{
			Required:            true,
			MarkdownDescription: "What to do with the workflow. One of `create`, `edit`, or `delete`.",
		},
		"repos": schema.ListNestedAttribute{
			Required:            true,
			MarkdownDescription: "Repositories, each with its workflow. Must contain at least one entry. Each entry must be a different repository or file. A different order is not a change.",
			NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
				"repo_full_name": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "Full name of the repository, as `owner/name`.",
				},
				"file_path": schema.StringAttribute{
					Optional: true,
					MarkdownDescription: "Path of the workflow file in the repository, such as `.github/workflows/review.yml`. " +
						"Required for `edit` and `delete`. If omitted for `create`, the service should choose it" + crud.Assumed("edit-ci-workflow"),
				},
			}},
		},
		"changes": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Contents of the workflow. Required for `edit`, which should keep omitted values" + crud.Assumed("edit-ci-workflow") + " Ignored for `delete`.",
			Attributes: map[string]schema.Attribute{
				"name": schema.StringAttribute{Optional: true, MarkdownDescription: "Name of the workflow."},
				"yaml_params": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "Parameters of the agent's step, as lines of YAML, such as `review_depth: deep`. The API documents do not name them.",
				},
				"custom_prompt": schema.StringAttribute{Optional: true, MarkdownDescription: "Prompt for the agent, for a custom job."},
				"schedule": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "Schedule of the workflow, such as `0 6 * * 1`. The service should accept five cron fields, and an empty string for no schedule" + crud.Assumed("edit-ci-workflow-body"),
				},
				"github_events": schema.ListAttribute{
					Optional: true, ElementType: types.StringType,
					MarkdownDescription: "Events that start the workflow. The service should accept `pull-request`, `pr-opened`, `comment-added`, `push`, `label-change`, and `checks-completed`" + crud.Assumed("edit-ci-workflow-body"),
				},
				"custom_ci_model":            schema.StringAttribute{Optional: true, MarkdownDescription: "Model of the agent, for a custom job."},
				"custom_ci_reasoning_effort": schema.StringAttribute{Optional: true, MarkdownDescription: "Reasoning effort of the agent, for a custom job."},
			},
		},
		"automation_name": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Name of the automation. Ignored for `delete`.",
		},
		"service_automation_id": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "ID of the automation that the workflow belongs to, such as a UUID. If omitted for `create`, the provider sends a new UUID. Ignored for `delete`.",
		},
		"mode_id": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "Mode of the workflow, such as `code-review`. The service should also accept `wiki`, `qa`, and `security-audit`" + crud.Assumed("edit-ci-workflow-body") + " The provider accepts any value. " +
				"Defaults to `" + defaultMode + "` for `create`. Ignored for `delete`.",
		},
	},
	Results: results.Attributes{
		"automation_id":    results.Computed("ID of the automation: `service_automation_id`, or the new ID. Null for `delete`, and for an `edit` without `service_automation_id`.", types.StringType),
		"pull_request_url": results.Computed("URL of the first pull request. Null if none was needed.", types.StringType),
		"results":          results.ComputedList("Results by repository, in the order in which `repos` was sent.", outcomeResults),
	},
	Check: crud.CheckModel(func(ctx context.Context, m *ciWorkflowEditModel, _ *crud.Call) diag.Diagnostics { return m.check(ctx) }),
	Canonical: crud.CanonicalModel(func(m *ciWorkflowEditModel) {
		m.sort(context.Background())
		switch m.Action.ValueString() {
		case actionCreate:
			if m.ModeID.IsNull() {
				m.ModeID = types.StringValue(defaultMode)
			}
		case actionDelete: // The others are ignored.
			m.Changes = types.ObjectNull(m.Changes.AttributeTypes(context.Background()))
			m.AutomationName, m.ServiceAutomationID, m.ModeID = types.StringNull(), types.StringNull(), types.StringNull()
		}
	}),
	Run:  crud.Run(editWorkflow),
	Verb: "edit", Object: "CI workflow",
	Options: apierror.Options{apierror.Advice{
		http.StatusForbidden: "No pull request was opened. Use the API key of a member who can write to the repositories, and check that the organization's settings allow CI automation.",
		http.StatusNotFound:  "No pull request was opened. Check the path in base_url, and that the repositories are connected. The data source agentyard_ci_repositories lists them.",
		http.StatusConflict:  "No pull request was opened. Resolve the conflict. Then run this again.",
	}},
}

var outcomeResults = results.Fields[*ci.Outcome]{
	"repo_full_name": results.String("Full name of the repository.", func(o *ci.Outcome) string { return string(o.RepoFullName) }),
	"pr_url":         results.String("URL of the pull request. Null if none was needed.", func(o *ci.Outcome) string { return string(o.PullRequest) }),
	"session_id":     results.String("ID of the session that made the change. Null if the service does not return it.", func(o *ci.Outcome) string { return string(o.SessionID) }),
	"message":        results.String("Message of the service. Null if there is none.", func(o *ci.Outcome) string { return string(o.Message) }),
	"error":          results.String("Why the repository failed. Null if it did not.", func(o *ci.Outcome) string { return string(o.Error) }),
}

func editWorkflow(ctx context.Context, c *client.Client, m *ciWorkflowEditModel, call *crud.Call) (crud.Results, error) {
	body, diags := m.request(ctx)
	if err := crud.Failure(diags); err != nil {
		return nil, err
	}
	request := editRequest{body: body}
	if m.ServiceAutomationID.IsNull() && body.ServiceAutomationID != nil {
		request.newAutomation = *body.ServiceAutomationID
	}
	call.Report("%s", request.announcement())
	outcomes, err := c.CI.EditWorkflow(ctx, body)
	switch {
	case err != nil && transport.IsAmbiguous(err):
		return nil, &crud.ObjectError{Summary: cannotEdit, Detail: phrase.Join(apierror.Sentences(err), "Pull requests may have been opened in "+request.repositories()+".") + "\n\n" + request.beforeAgain()}
	case err != nil:
		return nil, err
	}
	switch failed, opened := report(outcomes, call.Report); {
	case len(failed) == 0:
	case call.IsAction || len(failed) == len(outcomes): // An action stores no results that could fail a later condition.
		return nil, &crud.ObjectError{At: path.Root("repos"), Summary: cannotEdit, Detail: request.failure(failed, opened)}
	default:
		call.Warn("CI workflow edit incomplete", request.failure(failed, opened))
	}
	found := crud.Results{"automation_id": types.StringPointerValue(body.ServiceAutomationID), "results": results.ListOf(outcomeResults, outcomes)}
	for _, outcome := range slices.Backward(outcomes) {
		if outcome.PullRequest != "" {
			found["pull_request_url"] = types.StringValue(string(outcome.PullRequest))
		}
	}
	return found, nil
}
