package organization

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type controlHistoryModel struct {
	MaxResults    types.Int64 `tfsdk:"max_results"`
	SinceRevision types.Int64 `tfsdk:"since_revision"`
	Changes       types.List  `tfsdk:"changes"`
}

// EnterpriseControlHistoryDataSource is the data source agentyard_enterprise_control_history.
var EnterpriseControlHistoryDataSource = crud.DataSource{
	Name:        "enterprise_control_history",
	Description: "Lists the changes to the organization's enterprise control settings." + crud.ManagersAssumed("list-enterprise-control-history"),
	Attributes: map[string]schema.Attribute{
		"max_results": results.MaxResults("Maximum number of changes to return, newest first. Defaults to all changes."),
		"since_revision": schema.Int64Attribute{
			Optional:            true,
			MarkdownDescription: "Return only changes with a higher `revision`. Earlier changes are not read. Defaults to all changes.",
		},
		"changes": controlChange.DataSourceRows("The changes, newest first."),
	},
	Verb: "read", Object: "enterprise control history", Options: apierror.Options{needsManager},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *controlHistoryModel) error {
		found, err := c.Organization.ControlHistory(ctx, int(m.MaxResults.ValueInt64()), m.SinceRevision.ValueInt64Pointer())
		m.Changes = results.RowsOf(controlChange, found)
		return err
	}),
}

var controlChange = results.Fields[*organization.ControlChange]{
	"revision": results.Int64("Number of the change. Later changes have higher numbers.", func(c *organization.ControlChange) *int64 { return c.Revision }),
	"settings": results.SensitiveJSON("All settings after the change, as JSON. "+settingsInState,
		func(c *organization.ControlChange) json.RawMessage { return c.Settings }),
	"user":       results.Object("Who made the change.", controlUser, func(c *organization.ControlChange) *organization.ControlUser { return c.User }),
	"updated_at": results.Time("When the change was made (RFC 3339, UTC).", func(c *organization.ControlChange) time.Time { return c.UpdatedAt.Time() }),
}

var controlUser = results.Fields[*organization.ControlUser]{
	"id":    results.String("The member's ID.", func(u *organization.ControlUser) string { return u.ID }),
	"email": results.String("The member's email address. Null if unknown.", func(u *organization.ControlUser) string { return u.Email }),
	"name":  results.String("The member's name. Null if unknown.", func(u *organization.ControlUser) string { return u.Name }),
}
