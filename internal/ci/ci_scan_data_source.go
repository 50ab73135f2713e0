package ci

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-jsontypes/jsontypes"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*ciScanDataSource)(nil)

// NewCIScanDataSource returns the data source agentyard_ci_scan.
func NewCIScanDataSource() datasource.DataSource { return &ciScanDataSource{} }

type ciScanDataSource struct{ crud.DataSourceBase }

type ciScanModel struct {
	ForceRefresh types.Bool        `tfsdk:"force_refresh"`
	Workflows    []ciWorkflowModel `tfsdk:"workflows"`
	ScannedAt    types.String      `tfsdk:"scanned_at"`
	CacheTTLMs   types.Int64       `tfsdk:"cache_ttl_ms"`
	Integration  *integrationModel `tfsdk:"integration"`
}

type ciWorkflowModel struct {
	RepoFullName      types.String         `tfsdk:"repo_full_name"`
	FilePath          types.String         `tfsdk:"file_path"`
	WorkflowName      types.String         `tfsdk:"workflow_name"`
	TriggerEvents     types.List           `tfsdk:"trigger_events"`
	ScheduleCron      types.String         `tfsdk:"schedule_cron"`
	TemplateID        types.String         `tfsdk:"template_id"`
	AgentActionInputs jsontypes.Normalized `tfsdk:"agent_action_inputs"`
	GithubURL         types.String         `tfsdk:"github_url"`
	FileSHA           types.String         `tfsdk:"file_sha"`
	AuthoredBy        *ciAuthorModel       `tfsdk:"authored_by"`
	UserPermission    types.String         `tfsdk:"user_permission"`
}

type ciAuthorModel struct {
	Login types.String `tfsdk:"login"`
	Name  types.String `tfsdk:"name"`
}

// FromAPI takes over the scan.
func (m *ciScanModel) FromAPI(ctx context.Context, found *client.CIScan) (diags diag.Diagnostics) {
	m.ScannedAt, m.CacheTTLMs = value.Time(found.ScannedAt.Time()), types.Int64PointerValue(found.CacheTTL)
	m.Integration = integrationOf(found.Integration)
	m.Workflows, diags = crud.Each[ciWorkflowModel](ctx, found.Workflows)
	return diags
}

// FromAPI takes over a workflow.
func (m *ciWorkflowModel) FromAPI(ctx context.Context, w *client.CIWorkflow) (diags diag.Diagnostics) {
	m.RepoFullName, m.FilePath, m.WorkflowName = value.StringOrNull(w.RepoFullName), value.StringOrNull(w.FilePath), value.StringOrNull(w.WorkflowName)
	m.ScheduleCron, m.TemplateID, m.GithubURL = value.StringOrNull(w.ScheduleCron), value.StringOrNull(w.TemplateID), value.StringOrNull(w.GithubURL)
	m.FileSHA, m.UserPermission = value.StringOrNull(w.FileSHA), value.StringOrNull(w.UserPermission)
	if w.AuthoredBy != nil {
		m.AuthoredBy = &ciAuthorModel{Login: value.StringOrNull(w.AuthoredBy.Login), Name: value.StringOrNull(w.AuthoredBy.Name)}
	}
	m.TriggerEvents, diags = value.StringListOrNull(ctx, w.TriggerEvents)
	var err error
	if m.AgentActionInputs, err = value.JSON(w.AgentActionInputs); err != nil {
		diags.AddAttributeError(path.Root("workflows"), "Cannot Store Workflows", err.Error())
	}
	return diags
}

var ciWorkflowResults = results.Plain{
	"repo_full_name":  {Text: ofRepository},
	"file_path":       {Text: ofFile},
	"workflow_name":   {Text: "Name of the workflow."},
	"trigger_events":  {Text: "The code host's events that start the workflow, ordered by their names.", Type: types.ListType{ElemType: types.StringType}},
	"schedule_cron":   {Text: "When the workflow starts by itself, as five cron fields. Null if it does not."},
	"template_id":     {Text: "ID of the template that the workflow was made from, such as `code-review`, `wiki`, `qa` or `security-audit`. Null for others."},
	"github_url":      {Text: "Address of the file at the code host."},
	"file_sha":        {Text: "Hash of the file's content at the code host."},
	"user_permission": {Text: ofPermission},
	"authored_by": {Text: "Who wrote the workflow. Null if the service does not know it.", Of: results.Plain{
		"login": {Text: "Login at the code host."},
		"name":  {Text: "Name at the code host."},
	}},
}

func (d *ciScanDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ci_scan"
}

func (d *ciScanDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	workflow := ciWorkflowResults.DataSource()
	workflow["agent_action_inputs"] = schema.StringAttribute{
		Computed: true, CustomType: jsontypes.NormalizedType{},
		MarkdownDescription: "Inputs of the agent's step, such as its model, as JSON with sorted keys. Decode it with `jsondecode`. Null if the workflow has no such step.",
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "The CI workflows that the service finds in the connected repositories. A change shows once its pull request is merged." + everyMember,
		Attributes:          integrationResults.DataSource(),
	}
	resp.Schema.Attributes["force_refresh"] = schema.BoolAttribute{
		Optional: true,
		MarkdownDescription: "Whether the repositories are scanned anew, which takes longer: the provider waits for 5 minutes, or for `request_timeout` if that is longer. If `false` or omitted, the service answers with an earlier scan that is younger than `cache_ttl_ms`. " +
			"With `true`, `scanned_at` differs in every plan.",
	}
	resp.Schema.Attributes["workflows"] = schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: "The workflows, ordered by `repo_full_name` and then `file_path`; empty if there are none, as without a connected code host.",
		NestedObject:        schema.NestedAttributeObject{Attributes: workflow},
	}
	resp.Schema.Attributes["scanned_at"] = schema.StringAttribute{Computed: true, MarkdownDescription: "When the repositories were scanned, in RFC 3339 (UTC)."}
	resp.Schema.Attributes["cache_ttl_ms"] = schema.Int64Attribute{Computed: true, MarkdownDescription: "How long a scan answers those who do not force another one, in milliseconds."}
}

func (d *ciScanDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "scan", "CI workflows", req, resp, func(m *ciScanModel) (*client.CIScan, error) {
		return d.Client.ScanCIWorkflows(ctx, m.ForceRefresh.ValueBool())
	}, readAccess)
}
