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
func NewSessionInterruptAction() action.Action { return &sessionInterruptAction{} }

type sessionInterruptAction struct{ crud.Action }

type sessionInterruptModel struct {
	SessionID types.String `tfsdk:"session_id"`
}

func (a *sessionInterruptAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_session_interrupt"
}

func (a *sessionInterruptAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Interrupts the agent of a session, and reports what the session does then. The session stays, and takes messages as before. It may be repeated: an idle session is left as it is. " + sessionText,
		Attributes: map[string]schema.Attribute{
			"session_id": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "ID of the session. It is one's own, or anybody's with the key of a human with the Manager role or higher.",
				Validators:          []validator.String{value.NotBlank("give the ID of a session")},
			},
		},
	}
}

// ModifyPlan finds what validation does not see: the ID usually comes from a variable that is set only when an agent has to stop.
func (a *sessionInterruptAction) ModifyPlan(ctx context.Context, req action.ModifyPlanRequest, resp *action.ModifyPlanResponse) {
	var m sessionInterruptModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if m.SessionID.IsNull() {
		resp.Diagnostics.AddAttributeError(path.Root("session_id"), "Missing Session ID", "session_id is null, so it is not known what to interrupt. Nothing was interrupted. If it comes from a variable, give that a value: -var NAME=ID.")
	}
}

func (a *sessionInterruptAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "interrupt", "session", req, resp, func(m *sessionInterruptModel, tell crud.Tell) error {
		id := m.SessionID.ValueString()
		// What the session did before is not asked: a slow answer to that would keep an agent running that is to be stopped.
		status, err := a.Client.Sessions.Interrupt(ctx, id)
		switch {
		case err != nil:
			return err
		case status == sessions.StatusIdle:
			tell("Session %s is idle: nothing is running in it now", id)
		default:
			tell("Session %s is %s: the service has taken the interruption, and has not stopped the agent yet. Invoke the action again to see whether it has", id, status)
		}
		return nil
	}, apierror.AtStatus{http.StatusBadRequest: path.Root("session_id"), http.StatusNotFound: path.Root("session_id")}, ownersOnly, apierror.Advice{
		http.StatusNotFound: "There is no session with this ID, or it was deleted, so that nothing was interrupted. Check session_id.",
	})
}
