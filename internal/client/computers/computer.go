package computers

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Statuses of a computer.
const (
	StatusProvisioning = "provisioning"
	StatusActive       = "active"
	StatusError        = "error"
)

// The statuses in groups. One in no group may be of a computer in use.
var (
	ActiveStatuses       = []string{StatusActive}
	ProvisioningStatuses = []string{StatusProvisioning}
	FailedStatuses       = []string{StatusError}
)

// ownerService is the kind of an owner that is a service account.
const ownerService = "service"

// ProviderBYOM is the provider type of a registered machine.
const ProviderBYOM = "byom"

// Computer is where agents work.
type Computer struct {
	ID           string      `json:"id"`
	HostID       string      `json:"hostId"`
	Name         string      `json:"name"`
	Hostname     string      `json:"hostname"`
	IsListed     *bool       `json:"isListed"`
	ProviderType string      `json:"providerType"`
	Status       string      `json:"status"`
	CreatedAt    wire.Millis `json:"createdAt"`
	// ProvisioningSteps is nil if the operation does not return them.
	ProvisioningSteps     []ProvisioningStep     `json:"provisioningSteps"`
	InstallSessionID      string                 `json:"installSessionId"`
	RelayClientURL        string                 `json:"relayClientUrl"`
	RelayAgentURL         string                 `json:"relayAgentUrl"`
	RemoteUser            string                 `json:"remoteUser"`
	ClonedRepoDirectories wire.Unordered[string] `json:"clonedRepoDirectories"`
	OwnerPrincipalKind    string                 `json:"ownerPrincipalKind"`
	OwnerID               string                 `json:"ownerId"`
	Source                *Source                `json:"computerSource"`
	// IsCallers says that the API key's owner owns the computer. No response has it: only List and CompleteOwner set it.
	IsCallers bool `json:"-"`
}

// ProvisioningStep is one step of a managed computer's setup.
type ProvisioningStep struct {
	ID               string      `json:"id"`
	Name             string      `json:"name"`
	Status           string      `json:"status"`
	Error            string      `json:"error"`
	StartedAt        wire.Millis `json:"startedAt"`
	CompletedAt      wire.Millis `json:"completedAt"`
	InstallSessionID string      `json:"installSessionId"`
}

// Source is the source from which a computer was created.
type Source struct {
	Kind       string `json:"kind"`
	TemplateID string `json:"templateId"`
	ComputerID string `json:"computerId"`
}

// hasFailed reports whether the step failed. The service does not document the status of a failed step.
func (s *ProvisioningStep) hasFailed() bool {
	return s.Error != "" || s.Status == "failed" || s.Status == "error"
}

// noProof are the IDs of steps that also run on a computer in use: dependencies may be installed again.
// x-assumption: the service documents neither the IDs of steps nor that a later installation reuses the step.
var noProof = []string{"install-dependencies"}

// preventsUse reports whether a failure of the step proves that nobody used the computer. One of noProof does not: it may also fail in use.
func (s *ProvisioningStep) preventsUse() bool { return !slices.Contains(noProof, s.ID) }

func (c *Computer) IsActive() bool  { return slices.Contains(ActiveStatuses, c.Status) }
func (c *Computer) HasFailed() bool { return slices.Contains(FailedStatuses, c.Status) }

// FailedStep returns the index of the first failed step that prevents use, or else of the first failed step, or -1.
func (c *Computer) FailedStep() int {
	if at := slices.IndexFunc(c.ProvisioningSteps, func(s ProvisioningStep) bool { return s.hasFailed() && s.preventsUse() }); at >= 0 {
		return at
	}
	return slices.IndexFunc(c.ProvisioningSteps, func(s ProvisioningStep) bool { return s.hasFailed() })
}

// FailedBeforeUse reports whether the steps prove that nobody used the computer: one that prevents use failed, and no later one completed.
func (c *Computer) FailedBeforeUse() bool {
	at := c.FailedStep()
	return c.HasFailed() && at >= 0 && c.ProvisioningSteps[at].preventsUse() &&
		!slices.ContainsFunc(c.ProvisioningSteps[at:], func(s ProvisioningStep) bool { return s.Status == "completed" })
}

// reportedState is what the report of a run says about the computer. It has no error of a step, which may quote a script.
func (c *Computer) reportedState() string {
	if at := c.FailedStep(); at >= 0 {
		return c.Status + ": " + c.ProvisioningSteps[at].Name
	}
	return c.Status
}

// ServiceAccount returns the ID of the service account that owns the computer, or empty.
func (c *Computer) ServiceAccount() string {
	if c.OwnerPrincipalKind == ownerService {
		return c.OwnerID
	}
	return ""
}

func (c *Computer) Ref() wire.Ref {
	return wire.Ref{Object: "computer", Name: c.Name, ID: c.ID, CreatedAt: c.CreatedAt.Time()}
}

func (c *Computer) MissingField() string {
	return cmp.Or(wire.MissingIf(c.Name == "", "name"), wire.MissingIf(c.ProviderType == "", "providerType"))
}

// CreateRequest is the body of createComputer. Nil and empty fields are not sent.
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

// CreateSource is the source of a new computer. The API documents which fields belong to which kind.
type CreateSource struct {
	Kind             string         `json:"kind"`
	TemplateID       string         `json:"templateId,omitempty"`
	IsListed         *bool          `json:"isListed,omitempty"`
	SoftwareDraft    *SoftwareDraft `json:"softwareDraft,omitempty"`
	SourceComputerID string         `json:"sourceComputerId,omitempty"`
}

// SoftwareDraft makes a request idempotent: for a repeated draft, the service returns the computer that was created for it.
type SoftwareDraft struct {
	WorkstreamID      string `json:"workstreamId"`
	CreationSessionID string `json:"creationSessionId"`
	FirstTurnID       string `json:"firstTurnId"`
}

// UpdateRequest is the body of updateComputer. Nil means "keep".
type UpdateRequest struct {
	Name       *string `json:"name,omitempty"`
	HostID     *string `json:"hostId,omitempty"`
	RemoteUser *string `json:"remoteUser,omitempty"`
}

// IsRename reports whether any 409 is blamed on the name: only a host ID can be another reason.
func (b UpdateRequest) IsRename() bool { return b.Name != nil && b.HostID == nil }

// isWanted reports whether a computer with the name matches the request, as far as a response shows.
func (b CreateRequest) isWanted(c *Computer) bool {
	return (b.Provider == "" || b.Provider == c.ProviderType) &&
		(b.HostID == "" || strings.EqualFold(b.HostID, c.HostID)) &&
		(b.RemoteUser == "" || b.RemoteUser == c.RemoteUser) &&
		(b.ServiceAccountID == "" || c.OwnerID == "" || b.ServiceAccountID == c.OwnerID) &&
		(c.Source == nil || b.Source != nil && b.Source.isOf(c.Source))
}

func (s *CreateSource) isOf(made *Source) bool {
	return s.Kind == made.Kind && s.TemplateID == made.TemplateID && strings.EqualFold(s.SourceComputerID, made.ComputerID)
}

func (b UpdateRequest) matches(c *Computer) bool {
	return (b.Name == nil || *b.Name == c.Name) &&
		(b.HostID == nil || strings.EqualFold(*b.HostID, c.HostID)) &&
		(b.RemoteUser == nil || *b.RemoteUser == c.RemoteUser)
}

// FleetNumber returns the number in a name of the form "<prefix>-<number>".
func FleetNumber(prefix, name string) (int, bool) {
	digits, ok := strings.CutPrefix(name, prefix+"-")
	if !ok {
		return 0, false
	}
	number, err := strconv.ParseUint(digits, 10, 63)
	return int(number), err == nil
}

// inFleet returns whether a computer has a name of a fleet.
func inFleet(prefix string) func(*Computer) bool {
	return func(c *Computer) bool {
		_, ok := FleetNumber(prefix, c.Name)
		return ok
	}
}
