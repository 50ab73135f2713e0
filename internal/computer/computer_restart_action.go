package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

var _ action.ActionWithConfigure = (*computerRestartAction)(nil)

// NewComputerRestartAction returns the action agentyard_computer_restart.
func NewComputerRestartAction() action.Action {
	return &computerRestartAction{crud.Action{Name: "computer_restart"}}
}

type computerRestartAction struct{ crud.Action }

func (a *computerRestartAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = computerActionSchema("Wakes a sleeping managed computer. A running computer is left unchanged. Registered machines (`byom`) are not supported.")
}

func (a *computerRestartAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "restart", "computer", req, resp, func(m *computerActionModel, tell crud.Tell) error {
		id := m.ComputerID.ValueString()
		tell("Restarting computer %s", id)
		wasRestarted, err := a.Client.Computers.Restart(ctx, id)
		switch {
		case err != nil:
			return err
		case wasRestarted:
			tell("Computer %s was restarted", id)
		default:
			tell("Computer %s was already running and was not restarted", id)
		}
		return nil
	}, atComputer, activeManagedOnly)
}
