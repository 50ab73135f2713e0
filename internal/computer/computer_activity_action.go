package computer

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/action"

	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

var _ action.ActionWithConfigure = (*computerActivityAction)(nil)

// NewComputerActivityAction returns the action agentyard_computer_activity.
func NewComputerActivityAction() action.Action { return &computerActivityAction{} }

type computerActivityAction struct{ crud.Action }

func (a *computerActivityAction) Metadata(_ context.Context, req action.MetadataRequest, resp *action.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_computer_activity"
}

func (a *computerActivityAction) Schema(_ context.Context, _ action.SchemaRequest, resp *action.SchemaResponse) {
	resp.Schema = computerActionSchema("Advances the inactivity clock of an active managed computer, so that it does not fall asleep yet. " +
		"It neither connects to the computer nor wakes one that sleeps; `agentyard_computer_restart` does. Not for machines of one's own (`byom`).")
}

func (a *computerActivityAction) Invoke(ctx context.Context, req action.InvokeRequest, resp *action.InvokeResponse) {
	crud.Invoke(ctx, "record activity of", "computer", req, resp, func(m *computerActionModel, tell crud.Tell) error {
		id := m.ComputerID.ValueString()
		lastActive, err := a.Client.RecordComputerActivity(ctx, id)
		switch {
		case err != nil:
			return err
		case lastActive.IsZero():
			tell("Activity of computer %s was recorded", id)
		default:
			tell("Activity of computer %s was recorded at %s", id, lastActive.UTC().Format(time.RFC3339))
		}
		return nil
	}, atComputer, managedOnly("Recording activity is"))
}
