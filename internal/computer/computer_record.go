// Package computer holds the Terraform objects that concern computers.
package computer

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	dsschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/value"
)

// computerRecord is a computer as the service returns it: the results of every object that shows computers.
type computerRecord struct {
	ID                    types.String `tfsdk:"id"`
	HostID                types.String `tfsdk:"host_id"`
	Name                  types.String `tfsdk:"name"`
	Hostname              types.String `tfsdk:"hostname"`
	IsListed              types.Bool   `tfsdk:"is_listed"`
	ProviderType          types.String `tfsdk:"provider_type"`
	Status                types.String `tfsdk:"status"`
	CreatedAt             types.String `tfsdk:"created_at"`
	ProvisioningSteps     types.List   `tfsdk:"provisioning_steps"`
	InstallSessionID      types.String `tfsdk:"install_session_id"`
	RelayClientURL        types.String `tfsdk:"relay_client_url"`
	RelayAgentURL         types.String `tfsdk:"relay_agent_url"`
	RemoteUser            types.String `tfsdk:"remote_user"`
	ClonedRepoDirectories types.List   `tfsdk:"cloned_repo_directories"`
	OwnerPrincipalKind    types.String `tfsdk:"owner_principal_kind"`
	OwnerID               types.String `tfsdk:"owner_id"`
	ComputerSource        types.Object `tfsdk:"computer_source"`
}

var stepType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"id":           types.StringType,
	"name":         types.StringType,
	"status":       types.StringType,
	"error":        types.StringType,
	"started_at":   types.StringType,
	"completed_at": types.StringType,
}}

var computerSourceType = types.ObjectType{AttrTypes: map[string]attr.Type{
	"kind":        types.StringType,
	"template_id": types.StringType,
	"computer_id": types.StringType,
}}

// FromAPI takes over a record. Steps that an operation does not return are kept as they were known, or null.
func (m *computerRecord) FromAPI(ctx context.Context, c *client.Computer) diag.Diagnostics {
	var diags diag.Diagnostics
	m.ID, m.Name = types.StringValue(c.ID), types.StringValue(c.Name)
	m.HostID = value.StringOrNull(c.HostID)
	m.Hostname = value.StringOrNull(c.Hostname)
	m.IsListed = types.BoolPointerValue(c.IsListed)
	m.ProviderType = types.StringValue(c.ProviderType)
	m.Status = value.StringOrNull(c.Status)
	m.CreatedAt = value.Time(c.CreatedAt.Time())
	m.InstallSessionID = value.StringOrNull(installSession(c))
	m.RelayClientURL = value.StringOrNull(c.RelayClientURL)
	m.RelayAgentURL = value.StringOrNull(c.RelayAgentURL)
	m.RemoteUser = value.StringOrNull(c.RemoteUser)
	m.OwnerPrincipalKind = value.StringOrNull(c.OwnerPrincipalKind)
	m.OwnerID = value.StringOrNull(c.OwnerID)

	directories, d := value.StringListOrNull(ctx, c.ClonedRepoDirectories)
	diags.Append(d...)
	m.ClonedRepoDirectories = directories

	if c.ProvisioningSteps != nil || !value.IsSet(m.ProvisioningSteps) {
		steps, d := stepsFromAPI(c.ProvisioningSteps)
		diags.Append(d...)
		m.ProvisioningSteps = steps
	}

	m.ComputerSource = types.ObjectNull(computerSourceType.AttrTypes)
	if c.Source != nil {
		source, d := types.ObjectValue(computerSourceType.AttrTypes, map[string]attr.Value{
			"kind":        types.StringValue(c.Source.Kind),
			"template_id": value.StringOrNull(c.Source.TemplateID),
			"computer_id": value.StringOrNull(c.Source.ComputerID),
		})
		diags.Append(d...)
		m.ComputerSource = source
	}
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

// describe explains the fields of a computer, wherever they are shown.
var describe = map[string]string{
	"id":                      "The computer's ID.",
	"host_id":                 "ID (UUID) of the host behind the computer. It can be assigned once and is unique among the owner's computers.",
	"name":                    "The computer's name, 1 to 63 characters.",
	"hostname":                "The host name of the machine.",
	"is_listed":               "Whether normal listings show the computer.",
	"provider_type":           "What provides the computer: `byom` for a registered machine of one's own, else the identifier of a managed provider.",
	"status":                  "The computer's status: `provisioning`, `active` or `error`.",
	"created_at":              "When the computer was created (RFC 3339, UTC).",
	"provisioning_steps":      "The steps of a managed computer's set-up, in their order.",
	"install_session_id":      "ID of the session that installs dependencies.",
	"relay_client_url":        "Relay URL for clients.",
	"relay_agent_url":         "Relay URL for the agent on the computer.",
	"remote_user":             "The account on the computer, 1 to 63 characters.",
	"cloned_repo_directories": "Directories of the repositories that were cloned onto the computer.",
	"owner_principal_kind":    "Kind of the owner: `human` or `service`.",
	"owner_id":                "ID of the owner.",
	"computer_source":         "What the computer was made from.",

	"step.id":           "The step's ID.",
	"step.name":         "The step's name.",
	"step.status":       "The step's status, such as `pending`, `in_progress` or `completed`.",
	"step.error":        "What went wrong in the step.",
	"step.started_at":   "When the step started (RFC 3339, UTC).",
	"step.completed_at": "When the step ended (RFC 3339, UTC).",

	"source.kind":        "Kind of the source: `template`, `execution-template` or `computer`.",
	"source.template_id": "ID of the template.",
	"source.computer_id": "ID of the computer that was copied.",
}

// recordAttributes are the results of a data source that shows a computer.
func recordAttributes() map[string]dsschema.Attribute {
	attributes := map[string]dsschema.Attribute{
		"is_listed": dsschema.BoolAttribute{Computed: true, MarkdownDescription: describe["is_listed"]},
		"provisioning_steps": dsschema.ListNestedAttribute{
			Computed:            true,
			MarkdownDescription: describe["provisioning_steps"],
			NestedObject: dsschema.NestedAttributeObject{
				Attributes: stringResults("step.", "id", "name", "status", "error", "started_at", "completed_at"),
			},
		},
		"cloned_repo_directories": dsschema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: describe["cloned_repo_directories"]},
		"computer_source": dsschema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: describe["computer_source"],
			Attributes:          stringResults("source.", "kind", "template_id", "computer_id"),
		},
	}
	for name, attribute := range stringResults("", "id", "host_id", "name", "hostname", "provider_type", "status", "created_at", "install_session_id",
		"relay_client_url", "relay_agent_url", "remote_user", "owner_principal_kind", "owner_id") {
		attributes[name] = attribute
	}
	return attributes
}

func stringResults(prefix string, names ...string) map[string]dsschema.Attribute {
	attributes := make(map[string]dsschema.Attribute, len(names))
	for _, name := range names {
		attributes[name] = dsschema.StringAttribute{Computed: true, MarkdownDescription: describe[prefix+name]}
	}
	return attributes
}
