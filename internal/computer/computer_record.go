// Package computer holds the Terraform objects that concern computers.
package computer

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/results"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// computerRecord has no provisioning steps: many responses lack them.
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

// computerDetails is what data sources return.
type computerDetails struct {
	computerRecord
	ProvisioningSteps types.List `tfsdk:"provisioning_steps"`
}

// computerResults describes the fields of a computerRecord.
var computerResults = results.Plain{
	"id":                      {Text: "The computer's ID."},
	"host_id":                 {Text: "ID of the computer's host, as a UUID. Unique among the owner's computers."},
	"name":                    {Text: "The computer's name."},
	"hostname":                {Text: "The machine's hostname."},
	"is_listed":               {Text: "Whether normal listings show the computer.", Type: types.BoolType},
	"provider_type":           {Text: "The computer's provider: `byom` for a registered machine, or the ID of a managed provider."},
	"status":                  {Text: "The computer's status. One of `provisioning`, `active`, or `error`."},
	"created_at":              {Text: "When the computer was created (RFC 3339, UTC)."},
	"install_session_id":      {Text: "ID of the session that installs the dependencies."},
	"relay_client_url":        {Text: "Relay URL for clients."},
	"relay_agent_url":         {Text: "Relay URL for the agent on the computer."},
	"remote_user":             {Text: "Name of the user account on the computer."},
	"cloned_repo_directories": {Text: "Directories of the cloned repositories.", Type: types.ListType{ElemType: types.StringType}},
	"owner_principal_kind":    {Text: "Kind of the owner. One of `human` or `service`."},
	"owner_id":                {Text: "ID of the owner."},
	"computer_source":         {Text: "The source that the computer was created from.", Of: sourceResults},
}

// computerDetailResults describes the fields of a computerDetails.
func computerDetailResults() results.Plain {
	fields := maps.Clone(computerResults)
	fields["provisioning_steps"] = results.PlainField{Text: "The steps that provision a managed computer, in order.", Of: stepResults, IsList: true}
	return fields
}

var stepResults = results.Plain{
	"id":           {Text: "The step's ID."},
	"name":         {Text: "The step's name."},
	"status":       {Text: "The step's status, such as `pending`, `in_progress`, or `completed`."},
	"error":        {Text: "The step's error message."},
	"started_at":   {Text: "When the step started (RFC 3339, UTC)."},
	"completed_at": {Text: "When the step ended (RFC 3339, UTC)."},
}

var sourceResults = results.Plain{
	"kind":        {Text: "Kind of the source. One of `template`, `execution-template`, or `computer`."},
	"template_id": {Text: "ID of the template."},
	"computer_id": {Text: "ID of the copied computer."},
}

var (
	stepType   = stepResults.ObjectType()
	sourceType = sourceResults.ObjectType()
)

// FromAPI keeps the installation's session if the response has no steps: some services return it only in a step.
func (m *computerRecord) FromAPI(ctx context.Context, c *computers.Computer) diag.Diagnostics {
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

func (m *computerDetails) FromAPI(ctx context.Context, c *computers.Computer) diag.Diagnostics {
	diags := m.computerRecord.FromAPI(ctx, c)
	steps, d := stepsFromAPI(c.ProvisioningSteps)
	diags.Append(d...)
	m.ProvisioningSteps = steps
	return diags
}

// installSession also looks in the steps: some services return it only there.
func installSession(c *computers.Computer) string {
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

func stepsFromAPI(steps []computers.ProvisioningStep) (types.List, diag.Diagnostics) {
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
