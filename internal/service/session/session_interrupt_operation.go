package session

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

type sessionInterruptModel struct {
	SessionID types.String `tfsdk:"session_id"`
}

// Interrupt is agentyard_session_interrupt.
var Interrupt = crud.Operation{
	Name:        "session_interrupt",
	Description: "Interrupts the agent of a session. An idle session is left unchanged." + ownersSession,
	Arguments: map[string]schema.Attribute{
		"session_id": sessionIDArgument,
	},
	Results: results.Attributes{
		"status": results.Computed("Status of the session after the interruption. If it is not `idle`, the agent may not have stopped yet.", types.StringType),
	},
	Run:  crud.Run(interruptSession),
	Verb: "interrupt", Object: "session",
	Options: apierror.Options{apierror.AtStatus{http.StatusBadRequest: path.Root("session_id"), http.StatusNotFound: path.Root("session_id")}, ownersOnly, apierror.Advice{
		http.StatusNotFound: "The session was not found. Nothing was interrupted. Check session_id." + ifNew,
	}},
}

func interruptSession(ctx context.Context, c *client.Client, m *sessionInterruptModel, call *crud.Call) (crud.Results, error) {
	id := m.SessionID.ValueString()
	// No request comes first: a slow response would let the agent continue.
	status, err := c.Sessions.Interrupt(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case status == sessions.StatusIdle:
		call.Report("Session %s is idle", id)
	default:
		call.Report("Session %s is %s: the service accepted the interruption, but the agent has not stopped yet. Interrupt it again to see whether it has", id, status)
	}
	return crud.Results{"status": types.StringValue(status)}, nil
}
