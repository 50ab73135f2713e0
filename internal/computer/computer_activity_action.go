package computer

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

var _ action.ActionWithConfigure = (*computerActivityAction)(nil)

// NewComputerActivityAction returns the action agentyard_computer_activity.
func NewComputerActivityAction() action.Action {
	return &computerActivityAction{crud.Action{Name: "computer_activity"}}
}

type computerActivityAction struct{ crud.Action }

func (a *computerActivityAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = computerActionSchema("Records activity on a managed computer, so that it does not go to sleep. The computer must be active.\n\n" +
		"The action does not wake a sleeping computer; use `agentyard_computer_restart`. Registered machines (`byom`) are not supported.")
}

func (a *computerActivityAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "record activity on", "computer", req, resp, func(m *computerOperationModel, tell crud.Tell) error {
		id := m.ComputerID.ValueString()
		lastActive, err := a.Client.Computers.RecordActivity(ctx, id)
		switch {
		case err != nil:
			return err
		case lastActive.IsZero():
			tell("Recorded activity on computer %s", id)
		default:
			tell("Recorded activity on computer %s at %s", id, lastActive.UTC().Format(time.RFC3339))
		}
		return nil
	}, atComputer, activeManagedOnly)
}
