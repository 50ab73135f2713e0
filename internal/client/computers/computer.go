package computers

import (
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Statuses of a computer.
const (
	StatusProvisioning = "provisioning"
	StatusActive       = "active"
	StatusError        = "error"
)

// OwnerService is the kind of an owner that is a service account.
const OwnerService = "service"

// ProviderBYOM is the provider type of a machine that somebody brings along.
const ProviderBYOM = "byom"

// Statuses of a provisioning step. The service's word for a failed one is open; see Failed.
const (
	StepCompleted  = "completed"
	StepInProgress = "in_progress"
	StepPending    = "pending"
	StepFailed     = "failed"
)

// StepInstall is the ID of the provisioning step that installs dependencies, also when that is done again later.
// x-assumption: the service documents neither the IDs nor that a later installation shows in its step.
const StepInstall = "install-dependencies"

// Computer is a machine on which agents work.
type Computer struct {
	ID           string           `json:"id"`
	HostID       string           `json:"hostId"`
	Name         string           `json:"name"`
	Hostname     string           `json:"hostname"`
	IsListed     *bool            `json:"isListed"`
	ProviderType string           `json:"providerType"`
	Status       string           `json:"status"`
	CreatedAt    transport.Millis `json:"createdAt"`
	// ProvisioningSteps is nil where the operation does not return them.
	ProvisioningSteps     []ProvisioningStep `json:"provisioningSteps"`
	InstallSessionID      string             `json:"installSessionId"`
	RelayClientURL        string             `json:"relayClientUrl"`
	RelayAgentURL         string             `json:"relayAgentUrl"`
	RemoteUser            string             `json:"remoteUser"`
	ClonedRepoDirectories []string           `json:"clonedRepoDirectories"`
	OwnerPrincipalKind    string             `json:"ownerPrincipalKind"`
	OwnerID               string             `json:"ownerId"`
	Source                *Source            `json:"computerSource"`
	// WithoutSteps says that steps were asked for and the service returned none.
	WithoutSteps bool `json:"-"`
	// IsCallers says that the API key's owner owns the computer. It is known only where CompleteOwner was asked.
	IsCallers bool `json:"-"`
}

// ProvisioningStep is one step of a managed computer's set-up.
type ProvisioningStep struct {
	ID               string           `json:"id"`
	Name             string           `json:"name"`
	Status           string           `json:"status"`
	Error            string           `json:"error"`
	StartedAt        transport.Millis `json:"startedAt"`
	CompletedAt      transport.Millis `json:"completedAt"`
	InstallSessionID string           `json:"installSessionId"`
}

// Source is what a computer was made from.
type Source struct {
	Kind       string `json:"kind"`
	TemplateID string `json:"templateId"`
	ComputerID string `json:"computerId"`
}

// Failed reports that the step went wrong.
func (s *ProvisioningStep) Failed() bool {
	return s.Error != "" || s.Status == StepFailed || s.Status == "error"
}

// FailedStep returns the step that went wrong, or nil.
func (c *Computer) FailedStep() *ProvisioningStep {
	for i := range c.ProvisioningSteps {
		if c.ProvisioningSteps[i].Failed() {
			return &c.ProvisioningSteps[i]
		}
	}
	return nil
}

// SetUpFailed reports that the record proves that the computer was never active: a step of its set-up failed. The step that
// installs dependencies proves nothing, because it may be taken again later.
func (c *Computer) SetUpFailed() bool {
	step := c.FailedStep()
	return c.Status == StatusError && step != nil && step.ID != StepInstall
}

// InstallStep returns the step that installs dependencies, or nil.
func (c *Computer) InstallStep() *ProvisioningStep {
	for i := range c.ProvisioningSteps {
		if c.ProvisioningSteps[i].ID == StepInstall {
			return &c.ProvisioningSteps[i]
		}
	}
	return nil
}

// ServiceAccount returns the ID of the service account that owns the computer; empty for any other owner.
func (c *Computer) ServiceAccount() string {
	if c.OwnerPrincipalKind == OwnerService {
		return c.OwnerID
	}
	return ""
}

func (c *Computer) Identifier() string { return c.ID }

func (c *Computer) MissingField() string {
	switch {
	case c.Name == "":
		return "name"
	case c.ProviderType == "":
		return "providerType"
	}
	return ""
}

// names are what a computer is found by: its name, its owner, and the prefix of a fleet whose name it may bear.
func (c *Computer) names() []string {
	names := []string{c.Name}
	if i := strings.LastIndexByte(c.Name, '-'); i > 0 {
		if _, ok := FleetNumber(c.Name[:i], c.Name); ok {
			names = append(names, inFleet(c.Name[:i]))
		}
	}
	return names
}

// existing is what an error tells of a computer that stands in the way.
func (c *Computer) existing() create.ExistsError {
	return create.ExistsError{Object: "computer", Name: c.Name, ID: c.ID, ImportID: c.ID, CreatedAt: c.CreatedAt.Time()}
}

// CreateRequest is the body of createComputer. Nil and empty mean "not sent".
type CreateRequest struct {
	Name             string        `json:"name"`
	Provider         string        `json:"provider,omitempty"`
	HostID           string        `json:"hostId,omitempty"`
	RemoteUser       string        `json:"remoteUser,omitempty"`
	Repos            []string      `json:"repos,omitempty"`
	AutoInstallDeps  *bool         `json:"autoInstallDeps,omitempty"`
	ServiceAccountID string        `json:"serviceAccountId,omitempty"`
	Source           *CreateSource `json:"source,omitempty"`
}

// CreateSource is the source of a new computer; which fields belong to which kind is in the contract.
type CreateSource struct {
	Kind             string         `json:"kind"`
	TemplateID       string         `json:"templateId,omitempty"`
	IsListed         *bool          `json:"isListed,omitempty"`
	SoftwareDraft    *SoftwareDraft `json:"softwareDraft,omitempty"`
	SourceComputerID string         `json:"sourceComputerId,omitempty"`
}

// SoftwareDraft is a receipt: sent again it returns the computer that was made for it.
type SoftwareDraft struct {
	WorkstreamID      string `json:"workstreamId"`
	CreationSessionID string `json:"creationSessionId"`
	FirstTurnID       string `json:"firstTurnId"`
}

// UpdateRequest is the body of updateComputer. Nil means "leave as it is".
type UpdateRequest struct {
	Name       *string `json:"name,omitempty"`
	HostID     *string `json:"hostId,omitempty"`
	RemoteUser *string `json:"remoteUser,omitempty"`
}

// isWanted reports that a computer is what the request asked for, as far as its record tells.
func (b CreateRequest) isWanted(c *Computer) bool {
	if source := c.Source; source != nil {
		wanted := b.Source
		if wanted == nil || wanted.Kind != source.Kind || wanted.TemplateID != source.TemplateID || wanted.SourceComputerID != source.ComputerID {
			return false
		}
	}
	return b.Name == c.Name && (b.Provider == "" || b.Provider == c.ProviderType) && (b.HostID == "" || strings.EqualFold(b.HostID, c.HostID)) &&
		(b.RemoteUser == "" || b.RemoteUser == c.RemoteUser) && (b.ServiceAccountID == "" || c.OwnerID == "" || b.ServiceAccountID == c.OwnerID)
}

func (b UpdateRequest) matches(c *Computer) bool {
	return (b.Name == nil || *b.Name == c.Name) && (b.HostID == nil || strings.EqualFold(*b.HostID, c.HostID)) && (b.RemoteUser == nil || *b.RemoteUser == c.RemoteUser)
}
