// Package environments calls the operations on environments, their builds, and the default environment.
package environments

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/memo"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Client calls the operations on environments and their builds.
type Client struct {
	conn *transport.Conn

	ledger     *create.Ledger[Environment]
	buildPolls *collection.Poller[BuildStatus]
	sources    *memo.Memo[*SourceOptions]
}

// New returns a client for environments and their builds.
func New(conn *transport.Conn) *Client {
	c := &Client{conn: conn, sources: memo.New[*SourceOptions](conn.Clock, 0)}
	c.ledger = create.NewLedger(conn, c.list)
	c.buildPolls = collection.NewPoller(conn, collection.PollSource[BuildStatus]{
		Single:    c.singleBuildStatus,
		Many:      c.BuildStatuses,
		AfterWait: func(string) { c.ledger.InvalidateAll() },
		Status:    func(build *BuildStatus) string { return build.EnvironmentStatus },
	})
	return c
}

// List returns the environments that the API key can see, or those of a service account, ordered by name. Calls in a short
// time share one listing.
func (c *Client) List(ctx context.Context, account string) ([]Environment, error) {
	all, err := c.ledger.All(ctx, account)
	wire.SortByName(all)
	return all, err
}

// Find returns the environments that are wanted, from the same listing.
func (c *Client) Find(ctx context.Context, account string, isWanted func(*Environment) bool) ([]Environment, error) {
	return c.ledger.Find(ctx, account, isWanted)
}

func (c *Client) list(ctx context.Context, account string) ([]Environment, error) {
	found, _, err := c.listWithDefault(ctx, account)
	return found, err
}

func (c *Client) listWithDefault(ctx context.Context, account string) (found []Environment, id string, err error) {
	q := url.Values{}
	transport.SetIf(q, "serviceAccountId", account)
	r := transport.Get("listEnvironments", "/api/v0/environments").Where(q)
	var envelope struct {
		DefaultEnvironmentID json.RawMessage `json:"defaultEnvironmentId"`
	}
	if found, err = transport.CallList[Environment](ctx, c.conn, r, "environments", &envelope); err != nil {
		return nil, "", err
	}
	id, _ = wire.TextOf(envelope.DefaultEnvironmentID)
	// A bare list has no envelope. Its objects say which one is the default.
	for i := range found {
		if found[i].IsDefault != nil && *found[i].IsDefault {
			id = cmp.Or(id, found[i].ID)
		}
	}
	for i := range found {
		found[i].isListed, found[i].organizationDefault = true, id
		if found[i].IsDefault == nil {
			isDefault := found[i].ID == id
			found[i].IsDefault = &isDefault
		}
	}
	return found, id, nil
}

// Get reads one environment. Reads in a short time share one listing; only a failed environment needs its own request. If the
// environment does not exist, the error is a *MissingError.
func (c *Client) Get(ctx context.Context, id string) (*Environment, error) {
	found, err := c.ledger.Get(ctx, collection.Organization, id, c.GetUncached)
	if err != nil {
		return nil, err
	}
	return c.Complete(ctx, found)
}

// GetUncached reads one environment alone.
func (c *Client) GetUncached(ctx context.Context, id string) (*Environment, error) {
	return transport.CallObject[Environment](ctx, c.conn, transport.Get("getEnvironment", "/api/v0/environments/{environmentId}", id), "environment", id)
}

// GetNow reads one environment alone, as complete as Get.
func (c *Client) GetNow(ctx context.Context, id string) (*Environment, error) {
	found, err := c.GetUncached(ctx, id)
	if err != nil {
		return nil, err
	}
	return c.Complete(ctx, found)
}

// Complete adds what records may lack: those from a listing why they failed, and those of a single read whether they are the
// default.
func (c *Client) Complete(ctx context.Context, e *Environment) (_ *Environment, err error) {
	if e.isListed && e.HasFailed() {
		if e, err = c.GetUncached(ctx, e.ID); err != nil {
			return nil, collection.Gone(err)
		}
	}
	if e.IsDefault != nil {
		return e, nil
	}
	id, err := c.Default(ctx, collection.Organization)
	switch {
	case collection.CannotList(err):
		return e, nil
	case err != nil:
		return nil, err
	}
	isDefault := id == e.ID
	e.IsDefault = &isDefault
	return e, nil
}

// Create creates an environment and starts its first build, and finds the environment after a lost response; see create.Named.
// The response has only IDs, so the other fields are those of the request.
func (c *Client) Create(ctx context.Context, body CreateRequest) (*Environment, error) {
	created, err := create.Named(ctx, c.ledger, create.NamedObject[Environment]{
		Name:    body.Name,
		Key:     collection.Organization,
		HasName: body.hasName,
		Send: func(ctx context.Context) (*Environment, error) {
			change, err := transport.CallObject[Change](ctx, c.conn, transport.Post("createEnvironment", "/api/v0/environments").With(body), "environment", wire.AnyID)
			if err != nil {
				return nil, err
			}
			return body.requested(change), nil
		},
		IsWanted: body.isWanted,
	})
	c.ledger.InvalidateAll() // Also those of accounts; Named drops only the organization's.
	return created, err
}

// Update changes the fields that are set in body, if any, and returns the ID of the build that this started, or empty. Scope is the
// environment's, in which a new name is taken.
func (c *Client) Update(ctx context.Context, id, scope string, body UpdateRequest) (buildID string, err error) {
	if body.isEmpty() {
		return "", nil
	}
	r := transport.Patch("updateEnvironment", "/api/v0/environments/{environmentId}", id).With(body)
	if body.Name == nil {
		return c.change(ctx, id, r)
	}
	// For the Ledger, only ID, name, and scope count.
	renamed := CreateRequest{Name: *body.Name, Scope: scope}
	_, err = c.ledger.Update(ctx, collection.Organization, renamed.hasName, func() (_ *Environment, err error) {
		buildID, err = c.change(ctx, id, r)
		return renamed.requested(&Change{ID: id}), err
	})
	return buildID, err
}

// CheckAccess checks during a plan that the key, its role, and base_url can manage environments.
func (c *Client) CheckAccess(ctx context.Context) error {
	return c.ledger.CheckAccess(ctx, collection.Organization)
}

// deleteRetryTime is how long a deletion is retried after a 409.
const deleteRetryTime = 30 * time.Second

// Delete deletes an environment. The service returns 409 while a build runs, and for the organization's default while it has others. After
// a 409, Delete cancels a running build and retries. The build of a default beside others is not canceled, because the
// deletion would still be refused. If the environment is already gone, the error is a *MissingError.
func (c *Client) Delete(ctx context.Context, id string) error {
	defer c.ledger.InvalidateAll()
	r := transport.Delete("deleteEnvironment", "/api/v0/environments/{environmentId}", id)
	err := c.conn.CallIgnoringBody(ctx, r)
	if transport.IsConflict(err) {
		refusal, lookAgain := err, true
		err = c.conn.Until(ctx, deleteRetryTime, time.Second, transport.IsConflict, func() error {
			if lookAgain {
				var cancelErr error
				if lookAgain, cancelErr = c.cancelLatestBuild(ctx, id); cancelErr != nil {
					return fmt.Errorf("%s; canceling the build failed: %w", refusal.Error(), cancelErr)
				}
			}
			return c.conn.CallIgnoringBody(ctx, r)
		})
	}
	return c.ledger.AfterDelete(collection.Organization, id, collection.Gone(err))
}

// cancelLatestBuild cancels an environment's latest build if it is running, unless the environment is the default beside others of the
// organization, which the service does not delete. LookAgain is then true: the others may go meanwhile.
func (c *Client) cancelLatestBuild(ctx context.Context, id string) (lookAgain bool, err error) {
	e, err := c.GetNow(ctx, id)
	if err == nil && e.IsBuilding() && e.LatestBuildID() != "" {
		if e.IsDefault != nil && *e.IsDefault && !c.isLast(ctx, id) {
			return true, nil
		}
		err = c.CancelBuild(ctx, id, e.LatestBuildID())
	}
	if transport.IsNotFound(err) || transport.IsConflict(err) {
		return false, nil // The build or the environment has gone in the meantime.
	}
	return false, err
}

// isLast reports whether the organization has no other environment. Those of the caller alone do not count.
func (c *Client) isLast(ctx context.Context, id string) bool {
	all, err := c.list(ctx, collection.Organization)
	return err == nil && !slices.ContainsFunc(all, func(e Environment) bool { return e.ID != id && e.Scope != ScopeUser })
}
