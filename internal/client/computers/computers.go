// Package computers calls the operations on computers, and on the files in their workspaces.
package computers

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// Client calls the operations on computers.
type Client struct {
	conn *transport.Conn

	accounts *serviceaccounts.Client
	listings *collection.Shared[Computer]
	polls    *collection.Poller[Computer]
}

// New returns the calls on computers.
func New(conn *transport.Conn, accounts *serviceaccounts.Client) *Client {
	c := &Client{conn: conn, accounts: accounts}
	// The first read of a collection is a plain GET; from the second on a listing costs less.
	c.listings = collection.NewShared(conn.Clock, 1, c.listForReads, (*Computer).Identifier, (*Computer).names)
	c.polls = collection.NewPoller(conn.Clock, collection.PollSource[Computer]{
		Single: c.GetUncached,
		Many: func(ctx context.Context, account string, _ []string) ([]Computer, error) {
			return c.listForReads(ctx, account)
		},
		ID:        (*Computer).Identifier,
		AfterWait: func(account string) { c.listings.Invalidate(account) },
	})
	accounts.Owns(c.listings)
	return c
}

// inFleet stands beside the names of computers, none of which holds a NUL.

func inFleet(prefix string) string { return "fleet\x00" + prefix }

// Filter narrows a listing of computers.
type Filter struct {
	HostID                   string
	ServiceAccountID         string
	IncludeUnlisted          bool
	IncludeProvisioningSteps bool
}

func (f Filter) query() url.Values {
	q := url.Values{}
	transport.SetIf(q, "hostId", f.HostID)
	transport.SetIf(q, "serviceAccountId", f.ServiceAccountID)
	transport.SetIfTrue(q, "includeUnlisted", f.IncludeUnlisted)
	transport.SetIfTrue(q, "includeProvisioningSteps", f.IncludeProvisioningSteps)
	return q
}

// List lists computers, newest first. The operation has no pages.
func (c *Client) List(ctx context.Context, filter Filter) ([]Computer, error) {
	return transport.CallList[Computer](ctx, c.conn, transport.Request{Op: transport.Operation{Name: "listComputers", Method: http.MethodGet, Route: "/api/v0/computers"}, Query: filter.query()}, "computers")
}

// listForReads lists everything that may be in a state: what is hidden too, and with steps.
// The key of the collection is the service account that owns the computers; empty is the caller.
func (c *Client) listForReads(ctx context.Context, account string) ([]Computer, error) {
	all, err := c.List(ctx, Filter{ServiceAccountID: account, IncludeUnlisted: true, IncludeProvisioningSteps: true})
	for i := range all {
		all[i].WithoutSteps = all[i].ProvisioningSteps == nil
	}
	return all, err
}

// Get reads one computer. Many reads in a short time share one listing of the account's computers. Steps are present
// only where a listing answered. One that does not exist is a *GoneError.
func (c *Client) Get(ctx context.Context, id, account string) (*Computer, error) {
	found, err := c.listings.Get(ctx, account, id, func(ctx context.Context) (*Computer, error) { return c.GetUncached(ctx, id) })
	return found, c.accounts.GoneWithAccount(ctx, account, err)
}

// GetListed returns a computer as the listing shows it that all reads of the account's computers share, with its
// steps; nil if it is not there.
func (c *Client) GetListed(ctx context.Context, id, account string) (*Computer, error) {
	return c.listings.Lookup(ctx, account, id)
}

// GetWithSteps reads one computer with its provisioning steps, which only listings and the look-up by name return.
func (c *Client) GetWithSteps(ctx context.Context, id string) (*Computer, error) {
	found, err := c.listings.Lookup(ctx, "", id)
	if found != nil || err != nil && !collection.CannotList(err) {
		return found, err
	}
	found, err = c.Get(ctx, id, "")
	if err != nil || found.ServiceAccount() == "" {
		return found, err
	}
	listed, err := c.listings.Lookup(ctx, found.ServiceAccount(), id)
	if err == nil && listed == nil {
		return found, nil
	}
	return listed, err
}

// CompleteOwner completes a record with whether the API key's own account owns it, which an account's computer itself does not tell.
func (c *Client) CompleteOwner(ctx context.Context, found *Computer) error {
	if found.ServiceAccount() == "" {
		found.IsCallers = true
		return nil
	}
	own, err := c.listings.Lookup(ctx, "", found.ID)
	found.IsCallers = own != nil
	return err
}

// GetUncached reads one computer with a request of its own. The answer has no steps.
func (c *Client) GetUncached(ctx context.Context, id string) (*Computer, error) {
	return transport.CallObject[Computer](ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "getComputer", Method: http.MethodGet, Route: "/api/v0/computers/{computerId}"},
		Path: []string{id},
		Noun: "computer",
	}, id)
}

// Watch follows a computer; all watches of one account's computers share their looks. Steps are present only
// where a listing answered.
func (c *Client) Watch(id, account string) *collection.Watch[Computer] {
	return c.polls.Watch(account, id)
}

// GetByName reads the computer of that name, with its steps, among those of the service account, or of the caller if account is empty.
func (c *Client) GetByName(ctx context.Context, name, account string) (*Computer, error) {
	q := url.Values{"includeProvisioningSteps": {"true"}}
	transport.SetIf(q, "serviceAccountId", account)
	return transport.CallObject[Computer](ctx, c.conn, transport.Request{
		Op:    transport.Operation{Name: "getComputerByName", Method: http.MethodGet, Route: "/api/v0/computers/name/{name}"},
		Path:  []string{name},
		Query: q,
		Noun:  "computer",
	}, transport.NewObject)
}

// WithSteps completes a record that came without its steps, which only listings and the look-up by name return. An
// account that asks for its own computers may not name itself, so a refusal is followed by the look-up among the caller's.
func (c *Client) WithSteps(ctx context.Context, found *Computer) (*Computer, error) {
	if found.ProvisioningSteps != nil || found.WithoutSteps || found.ProviderType == ProviderBYOM {
		return found, nil
	}
	named, err := c.GetByName(ctx, found.Name, found.ServiceAccount())
	if transport.StatusOf(err) == http.StatusForbidden && found.ServiceAccount() != "" {
		named, err = c.GetByName(ctx, found.Name, "")
	}
	switch {
	case err != nil:
		return nil, err
	case !strings.EqualFold(named.ID, found.ID):
		return nil, fmt.Errorf("getComputerByName returned computer %s instead of %s, which may have been renamed; plan again", named.ID, found.ID)
	}
	named.IsCallers = found.IsCallers
	return named, nil
}

// Providers returns the managed providers that the organization may use.
func (c *Client) Providers(ctx context.Context) ([]string, error) {
	answer, err := transport.Call[struct {
		Providers []string `json:"providers"`
	}](ctx, c.conn, transport.Request{Op: transport.ListProviders})
	if err != nil {
		return nil, err
	}
	return answer.Providers, nil
}

// Create makes a computer and reconciles a lost answer; see creation. With a software draft the service
// itself recognizes a repetition, so that the request may be repeated; a computer that was made for the draft earlier is
// not taken over.
func (c *Client) Create(ctx context.Context, body CreateRequest) (*Computer, error) {
	account, mayReplay := body.ServiceAccountID, body.Source != nil && body.Source.SoftwareDraft != nil
	made, err := create.Named(ctx, c.conn, create.NamedObject[Computer]{
		Object:     "computer",
		Name:       body.Name,
		Collection: c.listings,
		Key:        account,
		ListedAs:   body.Name,
		Send: func(ctx context.Context) (*Computer, error) {
			return transport.CallObject[Computer](ctx, c.conn, transport.Request{
				Op:         transport.Operation{Name: "createComputer", Method: http.MethodPost, Route: "/api/v0/computers"},
				Body:       body,
				Noun:       "computer",
				Repeatable: mayReplay,
			}, transport.NewObject)
		},
		NameOf:    func(made *Computer) string { return made.Name },
		CreatedAt: func(made *Computer) transport.Millis { return made.CreatedAt },
		IsWanted:  body.isWanted,
		MayReplay: mayReplay,
		Describe:  (*Computer).existing,
	})
	if err != nil {
		c.listings.Invalidate(account)
		return nil, err
	}
	c.listings.Put(account, made)
	return made, nil
}

// Update changes what is set in body. A host ID can be assigned once, so a repetition after a lost answer meets
// a conflict; it counts as success where the computer is as wanted. Account is the service account under which the
// computer was made; empty is the owner of the API key.
func (c *Client) Update(ctx context.Context, id, account string, body UpdateRequest) (*Computer, error) {
	alone := func(ctx context.Context) (*Computer, error) { return c.GetUncached(ctx, id) }
	updated, err := transport.PatchObject(ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "updateComputer", Method: http.MethodPatch, Route: "/api/v0/computers/{computerId}"},
		Path: []string{id},
		Body: body,
		Noun: "computer",
	}, id, alone, body.matches)
	if transport.IsConflict(err) {
		if present, readErr := alone(ctx); readErr == nil && body.matches(present) {
			updated, err = present, nil
		}
	}
	if err != nil {
		c.listings.Invalidate(account)
		return nil, err
	}
	c.listings.Put(account, updated)
	return updated, nil
}

// Delete removes a computer: a managed one is shut down, a registration of an own machine is dropped. For one that
// is gone already the error is a *GoneError.
func (c *Client) Delete(ctx context.Context, id, account string) error {
	err := c.conn.CallIgnoringBody(ctx, transport.Request{
		Op:   transport.Operation{Name: "deleteComputer", Method: http.MethodDelete, Route: "/api/v0/computers/{computerId}"},
		Path: []string{id},
	})
	if transport.IsNotFound(err) {
		err = c.accounts.GoneWithAccount(ctx, account, c.listings.ConfirmGone(ctx, account, id, err))
	}
	c.listings.AfterDelete(account, id, err)
	return err
}

// RecordActivity advances the inactivity clock of an active managed computer and returns the new time.
func (c *Client) RecordActivity(ctx context.Context, id string) (time.Time, error) {
	answer, err := transport.Call[struct {
		LastActiveAt transport.Millis `json:"lastActiveAt"`
	}](ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "recordComputerActivity", Method: http.MethodPost, Route: "/api/v0/computers/{computerId}/activity", Repeatable: true},
		Path: []string{id},
	})
	if err != nil {
		return time.Time{}, err
	}
	return answer.LastActiveAt.Time(), nil
}

// InstallDeps starts an installation of dependencies. The service answers 409 while one runs.
func (c *Client) InstallDeps(ctx context.Context, id string) (*Computer, error) {
	defer c.listings.InvalidateAll()
	return transport.CallObject[Computer](ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "installComputerDeps", Method: http.MethodPost, Route: "/api/v0/computers/{computerId}/install-deps"},
		Path: []string{id},
		Noun: "computer",
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

// Metrics returns the samples since start, or those the service chooses if start is zero.
func (c *Client) Metrics(ctx context.Context, id string, start time.Time) ([]MetricsSample, error) {
	q := url.Values{}
	if !start.IsZero() {
		q.Set("start", start.UTC().Format(time.RFC3339))
	}
	answer, err := transport.Call[[]MetricsSample](ctx, c.conn, transport.Request{
		Op:    transport.Operation{Name: "getComputerMetrics", Method: http.MethodGet, Route: "/api/v0/computers/{computerId}/metrics"},
		Path:  []string{id},
		Query: q,
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

// Refresh renews Git credentials and secrets on a managed computer.
func (c *Client) Refresh(ctx context.Context, id string) (*RefreshResult, error) {
	return transport.Call[RefreshResult](ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "refreshComputer", Method: http.MethodPost, Route: "/api/v0/computers/{computerId}/refresh", Repeatable: true},
		Path: []string{id},
	})
}

// Restart resumes a managed computer and reports whether it had to be restarted.
func (c *Client) Restart(ctx context.Context, id string) (bool, error) {
	defer c.listings.InvalidateAll()
	answer, err := transport.Call[struct {
		WasRestarted bool `json:"wasRestarted"`
	}](ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "restartComputer", Method: http.MethodPost, Route: "/api/v0/computers/{computerId}/restart", Repeatable: true},
		Path: []string{id},
	})
	if err != nil {
		return false, err
	}
	return answer.WasRestarted, nil
}

// ListOwned lists all computers of a service account, those that are hidden too. It shares the listing of the reads.
func (c *Client) ListOwned(ctx context.Context, account string) ([]Computer, error) {
	return c.listings.All(ctx, account)
}

// CheckAccess says in the plan of a new computer or fleet whether the service refuses the provider. The creation needs
// the same listing, so the check adds no request.
func (c *Client) CheckAccess(ctx context.Context, account string) error {
	purpose := "computers"
	if account != "" {
		purpose = "computers of service accounts"
	}
	return c.conn.CheckOnce(purpose, func() error { _, err := c.listings.Snapshot(ctx, account, "", c.conn.LastResponseAt()); return err })
}
