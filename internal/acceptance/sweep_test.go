package acceptance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// listOnly is the value of -sweep that only lists what any other value deletes.
const listOnly = "list"

// defaultSweepAge protects the objects of a run that is still going on.
const defaultSweepAge = time.Hour

// leftover is an object whose name says that the suite created it.
type leftover struct {
	kind, name, id string
	// created is zero if the service does not say when the object was created.
	created time.Time
	remove  func(context.Context) error
}

// sweeper finds the objects of a kind.
type sweeper struct {
	name string
	find func(context.Context, *client.Client) ([]leftover, error)
}

// sweepers are in the order in which they run: what is deleted together with another object comes before it.
var sweepers = []sweeper{
	{"agentyard_session", findSessions},
	{"agentyard_computer", findComputers},
	{"agentyard_api_key", findKeys},
	{"agentyard_service_account", findAccounts},
	{"agentyard_environment", findEnvironments},
	{"agentyard_wiki_run", findWikiRuns},
	{"agentyard_member_invitation", findInvitations},
}

// addSweepers registers the sweepers for the flag -sweep of the acceptance library.
func addSweepers() {
	for i, s := range sweepers {
		dependencies := []string{}
		if i > 0 {
			dependencies = append(dependencies, sweepers[i-1].name)
		}
		resource.AddTestSweepers(s.name, &resource.Sweeper{Name: s.name, Dependencies: dependencies, F: func(mode string) error {
			run, err := newSweep()
			if err == nil {
				run.listOnly = mode == listOnly
				err = run.of(context.Background(), s)
			}
			if err != nil {
				fmt.Fprintln(os.Stderr, "sweep:", err)
			}
			return err
		}})
	}
}

// newSweep returns the sweep of the settings, whose key it checks.
var newSweep = sync.OnceValues(func() (*sweep, error) {
	base, key, err := service()
	if err != nil {
		return nil, err
	}
	age, err := sweepAge()
	if err != nil {
		return nil, err
	}
	c, err := (&run{base: base, key: key}).connect(base.String())
	if err != nil {
		return nil, err
	}
	if err := checkService(c); err != nil {
		return nil, err
	}
	oldest := clock.System.Now().Add(-age)
	return &sweep{client: c, out: os.Stdout, isWanted: func(l leftover) bool { return l.isOlder(oldest) || age == 0 }}, nil
})

// sweepAge returns how old an object must be.
func sweepAge() (time.Duration, error) {
	text := os.Getenv(envSweepAge)
	if text == "" {
		return defaultSweepAge, nil
	}
	age, err := time.ParseDuration(text)
	if err != nil || age < 0 {
		return 0, fmt.Errorf("%s must be a duration such as 1h or 0s", envSweepAge)
	}
	return age, nil
}

// isOlder reports whether the object was created before a time, by the service's time and by its name, if it has both: one may be
// wrong. An object without a known age is not older: it may be in use.
func (l leftover) isOlder(than time.Time) bool {
	named := timeOfName(l.name)
	known := !l.created.IsZero() || !named.IsZero()
	return known && l.created.Before(than) && named.Before(than)
}

// sweep deletes leftovers.
type sweep struct {
	client   *client.Client
	out      io.Writer
	listOnly bool
	isWanted func(leftover) bool
	found    int
}

// all runs all sweepers. One that fails does not stop the others.
func (s *sweep) all(ctx context.Context) error {
	var errs []error
	for _, kind := range sweepers {
		errs = append(errs, s.of(ctx, kind))
	}
	return errors.Join(errs...)
}

func (s *sweep) of(ctx context.Context, kind sweeper) error {
	found, err := kind.find(ctx, s.client)
	switch {
	case isDenied(err):
		// The key can have created none of them.
		_, _ = fmt.Fprintf(s.out, "sweep: %s: this key cannot list them: %v\n", kind.name, err)
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", kind.name, err)
	}
	s.found += len(found)
	var errs []error
	for _, l := range found {
		text := fmt.Sprintf("%s %q (%s)", l.kind, l.name, l.id)
		if !l.created.IsZero() {
			text += ", created " + l.created.UTC().Format(time.RFC3339)
		}
		switch {
		case !s.isWanted(l):
			_, _ = fmt.Fprintln(s.out, "sweep: keeps", text)
		case s.listOnly:
			_, _ = fmt.Fprintln(s.out, "sweep: would delete", text)
		default:
			err := l.remove(ctx)
			if err != nil && !collection.IsGone(err) {
				errs = append(errs, fmt.Errorf("deleting %s: %w", text, err))
				continue
			}
			_, _ = fmt.Fprintln(s.out, "sweep: deleted", text)
		}
	}
	return errors.Join(errs...)
}

func isOurs(name string) bool { return strings.HasPrefix(name, namePrefix) }

// findSessions finds sessions by their tags, and those on computers with our names.
func findSessions(ctx context.Context, c *client.Client) ([]leftover, error) {
	machines, err := c.Computers.List(ctx, computers.Filter{IncludeUnlisted: true})
	if err != nil {
		return nil, err
	}
	names := map[string]string{}
	for _, m := range machines {
		names[m.ID] = m.Name
	}
	all, err := c.Sessions.List(ctx, "", 0)
	if err != nil {
		return nil, err
	}
	var found []leftover
	for _, s := range all {
		name := nameOfSession(&s, names)
		if isOurs(name) {
			found = append(found, leftover{"session", name, s.ID, s.CreatedAt.Time(), func(ctx context.Context) error {
				return c.Sessions.Delete(ctx, s.ID, s.ComputerID, s.CreatedAt.Time())
			}})
		}
	}
	return found, nil
}

// nameOfSession returns the name that a session has by its computer or a tag of ours; computers are the names by ID.
func nameOfSession(s *sessions.Session, computers map[string]string) string {
	name := computers[s.ComputerID]
	if s.Settings == nil || isOurs(name) {
		return name
	}
	for _, tag := range s.Settings.Tags {
		if isOurs(tag.Name) {
			return tag.Name
		}
	}
	return name
}

func findComputers(ctx context.Context, c *client.Client) ([]leftover, error) {
	machines, err := c.Computers.List(ctx, computers.Filter{IncludeUnlisted: true})
	var found []leftover
	for _, m := range machines {
		if isOurs(m.Name) {
			found = append(found, leftover{"computer", m.Name, m.ID, m.CreatedAt.Time(), func(ctx context.Context) error {
				return c.Computers.Delete(ctx, m.ID, m.ServiceAccount())
			}})
		}
	}
	return found, err
}

// findKeys finds the live keys of our accounts. A deleted account's keys do not authenticate either; revoking them first is
// certain.
func findKeys(ctx context.Context, c *client.Client) ([]leftover, error) {
	accounts, err := c.ServiceAccounts.List(ctx)
	if err != nil {
		return nil, err
	}
	var found []leftover
	for _, a := range accounts {
		if !isOurs(a.Name) {
			continue
		}
		keys, err := c.ServiceAccounts.ListKeys(ctx, a.ID)
		if err != nil {
			return found, err
		}
		for _, k := range keys {
			if !k.IsRevoked {
				found = append(found, leftover{"API key", a.Name + "/" + k.Name, k.ID, k.CreatedAt.Time(), func(ctx context.Context) error {
					return c.ServiceAccounts.RevokeKey(ctx, a.ID, k.ID)
				}})
			}
		}
	}
	return found, nil
}

func findAccounts(ctx context.Context, c *client.Client) ([]leftover, error) {
	accounts, err := c.ServiceAccounts.List(ctx)
	var found []leftover
	for _, a := range accounts {
		if isOurs(a.Name) {
			found = append(found, leftover{"service account", a.Name, a.ID, a.CreatedAt.Time(), func(ctx context.Context) error {
				return c.ServiceAccounts.Delete(ctx, a.ID)
			}})
		}
	}
	return found, err
}

func findEnvironments(ctx context.Context, c *client.Client) ([]leftover, error) {
	environments, err := c.Environments.List(ctx, "")
	var found []leftover
	for _, e := range environments {
		if isOurs(e.Name) {
			found = append(found, leftover{"environment", e.Name, e.ID, e.CreatedAt.Time(), func(ctx context.Context) error {
				return c.Environments.Delete(ctx, e.ID)
			}})
		}
	}
	return found, err
}

// findWikiRuns finds runs by their branch. The listing has only the newest run of each repository, so the history of the
// repositories with one of ours is read too.
func findWikiRuns(ctx context.Context, c *client.Client) ([]leftover, error) {
	newest, err := c.Wikis.List(ctx)
	if err != nil {
		return nil, err
	}
	var found []leftover
	for _, n := range newest {
		if !isOurs(n.Branch) && n.RepoURL != os.Getenv(envWiki) {
			continue
		}
		history, err := c.Wikis.History(ctx, n.RepoURL)
		if err != nil {
			return found, err
		}
		for _, w := range history {
			if isOurs(w.Branch) {
				found = append(found, leftover{"wiki run", w.Branch, w.ID, w.CreatedAt.Time(), func(ctx context.Context) error {
					return c.Wikis.Delete(ctx, w.ID, w.RepoURL)
				}})
			}
		}
	}
	return found, nil
}

// findInvitations finds people with our addresses. The service lists no pending invitations; a run revokes its own.
func findInvitations(ctx context.Context, c *client.Client) ([]leftover, error) {
	if os.Getenv(envInvitation) == "" {
		return nil, nil // Without it, nobody was invited.
	}
	members, err := c.Organization.Members(ctx, 0)
	var found []leftover
	for _, m := range members {
		if !timeOfName(m.Email).IsZero() { // A person may have the prefix in an address.
			found = append(found, leftover{"member", m.Email, m.ID, m.CreatedAt.Time, func(ctx context.Context) error {
				return c.Organization.RemoveMember(ctx, m.Email)
			}})
		}
	}
	return found, err
}

func TestSweep_age(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)
	name := func(age time.Duration) string { return namePrefix + newRunID(now.Add(-age)) + "-account1" }
	for _, tc := range []struct {
		name    string
		created time.Time
		want    bool
	}{
		{name(2 * time.Hour), time.Time{}, true},
		{name(time.Minute), time.Time{}, false},
		{name(2 * time.Hour), now.Add(-time.Minute), false}, // The service knows better.
		{name(time.Minute), now.Add(-2 * time.Hour), false}, // The service's clock is late, or it counts seconds.
		{"ops+" + name(2*time.Hour) + "@example.com", time.Time{}, true},
		{namePrefix + "made-by-hand", time.Time{}, false},
		{namePrefix + "made-by-hand", now.Add(-2 * time.Hour), true},
	} {
		if got := (leftover{name: tc.name, created: tc.created}).isOlder(now.Add(-defaultSweepAge)); got != tc.want {
			t.Errorf("%s, created %s: got %t, want %t", tc.name, tc.created, got, tc.want)
		}
	}
}
