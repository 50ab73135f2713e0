package organization

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type membersModel struct {
	MaxResults types.Int64 `tfsdk:"max_results"`
	Members    types.List  `tfsdk:"members"`
}

// MembersDataSource is the data source agentyard_members.
var MembersDataSource = crud.DataSource{
	Name:        "members",
	Description: "Lists the members of the organization. Pending invitations should not be included." + crud.ManagersAssumed("list-members"),
	Attributes: map[string]schema.Attribute{
		"max_results": results.MaxResults("Maximum number of members to return, the first ones that the service lists. Defaults to all members."),
		"members":     memberResults.DataSourceRows("The members, ordered by when they joined."),
	},
	Verb: "list", Object: "members", Options: apierror.Options{needsManager},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *membersModel) error {
		found, err := c.Organization.Members(ctx, int(m.MaxResults.ValueInt64()))
		m.Members = results.RowsOf(memberResults, found)
		return err
	}),
}
