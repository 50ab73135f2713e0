package client

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	// deletePatience is how long a refused deletion is retried.
	deletePatience = 30 * time.Second
	// deletePause is the time between two attempts.
	deletePause = 2 * time.Second
)

// DeleteEnvironment deletes an environment. The service refuses this with a 409 while a build runs, which is canceled, and for
// the organization's default while others exist. After a 409 it tries again for a while. If the environment is already gone,
// the error is a *GoneError.
func (c *environmentsClient) DeleteEnvironment(ctx context.Context, id string) error {
	err := c.deleteEnvironment(ctx, id)
	if !IsGone(err) {
		c.environments.discardAll()
	}
	c.environments.ended(organization, id, err)
	return err
}

func (c *environmentsClient) deleteEnvironment(ctx context.Context, id string) error {
	for deadline := c.Clock.Now().Add(deletePatience); ; {
		err := c.callNoAnswer(ctx, request{
			op:   operation{name: "deleteEnvironment", method: http.MethodDelete, route: "/api/v0/environments/{environmentId}"},
			path: []string{id},
		})
		if IsNotFound(err) {
			return c.environments.confirmGone(ctx, organization, id, err)
		}
		if !IsConflict(err) || !c.Clock.Now().Before(deadline) {
			return err
		}
		if cancelErr := c.cancelLatestBuild(ctx, id); cancelErr != nil {
			return fmt.Errorf("%s; canceling the build failed: %w", err.Error(), cancelErr)
		}
		if c.Clock.Sleep(ctx, deletePause) != nil {
			return err
		}
	}
}

// cancelLatestBuild cancels an environment's latest build if it is running.
func (c *environmentsClient) cancelLatestBuild(ctx context.Context, id string) error {
	e, err := c.EnvironmentAlone(ctx, id)
	if err == nil && e.LatestBuild != nil && (e.Status == EnvironmentBuilding || e.LatestBuild.isRunning()) {
		err = c.CancelBuild(ctx, id, e.LatestBuild.ID)
	}
	if IsNotFound(err) || IsConflict(err) {
		return nil // The build or the environment has gone in the meantime.
	}
	return err
}
