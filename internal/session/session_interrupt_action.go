package session

import (
	"context"
	"net/http"

	"github.com/hashicorp/terraform-plugin-framework/action"
	"github.com/hashicorp/terraform-plugin-framework/action/schema"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

var (
	_ action.ActionWithConfigure  = (*sessionInterruptAction)(nil)
	_ action.ActionWithModifyPlan = (*sessionInterruptAction)(nil)
)

// NewSessionInterruptAction returns the action agentyard_session_interrupt.
func NewSessionInterruptAction() action.Action {
	return &sessionInterruptAction{crud.Action{Name: "session_interrupt"}}
}

type sessionInterruptAction struct{ crud.Action }

type sessionInterruptModel struct {
	SessionID types.String `tfsdk:"session_id"`
}

func (a *sessionInterruptAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Interrupts the agent of a session. The session keeps accepting messages. An idle session is left unchanged. " + sessionText,
		Attributes: map[string]schema.Attribute{
			"session_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: sessionIDText,
				Validators:          []validator.String{value.NotBlank("Set the ID of a session.")},
			},
		},
	}
}

// ModifyPlan rejects null: the ID usually comes from a variable that is set only when an agent must stop.
func (a *sessionInterruptAction) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	var m sessionInterruptModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if m.SessionID.IsNull() {
		resp.Diagnostics.AddAttributeError(path.Root("session_id"), "Missing Session ID", "session_id is null. Nothing was interrupted. If it comes from a variable, set it with -var NAME=ID.")
	}
}

func (a *sessionInterruptAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "interrupt", "session", req, resp, func(m *sessionInterruptModel, tell crud.Tell) error {
		id := m.SessionID.ValueString()
		// No request comes first: a slow response would let the agent continue.
		status, err := a.Client.Sessions.Interrupt(ctx, id)
		switch {
		case err != nil:
			return err
		case status == sessions.StatusIdle:
			tell("Session %s is idle", id)
		default:
			tell("Session %s is %s: the service accepted the interruption, but the agent has not stopped yet. To check again, invoke the action again", id, status)
		}
		return nil
	}, apierror.AtStatus{http.StatusBadRequest: path.Root("session_id"), http.StatusNotFound: path.Root("session_id")}, ownersOnly, apierror.Advice{
		http.StatusNotFound: "The session was not found. Nothing was interrupted. Check session_id." + ifNew,
	})
}
