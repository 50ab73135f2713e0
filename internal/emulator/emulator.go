// Package emulator is a server of the Agentyard API: real HTTP, a real database, and the rules of the API.
// Provider tests and module authors run it instead of the service. It rejects unknown fields and parameters, and it can be
// programmed to fail as a network or a service does (see Faults).
package emulator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/time/rate"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

// Options configures an emulator. The zero value is a complete configuration: state in a temporary file,
// both listeners on free loopback ports, the machine's clock.
type Options struct {
	// DataFile is the database file; its directory also holds uploaded files ("<DataFile>.objects").
	// Empty means a temporary one that Close removes.
	DataFile string
	// CopyOf is an emulator whose objects and programmed behavior this one begins with, but not the uploaded files. It needs an empty DataFile.
	CopyOf *Emulator
	// Clock decides all times the API shows and every rule that depends on time. Default clock.System. The control API
	// can move the emulator's time ahead of it.
	Clock clock.Clock
	// Listen and FilesListen are the addresses of the API and of the file storage. Default "127.0.0.1:0".
	Listen, FilesListen string
	// FilesURL is the origin of signed URLs; empty means that of FilesListen.
	FilesURL string
	// APIKey is the key of the first manager; empty means the one in DataFile, or a random one.
	APIKey string
	// Latency is a real delay before each response of the API.
	Latency time.Duration
	// RequestsPerSecond is the rate limit of the whole API, measured by Clock; above it, the response is 429
	// with Retry-After. 0 means none.
	RequestsPerSecond float64
	// MaxPageSize bounds every page, even if the request has a larger limit. 0 means 100.
	MaxPageSize int
	// ShuffleLists returns lists in random order where the API does not define one.
	ShuffleLists bool
	// ValidationErrorsArray makes a 400 for a bad body or query carry an errors array and no detail.
	ValidationErrorsArray bool
	// Wrap wraps the handler of the API, inside faults, rate limit and journal: it sees real answers only.
	Wrap func(http.Handler) http.Handler
	// Logger receives one line per request; never a body or a key. nil means silence.
	Logger *slog.Logger
	// Provisioning configures how long the setup of managed computers takes.
	Provisioning Provisioning
	// BuildPhase is the length of each phase of an environment's build (queued, building, validating);
	// 0 means 2 seconds, the least is a millisecond.
	BuildPhase time.Duration
	// Tier is the organization's tier: TierFree, TierTeam or TierEnterprise; empty means TierEnterprise.
	Tier string
	// SessionDelay is how long requests for a new session return 404; 0 means 2 seconds, less means none.
	SessionDelay time.Duration
	// SessionListDelay is how late listings show a new session or a changed status; 0 means 5 seconds, less means none.
	SessionListDelay time.Duration
	// MessageDelay is how late a listing shows a new message of a session; 0 means 20 seconds, less means none.
	MessageDelay time.Duration
	// AgentPhase is how long the agent takes to notice a message, then to begin its turn, and then to answer; 0 means 2 seconds,
	// the least is a millisecond.
	AgentPhase time.Duration
	// WikiExport configures the responses to exports of wiki runs.
	WikiExport WikiExport
	// Seed fills an empty organization; nil adds nothing. Start fails if the organization is not empty, unless the same
	// seed filled it.
	Seed *Seed
}

// Provisioning configures how long each step of a managed computer's setup takes on the emulator's clock.
type Provisioning struct {
	// Step is the length of every step; 0 means 2 seconds, the least is a millisecond.
	Step time.Duration
	// Steps overrides Step for single steps, by step ID.
	Steps map[string]time.Duration
}

// Emulator is a running emulator. All methods may be called at any time from any goroutine.
type Emulator struct {
	opts         Options
	clock        *clock.Ahead
	log          *slog.Logger
	store        *store
	routes       map[string]*route
	doc          *contract.Document
	controls     *http.ServeMux
	pages        *statuspage.Pages
	api          http.Handler
	limiter      *rate.Limiter
	faults       *Faults
	journal      *Journal
	runs         *runs
	changes      atomic.Int64 // Counts what may change a page.
	programming  sync.Mutex
	switches     switches // Under programming; use program and switched.
	ciScan       ciScan
	bootstrapKey string
	signingKey   []byte

	apiListener, filesListener net.Listener
	apiServer, filesServer     *http.Server
	cancel                     context.CancelFunc
	closeOnce                  sync.Once
	closeErr                   error
	// running is held for reading by each request, so that Close can wait for all of them.
	running sync.RWMutex
	closed  bool
}

// Start opens the database, listens on both addresses and serves until Close is called or ctx is done.
func Start(ctx context.Context, opts Options) (*Emulator, error) {
	opts.Clock, opts.Logger = cmp.Or(opts.Clock, clock.System), cmp.Or(opts.Logger, slog.New(slog.DiscardHandler))
	opts.Listen, opts.FilesListen = cmp.Or(opts.Listen, "127.0.0.1:0"), cmp.Or(opts.FilesListen, "127.0.0.1:0")
	opts.Tier, opts.MaxPageSize = cmp.Or(opts.Tier, TierEnterprise), cmp.Or(max(0, opts.MaxPageSize), 100)
	if err := checkTier(opts.Tier); err != nil {
		return nil, fmt.Errorf("start the emulator: %w", err)
	}
	var err error
	if opts.WikiExport, err = opts.WikiExport.completed(); err != nil {
		return nil, fmt.Errorf("start the emulator: %w", err)
	}
	e := &Emulator{opts: opts, clock: clock.NewAhead(opts.Clock, 0), log: opts.Logger, faults: &Faults{}, journal: &Journal{}}
	e.runs = newRuns(func() { e.changes.Add(1) })
	if opts.RequestsPerSecond > 0 {
		e.limiter = rate.NewLimiter(rate.Limit(opts.RequestsPerSecond), max(1, int(opts.RequestsPerSecond)))
	}
	if e.doc, err = contract.Load(); err == nil {
		e.routes, err = allRoutes(e.doc)
	}
	if err != nil {
		return nil, fmt.Errorf("start the emulator: %w", err)
	}
	e.controls, e.pages = newControls(e), statuspage.New(statusSource{e})
	e.api = http.HandlerFunc(e.serveAPI)
	if opts.Wrap != nil {
		e.api = opts.Wrap(e.api)
	}

	if opts.CopyOf != nil {
		e.switches = opts.CopyOf.switched()
	}
	if e.store, err = openStore(opts.DataFile, opts.CopyOf); err != nil {
		return nil, err
	}
	if err = e.bootstrap(); err == nil {
		err = e.loadSeed()
	}
	if err == nil {
		err = e.listen(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, e.store.close())
	}
	return e, nil
}

// bootstrap reads or creates what every emulator has: its time, the signing key of the file storage, the first
// repositories with their CI workflow and the first manager.
func (e *Emulator) bootstrap() error {
	return e.store.db.Update(func(tx *bolt.Tx) error {
		ahead, err := metaAhead.get(tx, "ahead", nil)
		if err != nil {
			return err
		}
		if ahead != nil {
			e.clock.Advance(*ahead)
		}
		if err := e.store.writeClock(e.clock.By()); err != nil {
			return err
		}
		secret, err := metaText(tx, "signingKey")
		if err == nil && secret == "" {
			secret = randomText(43)
			err = metaTable.put(tx, "signingKey", secret)
		}
		if err != nil {
			return err
		}
		e.signingKey = []byte(secret)

		if !metaTable.has(tx, "repositories") {
			if err := errors.Join(firstRepositories(tx), firstWorkflow(tx), metaTable.put(tx, "repositories", "connected")); err != nil {
				return err
			}
		}
		managerID, err := e.bootstrapManager(tx)
		if err != nil {
			return err
		}
		switch e.bootstrapKey, err = metaText(tx, "bootstrapKey"); {
		case err == nil && e.bootstrapKey != "" && e.opts.APIKey != "" && e.opts.APIKey != e.bootstrapKey:
			return fmt.Errorf("%s belongs to another API key; use that key, or another -data file", e.opts.DataFile)
		case err != nil || e.bootstrapKey != "":
			return err
		}
		e.bootstrapKey = cmp.Or(e.opts.APIKey, newKeyValue())
		if err := metaTable.put(tx, "bootstrapKey", e.bootstrapKey); err != nil {
			return err
		}
		return putKey(tx, keyRecord{
			ID: newID("key_", e.clock.Now()), Name: "bootstrap", Hash: hashKey(e.bootstrapKey),
			OwnerKind: kindHuman, OwnerID: managerID, born: born{CreatedAt: millis(e.clock.Now())},
		})
	})
}

// initialManager is the email address of the first manager.
const initialManager = "manager@agentyard.example"

func (e *Emulator) bootstrapManager(tx *bolt.Tx) (string, error) {
	id, err := metaText(tx, "bootstrapManager")
	if err != nil || id != "" {
		return id, err
	}
	now := e.clock.Now()
	id = newID("user_", now)
	m := member{memberView{id, initialManager, "Avery", "Manager", toMillis(now), toMillis(now), values{}}, RoleManager}
	return id, errors.Join(putMember(tx, m), metaTable.put(tx, "bootstrapManager", id), firstChanges(tx, m, now))
}

func (e *Emulator) listen(ctx context.Context) error {
	var lc net.ListenConfig
	var err error
	if e.apiListener, err = lc.Listen(ctx, "tcp", e.opts.Listen); err != nil {
		return fmt.Errorf("listen for the API on %s: %w; set -listen to a free address, such as 127.0.0.1:8790, or 127.0.0.1:0 for any port", e.opts.Listen, err)
	}
	if e.filesListener, err = lc.Listen(ctx, "tcp", e.opts.FilesListen); err != nil {
		return errors.Join(fmt.Errorf("listen for files on %s: %w; set -files-listen to a free address, such as 127.0.0.1:8788", e.opts.FilesListen, err), e.apiListener.Close())
	}
	ctx, e.cancel = context.WithCancel(ctx)
	base := func(net.Listener) context.Context { return ctx }
	problems := slog.NewLogLogger(e.log.Handler(), slog.LevelError)
	e.apiServer = &http.Server{
		Handler: e.Handler(), BaseContext: base, ErrorLog: problems, ReadHeaderTimeout: 30 * time.Second,
		ConnContext: e.runs.begin, ConnState: e.runs.changed,
	}
	e.filesServer = &http.Server{
		Handler: e.whileRunning(e.serveFiles), BaseContext: base, ErrorLog: problems, ReadHeaderTimeout: 30 * time.Second,
	}
	go serveUntilClosed(e.apiServer, e.apiListener, e.log)
	go serveUntilClosed(e.filesServer, e.filesListener, e.log)
	context.AfterFunc(ctx, func() {
		if err := e.Close(); err != nil {
			e.log.Error("close the emulator", "error", err)
		}
	})
	return nil
}

func serveUntilClosed(s *http.Server, l net.Listener, log *slog.Logger) {
	if err := s.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
		log.Error("serve", "address", l.Addr().String(), "error", err)
	}
}

// whileRunning calls handle unless the emulator was closed; Close waits until it returns.
func (e *Emulator) whileRunning(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		e.running.RLock()
		defer e.running.RUnlock()
		if e.closed {
			panic(http.ErrAbortHandler)
		}
		handle(w, r)
	}
}

// Handler is what answers requests to the API, for tests without a network.
func (e *Emulator) Handler() http.Handler { return e.whileRunning(e.serve) }

// URL is the base address of the API, without a trailing slash.
func (e *Emulator) URL() string { return "http://" + reachable(e.apiListener.Addr()) }

// FilesURL is the base address of the file storage, the origin of signed URLs.
func (e *Emulator) FilesURL() string {
	return cmp.Or(e.opts.FilesURL, "http://"+reachable(e.filesListener.Addr()))
}

// reachable turns a listener's address into one that a client on this machine can dial.
func reachable(addr net.Addr) string {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok || !tcp.IP.IsUnspecified() {
		return addr.String()
	}
	return net.JoinHostPort("127.0.0.1", fmt.Sprint(tcp.Port))
}

// BootstrapKey is the API key of the first manager.
func (e *Emulator) BootstrapKey() string { return e.bootstrapKey }

// ClockFile is the absolute path of a file that tells how far the clock is ahead, as a Go duration. The provider reads it,
// so that both agree on what is due.
func (e *Emulator) ClockFile() string { return e.store.clock }

// Faults are the programmed faults.
func (e *Emulator) Faults() *Faults { return e.faults }

// Journal is the list of requests the API was sent.
func (e *Emulator) Journal() *Journal { return e.journal }

// Shutdown stops listening, waits until the requests under way are answered or ctx is done, and closes.
func (e *Emulator) Shutdown(ctx context.Context) error {
	return errors.Join(e.apiServer.Shutdown(ctx), e.filesServer.Shutdown(ctx), e.Close())
}

// Close cuts all connections, waits for transactions under way, and closes the database. A temporary one is removed.
// Further calls return what the first returned.
func (e *Emulator) Close() error {
	e.closeOnce.Do(func() {
		err := errors.Join(e.apiServer.Close(), e.filesServer.Close())
		e.cancel() // After the connections: a request that ends by it must not be answered.
		e.running.Lock()
		defer e.running.Unlock()
		e.closed = true
		e.closeErr = errors.Join(err, e.store.close())
	})
	return e.closeErr
}

// removeFile deletes a file that may be gone already.
func removeFile(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}
