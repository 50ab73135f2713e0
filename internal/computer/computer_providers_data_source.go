package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

var _ datasource.DataSourceWithConfigure = (*computerProvidersDataSource)(nil)

// NewComputerProvidersDataSource returns the data source agentyard_computer_providers.
func NewComputerProvidersDataSource() datasource.DataSource { return &computerProvidersDataSource{} }

type computerProvidersDataSource struct{ crud.DataSourceBase }

type computerProvidersModel struct {
	Providers []string `tfsdk:"providers"`
}

// FromAPI takes over the listing.
func (m *computerProvidersModel) FromAPI(_ context.Context, providers *[]string) diag.Diagnostics {
	m.Providers = append([]string{}, *providers...)
	return nil
}

func (d *computerProvidersDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computer_providers"
}

func (d *computerProvidersDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "The managed providers on which the organization may create computers.",
		Attributes: map[string]schema.Attribute{
			"providers": schema.ListAttribute{
				Computed:            true,
				ElementType:         types.StringType,
				MarkdownDescription: "Identifiers for `provider_type`, in the service's order.",
			},
		},
	}
}

func (d *computerProvidersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "computer providers", req, resp, func(*computerProvidersModel) (*[]string, error) {
		providers, err := d.Client.Computers.Providers(ctx)
		return &providers, err
	})
}
