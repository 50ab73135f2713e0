package ci

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
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var _ datasource.DataSourceWithConfigure = (*ciRepositoriesDataSource)(nil)

// NewCIRepositoriesDataSource returns the data source agentyard_ci_repositories.
func NewCIRepositoriesDataSource() datasource.DataSource { return &ciRepositoriesDataSource{} }

type ciRepositoriesDataSource struct{ crud.DataSourceBase }

type ciRepositoriesModel struct {
	Owner        types.String        `tfsdk:"owner"`
	Repositories []ciRepositoryModel `tfsdk:"repositories"`
}

type ciRepositoryModel struct {
	FullName           types.String `tfsdk:"full_name"`
	URL                types.String `tfsdk:"url"`
	IsPrivate          types.Bool   `tfsdk:"is_private"`
	DefaultBranch      types.String `tfsdk:"default_branch"`
	UserPermission     types.String `tfsdk:"user_permission"`
	ServiceAppWritable types.Bool   `tfsdk:"service_app_writable"`
}

// FromAPI takes over the listing.
func (m *ciRepositoriesModel) FromAPI(ctx context.Context, found *[]client.CIRepository) (diags diag.Diagnostics) {
	m.Repositories, diags = crud.Each[ciRepositoryModel](ctx, *found)
	return diags
}

// FromAPI takes over a repository.
func (m *ciRepositoryModel) FromAPI(_ context.Context, r *client.CIRepository) diag.Diagnostics {
	m.FullName, m.URL, m.DefaultBranch = value.StringOrNull(r.FullName), value.StringOrNull(r.URL), value.StringOrNull(r.DefaultBranch)
	m.UserPermission = value.StringOrNull(r.UserPermission)
	m.IsPrivate, m.ServiceAppWritable = types.BoolPointerValue(r.IsPrivate), types.BoolPointerValue(r.ServiceAppWritable)
	return nil
}

var ciRepositoryResults = results.Plain{
	"full_name":            {Text: ofRepository},
	"url":                  {Text: "Address of the repository."},
	"is_private":           {Text: "Whether the repository is private. Null if the service does not tell.", Type: types.BoolType},
	"default_branch":       {Text: "The branch that pull requests are opened against."},
	"user_permission":      {Text: ofPermission + " Null if the service does not tell."},
	"service_app_writable": {Text: "Whether the service's app may write to the repository. Without that, it cannot open pull requests there. Null if the service does not tell, so that conditions need `coalesce`.", Type: types.BoolType},
}

func (d *ciRepositoriesDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ci_repositories"
}

func (d *ciRepositoriesDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The repositories in which CI automation may work." + everyMember,
		Attributes: map[string]schema.Attribute{
			"owner": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Only the repositories of this owner, such as `acme`. Those of every owner if omitted.",
				Validators:          []validator.String{value.NotBlank("leave it out for the repositories of every owner")},
			},
			"repositories": listOf(ciRepositoryResults, "The repositories, ordered by `full_name`; empty if there are none, as without a connected code host."),
		},
	}
}

func (d *ciRepositoriesDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "CI repositories", req, resp, func(m *ciRepositoriesModel) (*[]client.CIRepository, error) {
		found, err := d.Client.CIRepositories(ctx, m.Owner.ValueString())
		return &found, err
	}, readAccess, apierror.AtStatus{http.StatusBadRequest: path.Root("owner")})
}
