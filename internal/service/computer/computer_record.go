// Package computer contains the Terraform objects for computers.
package computer

import (
	"context"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/modifier"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/results"
)

// computerRecord has no provisioning steps: many responses lack them.
type computerRecord struct {
	provisionedResults
	ID                 types.String `tfsdk:"id"`
	HostID             types.String `tfsdk:"host_id"`
	Name               types.String `tfsdk:"name"`
	IsListed           types.Bool   `tfsdk:"is_listed"`
	ProviderType       types.String `tfsdk:"provider_type"`
	Status             types.String `tfsdk:"status"`
	CreatedAt          types.String `tfsdk:"created_at"`
	InstallSessionID   types.String `tfsdk:"install_session_id"`
	OwnerPrincipalKind types.String `tfsdk:"owner_principal_kind"`
	OwnerID            types.String `tfsdk:"owner_id"`
	ComputerSource     types.Object `tfsdk:"computer_source"`
}

// computerResults describes the fields of a computerRecord.
var computerResults = results.Fields[*computers.Computer]{
	"id":                      results.String("The computer's ID.", func(c *computers.Computer) string { return c.ID }),
	"host_id":                 results.String("ID of the computer's host, as a UUID. Unique among the owner's computers.", func(c *computers.Computer) string { return c.HostID }),
	"name":                    results.String("The computer's name.", func(c *computers.Computer) string { return c.Name }),
	"hostname":                results.String("The computer's hostname"+crud.Assumed("computer-hostname"), func(c *computers.Computer) string { return c.Hostname }),
	"is_listed":               results.Bool("Whether listings include the computer by default.", func(c *computers.Computer) *bool { return c.IsListed }),
	"provider_type":           results.String("The computer's provider: `byom` for a registered machine, or the ID of a managed provider.", func(c *computers.Computer) string { return c.ProviderType }),
	"status":                  results.String("The computer's status. One of `provisioning`, `active`, or `error`.", func(c *computers.Computer) string { return c.Status }),
	"created_at":              results.Time("When the computer was created (RFC 3339, UTC).", func(c *computers.Computer) time.Time { return c.CreatedAt.Time() }),
	"install_session_id":      results.String("ID of the session that installs the dependencies. Null if unknown.", installSession),
	"relay_client_url":        results.String("Relay URL for clients.", func(c *computers.Computer) string { return c.RelayClientURL }),
	"relay_agent_url":         results.String("Relay URL for the agent on the computer.", func(c *computers.Computer) string { return c.RelayAgentURL }),
	"remote_user":             results.String("Name of the user account on the computer.", func(c *computers.Computer) string { return c.RemoteUser }),
	"cloned_repo_directories": results.StringList("Directories of the cloned repositories.", func(c *computers.Computer) []string { return c.ClonedRepoDirectories }),
	"owner_principal_kind":    results.String("Kind of the owner. One of `human` (a member) or `service` (a service account)"+crud.Assumed("computer-owner-principal-kind"), func(c *computers.Computer) string { return c.OwnerPrincipalKind }),
	"owner_id":                results.String("ID of the owner.", func(c *computers.Computer) string { return c.OwnerID }),
	"computer_source":         results.Object("The source that the computer was created from.", sourceResults, func(c *computers.Computer) *computers.Source { return c.Source }),
}

// computerData are the fields of a computer in data sources.
var computerData = results.Merge(computerResults, results.Fields[*computers.Computer]{
	"provisioning_steps": results.List("The steps that provision a managed computer, in order.", stepResults, func(c *computers.Computer) []computers.ProvisioningStep { return c.ProvisioningSteps }),
})

var stepResults = results.Fields[*computers.ProvisioningStep]{
	"id":           results.String("The step's ID.", func(s *computers.ProvisioningStep) string { return s.ID }),
	"name":         results.String("The step's name.", func(s *computers.ProvisioningStep) string { return s.Name }),
	"status":       results.String("The step's status, such as `pending`, `in_progress`, or `completed`"+crud.Assumed("provisioning-step-status"), func(s *computers.ProvisioningStep) string { return s.Status }),
	"error":        results.String("The step's error message.", func(s *computers.ProvisioningStep) string { return s.Error }),
	"started_at":   results.Time("When the step started (RFC 3339, UTC).", func(s *computers.ProvisioningStep) time.Time { return s.StartedAt.Time() }),
	"completed_at": results.Time("When the step ended (RFC 3339, UTC).", func(s *computers.ProvisioningStep) time.Time { return s.CompletedAt.Time() }),
}

var sourceResults = results.Fields[*computers.Source]{
	"kind":        results.String("Kind of the source. One of `template`, `execution-template`, or `computer`.", func(s *computers.Source) string { return s.Kind }),
	"template_id": results.String("ID of the template.", func(s *computers.Source) string { return s.TemplateID }),
	"computer_id": results.String("ID of the copied computer.", func(s *computers.Source) string { return s.ComputerID }),
}

// FromAPI keeps the installation's session if the response has no steps: some services return it only in a step. It also
// keeps the configured spelling of the name and the user, and the case of the host ID.
func (m *computerRecord) FromAPI(ctx context.Context, c *computers.Computer) diag.Diagnostics {
	prior := *m
	diags := computerResults.Into(ctx, c, m)
	m.Name = modifier.Keep(prior.Name, m.Name, wire.SameText)
	m.RemoteUser = modifier.Keep(prior.RemoteUser, m.RemoteUser, wire.SameText)
	m.HostID = modifier.Keep(prior.HostID, m.HostID, strings.EqualFold)
	if m.InstallSessionID.IsNull() && c.ProvisioningSteps == nil && !prior.InstallSessionID.IsUnknown() {
		m.InstallSessionID = prior.InstallSessionID
	}
	return diags
}

// installSession also reads the steps, because some services return the session only there.
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
