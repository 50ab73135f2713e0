package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

var _ action.ActionWithConfigure = (*computerRefreshAction)(nil)

// NewComputerRefreshAction returns the action agentyard_computer_refresh.
func NewComputerRefreshAction() action.Action {
	return &computerRefreshAction{crud.Action{Name: "computer_refresh"}}
}

type computerRefreshAction struct{ crud.Action }

func (a *computerRefreshAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = computerActionSchema("Updates the Git credentials and the owner's secrets on a managed computer. On a registered machine (`byom`), the action changes nothing.")
}

func (a *computerRefreshAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "refresh", "computer", req, resp, func(m *computerOperationModel, tell crud.Tell) error {
		id := m.ComputerID.ValueString()
		tell("Updating credentials and secrets on computer %s", id)
		updated, err := a.Client.Computers.Refresh(ctx, id)
		if err == nil {
			tell("Updated %d Git credentials and %d secrets on computer %s", updated.Configured, updated.SecretsConfigured, id)
		}
		return err
	}, atComputer)
}
