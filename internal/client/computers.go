package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

// computersClient calls the operations on computers.
type computersClient struct {
	*conn

	serviceAccounts *serviceAccountsClient
	computers       *shared[Computer]
	computerPolls   *poller[Computer]
	// counted is how many accounts' computers were counted.
	counted atomic.Int32
}

func newComputers(conn *conn, accounts *serviceAccountsClient) *computersClient {
	c := &computersClient{conn: conn, serviceAccounts: accounts}
	// The first read of a collection is a plain GET; from the second on a listing costs less.
	c.computers = newShared(conn.Clock, 1, c.listComputersForReads, (*Computer).identifier, (*Computer).names)
	c.computerPolls = newPoller(conn.Clock, pollSource[Computer]{
		single: c.ComputerAlone,
		many: func(ctx context.Context, account string, _ []string) ([]Computer, error) {
			return c.listComputersForReads(ctx, account)
		},
		id:    (*Computer).identifier,
		ended: func(account string) { c.computers.discard(account) },
	})
	accounts.Owns(c.computers)
	return c
}

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
	// WithoutSteps says that steps were asked for and the service returned none.
	WithoutSteps bool `json:"-"`
	// IsCallers says that the API key's owner owns the computer. It is known only where OwnComputer was asked.
	IsCallers bool `json:"-"`
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

// SetUpFailed reports that the record proves that the computer was never active: a step of its set-up failed. The step that
// installs dependencies proves nothing, because it may be taken again later.
func (c *Computer) SetUpFailed() bool {
	step := c.FailedStep()
	return c.Status == ComputerError && step != nil && step.ID != StepInstall
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

func (c *Computer) identifier() string { return c.ID }

func (c *Computer) missing() string {
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

// inFleet stands beside the names of computers, none of which holds a NUL.

func inFleet(prefix string) string { return "fleet\x00" + prefix }

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

// Computers lists computers, newest first. The operation has no pages.
func (c *computersClient) Computers(ctx context.Context, filter ComputerFilter) ([]Computer, error) {
	return callList[Computer](ctx, c.conn, request{op: operation{name: "listComputers", method: http.MethodGet, route: "/api/v0/computers"}, query: filter.query()}, "computers")
}

// listComputersForReads lists everything that may be in a state: what is hidden too, and with steps.
// The key of the collection is the service account that owns the computers; empty is the caller.
func (c *computersClient) listComputersForReads(ctx context.Context, account string) ([]Computer, error) {
	all, err := c.Computers(ctx, ComputerFilter{ServiceAccountID: account, IncludeUnlisted: true, IncludeProvisioningSteps: true})
	for i := range all {
		all[i].WithoutSteps = all[i].ProvisioningSteps == nil
	}
	return all, err
}

// Computer reads one computer. Many reads in a short time share one listing of the account's computers. Steps are present
// only where a listing answered. One that does not exist is a *GoneError.
func (c *computersClient) Computer(ctx context.Context, id, account string) (*Computer, error) {
	found, err := c.computers.get(ctx, account, id, func(ctx context.Context) (*Computer, error) { return c.ComputerAlone(ctx, id) })
	return found, c.serviceAccounts.goneWithAccount(ctx, account, err)
}

// ListedComputer returns a computer as the listing shows it that all reads of the account's computers share, with its
// steps; nil if it is not there.
func (c *computersClient) ListedComputer(ctx context.Context, id, account string) (*Computer, error) {
	return c.computers.lookUp(ctx, account, id)
}

// ComputerWithSteps reads one computer with its provisioning steps, which only listings and the look-up by name return.
func (c *computersClient) ComputerWithSteps(ctx context.Context, id string) (*Computer, error) {
	found, err := c.computers.lookUp(ctx, "", id)
	if found != nil || err != nil && !cannotList(err) {
		return found, err
	}
	found, err = c.Computer(ctx, id, "")
	if err != nil || found.ServiceAccount() == "" {
		return found, err
	}
	listed, err := c.computers.lookUp(ctx, found.ServiceAccount(), id)
	if err == nil && listed == nil {
		return found, nil
	}
	return listed, err
}

// OwnComputer completes a record with whether the API key's own account owns it, which an account's computer itself does not tell.
func (c *computersClient) OwnComputer(ctx context.Context, found *Computer) error {
	if found.ServiceAccount() == "" {
		found.IsCallers = true
		return nil
	}
	own, err := c.computers.lookUp(ctx, "", found.ID)
	found.IsCallers = own != nil
	return err
}

// ComputerAlone reads one computer with a request of its own. The answer has no steps.
func (c *computersClient) ComputerAlone(ctx context.Context, id string) (*Computer, error) {
	return one[Computer](ctx, c.conn, request{
		op:   operation{name: "getComputer", method: http.MethodGet, route: "/api/v0/computers/{computerId}"},
		path: []string{id},
		noun: "computer",
	}, id)
}

// WatchComputer follows a computer; all watches of one account's computers share their looks. Steps are present only
// where a listing answered.
func (c *computersClient) WatchComputer(id, account string) *Watch[Computer] {
	return c.computerPolls.watch(account, id)
}

// ComputerByName reads the computer of that name, with its steps, among those of the service account, or of the caller if account is empty.
func (c *computersClient) ComputerByName(ctx context.Context, name, account string) (*Computer, error) {
	q := url.Values{"includeProvisioningSteps": {"true"}}
	setIf(q, "serviceAccountId", account)
	return one[Computer](ctx, c.conn, request{
		op:    operation{name: "getComputerByName", method: http.MethodGet, route: "/api/v0/computers/name/{name}"},
		path:  []string{name},
		query: q,
		noun:  "computer",
	}, newObject)
}

// WithSteps completes a record that came without its steps, which only listings and the look-up by name return. An
// account that asks for its own computers may not name itself, so a refusal is followed by the look-up among the caller's.
func (c *computersClient) WithSteps(ctx context.Context, found *Computer) (*Computer, error) {
	if found.ProvisioningSteps != nil || found.WithoutSteps || found.ProviderType == ProviderBYOM {
		return found, nil
	}
	named, err := c.ComputerByName(ctx, found.Name, found.ServiceAccount())
	if StatusOf(err) == http.StatusForbidden && found.ServiceAccount() != "" {
		named, err = c.ComputerByName(ctx, found.Name, "")
	}
	switch {
	case err != nil:
		return nil, err
	case !strings.EqualFold(named.ID, found.ID):
		return nil, fmt.Errorf("getComputerByName found the computer %s instead of %s, which may have been renamed meanwhile", named.ID, found.ID)
	}
	named.IsCallers = found.IsCallers
	return named, nil
}

// ComputerProviders returns the managed providers that the organization may use.
func (c *computersClient) ComputerProviders(ctx context.Context) ([]string, error) {
	answer, err := call[struct {
		Providers []string `json:"providers"`
	}](ctx, c.conn, request{op: opListProviders})
	if err != nil {
		return nil, err
	}
	return answer.Providers, nil
}

// existing is what an error tells of a computer that stands in the way.
func (c *Computer) existing() ExistsError {
	return ExistsError{Object: "computer", Name: c.Name, ID: c.ID, ImportID: c.ID, CreatedAt: c.CreatedAt.Time()}
}

// CreateComputer makes a computer and reconciles a lost answer; see creation. With a software draft the service
// itself recognizes a repetition, so that the request may be repeated; a computer that was made for the draft earlier is
// not taken over.
func (c *computersClient) CreateComputer(ctx context.Context, body CreateComputerRequest) (*Computer, error) {
	account, mayReplay := body.ServiceAccountID, body.Source != nil && body.Source.SoftwareDraft != nil
	made, err := create(ctx, c.conn, creation[Computer]{
		object:     "computer",
		name:       body.Name,
		collection: c.computers,
		key:        account,
		listedAs:   body.Name,
		send: func(ctx context.Context) (*Computer, error) {
			return one[Computer](ctx, c.conn, request{
				op:         operation{name: "createComputer", method: http.MethodPost, route: "/api/v0/computers"},
				body:       body,
				noun:       "computer",
				repeatable: mayReplay,
			}, newObject)
		},
		nameOf:    func(made *Computer) string { return made.Name },
		createdAt: func(made *Computer) Millis { return made.CreatedAt },
		isWanted:  body.isWanted,
		mayReplay: mayReplay,
		existing:  (*Computer).existing,
	})
	if err != nil {
		c.computers.discard(account)
		return nil, err
	}
	c.computers.wrote(account, made)
	return made, nil
}

// isWanted reports that a computer is what the request asked for, as far as its record tells.
func (b CreateComputerRequest) isWanted(c *Computer) bool {
	if source := c.Source; source != nil {
		wanted := b.Source
		if wanted == nil || wanted.Kind != source.Kind || wanted.TemplateID != source.TemplateID || wanted.SourceComputerID != source.ComputerID {
			return false
		}
	}
	return b.Name == c.Name && (b.Provider == "" || b.Provider == c.ProviderType) && (b.HostID == "" || strings.EqualFold(b.HostID, c.HostID)) &&
		(b.RemoteUser == "" || b.RemoteUser == c.RemoteUser) && (b.ServiceAccountID == "" || c.OwnerID == "" || b.ServiceAccountID == c.OwnerID)
}

// UpdateComputer changes what is set in body. A host ID can be assigned once, so a repetition after a lost answer meets
// a conflict; it counts as success where the computer is as wanted. Account is the service account under which the
// computer was made; empty is the owner of the API key.
func (c *computersClient) UpdateComputer(ctx context.Context, id, account string, body UpdateComputerRequest) (*Computer, error) {
	alone := func(ctx context.Context) (*Computer, error) { return c.ComputerAlone(ctx, id) }
	updated, err := changed(ctx, c.conn, request{
		op:   operation{name: "updateComputer", method: http.MethodPatch, route: "/api/v0/computers/{computerId}"},
		path: []string{id},
		body: body,
		noun: "computer",
	}, id, alone, body.matches)
	if IsConflict(err) {
		if present, readErr := alone(ctx); readErr == nil && body.matches(present) {
			updated, err = present, nil
		}
	}
	if err != nil {
		c.computers.discard(account)
		return nil, err
	}
	c.computers.wrote(account, updated)
	return updated, nil
}

func (b UpdateComputerRequest) matches(c *Computer) bool {
	return (b.Name == nil || *b.Name == c.Name) && (b.HostID == nil || strings.EqualFold(*b.HostID, c.HostID)) && (b.RemoteUser == nil || *b.RemoteUser == c.RemoteUser)
}

// DeleteComputer removes a computer: a managed one is shut down, a registration of an own machine is dropped. For one that
// is gone already the error is a *GoneError.
func (c *computersClient) DeleteComputer(ctx context.Context, id, account string) error {
	err := c.callNoAnswer(ctx, request{
		op:   operation{name: "deleteComputer", method: http.MethodDelete, route: "/api/v0/computers/{computerId}"},
		path: []string{id},
	})
	if IsNotFound(err) {
		err = c.serviceAccounts.goneWithAccount(ctx, account, c.computers.confirmGone(ctx, account, id, err))
	}
	c.computers.ended(account, id, err)
	return err
}

// RecordComputerActivity advances the inactivity clock of an active managed computer and returns the new time.
func (c *computersClient) RecordComputerActivity(ctx context.Context, id string) (time.Time, error) {
	answer, err := call[struct {
		LastActiveAt Millis `json:"lastActiveAt"`
	}](ctx, c.conn, request{
		op:   operation{name: "recordComputerActivity", method: http.MethodPost, route: "/api/v0/computers/{computerId}/activity", repeatable: true},
		path: []string{id},
	})
	if err != nil {
		return time.Time{}, err
	}
	return answer.LastActiveAt.Time(), nil
}

// InstallComputerDeps starts an installation of dependencies. The service answers 409 while one runs.
func (c *computersClient) InstallComputerDeps(ctx context.Context, id string) (*Computer, error) {
	defer c.computers.discardAll()
	return one[Computer](ctx, c.conn, request{
		op:   operation{name: "installComputerDeps", method: http.MethodPost, route: "/api/v0/computers/{computerId}/install-deps"},
		path: []string{id},
		noun: "computer",
	}, id)
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
func (c *computersClient) ComputerMetrics(ctx context.Context, id string, start time.Time) ([]MetricsSample, error) {
	q := url.Values{}
	if !start.IsZero() {
		q.Set("start", start.UTC().Format(time.RFC3339))
	}
	answer, err := call[[]MetricsSample](ctx, c.conn, request{
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
func (c *computersClient) RefreshComputer(ctx context.Context, id string) (*RefreshResult, error) {
	return call[RefreshResult](ctx, c.conn, request{
		op:   operation{name: "refreshComputer", method: http.MethodPost, route: "/api/v0/computers/{computerId}/refresh", repeatable: true},
		path: []string{id},
	})
}

// RestartComputer resumes a managed computer and reports whether it had to be restarted.
func (c *computersClient) RestartComputer(ctx context.Context, id string) (bool, error) {
	defer c.computers.discardAll()
	answer, err := call[struct {
		WasRestarted bool `json:"wasRestarted"`
	}](ctx, c.conn, request{
		op:   operation{name: "restartComputer", method: http.MethodPost, route: "/api/v0/computers/{computerId}/restart", repeatable: true},
		path: []string{id},
	})
	if err != nil {
		return false, err
	}
	return answer.WasRestarted, nil
}

// maxCounted is how many accounts' computers one client counts.
const maxCounted = 8

// ErrNotCounted says that the computers of enough accounts were counted.
var ErrNotCounted = errors.New("the computers of no more accounts are counted")

// CountedComputers lists the computers of a service account for a warning. Each count is a request, so only the first few
// accounts of a client are counted; for the others the error is ErrNotCounted.
func (c *computersClient) CountedComputers(ctx context.Context, account string) ([]Computer, error) {
	if c.counted.Add(1) > maxCounted {
		return nil, ErrNotCounted
	}
	return c.computers.all(ctx, account)
}

// CheckComputers says in the plan of a new computer or fleet whether the service refuses the provider. The creation needs
// the same listing, so the check adds no request.
func (c *computersClient) CheckComputers(ctx context.Context, account string) error {
	purpose := "computers"
	if account != "" {
		purpose = "computers of service accounts"
	}
	return c.checkOnce(purpose, func() error { _, err := c.computers.known(ctx, account, "", c.lastHeard()); return err })
}
