package acceptance

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// findSessions finds sessions by their tags, and those on computers with our names.
func findSessions(ctx context.Context, c *client.Client) ([]leftover, error) {
	machines, listErr := c.Computers.List(ctx, computers.Filter{IncludeUnlisted: true})
	names := map[string]string{}
	for _, m := range machines {
		names[m.ID] = m.Name
	}
	all, err := c.Sessions.List(ctx, "", 0)
	var found []leftover
	for _, s := range all {
		if name := nameOfSession(names[s.ComputerID], s); isOurs(name) {
			found = append(found, leftover{"session", name, s.ID, s.CreatedAt.Time(), func(ctx context.Context) error {
				return c.Sessions.Delete(ctx, s.ID, s.ComputerID)
			}})
		}
	}
	return found, errors.Join(err, listErr)
}

// nameOfSession returns the name that a session has by its computer's name or a tag of ours.
func nameOfSession(computer string, s sessions.Session) string {
	if s.Settings != nil && !isOurs(computer) {
		for _, tag := range s.Settings.Tags {
			if isOurs(tag.Name) {
				return tag.Name
			}
		}
	}
	return computer
}

func findComputers(ctx context.Context, c *client.Client) ([]leftover, error) {
	machines, err := c.Computers.List(ctx, computers.Filter{IncludeUnlisted: true})
	var found []leftover
	for _, m := range machines {
		if isOurs(m.Name) {
			found = append(found, leftover{"computer", m.Name, m.ID, m.CreatedAt.Time(), func(ctx context.Context) error { return c.Computers.Delete(ctx, m.ID, "") }})
		}
	}
	return found, err
}

// findAccounts finds accounts, whose keys stop working with them.
func findAccounts(ctx context.Context, c *client.Client) ([]leftover, error) {
	accounts, err := c.ServiceAccounts.List(ctx)
	var found []leftover
	for _, a := range accounts {
		if isWhollyOurs(a.Name) {
			found = append(found, leftover{"service account", a.Name, a.ID, a.CreatedAt.Time(), func(ctx context.Context) error { return c.ServiceAccounts.Delete(ctx, a.ID) }})
		}
	}
	return found, err
}

func findEnvironments(ctx context.Context, c *client.Client) ([]leftover, error) {
	all, err := c.Environments.List(ctx, "")
	var found []leftover
	for _, e := range all {
		if isOurs(e.Name) {
			found = append(found, leftover{"environment", e.Name, e.ID, e.CreatedAt.Time(), func(ctx context.Context) error { return c.Environments.Delete(ctx, e.ID) }})
		}
	}
	return found, err
}

// findWikiRuns finds runs by their branch. The listing has only the newest run of each repository, so the histories are read too: of
// all repositories if runs may have been created, because somebody may have created a newer one since.
func findWikiRuns(ctx context.Context, c *client.Client) ([]leftover, error) {
	newest, err := c.Wikis.List(ctx)
	errs := []error{err}
	var found []leftover
	for _, n := range newest {
		if !isOurs(n.Branch) && os.Getenv(envWiki) == "" {
			continue
		}
		history, err := c.Wikis.History(ctx, n.RepoURL)
		errs = append(errs, err)
		for _, w := range history {
			if isOurs(w.Branch) {
				found = append(found, leftover{"wiki run", w.Branch, w.ID, w.CreatedAt.Time(), func(ctx context.Context) error { return c.Wikis.Delete(ctx, w.ID) }})
			}
		}
	}
	return found, errors.Join(errs...)
}

// findInvitations finds people with our addresses. The service lists no pending invitations; a run revokes its own.
func findInvitations(ctx context.Context, c *client.Client) ([]leftover, error) {
	before, after, invites := strings.Cut(os.Getenv(envInvitation), "{name}")
	if !invites {
		return nil, nil // Nobody was invited.
	}
	members, err := c.Organization.Members(ctx, 0)
	var found []leftover
	for _, m := range members {
		name, begins := strings.CutPrefix(m.Email, before)
		if name, ends := strings.CutSuffix(name, after); begins && ends && isWhollyOurs(name) {
			found = append(found, leftover{"member", m.Email, m.ID, m.CreatedAt.Time(), func(ctx context.Context) error { return c.Organization.RemoveMember(ctx, m.Email) }})
		}
	}
	return found, err
}

// A run may stand behind a newer one of somebody else.
func TestSweep_olderWikiRun(t *testing.T) {
	t.Setenv(envWiki, "1")
	const theirs = `{"wikiRunId":"theirs","branch":"main","repoUrl":"r","createdAt":2,"status":"completed"}`
	ours := `{"wikiRunId":"ours","branch":"` + namePrefix + newRunID(time.Now()) + `-x1","repoUrl":"r","createdAt":1,"status":"completed"}`
	var deleted []string
	service := http.NewServeMux()
	reply := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(body))
		}
	}
	service.Handle("GET /api/v0/wiki", reply(`{"wikiRuns":[`+theirs+`]}`))
	service.Handle("GET /api/v0/wiki/history/r", reply(`{"wikiRuns":[`+theirs+`,`+ours+`]}`))
	service.HandleFunc("DELETE /api/v0/wiki/{id}", func(w http.ResponseWriter, r *http.Request) {
		deleted = append(deleted, r.PathValue("id"))
		w.WriteHeader(http.StatusNoContent)
	})
	server := httptest.NewServer(service)
	t.Cleanup(server.Close)
	c, err := client.New(transport.Config{BaseURL: server.URL, APIKey: "key"})
	if err != nil {
		t.Fatal(err)
	}
	s := sweep{client: c, out: t.Output(), isWanted: func(leftover) bool { return true }}
	if err := s.of(t.Context(), sweeper{"agentyard_wiki_run", findWikiRuns}); err != nil || !slices.Equal(deleted, []string{"ours"}) {
		t.Errorf("got %v and %q", err, deleted)
	}
}
