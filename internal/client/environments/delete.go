package environments

import (
	"context"
	"fmt"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// deleteRetryTime is how long a deletion is retried after a 409.
const deleteRetryTime = 30 * time.Second

// Delete deletes an environment. The service returns 409 while a build runs, and for the organization's default while others
// exist. After a 409, Delete cancels a running build and retries, unless the environment is such a default. If the environment is already
// gone, the error is a *MissingError.
func (c *Client) Delete(ctx context.Context, id string) error {
	err := c.deleteOrRetry(ctx, id)
	if !collection.IsGone(err) {
		c.listings.InvalidateAll()
	}
	return c.listings.AfterDelete(collection.Organization, id, err)
}

func (c *Client) deleteOrRetry(ctx context.Context, id string) error {
	r := transport.Delete("deleteEnvironment", "/api/v0/environments/{environmentId}", id)
	err := c.conn.CallIgnoringBody(ctx, r)
	if transport.IsConflict(err) {
		isKept, cancelErr := c.cancelLatestBuild(ctx, id)
		switch {
		case isKept:
			return err
		case cancelErr != nil:
			return fmt.Errorf("%s; canceling the build failed: %w", err.Error(), cancelErr)
		}
		err = c.conn.Until(ctx, deleteRetryTime, time.Second, transport.IsConflict, func() error { return c.conn.CallIgnoringBody(ctx, r) })
	}
	return collection.Gone(err)
}

// cancelLatestBuild cancels an environment's latest build if it is running, unless the environment is the default beside others, which
// the service does not delete.
func (c *Client) cancelLatestBuild(ctx context.Context, id string) (isKept bool, err error) {
	e, err := c.GetUncached(ctx, id)
	if err == nil && e.IsBuilding() {
		if e.IsDefault != nil && *e.IsDefault {
			if all, listErr := c.list(ctx, collection.Organization); listErr != nil || len(all) > 1 {
				return true, nil
			}
		}
		err = c.CancelBuild(ctx, id, e.LatestBuild.ID)
	}
	if transport.IsNotFound(err) || transport.IsConflict(err) {
		return false, nil // The build or the environment has gone in the meantime.
	}
	return false, err
}
