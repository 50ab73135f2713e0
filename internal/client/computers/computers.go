// Package computers calls the operations on computers, and on the files in their workspaces.
package computers

import (
	"context"
	"net/url"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Client calls the operations on computers.
type Client struct {
	conn *transport.Conn

	accounts *serviceaccounts.Client
	ledger   *create.Ledger[Computer]
	polls    *collection.Poller[Computer]
}

// New returns a client for computers.
func New(conn *transport.Conn, accounts *serviceaccounts.Client) *Client {
	c := &Client{conn: conn, accounts: accounts}
	c.ledger = create.NewLedger(conn, c.listForReads)
	c.polls = collection.NewPoller(conn, collection.PollSource[Computer]{
		Single: c.GetUncached,
		Many: func(ctx context.Context, account string, _ []string) ([]Computer, error) {
			return c.listForReads(ctx, account)
		},
		AfterWait: func(account string) { c.ledger.Invalidate(account) },
		Status:    (*Computer).reportedState,
	})
	return c
}

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
	if f.IncludeUnlisted {
		q.Set("includeUnlisted", "true")
	}
	if f.IncludeProvisioningSteps {
		q.Set("includeProvisioningSteps", "true")
	}
	return q
}

// List lists computers, newest first. The operation has no pages.
func (c *Client) List(ctx context.Context, filter Filter) ([]Computer, error) {
	r := transport.Get("listComputers", "/api/v0/computers").Where(filter.query())
	found, err := transport.CallList[Computer](ctx, c.conn, r, "computers", nil)
	wire.SortNewestFirst(found)
	for i := range found {
		found[i].IsCallers = filter.ServiceAccountID == ""
	}
	return found, err
}

// listForReads lists every computer that may be in a state, including unlisted ones, with steps. The key of the collection
// is the service account that owns the computers; empty is the caller.
func (c *Client) listForReads(ctx context.Context, account string) ([]Computer, error) {
	return c.List(ctx, Filter{ServiceAccountID: account, IncludeUnlisted: true, IncludeProvisioningSteps: true})
}

// Get reads one computer. Reads in a short time share one listing of the account's computers. Steps are set only if the
// computer is from a listing. If it does not exist, the error is a *MissingError.
func (c *Client) Get(ctx context.Context, id, account string) (*Computer, error) {
	found, err := c.ledger.Get(ctx, account, id, c.GetUncached)
	return found, c.missing(ctx, account, err)
}

// missing turns the 404 of a computer into a *MissingError. With an account, the service may return the same 404 to a key whose role is too
// low, so the listing of the account's computers must answer too.
func (c *Client) missing(ctx context.Context, account string, err error) error {
	if account != "" && transport.IsNotFound(err) {
		if _, listErr := c.ListOwned(ctx, account); listErr != nil {
			return c.accounts.GoneWithAccount(ctx, account, listErr)
		}
	}
	return collection.Gone(err)
}

// Peek returns a computer from the listing that reads share now, without a request, or nil.
func (c *Client) Peek(ctx context.Context, id, account string) *Computer {
	return c.ledger.Peek(ctx, account, id)
}

// LookupWithSteps returns a computer with its steps from the listing that reads of the account's computers share, or nil.
func (c *Client) LookupWithSteps(ctx context.Context, id, account string) (*Computer, error) {
	return c.ledger.Lookup(ctx, account, id)
}

// GetWithSteps reads one computer with its provisioning steps, which only listings and getComputerByName return.
func (c *Client) GetWithSteps(ctx context.Context, id string) (*Computer, error) {
	found, err := c.ledger.Lookup(ctx, "", id)
	if found != nil || err != nil && !collection.CannotList(err) {
		return found, err
	}
	found, err = c.Get(ctx, id, "")
	if err != nil || found.ServiceAccount() == "" {
		return found, err
	}
	listed, err := c.ledger.Lookup(ctx, found.ServiceAccount(), id)
	if err == nil && listed == nil {
		return found, nil
	}
	return listed, err
}

// CompleteOwner sets IsCallers, which the record of a service account's computer does not show.
func (c *Client) CompleteOwner(ctx context.Context, found *Computer) error {
	if found.ServiceAccount() == "" {
		found.IsCallers = true
		return nil
	}
	callers, err := c.ledger.Lookup(ctx, "", found.ID)
	found.IsCallers = callers != nil
	return err
}

// GetUncached reads one computer alone. The response has no steps.
func (c *Client) GetUncached(ctx context.Context, id string) (*Computer, error) {
	return transport.CallObject[Computer](ctx, c.conn, transport.Get("getComputer", "/api/v0/computers/{computerId}", id), "computer", id)
}

// Watch follows a computer. All watches of an account's computers share their polls. Steps are set only if the computer is
// from a listing.
func (c *Client) Watch(id, account string) *collection.Watch[Computer] {
	return c.polls.Watch(account, id)
}

// GetByName reads the computer with a name, including its steps. An empty account is the caller.
func (c *Client) GetByName(ctx context.Context, name, account string) (*Computer, error) {
	q := url.Values{"includeProvisioningSteps": {"true"}}
	transport.SetIf(q, "serviceAccountId", account)
	r := transport.Get("getComputerByName", "/api/v0/computers/name/{name}", name).Where(q)
	return transport.CallObject[Computer](ctx, c.conn, r, "computer", wire.AnyID)
}

// isNamed compares names exactly, because the service says which ones it takes for equal.
func isNamed(name string) func(*Computer) bool {
	return func(c *Computer) bool { return c.Name == name }
}

// Create creates a computer, and finds it after a lost response; see create.Named. A computer that the service
// created earlier for the same software draft is an error.
func (c *Client) Create(ctx context.Context, body CreateRequest) (*Computer, error) {
	return create.Named(ctx, c.ledger, create.NamedObject[Computer]{
		Name:    body.Name,
		Key:     body.ServiceAccountID,
		HasName: isNamed(body.Name),
		Send: func(ctx context.Context) (*Computer, error) {
			r := transport.Post("createComputer", "/api/v0/computers").With(body)
			return transport.CallObject[Computer](ctx, c.conn, r, "computer", wire.AnyID)
		},
		IsWanted: body.isWanted,
	})
}

// Update changes the fields that are set in body. A host ID can be set only once, so a retry after a lost response gets a 409,
// which is success if the computer matches the request. Account is the service account that owns the computer; empty is the
// caller.
func (c *Client) Update(ctx context.Context, id, account string, body UpdateRequest) (*Computer, error) {
	r := transport.Patch("updateComputer", "/api/v0/computers/{computerId}", id).With(body)
	var hasName func(*Computer) bool
	if body.IsRename() {
		hasName = isNamed(*body.Name)
	}
	updated, err := c.ledger.Update(ctx, account, hasName, func() (*Computer, error) {
		return transport.PatchObject(ctx, c.conn, r, "computer", id, c.GetUncached)
	})
	if transport.IsConflict(err) {
		if present, readErr := c.GetUncached(ctx, id); readErr == nil && body.matches(present) {
			return c.ledger.AfterWrite(account, present, nil)
		}
	}
	return updated, err
}

// Delete deletes a computer. Of a registered machine, only the registration is deleted. If it is already gone, the error is a
// *MissingError.
func (c *Client) Delete(ctx context.Context, id, account string) error {
	err := c.conn.CallIgnoringBody(ctx, transport.Delete("deleteComputer", "/api/v0/computers/{computerId}", id))
	return c.ledger.AfterDelete(account, id, c.missing(ctx, account, err))
}

// RecordActivity advances the inactivity clock of an active managed computer and returns the new time.
func (c *Client) RecordActivity(ctx context.Context, id string) (time.Time, error) {
	response, err := transport.Call[struct {
		LastActiveAt wire.Millis `json:"lastActiveAt"`
	}](ctx, c.conn, transport.Post("recordComputerActivity", "/api/v0/computers/{computerId}/activity", id).Repeatable())
	if err != nil {
		return time.Time{}, err
	}
	return response.LastActiveAt.Time(), nil
}

// InstallDeps starts an installation of dependencies. The service returns 409 while one runs.
func (c *Client) InstallDeps(ctx context.Context, id string) (*Computer, error) {
	defer c.ledger.InvalidateAll()
	r := transport.Post("installComputerDeps", "/api/v0/computers/{computerId}/install-deps", id)
	return transport.CallObject[Computer](ctx, c.conn, r, "computer", id)
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
	r := transport.Get("getComputerMetrics", "/api/v0/computers/{computerId}/metrics", id).Where(q)
	samples, err := transport.Call[[]MetricsSample](ctx, c.conn, r)
	if err != nil {
		return nil, err
	}
	return *samples, nil
}

// RefreshResult counts what was refreshed on a computer.
type RefreshResult struct {
	Configured        int64 `json:"configured"`
	SecretsConfigured int64 `json:"secretsConfigured"`
}

// Refresh refreshes Git credentials and secrets on a managed computer.
func (c *Client) Refresh(ctx context.Context, id string) (*RefreshResult, error) {
	r := transport.Post("refreshComputer", "/api/v0/computers/{computerId}/refresh", id).Repeatable()
	return transport.Call[RefreshResult](ctx, c.conn, r)
}

// Restart resumes a managed computer and reports whether it had to be restarted.
func (c *Client) Restart(ctx context.Context, id string) (bool, error) {
	defer c.ledger.InvalidateAll()
	response, err := transport.Call[struct {
		WasRestarted bool `json:"wasRestarted"`
	}](ctx, c.conn, transport.Post("restartComputer", "/api/v0/computers/{computerId}/restart", id).Repeatable())
	if err != nil {
		return false, err
	}
	return response.WasRestarted, nil
}

// ListOwned lists all computers of a service account, including unlisted ones. It shares the listing of the reads.
func (c *Client) ListOwned(ctx context.Context, account string) ([]Computer, error) {
	return c.ledger.All(ctx, account)
}

// CheckAccess checks during a plan that the key, its role, and base_url can manage computers.
func (c *Client) CheckAccess(ctx context.Context, account string) error {
	return c.ledger.CheckAccess(ctx, account)
}
