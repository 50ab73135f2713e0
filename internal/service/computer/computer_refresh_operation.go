package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// Refresh is agentyard_computer_refresh.
var Refresh = crud.Operation{
	Name:        "computer_refresh",
	Description: "Updates the Git credentials and the owner's secrets on a managed computer. A registered machine (`byom`) is left unchanged." + ownersKey + crud.AssumedFormat,
	Arguments:   computerArgument,
	Results: results.Attributes{
		"configured":         results.Computed("Number of updated Git credentials.", types.Int64Type),
		"secrets_configured": results.Computed("Number of updated secrets.", types.Int64Type),
	},
	Run:  crud.Run(refreshComputer),
	Verb: "refresh", Object: "computer",
	Options: apierror.Options{atComputer},
}

func refreshComputer(ctx context.Context, c *client.Client, m *computerOperationModel, call *crud.Call) (crud.Results, error) {
	id := m.ComputerID.ValueString()
	call.Report("Updating credentials and secrets on computer %s", id)
	updated, err := c.Computers.Refresh(ctx, id)
	if err != nil {
		return nil, err
	}
	call.Report("Updated %d Git credentials and %d secrets on computer %s", updated.Configured, updated.SecretsConfigured, id)
	return crud.Results{"configured": types.Int64Value(updated.Configured), "secrets_configured": types.Int64Value(updated.SecretsConfigured)}, nil
}
