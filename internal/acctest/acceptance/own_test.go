package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/serviceaccounts"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
)

// shared is an object that many tests read and none changes. The first test that needs it creates it; the sweep at the end of
// the run deletes it. If the key's owner may not create it, each of the tests is skipped.
type shared[T any] struct {
	once   sync.Once
	object T
	err    error
}

func (s *shared[T]) get(t *testing.T, create func(context.Context, *client.Client) (T, error)) T {
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
	sharedAccount     shared[*serviceaccounts.Account]
	sharedKey         shared[*serviceaccounts.MintedAPIKey]
	sharedMachine     shared[*computers.Computer]
	sharedEnvironment shared[*environments.Environment]
	sharedManaged     shared[*computers.Computer]
	sharedSession     shared[*sessions.Session]
	sharedWikiRun     shared[*wikis.Run]
)

// ownAccount returns a service account that the suite created.
func ownAccount(t *testing.T) *serviceaccounts.Account {
	t.Helper()
	return sharedAccount.get(t, func(ctx context.Context, c *client.Client) (*serviceaccounts.Account, error) {
		return createAccount(ctx, c, newName(t, "account"))
	})
}

func createAccount(ctx context.Context, c *client.Client, name string) (*serviceaccounts.Account, error) {
	return c.ServiceAccounts.Create(ctx, serviceaccounts.CreateRequest{Name: name, Description: "Created by an acceptance test."})
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
	request := environmentRequest(t, "environment", environments.ScopeUser)
	return sharedEnvironment.get(t, func(ctx context.Context, c *client.Client) (*environments.Environment, error) {
		return c.Environments.Create(ctx, request)
	})
}

// environmentRequest creates an environment with a new name, and with a repository if the service has one for it.
func environmentRequest(t *testing.T, what, scope string) environments.CreateRequest {
	t.Helper()
	r := environments.CreateRequest{Name: newName(t, what), Scope: scope, Repositories: []environments.Repository{}}
	if url := environmentRepository(t); url != "" {
		r.Repositories = append(r.Repositories, environments.Repository{URL: url, Script: "true"})
	}
	return r
}

// sessionComputer returns the ID of a computer for sessions: the one in the variable, otherwise one that the suite created.
func sessionComputer(t *testing.T) string {
	t.Helper()
	id, missing := computerFor(optIn(t, envSessions), os.Getenv(envManagedComputers))
	if missing != "" {
		skip(t, missing, "sessions need a computer with an agent; allow managed computers, or set "+envSessions+" to the ID of an active computer")
	}
	if id == "" {
		id = ownManaged(t).ID
	}
	return id
}

// computerFor returns what the variables name for sessions: an ID, nothing for a new managed computer, or the variable that is missing
// for one. A registered machine of the suite would get messages that no agent answers.
func computerFor(sessions, managed string) (id, missing string) {
	switch {
	case sessions != "1":
		return sessions, ""
	case managed == "":
		return "", envManagedComputers
	}
	return "", ""
}

func TestComputerFor(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ sessions, managed, id, missing string }{
		{"1", "1", "", ""},
		{"1", "", "", envManagedComputers},
		{"cmp-1", "", "cmp-1", ""}, // The service chooses the form of its IDs.
		{"cmp-1", "1", "cmp-1", ""},
	} {
		if id, missing := computerFor(tc.sessions, tc.managed); id != tc.id || missing != tc.missing {
			t.Errorf("%q, %q: got %q, %q", tc.sessions, tc.managed, id, missing)
		}
	}
}

// ownManaged returns an active managed computer that the suite created.
func ownManaged(t *testing.T) *computers.Computer {
	t.Helper()
	optIn(t, envManagedComputers)
	provider := managedProvider(t)
	return sharedManaged.get(t, func(ctx context.Context, c *client.Client) (*computers.Computer, error) {
		created, err := c.Computers.Create(ctx, computers.CreateRequest{Name: newName(t, "managed"), Provider: provider, RemoteUser: remoteUser})
		if err != nil {
			return nil, err
		}
		err = eventually(ctx, buildTime, func(ctx context.Context) (bool, error) {
			created, err = c.Computers.GetUncached(ctx, created.ID)
			if err == nil && created.Status == computers.StatusError {
				err = errors.New("the computer was not set up")
			}
			return err == nil && created.Status == computers.StatusActive, err
		}, "the computer is not active")
		return created, err
	})
}

// ownSession returns a session that the suite created. It has a tag with our name.
func ownSession(t *testing.T) *sessions.Session {
	t.Helper()
	computer := sessionComputer(t)
	return sharedSession.get(t, func(ctx context.Context, c *client.Client) (*sessions.Session, error) {
		return createSession(ctx, t, c, computer)
	})
}

// createSession creates a session with a tag, and waits until it can be read: for a while, the service may return 404.
func createSession(ctx context.Context, t *testing.T, c *client.Client, computer string) (*sessions.Session, error) {
	t.Helper()
	tag := sessions.Tag{Name: newName(t, "session")}
	created, err := c.Sessions.Create(ctx, sessions.CreateRequest{ComputerID: computer, Settings: &sessions.Settings{Tags: []sessions.Tag{tag}}})
	if err != nil {
		return nil, err
	}
	return created, eventually(ctx, 10*time.Minute, func(ctx context.Context) (bool, error) {
		_, err := c.Sessions.GetUncached(ctx, created.ID, computer)
		if transport.IsNotFound(err) || collection.IsNew(err) {
			return false, nil
		}
		return err == nil, err
	}, "the new session cannot be read")
}

// ownWikiRun returns a wiki run that the suite created.
func ownWikiRun(t *testing.T) *wikis.Run {
	t.Helper()
	repository := wikiRepository(t)
	return sharedWikiRun.get(t, func(ctx context.Context, c *client.Client) (*wikis.Run, error) {
		return c.Wikis.Create(ctx, wikis.CreateRequest{RepoURL: repository, Branch: newName(t, "wiki")})
	})
}

// The facts are read once from the service. They replace fixtures, which only one organization would have.
var (
	factProviders    shared[[]string]
	factSources      shared[*environments.SourceOptions]
	factRepositories shared[[]ci.Repository]
	factWikiRuns     shared[[]wikis.Run]
	factMembers      shared[[]organization.Member]
)

// managedProvider returns a provider of managed computers, and skips the test if the organization has none.
func managedProvider(t *testing.T) string {
	t.Helper()
	all := factProviders.get(t, func(ctx context.Context, c *client.Client) ([]string, error) { return c.Conn.Providers(ctx) })
	if len(all) == 0 {
		skip(t, "", "the organization has no provider of managed computers")
	}
	return all[0]
}

func sourceOptions(t *testing.T) *environments.SourceOptions {
	t.Helper()
	return factSources.get(t, func(ctx context.Context, c *client.Client) (*environments.SourceOptions, error) {
		return c.Environments.SourceOptions(ctx)
	})
}

// repositories returns the repositories that CI automation can use; none if the key's owner may not list them.
func repositories(t *testing.T) []ci.Repository {
	t.Helper()
	c := connect(t)
	factRepositories.once.Do(func() {
		factRepositories.object, factRepositories.err = c.CI.Repositories(context.WithoutCancel(t.Context()), "")
	})
	if isDenied(factRepositories.err) {
		return nil
	}
	must(t, factRepositories.err)
	return factRepositories.object
}

// environmentRepository returns the URL of a repository for an environment; empty if there is none, or no source for it.
func environmentRepository(t *testing.T) string {
	t.Helper()
	connected := repositories(t)
	for _, provider := range sourceOptions(t).Providers {
		supports := func(s environments.SourceOption) bool { return *s.SupportsRepositories }
		if len(connected) > 0 && slices.ContainsFunc(provider.Sources, supports) {
			return connected[0].URL
		}
	}
	return ""
}

// wikiRuns returns the newest wiki run of each repository.
func wikiRuns(t *testing.T) []wikis.Run {
	t.Helper()
	return factWikiRuns.get(t, func(ctx context.Context, c *client.Client) ([]wikis.Run, error) { return c.Wikis.List(ctx) })
}

func members(t *testing.T) []organization.Member {
	t.Helper()
	return factMembers.get(t, func(ctx context.Context, c *client.Client) ([]organization.Member, error) {
		return c.Organization.Members(ctx, 0)
	})
}

// anyRun returns a wiki run: one that exists, or one that the suite created. Reading one changes nothing.
func anyRun(t *testing.T) *wikis.Run {
	t.Helper()
	for _, run := range wikiRuns(t) {
		if !isOurs(run.Branch) {
			return &run
		}
	}
	return ownWikiRun(t)
}

// anyWiki returns the IDs of a wiki run and of its first page; the page is empty if the run has none.
func anyWiki(t *testing.T) (run, page string) {
	t.Helper()
	found, err := connect(t).Wikis.GetUncached(t.Context(), anyRun(t).ID)
	must(t, err)
	var tree []wikis.TreeNode
	if json.Unmarshal(found.PageTree, &tree) == nil && len(tree) > 0 {
		page = tree[0].PageID
	}
	return found.ID, page
}
