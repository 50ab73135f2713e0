package session

import (
	"cmp"
	"context"

	"github.com/hashicorp/terraform-plugin-framework/list/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type sessionListModel struct {
	ComputerID types.String `tfsdk:"computer_id"`
}

// SessionList is the list resource agentyard_session.
var SessionList = crud.ListResource{
	Name: "session",
	Description: "Lists the sessions of the API key's owner, which should be newest first" + crud.Assumed("list-sessions") + ownSessions + "\n\n" +
		"**What is listed.** A new session can take several seconds to appear. " +
		"Sessions without a computer are included; set `computer_id` in their generated configuration.",
	Attributes: map[string]schema.Attribute{
		"computer_id": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Return only the sessions on this computer. If omitted, returns all sessions, including those without a computer.",
			Validators:          []validator.String{value.NotBlank("Set the ID of a computer, or omit it.")},
		},
	},
	Results: crud.ListAtOnce[sessionModel]("sessions", func(ctx context.Context, c *client.Client, config *sessionListModel, limit int) ([]sessions.Session, error) {
		return c.Sessions.List(ctx, config.ComputerID.ValueString(), limit)
	}, func(s *sessions.Session) string { return cmp.Or(s.Title, s.ID) }, ofComputer, ownersOnly),
}
