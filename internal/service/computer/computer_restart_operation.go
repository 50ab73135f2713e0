package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// Restart is agentyard_computer_restart.
var Restart = crud.Operation{
	Name:        "computer_restart",
	Description: "Wakes a sleeping managed computer. A running computer is left unchanged. Registered machines (`byom`) are not supported." + ownersKey,
	Arguments:   computerArgument,
	Results: results.Attributes{
		"was_restarted": results.Computed("Whether the computer was asleep and was restarted.", types.BoolType),
	},
	Run:  crud.Run(restartComputer),
	Verb: "restart", Object: "computer",
	Options: apierror.Options{atComputer, activeManagedOnly},
}

func restartComputer(ctx context.Context, c *client.Client, m *computerOperationModel, call *crud.Call) (crud.Results, error) {
	id := m.ComputerID.ValueString()
	call.Report("Restarting computer %s", id)
	wasRestarted, err := c.Computers.Restart(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case wasRestarted:
		call.Report("Computer %s was restarted", id)
	default:
		call.Report("Computer %s was already running and was not restarted", id)
	}
	return crud.Results{"was_restarted": types.BoolValue(wasRestarted)}, nil
}
