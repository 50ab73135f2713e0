package ci

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type ciRepositoryOwnersModel struct {
	Owners      types.List   `tfsdk:"owners"`
	Integration types.Object `tfsdk:"integration"`
}

// CIRepositoryOwnersDataSource is the data source agentyard_ci_repository_owners.
var CIRepositoryOwnersDataSource = crud.DataSource{
	Name:        "ci_repository_owners",
	Description: "Lists the owners of the repositories that CI automation can use." + anyKey,
	Attributes: map[string]schema.Attribute{
		"owners":      ciOwner.DataSourceRows("The owners, ordered by `login`. The list should be empty if no code host is connected" + crud.Assumed("list-ci-repositories")),
		"integration": integrationAttribute(),
	},
	Verb: "list", Object: "CI repository owners", Options: readOptions,
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *ciRepositoryOwnersModel) error {
		found, err := c.CI.RepositoryOwners(ctx)
		if err != nil {
			return err
		}
		m.Owners, m.Integration = results.RowsOf(ciOwner, found.Owners), results.ObjectOf(integration, found.Integration)
		return nil
	}),
}

var ciOwner = results.Fields[*ci.Owner]{
	"login":    results.String("Name of the owner at the code host, such as `acme`.", func(o *ci.Owner) string { return o.Login }),
	"type":     results.String("Type of the owner, such as `user` or `organization`.", func(o *ci.Owner) string { return o.Type }),
	"raw_json": results.JSON(crud.WholeRecord, func(o *ci.Owner) json.RawMessage { return o.Raw }),
}
