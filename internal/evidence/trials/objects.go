package trials

import (
	"context"
	"fmt"
	"strings"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// The routes that several trials use.
const (
	accounts      = "/service-accounts"
	account       = "/service-accounts/{id}"
	keys          = "/service-accounts/{id}/api-keys"
	revocation    = "/service-accounts/{id}/api-keys/{keyId}/revoke"
	rotation      = "/service-accounts/{id}/api-keys/{keyId}/rotate"
	computers     = "/computers"
	computer      = "/computers/{id}"
	environments  = "/environments"
	environment   = "/environments/{id}"
	defaultChoice = "/environments/default"
	userLimits    = "/organization/usage/limits/users"
	history       = "/organization/enterprise-controls/history"
	members       = "/organization/users"
	sessions      = "/sessions"
	session       = "/sessions/{id}"
	wiki          = "/wiki"
)

// create posts an object, and has it deleted at the end if it was accepted.
func (x *exam) create(route string, body any) answer {
	a := x.post(route, body)
	if a.ok() {
		x.laterDelete(route, a.record().Text("id"))
	}
	return a
}

func (x *exam) laterDelete(route, id string) {
	if route == environments {
		x.laterEnvironment(id)
		return
	}
	if id == "" {
		x.later(func(context.Context) error {
			return fmt.Errorf("a creation under %s was accepted without an ID, so nobody knows what to delete", route)
		})
		return
	}
	x.laterGone(id+" under "+route, func(c caller) answer { return c.remove(route+"/{id}", id) })
}

// laterGone has an object removed at the end, unless it is gone by then.
func (x *exam) laterGone(what string, remove func(caller) answer) {
	x.later(func(ctx context.Context) error {
		a := remove(caller{ctx, x.conn})
		if !a.ok() && a.status != 404 {
			return fmt.Errorf("removing %s was %s", what, a.said())
		}
		return nil
	})
}

// laterEnvironment has an environment deleted, whose build may still run then.
func (x *exam) laterEnvironment(id string) {
	x.later(func(ctx context.Context) error {
		err := x.client.Environments.Delete(ctx, id)
		if err != nil && !transport.IsNotFound(err) && !collection.IsGone(err) {
			// The client cancels a build only if its deletion is answered as assumed.
			c := caller{ctx, x.conn}
			c.post("/environments/{id}/builds/{buildId}/cancel", nil, id, c.get(environment, id).record().Object("latestBuild").Text("id"))
			err = x.client.Environments.Delete(ctx, id)
		}
		if err == nil || transport.IsNotFound(err) || collection.IsGone(err) {
			return nil
		}
		return fmt.Errorf("deleting environment %s: %w", id, err)
	})
}

// padded returns a name with exactly n characters.
func padded(name string, n int) string { return name + strings.Repeat("x", max(0, n-len(name))) }

// unknownID has the form of IDs that services use, and is nobody's.
const unknownID = "7f3f2d0c-5b1e-4a6e-9d53-0c1b2a394857"
