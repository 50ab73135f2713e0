package acceptance

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/specimens"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/computers"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/sessions"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence/trials"
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
	{"agentyard_service_account", findAccounts},
	{"agentyard_environment", findEnvironments},
	{"agentyard_wiki_run", findWikiRuns},
	{"agentyard_member_invitation", findInvitations},
}

// Each resource that is created with a name has a sweeper, or is deleted with another one.
func TestSweepers_everyResource(t *testing.T) {
	t.Parallel()
	with := map[string]string{"agentyard_api_key": "agentyard_service_account", "agentyard_computer_fleet": "agentyard_computer"}
	for _, r := range specimens.Resources {
		if r.Creates != "" && !slices.ContainsFunc(sweepers, func(s sweeper) bool { return s.name == cmp.Or(with[r.Type], r.Type) }) {
			t.Errorf("%s has no sweeper", r.Type)
		}
	}
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

// isOlder reports whether the object was created before a time, by its name and by the service's time, if it has one: either may be
// wrong.
func (l leftover) isOlder(than time.Time) bool {
	return l.created.Before(than) && timeOfName(l.name).Before(than)
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
	var errs []error
	switch {
	case isDenied(err):
		// The key can have created none of them.
		_, _ = fmt.Fprintf(s.out, "sweep: %s: this key cannot list them: %v\n", kind.name, err)
	case err != nil: // What was found nevertheless is deleted.
		errs = append(errs, fmt.Errorf("%s: %w", kind.name, err))
	}
	s.found += len(found)
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
			if err != nil && !isGoneOnDelete(err) {
				errs = append(errs, fmt.Errorf("deleting %s: %w", text, err))
				continue
			}
			_, _ = fmt.Fprintln(s.out, "sweep: deleted", text)
		}
	}
	return errors.Join(errs...)
}

// isGoneOnDelete reports whether a deletion was answered that the object does not exist. A new session may only be invisible yet.
func isGoneOnDelete(err error) bool {
	return collection.IsGone(err) || transport.IsNotFound(err) && !collection.IsNew(err)
}

func TestSweep_age(t *testing.T) {
	t.Parallel()
	now := time.Now()
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
	} {
		check.Is(t, fmt.Sprint(tc.name, ", created ", tc.created), (leftover{name: tc.name, created: tc.created}).isOlder(now.Add(-defaultSweepAge)), tc.want)
	}
}

// A sweep finds only what the suite made: other suites, and people, use similar names.
func TestSweep_keepsNamesOfOthers(t *testing.T) {
	t.Parallel()
	run := func(at time.Time) string { return namePrefix + newRunID(at) }
	ours := run(time.Now()) + "-life1"
	for name, want := range map[string]struct{ ours, wholly bool }{
		"tf-acc-production":                           {},
		"tf-acc-agentyard-production-account1":        {},
		"tf-acc-agentyard-made-by-hand":               {},
		"tf-acc-t8abcdwxyz-account1":                  {}, // Another suite.
		run(time.Now()):                               {}, // Without what it is.
		run(time.Now().Add(time.Hour)) + "-life1":     {},
		run(projectStart.Add(-time.Hour)) + "-life1":  {},
		"my-" + ours:                                  {},
		ours:                                          {true, true},
		ours + "xxx":                                  {true, true}, // Padded by a trial.
		ours + "-b":                                   {true, false},
		strings.Replace(ours, "-life1", "-life-x", 1): {},
	} {
		if isOurs(name) != want.ours || isWhollyOurs(name) != want.wholly {
			t.Errorf("%s: got %t and %t, want %+v", name, isOurs(name), isWhollyOurs(name), want)
		}
	}
}

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

// ours returns the objects with names of the suite.
func ours[T any, P wire.RecordOf[T]](all []T, isName func(string) bool, remove func(ctx context.Context, id string) error) (found []leftover) {
	for i := range all {
		if r := P(&all[i]).Ref(); isName(r.Name) {
			found = append(found, leftover{r.Object, r.Name, r.ID, r.CreatedAt, func(ctx context.Context) error { return remove(ctx, r.ID) }})
		}
	}
	return found
}

func findComputers(ctx context.Context, c *client.Client) ([]leftover, error) {
	all, err := c.Computers.List(ctx, computers.Filter{IncludeUnlisted: true})
	return ours(all, isOurs, func(ctx context.Context, id string) error { return c.Computers.Delete(ctx, id, "") }), err
}

// findAccounts finds accounts, whose keys stop working with them.
func findAccounts(ctx context.Context, c *client.Client) ([]leftover, error) {
	all, err := c.ServiceAccounts.List(ctx)
	return ours(all, isWhollyOurs, c.ServiceAccounts.Delete), err
}

func findEnvironments(ctx context.Context, c *client.Client) ([]leftover, error) {
	all, err := c.Environments.List(ctx, "")
	return ours(all, isOurs, c.Environments.Delete), err
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
	must(t, err)
	s := sweep{client: c, out: t.Output(), isWanted: func(leftover) bool { return true }}
	if err := s.of(t.Context(), sweeper{"agentyard_wiki_run", findWikiRuns}); err != nil || !slices.Equal(deleted, []string{"ours"}) {
		t.Errorf("got %v and %q", err, deleted)
	}
}

const namePrefix = trials.NamePrefix

// projectStart is before any name of the suite.
var projectStart = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// namePattern is a name up to what a trial appends. The time is in seconds to the base of 36, which have six digits until 2038.
var namePattern = regexp.MustCompile(namePrefix + `([0-9a-z]{6})[a-z2-7]{4}-[a-z-]+[0-9]+`)

// newRunID returns the random part of all names of a run. It begins with the time, because not every object shows its age.
func newRunID(now time.Time) string {
	return strconv.FormatInt(now.Unix(), 36) + strings.ToLower(rand.Text()[:4])
}

// timeOfName returns the time in a name of the suite; zero if the suite cannot have made it.
func timeOfName(name string) time.Time {
	found := namePattern.FindStringSubmatch(name)
	if found == nil {
		return time.Time{}
	}
	seconds, _ := strconv.ParseInt(found[1], 36, 64) // The pattern has only digits.
	at := time.Unix(seconds, 0)
	if at.Before(projectStart) || at.After(clock.System.Now()) {
		return time.Time{}
	}
	return at
}

// isOurs reports whether the suite made a name.
func isOurs(name string) bool {
	return strings.HasPrefix(name, namePrefix) && !timeOfName(name).IsZero()
}

// isWhollyOurs reports whether nobody has appended anything to a name. The trials pad some with "x". Other objects end with an account,
// and people are no objects, so the whole of their names must match.
func isWhollyOurs(name string) bool {
	return isOurs(name) && strings.TrimRight(name, "x") == namePattern.FindString(name)
}

func (r *run) prefix() string { return namePrefix + r.id + "-" }

// newName returns a name for a new object. Whatever has it is deleted at the end of the run at the latest.
func newName(t *testing.T, what string) string {
	t.Helper()
	r := needService(t)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.names++
	return fmt.Sprintf("%s%s%d", r.prefix(), what, r.names)
}
