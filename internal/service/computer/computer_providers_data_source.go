package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

type computerProvidersModel struct {
	Providers []string `tfsdk:"providers"`
}

// ComputerProvidersDataSource is the data source agentyard_computer_providers.
var ComputerProvidersDataSource = crud.DataSource{
	Name:        "computer_providers",
	Description: "Lists the managed providers that the organization can create computers with." + crud.AnyKey,
	Attributes: map[string]schema.Attribute{
		"providers": schema.ListAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "Values for `provider_type`, in alphabetical order.",
		},
	},
	Verb: "list", Object: "computer providers",
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *computerProvidersModel) error {
		providers, err := c.Conn.ListProviders(ctx)
		m.Providers = append([]string{}, providers...)
		return err
	}),
}
