package environments

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// deleteRetryTime is how long a deletion is retried after a 409.
const deleteRetryTime = 30 * time.Second

// Delete deletes an environment. The service returns 409 while a build runs, and for the organization's default while others
// exist. After a 409, Delete cancels a running build and retries. If the environment is already gone, the error is a *MissingError.
func (c *Client) Delete(ctx context.Context, id string) error {
	err := c.deleteOrRetry(ctx, id)
	if !collection.IsGone(err) {
		c.listings.InvalidateAll()
	}
	return c.listings.AfterDelete(collection.Organization, id, err)
}

func (c *Client) deleteOrRetry(ctx context.Context, id string) error {
	r := transport.Request{
		Op:   transport.Operation{Name: "deleteEnvironment", Method: http.MethodDelete, Route: "/api/v0/environments/{environmentId}"},
		Path: []string{id},
	}
	err := c.conn.CallIgnoringBody(ctx, r)
	if transport.IsConflict(err) {
		if cancelErr := c.cancelLatestBuild(ctx, id); cancelErr != nil {
			return fmt.Errorf("%s; canceling the build failed: %w", err.Error(), cancelErr)
		}
		err = c.conn.Until(ctx, deleteRetryTime, time.Second, transport.IsConflict, func() error { return c.conn.CallIgnoringBody(ctx, r) })
	}
	return collection.Gone(err)
}

// cancelLatestBuild cancels an environment's latest build if it is running.
func (c *Client) cancelLatestBuild(ctx context.Context, id string) error {
	e, err := c.GetUncached(ctx, id)
	if err == nil && e.IsBuilding() {
		err = c.CancelBuild(ctx, id, e.LatestBuild.ID)
	}
	if transport.IsNotFound(err) || transport.IsConflict(err) {
		return nil // The build or the environment has gone in the meantime.
	}
	return err
}
