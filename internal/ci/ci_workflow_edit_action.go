package ci

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ action.ActionWithConfigure      = (*ciWorkflowEditAction)(nil)
	_ action.ActionWithValidateConfig = (*ciWorkflowEditAction)(nil)
	_ action.ActionWithModifyPlan     = (*ciWorkflowEditAction)(nil)
)

// defaultMode is what a workflow does if nothing else is said.
const defaultMode = "code-review"

// NewCIWorkflowEditAction returns the action agentyard_ci_workflow_edit.
func NewCIWorkflowEditAction() action.Action { return &ciWorkflowEditAction{} }

type ciWorkflowEditAction struct{ crud.Action }

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

// request is the body. A deletion takes nothing but the workflows, and only a new workflow gets what is left out.
func (m *ciWorkflowEditModel) request(ctx context.Context) (client.EditCIWorkflowRequest, diag.Diagnostics) {
	body := client.EditCIWorkflowRequest{Action: m.Action.ValueString()}
	var repos []ciRepoModel
	diags := m.Repos.ElementsAs(ctx, &repos, false)
	for _, repo := range repos {
		body.Repos = append(body.Repos, client.CITarget{RepoFullName: repo.RepoFullName.ValueString(), FilePath: value.StringPointer(repo.FilePath)})
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

func (m *ciChangesModel) request() *client.CIChanges {
	changes := &client.CIChanges{
		Name: value.StringPointer(m.Name), YAMLParams: value.StringPointer(m.YAMLParams), CustomPrompt: value.StringPointer(m.CustomPrompt), Schedule: value.StringPointer(m.Schedule),
		CustomCIModel: value.StringPointer(m.CustomCIModel), CustomCIReasoningEffort: value.StringPointer(m.CustomCIReasoningEffort),
	}
	if !m.GithubEvents.IsNull() {
		changes.GithubEvents = append([]string{}, value.Strings(m.GithubEvents)...) // An empty list is sent.
	}
	return changes
}

func (a *ciWorkflowEditAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ci_workflow_edit"
}

func (a *ciWorkflowEditAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Opens pull requests that create, change or delete a CI workflow in repositories of the organization. What a pull request proposes holds once somebody merges it.\n\n" +
			"Each invocation opens new pull requests, so it is not repeated where it is not certain whether the service acted: the error then says where to look. " +
			"A run that is interrupted shows no outcome any more: the first progress message, which is told before the request, says where to look then, and the log has the outcome at level `WARN`. " +
			"A repository that fails does not stop the others. The action ends with an error then, which names those that failed, those of which it is not known, and the pull requests that were opened. " +
			"Applying again does not invoke an action whose trigger has passed; `terraform apply -invoke=action.agentyard_ci_workflow_edit.NAME` does. " +
			"The service works on all repositories in one request, which may take minutes: the provider waits for 5 minutes, or for `request_timeout` if that is longer.\n\n" +
			"The caller and the service's app need permission to write to the repository; the data source `agentyard_ci_repositories` tells of both.",
		Attributes: map[string]schema.Attribute{
			"action": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "What is done to the workflow: `create`, `edit` or `delete`.",
			},
			"repos": schema.ListNestedAttribute{
				Required:            true,
				MarkdownDescription: "The repositories, 1 or more, each with the workflow that is meant. None may be named twice with the same file.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"repo_full_name": schema.StringAttribute{
						Required:            true,
						MarkdownDescription: "Full name of the repository, as `owner/name`.",
					},
					"file_path": schema.StringAttribute{
						Optional: true,
						MarkdownDescription: "Path of the workflow's file in the repository: under `.github/workflows/`, ending in `.yml` or `.yaml`, without `..`. Required for `edit` and `delete`. " +
							"If omitted for `create`, the service chooses it.",
					},
				}},
			},
			"changes": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "What the workflow shall be like. Required for `edit`, where what is omitted stays as it is; not used for `delete`.",
				Attributes: map[string]schema.Attribute{
					"name": schema.StringAttribute{Optional: true, MarkdownDescription: "Name of the workflow."},
					"yaml_params": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: "Parameters of the agent's step as lines of YAML: `automatic_review`, `review_depth` (`deep` or `shallow`), `automatic_security_review`, `review_model`, `reasoning_effort`.",
					},
					"custom_prompt": schema.StringAttribute{Optional: true, MarkdownDescription: "What the agent is told to do, for a custom job."},
					"schedule": schema.StringAttribute{
						Optional:            true,
						MarkdownDescription: "When the workflow starts by itself, as five cron fields, such as `0 6 * * 1`. Empty for no schedule.",
					},
					"github_events": schema.ListAttribute{
						Optional: true, ElementType: types.StringType,
						MarkdownDescription: "Events of the code host that start the workflow: `" + strings.Join(githubEvents, "`, `") + "`. It can be started by hand in any case.",
					},
					"custom_ci_model":            schema.StringAttribute{Optional: true, MarkdownDescription: "Model of the agent, for a custom job."},
					"custom_ci_reasoning_effort": schema.StringAttribute{Optional: true, MarkdownDescription: "Reasoning effort of the agent, for a custom job."},
				},
			},
			"automation_name": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Name of the automation, which a custom job's file may be named after. Not used for `delete`.",
			},
			"service_automation_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "ID of the automation that the workflow belongs to, a UUID. If omitted for `create`, a new one is made, which the progress tells. Not used for `delete`.",
			},
			"mode_id": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "What the workflow does, such as `" + defaultMode + "`. The templates that the service knows are `code-review`, `wiki`, `qa` and `security-audit`; any other text is sent as it is. " +
					"If omitted for `create`, `" + defaultMode + "`. Not used for `delete`.",
			},
		},
	}
}

func (a *ciWorkflowEditAction) ValidateConfig(ctx context.Context, req action.ValidateConfigRequest, resp *action.ValidateConfigResponse) {
	resp.Diagnostics.Append(checkConfig(ctx, req.Config)...)
}

func (a *ciWorkflowEditAction) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	resp.Diagnostics.Append(checkConfig(ctx, req.Config)...)
}

func checkConfig(ctx context.Context, config tfsdk.Config) diag.Diagnostics {
	var m ciWorkflowEditModel
	diags := config.Get(ctx, &m)
	if !diags.HasError() {
		diags.Append(m.check(ctx)...)
	}
	return diags
}

// atField shows at its argument what the service refuses, where it names the field.
var atField = apierror.Fields{
	"action": path.Root("action"), "repos": path.Root("repos"), "changes": path.Root("changes"), "automationName": path.Root("automation_name"),
	"serviceAutomationId": path.Root("service_automation_id"), "modeId": path.Root("mode_id"),
}

func (a *ciWorkflowEditAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	resp.Diagnostics.Append(checkConfig(ctx, req.Config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	crud.Invoke(ctx, "edit", "CI workflow", req, resp, func(m *ciWorkflowEditModel, tell crud.Tell) error {
		body, diags := m.request(ctx)
		resp.Diagnostics.Append(diags...)
		if diags.HasError() {
			return nil
		}
		asked := asking{body: body, since: a.Client.TimeBeforeEdit(ctx)}
		if m.ServiceAutomationID.IsNull() && body.ServiceAutomationID != nil {
			asked.newAutomation = *body.ServiceAutomationID
		}
		tell("%s", asked.announcement())
		edit, err := a.Client.EditCIWorkflow(ctx, body)
		var uncertain *client.UncertainEditError
		switch {
		case errors.As(err, &uncertain):
			return asked.uncertainFault(uncertain)
		case err != nil:
			return err
		}
		if len(edit.Others) > 0 {
			resp.Diagnostics.AddWarning("Unexpected Outcome in the Answer", fmt.Sprintf("The answer has what fits no repository of the request: %s. Look whether pull requests were opened beside those that were asked for.", names(edit.Others)))
		}
		return asked.report(edit, tell)
	}, atField, apierror.Advice{
		http.StatusForbidden: "No pull request was opened. Use the API key of somebody who may write to the repositories, and check that the organization's settings allow CI automation.",
		http.StatusNotFound:  "No pull request was opened. Check the path in base_url, and that the repositories are connected: the data source agentyard_ci_repositories lists them.",
		http.StatusConflict:  "No pull request was opened. Resolve the conflict that the service names, then invoke the action again. " + invokeAgain,
	})
}
