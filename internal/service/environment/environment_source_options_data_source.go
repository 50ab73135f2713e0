package environment

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type sourceOptionsModel struct {
	Providers            types.List `tfsdk:"providers"`
	UnavailableProviders types.List `tfsdk:"unavailable_providers"`
}

// EnvironmentSourceOptionsDataSource is the data source agentyard_environment_source_options.
var EnvironmentSourceOptionsDataSource = crud.DataSource{
	Name:        "environment_source_options",
	Description: "Lists the sources that environments can be built from, grouped by provider." + crud.AnyKey,
	Attributes: map[string]schema.Attribute{
		"providers":             providerOptions.DataSourceRows("The available providers, ordered by ID."),
		"unavailable_providers": providerResults.DataSourceRows("Providers that are currently unavailable. Their sources are not listed."),
	},
	Verb: "list", Object: "environment source options",
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *sourceOptionsModel) error {
		found, err := c.Environments.SourceOptions(ctx)
		if err != nil {
			return err
		}
		m.Providers, m.UnavailableProviders = results.RowsOf(providerOptions, found.Providers), results.RowsOf(providerResults, found.UnavailableProviders)
		return nil
	}),
}

var providerOptions = results.Fields[*environments.SourceProviderOptions]{
	"id":   results.StringPointer(providerResults["id"].Text, func(p *environments.SourceProviderOptions) *string { return &p.ID }),
	"name": results.StringPointer(providerResults["name"].Text, func(p *environments.SourceProviderOptions) *string { return &p.Name }),
	"sources": results.List("The provider's sources, ordered by name. Use the `id` of a source as the `source_id` of an environment.", sourceOption,
		func(p *environments.SourceProviderOptions) []environments.SourceOption { return p.Sources }),
}

var sourceOption = results.Fields[*environments.SourceOption]{
	"id":                     results.StringPointer(sourceResults["id"].Text, func(s *environments.SourceOption) *string { return &s.ID }),
	"name":                   results.StringPointer(sourceResults["name"].Text, func(s *environments.SourceOption) *string { return &s.Name }),
	"supports_repositories":  results.Bool(sourceResults["supports_repositories"].Text, func(s *environments.SourceOption) *bool { return s.SupportsRepositories }),
	"supports_setup_scripts": results.Bool(sourceResults["supports_setup_scripts"].Text, func(s *environments.SourceOption) *bool { return s.SupportsSetupScripts }),
}
