package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

var _ action.ActionWithConfigure = (*computerRefreshAction)(nil)

// NewComputerRefreshAction returns the action agentyard_computer_refresh.
func NewComputerRefreshAction() action.Action { return &computerRefreshAction{} }

type computerRefreshAction struct{ crud.Action }

func (a *computerRefreshAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computer_refresh"
}

func (a *computerRefreshAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = computerActionSchema("Renews the Git credentials and the owner's secrets on a managed computer, and reports how many. " +
		"On a machine of one's own (`byom`) nothing is changed and both counts are zero.")
}

func (a *computerRefreshAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "refresh", "computer", req, resp, func(m *computerActionModel, tell crud.Tell) error {
		id := m.ComputerID.ValueString()
		tell("Refreshing credentials and secrets on computer %s", id)
		renewed, err := a.Client.RefreshComputer(ctx, id)
		if err == nil {
			tell("Computer %s: %d Git credentials and %d secrets were renewed", id, renewed.Configured, renewed.SecretsConfigured)
		}
		return err
	}, atComputer)
}
