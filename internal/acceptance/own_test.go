package acceptance

import (
	"context"
	"sync"
	"testing"

	"github.com/google/uuid"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
)

// shared is an object that many tests read and none changes. The first test that needs it creates it; the sweep at the end of
// the run deletes it. If the key's owner may not create it, each of the tests is skipped.
type shared[T any] struct {
	once   sync.Once
	object *T
	err    error
}

func (s *shared[T]) get(t *testing.T, create func(context.Context, *client.Client) (*T, error)) *T {
	t.Helper()
	c := connect(t)
	s.once.Do(func() {
		// The object outlives the test.
		s.object, s.err = create(context.WithoutCancel(t.Context()), c)
	})
	must(t, s.err)
	return s.object
}

var (
	sharedAccount     shared[serviceaccounts.Account]
	sharedKey         shared[serviceaccounts.MintedAPIKey]
	sharedMachine     shared[computers.Computer]
	sharedEnvironment shared[environments.Environment]
)

// ownAccount returns a service account that the suite created.
func ownAccount(t *testing.T) *serviceaccounts.Account {
	t.Helper()
	return sharedAccount.get(t, func(ctx context.Context, c *client.Client) (*serviceaccounts.Account, error) {
		return c.ServiceAccounts.Create(ctx, serviceaccounts.CreateRequest{Name: newName(t, "account"), Description: "Created by an acceptance test."})
	})
}

// ownKey returns a key of ownAccount.
func ownKey(t *testing.T) *serviceaccounts.MintedAPIKey {
	t.Helper()
	account := ownAccount(t)
	return sharedKey.get(t, func(ctx context.Context, c *client.Client) (*serviceaccounts.MintedAPIKey, error) {
		return c.ServiceAccounts.CreateKey(ctx, serviceaccounts.NewAPIKey{AccountID: account.ID, Name: newName(t, "key")})
	})
}

// remoteUser is the user of registered machines. The documents leave open whether it may be missing.
const remoteUser = "dev"

// ownMachine returns a registered machine that the suite created. There is no machine behind it.
func ownMachine(t *testing.T) *computers.Computer {
	t.Helper()
	return sharedMachine.get(t, func(ctx context.Context, c *client.Client) (*computers.Computer, error) {
		return c.Computers.Create(ctx, computers.CreateRequest{Name: newName(t, "machine"), Provider: computers.ProviderBYOM, HostID: uuid.NewString(), RemoteUser: remoteUser})
	})
}

// ownEnvironment returns an environment of the user's scope. Its first build may be running.
func ownEnvironment(t *testing.T) *environments.Environment {
	t.Helper()
	repositories := []environments.Repository{}
	if url := environmentRepository(t); url != "" {
		repositories = append(repositories, environments.Repository{URL: url, Script: "true"})
	}
	return sharedEnvironment.get(t, func(ctx context.Context, c *client.Client) (*environments.Environment, error) {
		return c.Environments.Create(ctx, environments.CreateRequest{Name: newName(t, "environment"), Scope: environments.ScopeUser, Repositories: repositories})
	})
}
