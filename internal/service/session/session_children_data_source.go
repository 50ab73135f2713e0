package session

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type sessionChildrenModel struct {
	SessionID types.String `tfsdk:"session_id"`
	Sessions  types.List   `tfsdk:"sessions"`
}

// SessionChildrenDataSource is the data source agentyard_session_children.
var SessionChildrenDataSource = crud.DataSource{
	Name:        "session_children",
	Description: "Lists the sessions of the subagents that a session started." + ownersSession + crud.WeakEvidence,
	Attributes: map[string]schema.Attribute{
		"session_id": sessionIDArgument,
		"sessions":   sessionData.DataSourceRows("The subagents' sessions, newest first."),
	},
	Verb: "list", Object: "subagents", Options: apierror.Options{atSession, ownersOnly},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *sessionChildrenModel) error {
		found, err := c.Sessions.Children(ctx, m.SessionID.ValueString())
		m.Sessions = results.RowsOf(sessionData, found)
		return err
	}),
}
