package acceptance

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/ci"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/environments"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/organization"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
)

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
