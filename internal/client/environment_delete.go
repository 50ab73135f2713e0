package client

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	// siblingPatience is how long the deletion of the default environment waits for that of another one to begin or to end.
	siblingPatience = 30 * time.Second
	// deletePause is how long a deletion that was refused waits before it is tried again.
	deletePause = 2 * time.Second
)

// KeptError says why the service keeps an environment that was to be deleted.
type KeptError struct {
	// IsDefault says that it is the organization's default, and others stay. Otherwise a build of it runs.
	IsDefault bool
	// Err is the service's answer.
	Err error
}

func (e *KeptError) Error() string { return e.Err.Error() }

func (e *KeptError) Unwrap() error { return e.Err }

// DeleteEnvironment deletes an environment. The service refuses that while a build runs, which is cancelled then, and for
// the organization's default while other environments exist: as long as this process deletes others too, it is tried
// again, for timeout at most. For one that is gone already the error is a *GoneError, and for one that is kept, where
// it shows why, a *KeptError.
func (c *Client) DeleteEnvironment(ctx context.Context, id string, timeout time.Duration) error {
	c.deletions.move(1, c.clock.Now())
	err := c.deleteEnvironment(ctx, id, timeout)
	if !IsGone(err) {
		c.environments.discardAll()
	}
	c.environments.ended(organization, id, err)
	c.deletions.move(-1, c.clock.Now())
	return err
}

// deleteEnvironment tries until the environment is gone, or there is no sense in going on: then the error is the last
// refusal, or why what stands in the way could not be removed.
func (c *Client) deleteEnvironment(ctx context.Context, id string, timeout time.Duration) error {
	deadline := c.clock.Now().Add(timeout)
	found := nothingFound
	for unexplained := 0; ; {
		err := c.callNoAnswer(ctx, request{
			op:   operation{name: "deleteEnvironment", method: http.MethodDelete, route: "/api/v0/environments/{environmentId}"},
			path: []string{id},
		})
		if IsNotFound(err) {
			return c.environments.confirmGone(ctx, organization, id, err)
		}
		if !IsConflict(err) {
			return err
		}
		if !c.clock.Now().Before(deadline) {
			return found.explain(err)
		}
		var lookErr error
		found, lookErr = c.makeWay(ctx, id)
		if found == nothingFound {
			unexplained++
		}
		switch {
		case lookErr != nil:
			return fmt.Errorf("%w (to mend that %s)", lookErr, err.Error())
		case found == staysDefault, unexplained > maxUnexplained, c.clock.Sleep(ctx, deletePause) != nil:
			return found.explain(err)
		}
	}
}

// obstacle is what a deletion was refused for.
type obstacle int

const (
	// nothingFound may mean that what was in the way has ended meanwhile.
	nothingFound obstacle = iota
	// wasBuilding had a build that is cancelled.
	wasBuilding
	// waitsAsDefault is the organization's default, and others are being deleted, or were a short while ago.
	waitsAsDefault
	// staysDefault is the organization's default, and nobody deletes another environment.
	staysDefault
	// isGone is an environment that somebody else has deleted.
	isGone
)

// explain adds to a refusal what it was for, where that is known.
func (o obstacle) explain(err error) error {
	switch o {
	case wasBuilding:
		return &KeptError{Err: err}
	case waitsAsDefault, staysDefault:
		return &KeptError{IsDefault: true, Err: err}
	case nothingFound, isGone:
	}
	return err
}

// maxUnexplained is how many refusals without a reason that can be seen are followed by another attempt.
const maxUnexplained = 2

// makeWay looks what a deletion was refused for, and removes it where that is possible. A build is cancelled only where
// nothing else is in the way: the default that stays after all must not lose it.
func (c *Client) makeWay(ctx context.Context, id string) (obstacle, error) {
	e, err := c.EnvironmentAlone(ctx, id)
	switch {
	case IsNotFound(err):
		return isGone, nil
	case err != nil:
		return nothingFound, err
	}
	if err := c.tellDefault(ctx, e); err != nil {
		return nothingFound, err
	}
	builds := e.LatestBuild != nil && (e.Status == EnvironmentBuilding || e.LatestBuild.isRunning())
	if e.IsDefault != nil && *e.IsDefault {
		// What is refused without a build has siblings, and those that are being deleted need not be looked for.
		stays := true
		if builds && !c.deletions.othersRun() {
			if stays, err = c.hasSiblings(ctx, id); err != nil {
				return nothingFound, err
			}
		}
		switch {
		case stays && c.deletions.goOn(c.clock.Now()):
			return waitsAsDefault, nil
		case stays:
			return staysDefault, nil
		}
	}
	if !builds {
		return nothingFound, nil
	}
	err = c.CancelBuild(ctx, id, e.LatestBuild.ID)
	if IsConflict(err) || IsNotFound(err) {
		err = nil // It has ended meanwhile.
	}
	return wasBuilding, err
}

// hasSiblings reports that there are other environments that can be the organization's default, as the service shows them now.
func (c *Client) hasSiblings(ctx context.Context, id string) (bool, error) {
	c.environments.discard(organization)
	all, err := c.environments.all(ctx, organization)
	return slices.ContainsFunc(all, func(e Environment) bool { return !strings.EqualFold(e.ID, id) && e.Scope != ScopeUser }), err
}

// traffic knows what of a kind goes on in this process.
type traffic struct {
	mu      sync.Mutex
	running int
	// moved is when one began or ended last.
	moved time.Time
}

// move notes that one has begun (1) or ended (-1), or merely shown up (0).
func (t *traffic) move(by int, now time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running += by
	t.moved = now
}

// goOn reports, to one that runs, that another one does, or that something has begun or ended a short while ago.
func (t *traffic) goOn(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running > 1 || now.Sub(t.moved) < siblingPatience
}

// othersRun reports, to one that runs, that another one does.
func (t *traffic) othersRun() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.running > 1
}

// quietIn is when to look again whether it is quiet; not positive where it is. What runs and does not move is not waited for long.
func (t *traffic) quietIn(now time.Time) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.running > 0 {
		return min(gatherReads, t.moved.Add(hangsAfter).Sub(now))
	}
	return t.moved.Add(gatherReads).Sub(now)
}
