package ci

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*ciJobsDataSource)(nil)

// NewCIJobsDataSource returns the data source agentyard_ci_jobs.
func NewCIJobsDataSource() datasource.DataSource { return &ciJobsDataSource{} }

type ciJobsDataSource struct{ crud.DataSourceBase }

type ciJobsModel struct {
	Jobs []ciJobModel `tfsdk:"jobs"`
}

type ciJobModel struct {
	ID           types.String `tfsdk:"id"`
	Action       types.String `tfsdk:"action"`
	RepoFullName types.String `tfsdk:"repo_full_name"`
	FilePath     types.String `tfsdk:"file_path"`
	PRURL        types.String `tfsdk:"pr_url"`
	Status       types.String `tfsdk:"status"`
	Error        types.String `tfsdk:"error"`
	CreatedAt    types.String `tfsdk:"created_at"`
	UpdatedAt    types.String `tfsdk:"updated_at"`
}

// FromAPI takes over the listing.
func (m *ciJobsModel) FromAPI(ctx context.Context, found *[]client.CIJob) (diags diag.Diagnostics) {
	m.Jobs, diags = crud.Each[ciJobModel](ctx, *found)
	return diags
}

// FromAPI takes over a job.
func (m *ciJobModel) FromAPI(_ context.Context, j *client.CIJob) diag.Diagnostics {
	m.ID, m.Action, m.Status, m.Error = value.StringOrNull(j.ID), value.StringOrNull(j.Action), value.StringOrNull(j.Status), value.StringOrNull(string(j.Error))
	m.RepoFullName, m.FilePath, m.PRURL = value.StringOrNull(j.RepoFullName), value.StringOrNull(j.FilePath), value.StringOrNull(j.PullRequest)
	m.CreatedAt, m.UpdatedAt = value.Time(j.CreatedAt.Time()), value.Time(j.UpdatedAt.Time())
	return nil
}

var ciJobResults = results.Plain{
	"id":             {Text: "ID of the job: `repo_full_name`, `::` and `file_path`."},
	"action":         {Text: "What the pull request does to the workflow: `create`, `edit` or `delete`."},
	"repo_full_name": {Text: ofRepository},
	"file_path":      {Text: ofFile},
	"pr_url":         {Text: "Address of the pull request. Null while there is none."},
	"status":         {Text: "Status of the job, such as `ready` once the pull request is open."},
	"error":          {Text: "Why the job failed. Null if it did not."},
	"created_at":     {Text: "When the job began, in RFC 3339 (UTC)."},
	"updated_at":     {Text: "When the job changed last, in RFC 3339 (UTC)."},
}

func (d *ciJobsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ci_jobs"
}

func (d *ciJobsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The jobs of CI automation, one for each workflow that a pull request was opened for." + everyMember,
		Attributes: map[string]schema.Attribute{
			"jobs": listOf(ciJobResults, "The jobs, the newest first; empty if there are none."),
		},
	}
}

func (d *ciJobsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "CI jobs", req, resp, func(*ciJobsModel) (*[]client.CIJob, error) {
		found, err := d.Client.CIJobs(ctx)
		return &found, err
	}, readAccess)
}
