package organization

import (
	"context"
	"encoding/json"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/apierror"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// EnterpriseControlsDataSource is the data source agentyard_enterprise_controls.
var EnterpriseControlsDataSource = crud.DataSource{
	Name: "enterprise_controls",
	Description: "Returns the organization's current enterprise control settings." + crud.ManagersAssumed("list-enterprise-control-history") + "\n\n" +
		"**Null.** An attribute is null if the setting is absent, or if its value has another type than documented. " +
		"All attributes are null if the history has no change. Objects can be null too, so use `try` to read their attributes.\n\n" +
		"**Meaning.** The API documents list these settings without explaining them. The descriptions only follow the names.\n\n" +
		"**Other settings.** Custom models, hooks, environment variables, plugins, permission rules, and telemetry headers are only in `settings`. " +
		"They can contain secrets, or their format is not documented.",
	Attributes: controls.DataSource(),
	Verb:       "read", Object: "enterprise controls", Options: apierror.Options{needsManager},
	Fetch: func(ctx context.Context, c *client.Client, _ tfsdk.Config) (any, error) {
		newest, err := c.Organization.ControlHistory(ctx, 1, nil)
		if err != nil {
			return nil, err
		}
		current := &currentControls{change: &organization.ControlChange{}}
		if len(newest) > 0 {
			current.change = &newest[0]
		}
		current.settings = current.change.Values()
		return results.ObjectOf(controls, current), nil
	},
}

// currentControls is the newest change, and its settings.
type currentControls struct {
	change   *organization.ControlChange
	settings *organization.ControlSettings
}

var controls = results.Merge(
	results.Part(controlSettings, func(c *currentControls) *organization.ControlSettings { return c.settings }),
	results.Fields[*currentControls]{
		"revision":   results.Int64("Number of the newest change.", func(c *currentControls) *int64 { return c.change.Revision }),
		"updated_at": results.Time("When the settings were last changed (RFC 3339, UTC).", func(c *currentControls) time.Time { return c.change.UpdatedAt.Time() }),
		"settings":   results.SensitiveJSON("All settings, as JSON. "+settingsInState, func(c *currentControls) json.RawMessage { return c.change.Settings }),
	},
)
