package acceptance

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// lister lists with few demands. A sweep needs IDs, names, and ages, and a deviation of the service elsewhere must not stop it.
type lister struct{ *client.Client }

// rows returns the objects in a field of a list, from all its pages.
func (c lister) rows(ctx context.Context, field, id, route string, query url.Values, path ...string) ([]evidence.Object, error) {
	r := transport.Request{Op: transport.Operation{Name: "list of " + field, Method: http.MethodGet, Route: "/api/v0" + route, Slow: true}, Path: path, Query: url.Values{}}
	for name := range query {
		r.Query.Set(name, query.Get(name))
	}
	var all []evidence.Object
	seen := map[string]bool{}
	for {
		got, err := c.Conn.Exchange(ctx, r, transport.OnlyJSON)
		if err != nil {
			return all, err
		}
		var body any
		if err := json.Unmarshal(got.Body, &body); err != nil {
			return all, err
		}
		hasNew := false
		for _, o := range evidence.RowsOf(body, field) {
			if !seen[o.Text(id)] {
				seen[o.Text(id)], hasNew = true, true
				all = append(all, o)
			}
		}
		answer, _ := body.(map[string]any)
		next := evidence.Object(answer).Object("pagination").Text("nextCursor")
		if next == "" || !hasNew {
			return all, nil
		}
		r.Query.Set("cursor", next)
	}
}

// send returns what sends a request without a body, such as a deletion.
func (c lister) send(method, route string, path ...string) func(context.Context) error {
	return func(ctx context.Context) error {
		return c.Conn.CallIgnoringBody(ctx, transport.Request{
			Op: transport.Operation{Name: "sweep", Method: method, Route: "/api/v0" + route, Repeatable: true}, Path: path,
		})
	}
}

// createdAt returns when an object was created; zero if it shows no such time.
func createdAt(o evidence.Object) time.Time {
	if millis := o.Number("createdAt"); millis > 0 {
		return time.UnixMilli(int64(millis))
	}
	at, _ := time.Parse(time.RFC3339, o.Text("createdAt")) // Otherwise, it is zero.
	return at
}

// findSessions finds sessions by their tags, and those on computers with our names.
func findSessions(ctx context.Context, c lister) ([]leftover, error) {
	machines, listErr := c.computers(ctx)
	names := map[string]string{}
	for _, m := range machines {
		names[m.Text("id")] = m.Text("name")
	}
	all, err := c.rows(ctx, "sessions", "sessionId", "/sessions", url.Values{"limit": {"100"}})
	var found []leftover
	for _, s := range all {
		var tags []string
		for _, tag := range s.Object("settings").List("tags") {
			tags = append(tags, tag.Text("name"))
		}
		if name := nameOfSession(names[s.Text("computerId")], tags); isOurs(name) {
			id, computer, at := s.Text("sessionId"), s.Text("computerId"), createdAt(s)
			found = append(found, leftover{"session", name, id, at, func(ctx context.Context) error {
				return c.Sessions.Delete(ctx, id, computer, at)
			}})
		}
	}
	return found, errors.Join(err, listErr)
}

// nameOfSession returns the name that a session has by its computer's name or a tag of ours.
func nameOfSession(computer string, tags []string) string {
	if i := slices.IndexFunc(tags, isOurs); i >= 0 && !isOurs(computer) {
		return tags[i]
	}
	return computer
}

func (c lister) computers(ctx context.Context) ([]evidence.Object, error) {
	return c.rows(ctx, "computers", "id", "/computers", url.Values{"includeUnlisted": {"true"}})
}

func findComputers(ctx context.Context, c lister) ([]leftover, error) {
	machines, err := c.computers(ctx)
	var found []leftover
	for _, m := range machines {
		if name, id := m.Text("name"), m.Text("id"); isOurs(name) {
			found = append(found, leftover{"computer", name, id, createdAt(m), c.send(http.MethodDelete, "/computers/{id}", id)})
		}
	}
	return found, err
}

func (c lister) accounts(ctx context.Context) ([]evidence.Object, error) {
	return c.rows(ctx, "serviceAccounts", "id", "/service-accounts", nil)
}

// findKeys finds the live keys of our accounts. A deleted account's keys do not authenticate either; revoking them first is
// certain.
func findKeys(ctx context.Context, c lister) ([]leftover, error) {
	accounts, err := c.accounts(ctx)
	errs := []error{err}
	var found []leftover
	for _, a := range accounts {
		name, account := a.Text("name"), a.Text("id")
		if !isWhollyOurs(name) {
			continue
		}
		keys, err := c.rows(ctx, "apiKeys", "id", "/service-accounts/{id}/api-keys", nil, account)
		errs = append(errs, err)
		for _, k := range keys {
			if id := k.Text("id"); !k.Truth("isRevoked") {
				found = append(found, leftover{"API key", name + "/" + k.Text("name"), id, createdAt(k), c.send(http.MethodPost, "/service-accounts/{id}/api-keys/{keyId}/revoke", account, id)})
			}
		}
	}
	return found, errors.Join(errs...)
}

func findAccounts(ctx context.Context, c lister) ([]leftover, error) {
	accounts, err := c.accounts(ctx)
	var found []leftover
	for _, a := range accounts {
		if name, id := a.Text("name"), a.Text("id"); isWhollyOurs(name) {
			found = append(found, leftover{"service account", name, id, createdAt(a), c.send(http.MethodDelete, "/service-accounts/{id}", id)})
		}
	}
	return found, err
}

func findEnvironments(ctx context.Context, c lister) ([]leftover, error) {
	all, err := c.rows(ctx, "environments", "id", "/environments", nil)
	var found []leftover
	for _, e := range all {
		name, id, build := e.Text("name"), e.Text("id"), e.Object("latestBuild").Text("id")
		if !isOurs(name) {
			continue
		}
		found = append(found, leftover{"environment", name, id, createdAt(e), func(ctx context.Context) error {
			err := c.Environments.Delete(ctx, id)
			if err != nil && !isGoneOnDelete(err) && build != "" {
				// The client cancels a build only if it can read the environment.
				_ = c.Environments.CancelBuild(ctx, id, build)
				err = c.Environments.Delete(ctx, id)
			}
			return err
		}})
	}
	return found, err
}

// findWikiRuns finds runs by their branch. The listing has only the newest run of each repository, so the histories are read too: of
// all repositories if runs may have been created, because somebody may have created a newer one since.
func findWikiRuns(ctx context.Context, c lister) ([]leftover, error) {
	newest, err := c.rows(ctx, "wikiRuns", "wikiRunId", "/wiki", nil)
	errs := []error{err}
	var found []leftover
	seen := map[string]bool{}
	for _, n := range newest {
		repository := n.Text("repoUrl")
		if seen[repository] || !isOurs(n.Text("branch")) && os.Getenv(envWiki) == "" {
			continue
		}
		seen[repository] = true
		history, err := c.rows(ctx, "wikiRuns", "wikiRunId", "/wiki/history/{repoUrl}", nil, repository)
		errs = append(errs, err)
		for _, w := range append(history, n) {
			if branch, id := w.Text("branch"), w.Text("wikiRunId"); isOurs(branch) && !seen[id] {
				seen[id] = true
				found = append(found, leftover{"wiki run", branch, id, createdAt(w), c.send(http.MethodDelete, "/wiki/{id}", id)})
			}
		}
	}
	return found, errors.Join(errs...)
}

// findInvitations finds people with our addresses. The service lists no pending invitations; a run revokes its own.
func findInvitations(ctx context.Context, c lister) ([]leftover, error) {
	before, after, invites := strings.Cut(os.Getenv(envInvitation), "{name}")
	if !invites {
		return nil, nil // Nobody was invited.
	}
	members, err := c.rows(ctx, "users", "id", "/organization/users", url.Values{"limit": {"100"}})
	var found []leftover
	for _, m := range members {
		email := m.Text("email")
		name, begins := strings.CutPrefix(email, before)
		if name, ends := strings.CutSuffix(name, after); begins && ends && isWhollyOurs(name) {
			found = append(found, leftover{"member", email, m.Text("id"), createdAt(m), func(ctx context.Context) error {
				return c.Organization.RemoveMember(ctx, email)
			}})
		}
	}
	return found, err
}
