// Package acceptance tests the provider against a service that it is given by its URL and an API key: a real one, or any server
// of the API. It knows nothing of the emulator. CONTRIBUTING has a page about it, "Against a real service".
package acceptance

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence/trials"
	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// The settings. Without the first two, all tests that need a service are skipped.
const (
	envBaseURL = "AGENTYARD_ACC_BASE_URL"
	envAPIKey  = "AGENTYARD_ACC_API_KEY" //nolint:gosec // The name of a variable, not a credential.
	// envReport is the folder of the report.
	envReport = "AGENTYARD_ACC_REPORT"
	// envStrict makes the run fail if the service deviates from the contract.
	envStrict = "AGENTYARD_ACC_STRICT"
	// envSweepAge is how old an object must be for the sweep.
	envSweepAge = "AGENTYARD_ACC_SWEEP_AGE"
)

// The variables that opt in to what is not free, or cannot be undone completely.
const (
	envManagedComputers = trials.ManagedComputers
	envSessions         = trials.Sessions
	envBuilds           = "AGENTYARD_ACC_BUILDS"
	envWiki             = trials.Wiki
	envInvitation       = trials.Invitation
	envOrganization     = trials.Organization
	envCIRepository     = trials.CIRepository
)

// version is that of the provider; scripts/acceptance.sh sets it.
var version = "dev"

// current is the run; nil without a service.
var current *run

func TestMain(m *testing.M) {
	addSweepers()
	flag.Parse()
	if flag.Lookup("sweep").Value.String() != "" {
		log.SetOutput(io.Discard) // The library logs each step. The sweepers print what they do.
		if _, err := newSweep(); err != nil {
			fmt.Fprintln(os.Stderr, "sweep:", err)
			os.Exit(1)
		}
	}
	resource.TestMain(suite{m}) // With -sweep, it runs the sweepers and no tests.
	if s, err := newSweep(); err == nil && s.found == 0 {
		fmt.Println("sweep: found nothing named " + namePrefix + "…")
	}
}

type suite struct{ tests *testing.M }

// Run implements what resource.TestMain needs.
func (s suite) Run() int {
	if os.Getenv(envBaseURL) == "" && os.Getenv(envAPIKey) == "" {
		return s.tests.Run() // Each test says what it needs.
	}
	r, err := begin()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testacc:", err)
		return 1
	}
	current = r
	return r.end(s.tests.Run())
}

// service returns the address and the API key of the service.
func service() (base *url.URL, key string, err error) {
	for _, name := range []string{envBaseURL, envAPIKey} {
		if os.Getenv(name) == "" {
			return nil, "", fmt.Errorf("%s is not set; set %s to the service's address and %s to an API key of a test organization", name, envBaseURL, envAPIKey)
		}
	}
	base, err = transport.ParseBaseURL(os.Getenv(envBaseURL), false)
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", envBaseURL, err)
	}
	key = os.Getenv(envAPIKey)
	if err := transport.CheckAPIKey(key); err != nil {
		return nil, "", fmt.Errorf("%s: %w", envAPIKey, err)
	}
	return base, key, nil
}

// configureProvider makes the settings of the environment those of the tests, for every provider that a CLI starts. No
// configuration and no state then contains the key.
func configureProvider(address, key string) error {
	for name, value := range map[string]string{
		provider.EnvBaseURL: address, provider.EnvAPIKey: key,
		// These would reach into every run of the CLI.
		"TF_CLI_ARGS": "", "TF_DATA_DIR": "", "TF_REATTACH_PROVIDERS": "", "TF_WORKSPACE": "",
		"CHECKPOINT_DISABLE": "1", "TF_CLI_CONFIG_FILE": os.DevNull,
	} {
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return os.Unsetenv(provider.EnvEmulatorClock)
}

const (
	// userAgent names the suite in the logs of the service.
	userAgent = "terraform-provider-agentyard-acceptance"
	// finishTime limits what is done after the tests: restoring settings, and deleting what was created.
	finishTime = 15 * time.Minute
	// interruptedCode is what shells return for a command that Ctrl-C ended.
	interruptedCode = 130
)

// run is one run of the suite.
type run struct {
	base     *url.URL
	key      string
	id       string // Part of all names.
	recorder *evidence.Recorder
	// proxy and trial are the addresses of the recorder. All traffic goes through it.
	proxy, trial string
	scratch      string

	mu       sync.Mutex
	names    int
	restores []func() error
	skips    []string
	finished sync.Once
	code     int // The exit code that finish found.
}

// begin checks the settings with one request, and starts the proxies.
func begin() (*run, error) {
	base, key, err := service()
	if err != nil {
		return nil, err
	}
	document, err := contract.Load()
	if err != nil {
		return nil, err
	}
	r := &run{base: base, key: key, id: newRunID(clock.System.Now()), recorder: evidence.NewRecorder(document, "testacc", version)}
	if r.scratch, err = os.MkdirTemp("", "agentyard-acceptance-"); err != nil {
		return nil, err
	}
	// States contain keys. They are below this folder, which is removed after an interrupt too.
	if err := os.Setenv("TMPDIR", r.scratch); err != nil {
		return nil, err
	}
	r.proxy = httptest.NewServer(r.recorder.Proxy(base)).URL
	r.trial = httptest.NewServer(r.recorder.Trial(base)).URL
	if err := configureProvider(r.proxy, key); err != nil {
		return nil, err
	}
	c, err := r.connect(r.proxy)
	if err != nil {
		return nil, err
	}
	err = checkService(c)
	switch {
	case err != nil && r.recorder.Report().Unanswered > 0:
		return nil, errors.Join(errors.New("the service does not answer; check "+envBaseURL+" and the network"), os.RemoveAll(r.scratch))
	case transport.StatusOf(err) != 0: // Otherwise, only the body is not as expected, which the report says.
		return nil, errors.Join(err, os.RemoveAll(r.scratch))
	}
	r.handleSignals()
	fmt.Printf("testacc: names begin with %s\n", r.prefix())
	return r, nil
}

// checkService sends one request. A 401 here means that the key is wrong; later, that its owner may not do something.
func checkService(c *client.Client) error {
	_, err := c.Conn.Providers(context.Background())
	if err != nil && (!isDenied(err) || transport.StatusOf(err) == http.StatusUnauthorized) {
		return fmt.Errorf("the service cannot be used: %w", err)
	}
	return nil
}

// connect returns a client for an address.
func (r *run) connect(address string) (*client.Client, error) {
	return client.New(transport.Config{
		BaseURL: address, APIKey: r.key, MaxRetries: transport.DefaultMaxRetries, RequestTimeout: 2 * time.Minute,
		UserAgent: userAgent,
	})
}

// restoreLater calls undo at the end of the run, and when the returned function is called, until it succeeds.
func (r *run) restoreLater(what string, undo func(context.Context, *client.Client) error) func() error {
	var mu sync.Mutex
	isDone := false
	restore := func() error {
		mu.Lock()
		defer mu.Unlock()
		if isDone {
			return nil
		}
		ctx, cancel := context.WithTimeout(context.Background(), finishTime)
		defer cancel()
		c, err := r.connect(r.proxy)
		if err == nil {
			err = undo(ctx, c)
		}
		if err != nil {
			return fmt.Errorf("restoring %s: %w", what, err)
		}
		isDone = true
		return nil
	}
	r.mu.Lock()
	r.restores = append(r.restores, restore)
	r.mu.Unlock()
	return restore
}

// handleSignals restores settings after Ctrl-C: they are those of somebody else's organization. A second one ends the run at once.
func (r *run) handleSignals() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		<-signals
		signal.Stop(signals)
		err := errors.Join(r.restoreAll(), r.removeScratch())
		fmt.Fprintf(os.Stderr, "\ntestacc: interrupted. To delete what this run created, run: %s=0s make sweep DELETE=1\n", envSweepAge)
		if err != nil {
			fmt.Fprintln(os.Stderr, "testacc:", err)
		}
		os.Exit(interruptedCode)
	}()
}

// end returns the exit code of the run.
func (r *run) end(code int) int {
	r.finish()
	return max(code, r.code)
}

// removeScratch outlasts CLIs that an interrupt is still ending, and that write meanwhile.
func (r *run) removeScratch() (err error) {
	for range 50 {
		if err = os.RemoveAll(r.scratch); err == nil {
			return nil
		}
		_ = clock.System.Sleep(context.Background(), 100*time.Millisecond) // Nothing ends it early.
	}
	return err
}

// finish restores settings, deletes what is left, and writes the report.
func (r *run) finish() {
	r.finished.Do(func() {
		err := errors.Join(r.restoreAll(), r.sweepOwn(), r.report(), r.removeScratch())
		if err != nil {
			fmt.Fprintln(os.Stderr, "testacc:", err)
			r.code = 1
		}
	})
}

func (r *run) restoreAll() error {
	r.mu.Lock()
	all := slices.Clone(r.restores)
	r.mu.Unlock()
	var errs []error
	for _, restore := range slices.Backward(all) {
		errs = append(errs, restore())
	}
	return errors.Join(errs...)
}

// sweepOwn deletes what this run created, whatever its age. A test that was not interrupted leaves nothing but the objects that
// tests share.
func (r *run) sweepOwn() error {
	ctx, cancel := context.WithTimeout(context.Background(), finishTime)
	defer cancel()
	c, err := r.connect(r.proxy)
	if err != nil {
		return err
	}
	s := sweep{client: c, out: os.Stdout, isWanted: func(l leftover) bool { return strings.Contains(l.name, r.prefix()) }}
	return s.all(ctx)
}

// report writes the report, and lists what was skipped.
func (r *run) report() error {
	report := r.recorder.Report()
	dir := os.Getenv(envReport)
	if dir == "" {
		dir = "acceptance-report"
	}
	dir, err := filepath.Abs(dir)
	if err == nil {
		err = report.WriteFiles(dir)
	}
	r.mu.Lock()
	skips := slices.Clone(r.skips)
	r.mu.Unlock()
	slices.Sort(skips)
	if len(skips) > 0 {
		fmt.Printf("\nSkipped:\n  %s\n", strings.Join(slices.Compact(skips), "\n  "))
	}
	refuted := 0
	for _, a := range report.Assumptions {
		if a.Result == evidence.Refuted {
			refuted++
		}
	}
	fmt.Printf("\n%d requests, %d deviations, %d refuted assumptions: see %s\n", report.Requests, len(report.Deviations), refuted, filepath.Join(dir, "report.md"))
	if os.Getenv(envStrict) != "" && len(report.Deviations)+refuted > 0 {
		for _, d := range report.Deviations {
			fmt.Printf("  %s %d: %s at %s: expected %s, found %s\n", d.Operation, d.Status, d.Kind, d.Place.Place, d.Expected, d.Found)
		}
		err = errors.Join(err, errors.New("the service deviates from the contract"))
	}
	return err
}

// A service that fails for a while must not keep a setting of the run.
func TestRestoreLater_triesAgain(t *testing.T) {
	t.Parallel()
	r, calls := &run{key: "key", proxy: "http://127.0.0.1:1"}, 0
	restore := r.restoreLater("a setting", func(context.Context, *client.Client) error {
		if calls++; calls == 1 {
			return errors.New("out of order")
		}
		return nil
	})
	check.Fails(t, restore(), "restoring a setting: out of order")
	for range 2 {
		if err := r.restoreAll(); err != nil || calls != 2 {
			t.Errorf("got %v after %d calls", err, calls)
		}
	}
}
