package environment

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*buildStatusesDataSource)(nil)

// NewEnvironmentBuildStatusesDataSource returns the data source agentyard_environment_build_statuses.
func NewEnvironmentBuildStatusesDataSource() datasource.DataSource { return &buildStatusesDataSource{} }

type buildStatusesDataSource struct{ crud.DataSourceBase }

type buildStatusesModel struct {
	EnvironmentIDs   []string           `tfsdk:"environment_ids"`
	ServiceAccountID types.String       `tfsdk:"service_account_id"`
	Builds           []buildStatusModel `tfsdk:"builds"`
}

type buildStatusModel struct {
	EnvironmentID     types.String     `tfsdk:"environment_id"`
	EnvironmentStatus types.String     `tfsdk:"environment_status"`
	LatestBuild       buildReportModel `tfsdk:"latest_build"`
}

type buildReportModel struct {
	ID        types.String `tfsdk:"id"`
	Status    types.String `tfsdk:"status"`
	Excerpt   types.String `tfsdk:"excerpt"`
	Truncated types.Bool   `tfsdk:"truncated"`
	Withheld  types.Bool   `tfsdk:"withheld"`
}

// FromAPI takes over the statuses.
func (m *buildStatusesModel) FromAPI(ctx context.Context, statuses *[]environments.BuildStatus) (diags diag.Diagnostics) {
	m.Builds, diags = crud.Each[buildStatusModel](ctx, *statuses)
	return diags
}

// FromAPI takes over the status of one environment.
func (m *buildStatusModel) FromAPI(_ context.Context, s *environments.BuildStatus) diag.Diagnostics {
	m.EnvironmentID, m.EnvironmentStatus = types.StringValue(s.EnvironmentID), value.StringOrNull(s.EnvironmentStatus)
	m.LatestBuild = buildReportModel{
		ID: types.StringValue(s.LatestBuild.ID), Status: value.StringOrNull(s.LatestBuild.Status), Excerpt: value.StringOrNull(s.LatestBuild.Excerpt),
		Truncated: types.BoolValue(s.LatestBuild.Truncated), Withheld: types.BoolValue(s.LatestBuild.Withheld),
	}
	return nil
}

func (d *buildStatusesDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_environment_build_statuses"
}

func (d *buildStatusesDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	build := excerptResults.DataSource()
	build["id"] = schema.StringAttribute{Computed: true, MarkdownDescription: buildResults["id"].Text}
	build["status"] = schema.StringAttribute{Computed: true, MarkdownDescription: buildResults["status"].Text}

	resp.Schema = schema.Schema{
		MarkdownDescription: "The latest builds of several environments, however many.",
		Attributes: map[string]schema.Attribute{
			"environment_ids": schema.SetAttribute{
				Required:            true,
				ElementType:         types.StringType,
				MarkdownDescription: "IDs of the environments, at least one.",
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.NoNullValues(), setvalidator.ValueStringsAre(value.NotEmpty())},
			},
			"service_account_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Look with the eyes of this service account; with those of the API key's owner if omitted. Needs the key of a human with the Manager role or higher.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"builds": schema.ListNestedAttribute{
				Computed: true,
				MarkdownDescription: "One entry for each environment that has a build, ordered by `environment_id`. An environment that does not exist, is not visible or was never built has no entry: " +
					"what `environment_ids` holds beyond those of `builds` is one of these.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"environment_id":     schema.StringAttribute{Computed: true, MarkdownDescription: environmentResults["id"].Text},
					"environment_status": schema.StringAttribute{Computed: true, MarkdownDescription: environmentResults["status"].Text},
					"latest_build":       schema.SingleNestedAttribute{Computed: true, MarkdownDescription: environmentResults["latest_build"].Text, Attributes: build},
				}},
			},
		},
	}
}

func (d *buildStatusesDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "build statuses of environments", req, resp, func(m *buildStatusesModel) (*[]environments.BuildStatus, error) {
		slices.Sort(m.EnvironmentIDs)
		found, err := d.Client.Environments.BuildStatuses(ctx, m.ServiceAccountID.ValueString(), m.EnvironmentIDs)
		return &found, err
	}, atAccount, apierror.Fields{"environmentIds": path.Root("environment_ids")})
}
