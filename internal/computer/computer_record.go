// Package computer holds the Terraform objects that concern computers.
package computer

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// computerRecord is a computer as the service returns it, without its provisioning steps.
type computerRecord struct {
	ID                    types.String `tfsdk:"id"`
	HostID                types.String `tfsdk:"host_id"`
	Name                  types.String `tfsdk:"name"`
	Hostname              types.String `tfsdk:"hostname"`
	IsListed              types.Bool   `tfsdk:"is_listed"`
	ProviderType          types.String `tfsdk:"provider_type"`
	Status                types.String `tfsdk:"status"`
	CreatedAt             types.String `tfsdk:"created_at"`
	InstallSessionID      types.String `tfsdk:"install_session_id"`
	RelayClientURL        types.String `tfsdk:"relay_client_url"`
	RelayAgentURL         types.String `tfsdk:"relay_agent_url"`
	RemoteUser            types.String `tfsdk:"remote_user"`
	ClonedRepoDirectories types.List   `tfsdk:"cloned_repo_directories"`
	OwnerPrincipalKind    types.String `tfsdk:"owner_principal_kind"`
	OwnerID               types.String `tfsdk:"owner_id"`
	ComputerSource        types.Object `tfsdk:"computer_source"`
}

// computerDetails is a computer as data sources show it.
type computerDetails struct {
	computerRecord
	ProvisioningSteps types.List `tfsdk:"provisioning_steps"`
}

// computerResults are the fields of a computerRecord, wherever they are shown.
var computerResults = results.Plain{
	"id":                      {Text: "The computer's ID."},
	"host_id":                 {Text: "ID (UUID) of the host behind the computer. It can be assigned once and is unique among the owner's computers."},
	"name":                    {Text: "The computer's name, 1 to 63 characters."},
	"hostname":                {Text: "The host name of the machine."},
	"is_listed":               {Text: "Whether normal listings show the computer.", Type: types.BoolType},
	"provider_type":           {Text: "What provides the computer: `byom` for a registered machine, or the identifier of a managed provider."},
	"status":                  {Text: "The computer's status: `provisioning`, `active` or `error`."},
	"created_at":              {Text: "When the computer was created (RFC 3339, UTC)."},
	"install_session_id":      {Text: "ID of the session that installs dependencies."},
	"relay_client_url":        {Text: "Relay URL for clients."},
	"relay_agent_url":         {Text: "Relay URL for the agent on the computer."},
	"remote_user":             {Text: "The account on the computer, 1 to 63 characters."},
	"cloned_repo_directories": {Text: "Directories of the repositories that were cloned onto the computer.", Type: types.ListType{ElemType: types.StringType}},
	"owner_principal_kind":    {Text: "Kind of the owner: `human` or `service`."},
	"owner_id":                {Text: "ID of the owner."},
	"computer_source":         {Text: "What the computer was made from.", Of: sourceResults},
}

// computerDetailResults returns the fields of a computerDetails.
func computerDetailResults() results.Plain {
	fields := maps.Clone(computerResults)
	fields["provisioning_steps"] = results.PlainField{Text: "The steps of a managed computer's setup, in order.", Of: stepResults, IsList: true}
	return fields
}

var stepResults = results.Plain{
	"id":           {Text: "The step's ID."},
	"name":         {Text: "The step's name."},
	"status":       {Text: "The step's status, such as `pending`, `in_progress` or `completed`."},
	"error":        {Text: "What went wrong in the step."},
	"started_at":   {Text: "When the step started (RFC 3339, UTC)."},
	"completed_at": {Text: "When the step ended (RFC 3339, UTC)."},
}

var sourceResults = results.Plain{
	"kind":        {Text: "Kind of the source: `template`, `execution-template` or `computer`."},
	"template_id": {Text: "ID of the template."},
	"computer_id": {Text: "ID of the computer that was copied."},
}

var (
	stepType   = stepResults.ObjectType()
	sourceType = sourceResults.ObjectType()
)

// FromAPI takes over a record. Some services return the installation's session only in a provisioning step, so a response
// without steps keeps it.
func (m *computerRecord) FromAPI(ctx context.Context, c *client.Computer) diag.Diagnostics {
	var diags diag.Diagnostics
	m.ID, m.Name = types.StringValue(c.ID), types.StringValue(c.Name)
	m.HostID = value.StringOrNull(c.HostID)
	m.Hostname = value.StringOrNull(c.Hostname)
	m.IsListed = types.BoolPointerValue(c.IsListed)
	m.ProviderType = types.StringValue(c.ProviderType)
	m.Status = value.StringOrNull(c.Status)
	m.CreatedAt = value.Time(c.CreatedAt.Time())
	if session := installSession(c); session != "" || c.ProvisioningSteps != nil || m.InstallSessionID.IsUnknown() {
		m.InstallSessionID = value.StringOrNull(session)
	}
	m.RelayClientURL = value.StringOrNull(c.RelayClientURL)
	m.RelayAgentURL = value.StringOrNull(c.RelayAgentURL)
	m.RemoteUser = value.StringOrNull(c.RemoteUser)
	m.OwnerPrincipalKind = value.StringOrNull(c.OwnerPrincipalKind)
	m.OwnerID = value.StringOrNull(c.OwnerID)

	directories, d := value.StringListOrNull(ctx, c.ClonedRepoDirectories)
	diags.Append(d...)
	m.ClonedRepoDirectories = directories

	m.ComputerSource = types.ObjectNull(sourceType.AttrTypes)
	if c.Source != nil {
		source, d := types.ObjectValue(sourceType.AttrTypes, map[string]attr.Value{
			"kind":        types.StringValue(c.Source.Kind),
			"template_id": value.StringOrNull(c.Source.TemplateID),
			"computer_id": value.StringOrNull(c.Source.ComputerID),
		})
		diags.Append(d...)
		m.ComputerSource = source
	}
	return diags
}

// FromAPI takes over a record with its steps.
func (m *computerDetails) FromAPI(ctx context.Context, c *client.Computer) diag.Diagnostics {
	diags := m.computerRecord.FromAPI(ctx, c)
	steps, d := stepsFromAPI(c.ProvisioningSteps)
	diags.Append(d...)
	m.ProvisioningSteps = steps
	return diags
}

// installSession is a field of the computer or, with some services, of the step that installs.
func installSession(c *client.Computer) string {
	if c.InstallSessionID != "" {
		return c.InstallSessionID
	}
	for _, step := range c.ProvisioningSteps {
		if step.InstallSessionID != "" {
			return step.InstallSessionID
		}
	}
	return ""
}

func stepsFromAPI(steps []client.ProvisioningStep) (types.List, diag.Diagnostics) {
	if steps == nil {
		return types.ListNull(stepType), nil
	}
	var diags diag.Diagnostics
	elements := make([]attr.Value, 0, len(steps))
	for _, step := range steps {
		element, d := types.ObjectValue(stepType.AttrTypes, map[string]attr.Value{
			"id":           types.StringValue(step.ID),
			"name":         types.StringValue(step.Name),
			"status":       types.StringValue(step.Status),
			"error":        value.StringOrNull(step.Error),
			"started_at":   value.Time(step.StartedAt.Time()),
			"completed_at": value.Time(step.CompletedAt.Time()),
		})
		diags.Append(d...)
		elements = append(elements, element)
	}
	list, d := types.ListValue(stepType, elements)
	diags.Append(d...)
	return list, diags
}
