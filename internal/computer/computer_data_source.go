package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/datasourcevalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ datasource.DataSourceWithConfigure        = (*computerDataSource)(nil)
	_ datasource.DataSourceWithConfigValidators = (*computerDataSource)(nil)
)

// NewComputerDataSource returns the data source agentyard_computer.
func NewComputerDataSource() datasource.DataSource { return &computerDataSource{} }

type computerDataSource struct{ crud.DataSourceBase }

type computerDataSourceModel struct {
	computerDetails
	ServiceAccountID types.String `tfsdk:"service_account_id"`
}

func (d *computerDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computer"
}

func (d *computerDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := computerDetailResults().DataSourceByIDOrName(63)
	attributes["service_account_id"] = schema.StringAttribute{
		Optional:            true,
		MarkdownDescription: "ID of the service account among whose computers `name` is looked up; those of the API key's owner if omitted. Needs the key of a human with the Manager role or higher.",
		Validators:          []validator.String{value.NotEmpty(), stringvalidator.AlsoRequires(path.MatchRoot("name"))},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "One computer, by its ID or its name.",
		Attributes:          attributes,
	}
}

func (d *computerDataSource) ConfigValidators(context.Context) []datasource.ConfigValidator {
	return []datasource.ConfigValidator{datasourcevalidator.ExactlyOneOf(path.MatchRoot("id"), path.MatchRoot("name"))}
}

func (d *computerDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "read", "computer", req, resp, func(m *computerDataSourceModel) (found *computers.Computer, err error) {
		at := "name"
		if value.IsSet(m.ID) {
			at = "id"
			found, err = d.Client.Computers.GetWithSteps(ctx, m.ID.ValueString())
		} else {
			found, err = d.Client.Computers.GetByName(ctx, m.Name.ValueString(), m.ServiceAccountID.ValueString())
		}
		if transport.IsNotFound(err) {
			err = &crud.Fault{At: path.Root(at), Summary: "Computer Not Found", Detail: "No computer with this " + at + " is visible to the API key. Check the value; computers of a service account are found by name only with service_account_id."}
		}
		return found, err
	})
}
