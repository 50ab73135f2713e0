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
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
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
		if got := (leftover{name: tc.name, created: tc.created}).isOlder(now.Add(-defaultSweepAge)); got != tc.want {
			t.Errorf("%s, created %s: got %t, want %t", tc.name, tc.created, got, tc.want)
		}
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
