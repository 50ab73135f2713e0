package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/value"
)

// Activity is agentyard_computer_activity.
var Activity = crud.Operation{
	Name: "computer_activity",
	Description: "Records activity on a managed computer, which advances its inactivity clock. The computer must be active." + ownersKey + "\n\n" +
		"**Other computers.** A sleeping computer is not woken; use `agentyard_computer_restart`. Registered machines (`byom`) are not supported." + crud.AssumedFormat,
	Arguments: computerArgument,
	Results: results.Attributes{
		"last_active_at": results.Computed("When the activity was recorded (RFC 3339, UTC). Null if the service does not return it.", types.StringType),
	},
	Run:  crud.Run(recordActivity),
	Verb: "record activity on", Object: "computer",
	Options: apierror.Options{atComputer, activeManagedOnly},
}

func recordActivity(ctx context.Context, c *client.Client, m *computerOperationModel, call *crud.Call) (crud.Results, error) {
	id := m.ComputerID.ValueString()
	lastActive, err := c.Computers.RecordActivity(ctx, id)
	at := value.Time(lastActive)
	switch {
	case err != nil:
		return nil, err
	case at.IsNull():
		call.Report("Recorded activity on computer %s", id)
	default:
		call.Report("Recorded activity on computer %s at %s", id, at.ValueString())
	}
	return crud.Results{"last_active_at": at}, nil
}
