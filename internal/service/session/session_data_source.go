package session

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

type sessionDataModel struct {
	sessionRecord
	UpdatedAt      types.String  `tfsdk:"updated_at"`
	ServiceCredits types.Float64 `tfsdk:"service_credits"`
}

// SessionDataSource is the data source agentyard_session.
var SessionDataSource = crud.DataSource{
	Name:        "session",
	Description: "Returns a session of a coding agent by ID. The `session_settings` of another owner's session may be null." + ownersSession,
	Attributes: sessionData.DataSource(map[string]schema.Attribute{
		"id": crud.RequiredNotBlank(sessionResults["id"].Text, "Give the ID of a session."),
		"computer_id": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: sessionResults["computer_id"].Text + " If set, the session is read from this computer, and a session on another computer is an error.",
			Validators:          []validator.String{value.NotBlank("Give the ID of a computer, or omit it.")},
		},
	}),
	Verb: "read", Object: "session", Options: apierror.Options{ownersOnly},
	Fetch: crud.Fetch(func(ctx context.Context, c *client.Client, m *sessionDataModel) error {
		computer := m.ComputerID
		found, err := findSession(ctx, c, m)
		if err != nil {
			return err
		}
		if err := crud.Failure(sessionData.Into(ctx, found, m)); err != nil {
			return err
		}
		if m.ComputerID.IsNull() {
			m.ComputerID = computer
		}
		return nil
	}),
}

// findSession reads the session with the model's ID, which must be on the model's computer, if there is one.
func findSession(ctx context.Context, c *client.Client, m *sessionDataModel) (*sessions.Session, error) {
	computer := m.ComputerID.ValueString()
	found, err := c.Sessions.GetNow(ctx, m.ID.ValueString(), computer)
	switch {
	case transport.IsNotFound(err):
		return nil, &crud.ObjectError{At: path.Root("id"), Summary: "Session not found", Detail: fmt.Sprintf("Session %q was not found. Check the ID.", m.ID.ValueString()) + ifNew}
	case err == nil && computer != "" && found.ComputerID != "" && !strings.EqualFold(found.ComputerID, computer):
		return nil, &crud.ObjectError{At: path.Root("computer_id"), Summary: "Session on another computer", Detail: fmt.Sprintf("The session %s is on the computer %s. Correct computer_id, or omit it.", found.ID, found.ComputerID)}
	}
	return found, err
}
