package environment

import (
	"context"
	"net/http"

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

var _ datasource.DataSourceWithConfigure = (*environmentsDataSource)(nil)

// atAccount shows at the service account what the service refuses to list for it.
var atAccount = apierror.AtStatus{
	http.StatusBadRequest: path.Root("service_account_id"), http.StatusForbidden: path.Root("service_account_id"), http.StatusNotFound: path.Root("service_account_id"),
}

// NewEnvironmentsDataSource returns the data source agentyard_environments.
func NewEnvironmentsDataSource() datasource.DataSource { return &environmentsDataSource{} }

type environmentsDataSource struct{ crud.DataSourceBase }

type environmentsModel struct {
	ServiceAccountID     types.String      `tfsdk:"service_account_id"`
	Environments         []environmentData `tfsdk:"environments"`
	DefaultEnvironmentID types.String      `tfsdk:"default_environment_id"`
}

// FromAPI takes over the listing.
func (m *environmentsModel) FromAPI(ctx context.Context, found *[]environments.Environment) (diags diag.Diagnostics) {
	m.Environments, diags = crud.Each[environmentData](ctx, *found)
	return diags
}

func (d *environmentsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_environments"
}

func (d *environmentsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The environments that the API key sees, or that a service account sees: those of the organization, and the viewer's own. " +
			"What is known of a failure (`failure_reason`, and the `failure_reason`, `failure_category` and `excerpt` of `latest_build`) is null here: " +
			"the data sources `agentyard_environment` and `agentyard_environment_build_diagnostics` have it.",
		Attributes: map[string]schema.Attribute{
			"service_account_id": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The environments that this service account sees; those that the API key sees if omitted. Needs the key of a human with the Manager role or higher.",
				Validators:          []validator.String{value.NotEmpty()},
			},
			"environments": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The environments, ordered by name; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: environmentResults.DataSource()},
			},
			"default_environment_id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "ID of the organization's default environment. Null if there is none.",
			},
		},
	}
}

func (d *environmentsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "environments", req, resp, func(m *environmentsModel) (*[]environments.Environment, error) {
		found, err := d.Client.Environments.List(ctx, m.ServiceAccountID.ValueString())
		m.DefaultEnvironmentID = value.StringOrNull(environments.DefaultAmong(found))
		return &found, err
	}, atAccount)
}
