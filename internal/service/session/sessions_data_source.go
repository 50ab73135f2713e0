package session

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type sessionsModel struct {
	ComputerID types.String `tfsdk:"computer_id"`
	MaxResults types.Int64  `tfsdk:"max_results"`
	Sessions   types.List   `tfsdk:"sessions"`
}

// SessionsDataSource is the data source agentyard_sessions.
var SessionsDataSource = crud.DataSource{
	Name: "sessions",
	Description: "Lists the sessions of the API key's owner. New sessions and changes may appear some seconds late" + crud.Assumed("list-sessions") + " " +
		"For a session's current values, use the data source `agentyard_session`." + ownSessions,
	Attributes: map[string]schema.Attribute{
		"computer_id": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Return only the sessions on this computer. Defaults to all sessions.",
			Validators:          []validator.String{value.NotBlank("Give the ID of a computer, or omit it.")},
		},
		"max_results": results.MaxResults("Maximum number of sessions to return, the first ones that the service lists. Defaults to all sessions."),
		"sessions":    sessionData.DataSourceRows("The sessions, newest first."),
	},
	Verb: "list", Object: "sessions", Options: apierror.Options{ofComputer, ownersOnly},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *sessionsModel) error {
		found, err := c.Sessions.List(ctx, m.ComputerID.ValueString(), int(m.MaxResults.ValueInt64()))
		m.Sessions = results.RowsOf(sessionData, found)
		return err
	}),
}
