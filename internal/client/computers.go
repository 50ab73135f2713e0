package client

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Statuses of a computer.
const (
	ComputerProvisioning = "provisioning"
	ComputerActive       = "active"
	ComputerError        = "error"
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
	ID           string `json:"id"`
	HostID       string `json:"hostId"`
	Name         string `json:"name"`
	Hostname     string `json:"hostname"`
	IsListed     *bool  `json:"isListed"`
	ProviderType string `json:"providerType"`
	Status       string `json:"status"`
	CreatedAt    Millis `json:"createdAt"`
	// ProvisioningSteps is nil where the operation does not return them.
	ProvisioningSteps     []ProvisioningStep `json:"provisioningSteps"`
	InstallSessionID      string             `json:"installSessionId"`
	RelayClientURL        string             `json:"relayClientUrl"`
	RelayAgentURL         string             `json:"relayAgentUrl"`
	RemoteUser            string             `json:"remoteUser"`
	ClonedRepoDirectories []string           `json:"clonedRepoDirectories"`
	OwnerPrincipalKind    string             `json:"ownerPrincipalKind"`
	OwnerID               string             `json:"ownerId"`
	Source                *ComputerSource    `json:"computerSource"`
}

// ProvisioningStep is one step of a managed computer's set-up.
type ProvisioningStep struct {
	ID               string `json:"id"`
	Name             string `json:"name"`
	Status           string `json:"status"`
	Error            string `json:"error"`
	StartedAt        Millis `json:"startedAt"`
	CompletedAt      Millis `json:"completedAt"`
	InstallSessionID string `json:"installSessionId"`
}

// ComputerSource is what a computer was made from.
type ComputerSource struct {
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

// CreateComputerRequest is the body of createComputer. Nil and empty mean "not sent".
type CreateComputerRequest struct {
	Name             string                `json:"name"`
	Provider         string                `json:"provider,omitempty"`
	HostID           string                `json:"hostId,omitempty"`
	RemoteUser       string                `json:"remoteUser,omitempty"`
	Repos            []string              `json:"repos,omitempty"`
	AutoInstallDeps  *bool                 `json:"autoInstallDeps,omitempty"`
	ServiceAccountID string                `json:"serviceAccountId,omitempty"`
	Source           *CreateComputerOrigin `json:"source,omitempty"`
}

// CreateComputerOrigin is the source of a new computer; which fields belong to which kind is in the contract.
type CreateComputerOrigin struct {
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

// UpdateComputerRequest is the body of updateComputer. Nil means "leave as it is".
type UpdateComputerRequest struct {
	Name       *string `json:"name,omitempty"`
	HostID     *string `json:"hostId,omitempty"`
	RemoteUser *string `json:"remoteUser,omitempty"`
}

// ComputerFilter narrows a listing of computers.
type ComputerFilter struct {
	HostID                   string
	ServiceAccountID         string
	IncludeUnlisted          bool
	IncludeProvisioningSteps bool
}

func (f ComputerFilter) query() url.Values {
	q := url.Values{}
	setIf(q, "hostId", f.HostID)
	setIf(q, "serviceAccountId", f.ServiceAccountID)
	setIfTrue(q, "includeUnlisted", f.IncludeUnlisted)
	setIfTrue(q, "includeProvisioningSteps", f.IncludeProvisioningSteps)
	return q
}

func setIf(q url.Values, key, value string) {
	if value != "" {
		q.Set(key, value)
	}
}

func setIfTrue(q url.Values, key string, value bool) {
	if value {
		q.Set(key, strconv.FormatBool(value))
	}
}

// Computers lists computers, newest first. The operation has no pages.
func (c *Client) Computers(ctx context.Context, filter ComputerFilter) ([]Computer, error) {
	answer, err := call[struct {
		Computers []Computer `json:"computers"`
	}](ctx, c, request{op: operation{name: "listComputers", method: http.MethodGet, route: "/api/v0/computers"}, query: filter.query()})
	if err != nil {
		return nil, err
	}
	return answer.Computers, nil
}

// listComputersForReads lists everything that may be in a state: what is hidden too, and with steps.
// The key of the collection is the service account that owns the computers; empty is the caller.
func (c *Client) listComputersForReads(ctx context.Context, account string) ([]Computer, error) {
	return c.Computers(ctx, ComputerFilter{ServiceAccountID: account, IncludeUnlisted: true, IncludeProvisioningSteps: true})
}

// Computer reads one computer. Many reads in a short time share one listing of the account's computers; account is
// the service account that owns the computer, or empty. Steps are present only where a listing answered.
func (c *Client) Computer(ctx context.Context, id, account string) (*Computer, error) {
	return c.computers.get(ctx, account, id, func(ctx context.Context) (*Computer, error) { return c.ComputerAlone(ctx, id) })
}

// ComputerAlone reads one computer with a request of its own. The answer has no steps.
func (c *Client) ComputerAlone(ctx context.Context, id string) (*Computer, error) {
	return call[Computer](ctx, c, request{
		op:   operation{name: "getComputer", method: http.MethodGet, route: "/api/v0/computers/{computerId}"},
		path: []string{id},
		noun: "computer",
	})
}

// WatchComputer follows a computer; all watches of one account's computers share their looks. Steps are present only
// where a listing answered.
func (c *Client) WatchComputer(id, account string) *Watch[Computer] {
	return c.computerPolls.watch(account, id)
}

// ComputerByName reads the computer of that name, with its steps, among those of the service account, or of the caller if account is empty.
func (c *Client) ComputerByName(ctx context.Context, name, account string) (*Computer, error) {
	q := url.Values{"includeProvisioningSteps": {"true"}}
	setIf(q, "serviceAccountId", account)
	return call[Computer](ctx, c, request{
		op:    operation{name: "getComputerByName", method: http.MethodGet, route: "/api/v0/computers/name/{name}"},
		path:  []string{name},
		query: q,
		noun:  "computer",
	})
}

// ComputerProviders returns the managed providers that the organization may use.
func (c *Client) ComputerProviders(ctx context.Context) ([]string, error) {
	answer, err := call[struct {
		Providers []string `json:"providers"`
	}](ctx, c, request{op: operation{name: "listComputerProviders", method: http.MethodGet, route: "/api/v0/computers/providers"}})
	if err != nil {
		return nil, err
	}
	return answer.Providers, nil
}

// CreateComputer makes a computer and reconciles a lost answer; see creation. With a software draft the service
// itself recognizes the repetition, so that the request is repeated instead.
func (c *Client) CreateComputer(ctx context.Context, body CreateComputerRequest) (*Computer, error) {
	defer c.computers.discard()
	isReplay := body.Source != nil && body.Source.SoftwareDraft != nil
	send := func(ctx context.Context) (*Computer, error) {
		return call[Computer](ctx, c, request{
			op:         operation{name: "createComputer", method: http.MethodPost, route: "/api/v0/computers"},
			body:       body,
			noun:       "computer",
			repeatable: isReplay,
		})
	}
	if isReplay {
		return send(ctx)
	}
	return create(ctx, c, creation[Computer]{
		object: "computer",
		name:   body.Name,
		find: func(ctx context.Context) ([]Computer, error) {
			found, err := c.ComputerByName(ctx, body.Name, body.ServiceAccountID)
			if IsNotFound(err) {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			return []Computer{*found}, nil
		},
		send: send,
		describe: func(found *Computer) ExistsError {
			return ExistsError{ID: found.ID, ImportID: found.ID, CreatedAt: found.CreatedAt.Time()}
		},
	})
}

// UpdateComputer changes what is set in body. A host ID can be assigned once, so a repetition after a lost answer meets
// a conflict; it counts as success where the computer is as wanted.
func (c *Client) UpdateComputer(ctx context.Context, id string, body UpdateComputerRequest) (*Computer, error) {
	defer c.computers.discard()
	updated, err := call[Computer](ctx, c, request{
		op:   operation{name: "updateComputer", method: http.MethodPatch, route: "/api/v0/computers/{computerId}"},
		path: []string{id},
		body: body,
		noun: "computer",
	})
	if IsConflict(err) {
		if present, readErr := c.ComputerAlone(ctx, id); readErr == nil && body.matches(present) {
			return present, nil
		}
	}
	return updated, err
}

func (b UpdateComputerRequest) matches(c *Computer) bool {
	return (b.Name == nil || *b.Name == c.Name) && (b.HostID == nil || *b.HostID == c.HostID) && (b.RemoteUser == nil || *b.RemoteUser == c.RemoteUser)
}

// DeleteComputer removes a computer: a managed one is shut down, a registration of an own machine is dropped.
func (c *Client) DeleteComputer(ctx context.Context, id string) error {
	defer c.computers.discard()
	return c.callNoAnswer(ctx, request{
		op:   operation{name: "deleteComputer", method: http.MethodDelete, route: "/api/v0/computers/{computerId}"},
		path: []string{id},
	})
}

// RecordComputerActivity advances the inactivity clock of an active managed computer and returns the new time.
func (c *Client) RecordComputerActivity(ctx context.Context, id string) (time.Time, error) {
	answer, err := call[struct {
		LastActiveAt Millis `json:"lastActiveAt"`
	}](ctx, c, request{
		op:   operation{name: "recordComputerActivity", method: http.MethodPost, route: "/api/v0/computers/{computerId}/activity", repeatable: true},
		path: []string{id},
	})
	if err != nil {
		return time.Time{}, err
	}
	return answer.LastActiveAt.Time(), nil
}

// InstallComputerDeps starts an installation of dependencies. The service answers 409 while one runs.
func (c *Client) InstallComputerDeps(ctx context.Context, id string) (*Computer, error) {
	defer c.computers.discard()
	return call[Computer](ctx, c, request{
		op:   operation{name: "installComputerDeps", method: http.MethodPost, route: "/api/v0/computers/{computerId}/install-deps"},
		path: []string{id},
		noun: "computer",
	})
}

// MetricsSample is a computer's load in one interval. Memory and disk are in bytes.
type MetricsSample struct {
	Timestamp  string  `json:"timestamp"`
	CPUUsedPct float64 `json:"cpuUsedPct"`
	CPUCount   float64 `json:"cpuCount"`
	MemUsed    float64 `json:"memUsed"`
	MemTotal   float64 `json:"memTotal"`
	DiskUsed   float64 `json:"diskUsed"`
	DiskTotal  float64 `json:"diskTotal"`
}

// ComputerMetrics returns the samples since start, or those the service chooses if start is zero.
func (c *Client) ComputerMetrics(ctx context.Context, id string, start time.Time) ([]MetricsSample, error) {
	q := url.Values{}
	if !start.IsZero() {
		q.Set("start", start.UTC().Format(time.RFC3339))
	}
	answer, err := call[[]MetricsSample](ctx, c, request{
		op:    operation{name: "getComputerMetrics", method: http.MethodGet, route: "/api/v0/computers/{computerId}/metrics"},
		path:  []string{id},
		query: q,
	})
	if err != nil {
		return nil, err
	}
	return *answer, nil
}

// RefreshResult counts what was renewed on a computer.
type RefreshResult struct {
	Configured        int64 `json:"configured"`
	SecretsConfigured int64 `json:"secretsConfigured"`
}

// RefreshComputer renews Git credentials and secrets on a managed computer.
func (c *Client) RefreshComputer(ctx context.Context, id string) (*RefreshResult, error) {
	return call[RefreshResult](ctx, c, request{
		op:   operation{name: "refreshComputer", method: http.MethodPost, route: "/api/v0/computers/{computerId}/refresh", repeatable: true},
		path: []string{id},
	})
}

// RestartComputer resumes a managed computer and reports whether it had to be restarted.
func (c *Client) RestartComputer(ctx context.Context, id string) (bool, error) {
	defer c.computers.discard()
	answer, err := call[struct {
		WasRestarted bool `json:"wasRestarted"`
	}](ctx, c, request{
		op:   operation{name: "restartComputer", method: http.MethodPost, route: "/api/v0/computers/{computerId}/restart", repeatable: true},
		path: []string{id},
	})
	if err != nil {
		return false, err
	}
	return answer.WasRestarted, nil
}
