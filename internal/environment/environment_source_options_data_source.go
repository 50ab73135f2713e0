package environment

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

var _ datasource.DataSourceWithConfigure = (*sourceOptionsDataSource)(nil)

// NewEnvironmentSourceOptionsDataSource returns the data source agentyard_environment_source_options.
func NewEnvironmentSourceOptionsDataSource() datasource.DataSource { return &sourceOptionsDataSource{} }

type sourceOptionsDataSource struct{ crud.DataSourceBase }

type sourceOptionsModel struct {
	Providers            []providerOptionsModel `tfsdk:"providers"`
	UnavailableProviders []sourceProviderModel  `tfsdk:"unavailable_providers"`
}

type providerOptionsModel struct {
	ID      types.String        `tfsdk:"id"`
	Name    types.String        `tfsdk:"name"`
	Sources []sourceOptionModel `tfsdk:"sources"`
}

type sourceOptionModel struct {
	ID                   types.String `tfsdk:"id"`
	Name                 types.String `tfsdk:"name"`
	SupportsRepositories types.Bool   `tfsdk:"supports_repositories"`
	SupportsSetupScripts types.Bool   `tfsdk:"supports_setup_scripts"`
}

type sourceProviderModel struct {
	ID   types.String `tfsdk:"id"`
	Name types.String `tfsdk:"name"`
}

// FromAPI takes over the options.
func (m *sourceOptionsModel) FromAPI(ctx context.Context, options *environments.SourceOptions) (diags diag.Diagnostics) {
	var d diag.Diagnostics
	m.Providers, diags = crud.Each[providerOptionsModel](ctx, options.Providers)
	m.UnavailableProviders, d = crud.Each[sourceProviderModel](ctx, options.UnavailableProviders)
	diags.Append(d...)
	return diags
}

// FromAPI takes over a provider. Sources that the service omits are null.
func (m *providerOptionsModel) FromAPI(ctx context.Context, p *environments.SourceProviderOptions) (diags diag.Diagnostics) {
	m.ID, m.Name = types.StringValue(p.ID), types.StringValue(p.Name)
	if p.Sources == nil {
		return nil
	}
	m.Sources, diags = crud.Each[sourceOptionModel](ctx, p.Sources)
	return diags
}

// FromAPI takes over a source.
func (m *sourceOptionModel) FromAPI(_ context.Context, s *environments.SourceOption) diag.Diagnostics {
	m.ID, m.Name = types.StringValue(s.ID), types.StringValue(s.Name)
	m.SupportsRepositories, m.SupportsSetupScripts = types.BoolValue(s.SupportsRepositories), types.BoolValue(s.SupportsSetupScripts)
	return nil
}

// FromAPI takes over a provider.
func (m *sourceProviderModel) FromAPI(_ context.Context, p *environments.SourceProvider) diag.Diagnostics {
	m.ID, m.Name = types.StringValue(p.ID), types.StringValue(p.Name)
	return nil
}

func (d *sourceOptionsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_environment_source_options"
}

func (d *sourceOptionsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	sources := sourceResults.DataSource()
	delete(sources, "provider")
	delete(sources, "unavailable")

	providers := providerResults.DataSource()
	providers["sources"] = schema.ListNestedAttribute{
		Computed:            true,
		MarkdownDescription: "The provider's sources, in the service's order. The `id` of one is a value for `source_id` of an environment.",
		NestedObject:        schema.NestedAttributeObject{Attributes: sources},
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "What environments can be built from, by provider.",
		Attributes: map[string]schema.Attribute{
			"providers": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The providers that are available, in the service's order; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: providers},
			},
			"unavailable_providers": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The providers whose sources cannot be used at present; empty if there are none.",
				NestedObject:        schema.NestedAttributeObject{Attributes: providerResults.DataSource()},
			},
		},
	}
}

func (d *sourceOptionsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	crud.ReadData(ctx, "list", "environment source options", req, resp, func(*sourceOptionsModel) (*environments.SourceOptions, error) {
		return d.Client.Environments.SourceOptions(ctx)
	})
}
