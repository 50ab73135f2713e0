// Package transport sends requests to the service, with retries, rate limiting, timeouts, and typed errors.
package transport

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/memo"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"golang.org/x/net/http/httpproxy"
)

// Defaults of Config.
const (
	defaultRequestTimeout = 60 * time.Second
	DefaultMaxRetries     = 4
)

// Config says how to reach the service.
type Config struct {
	// BaseURL is the service's address, without "/api/v0".
	BaseURL string
	// APIKey is sent as a bearer token, and only to BaseURL's origin.
	APIKey string
	// KeyOwner identifies the owner of the API key; empty if keys are compared.
	KeyOwner string
	// RequestTimeout limits one attempt, not its retries.
	RequestTimeout time.Duration
	// MaxRetries limits the retries of one request after failures. Waiting for the service's rate limit does not count.
	MaxRetries int
	// RequestsPerSecond limits all requests of this client; 0 means no limit.
	RequestsPerSecond float64
	// AllowInsecureHTTP permits plain http to hosts other than loopback.
	AllowInsecureHTTP bool
	// UserAgent names the provider's and Terraform's versions.
	UserAgent string
	// ReportFolder is where the report of the run is written; empty for none.
	ReportFolder string
	// Clock is the source of time; nil means the system clock.
	Clock clock.Clock
	// Random is the source of jitter, from 0 to 1; nil means math/rand.
	Random func() float64
	// Transport sends the requests to the API; nil means a connection pool.
	Transport http.RoundTripper
}

// KeyFingerprint returns a short hash that identifies KeyOwner, or the API key if there is none, without revealing it.
func (c *Conn) KeyFingerprint(salt string) string {
	sum := sha256.Sum256([]byte(salt + cmp.Or(c.KeyOwner, c.apiKey)))
	return hex.EncodeToString(sum[:8])
}

// ParseBaseURL checks the service's address and returns it without a trailing slash. Plain HTTP is allowed only for loopback
// hosts, unless allowInsecure is set. The error is a *ConfigError.
func ParseBaseURL(raw string, allowInsecure bool) (*url.URL, error) {
	fault := func(format string, args ...any) error {
		return &ConfigError{Setting: "base_url", Problem: fmt.Sprintf(format, args...)}
	}
	u, err := url.Parse(raw)
	switch {
	case raw == "":
		return nil, fault("is empty; set it to the service's address, such as https://api.agentyard.example")
	case err != nil:
		return nil, fault("is not a URL; set it to the service's address, such as https://api.agentyard.example")
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, fault("must start with https:// (or http:// for an emulator on this machine)")
	case u.Hostname() == "":
		return nil, fault("has no host; set it to the service's address, such as https://api.agentyard.example")
	case u.User != nil:
		return nil, fault("must not contain a user name or password; set api_key instead")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fault("must not have a query or a fragment")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/api/v0"), strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/api/v1"):
		return nil, fault("must not include /api/v0 or /api/v1; the provider adds the path of each operation")
	case u.Scheme == "http" && !allowInsecure && !isLoopback(u.Hostname()):
		return nil, fault("uses plain http to %s, which sends the API key in clear text; use https, or set allow_insecure_http = true if you trust the network", u.Hostname())
	}
	u.Path, u.RawPath = strings.TrimRight(u.Path, "/"), ""
	return u, nil
}

// CheckAPIKey rejects a key that cannot be sent in a header. The error is a *ConfigError and never contains the key.
func CheckAPIKey(key string) error {
	fault := func(problem string) error { return &ConfigError{Setting: "api_key", Problem: problem} }
	switch {
	case key == "":
		return fault("is empty")
	case strings.ContainsAny(key[:1], `"'`):
		return fault("begins with a quotation mark; write the key without quotes")
	case strings.TrimSpace(key) != key:
		return fault("begins or ends with a space or a line break; if it comes from a file, use trimspace()")
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return fault("contains a space, a line break, or another character that an API key cannot have; copy the key again")
	}
	return nil
}

// IsLoopback reports whether an address is a URL of this machine.
func IsLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && isLoopback(u.Hostname())
}

func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// ConfigError says that a provider setting is invalid.
type ConfigError struct {
	// Setting is the provider attribute to correct.
	Setting string
	// Problem completes a sentence that starts with the setting's name.
	Problem string
}

func (e *ConfigError) Error() string { return e.Setting + " " + e.Problem + "." }

// Conn is the connection to the service that all areas of the API share.
type Conn struct {
	base      *url.URL
	apiKey    string
	userAgent string
	// api sends one attempt at a request.
	api *http.Client
	// transfers sends requests that may take longer than request_timeout as long as data is transferred: to the API and, without
	// the API key, to pre-signed URLs on other hosts.
	transfers         *http.Client
	retry             *retryPolicy
	allowInsecureHTTP bool
	KeyOwner          string

	limiter *limiter
	report  *report
	Clock   clock.Clock
	service serviceClock
	// unconfigured is the error of all calls while a provider setting is unknown; otherwise nil.
	unconfigured error
	// checked has the purposes for which CheckOnce has sent its request.
	checked   sync.Map
	providers *memo.Memo[providersResponse]
}

// New returns a connection, or a *ConfigError that names the invalid setting.
func New(cfg Config) (*Conn, error) {
	base, err := ParseBaseURL(cfg.BaseURL, cfg.AllowInsecureHTTP)
	if err != nil {
		return nil, err
	}
	if err := CheckAPIKey(cfg.APIKey); err != nil {
		return nil, err
	}
	if err := checkProxy(base); err != nil {
		return nil, err
	}
	c := connect(cfg)
	c.base = base
	return c, nil
}

// checkProxy rejects the address of a needed proxy that is not a URL: Go would ignore it and connect directly. The error never contains the address,
// which may have a password.
func checkProxy(base *url.URL) error {
	name := strings.ToUpper(base.Scheme) + "_PROXY"
	address := cmp.Or(os.Getenv(name), os.Getenv(strings.ToLower(name)))
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	anyProxy := httpproxy.Config{HTTPProxy: "any", HTTPSProxy: "any", NoProxy: httpproxy.FromEnvironment().NoProxy}
	needed, _ := anyProxy.ProxyFunc()(base)
	if _, err := url.Parse(address); err != nil && needed != nil {
		return fmt.Errorf("%s is not the URL of a proxy, such as http://proxy.example:3128; correct or unset it, because requests would bypass the proxy", name)
	}
	return nil
}

func connect(cfg Config) *Conn {
	cfg.Clock, cfg.RequestTimeout = cmp.Or(cfg.Clock, clock.System), cmp.Or(cfg.RequestTimeout, defaultRequestTimeout)
	if cfg.Random == nil {
		cfg.Random = rand.Float64
	}
	if cfg.Transport == nil {
		cfg.Transport = newPool()
	}
	report := newReport(cfg)
	policy := &retryPolicy{clock: cfg.Clock, random: cfg.Random, maxRetries: cfg.MaxRetries, report: report}
	return &Conn{
		apiKey:            cfg.APIKey,
		KeyOwner:          cfg.KeyOwner,
		userAgent:         cfg.UserAgent,
		Clock:             cfg.Clock,
		providers:         memo.New[providersResponse](cfg.Clock, 0),
		limiter:           newLimiter(cfg.Clock, cfg.Random, policy.backoff, cfg.RequestsPerSecond),
		api:               &http.Client{Transport: cfg.Transport, Timeout: cfg.RequestTimeout, CheckRedirect: neverRedirect},
		transfers:         newTransferClient(cfg.RequestTimeout),
		retry:             policy,
		report:            report,
		allowInsecureHTTP: cfg.AllowInsecureHTTP,
	}
}

// newPool returns a connection pool that nothing else in the process uses.
func newPool() *http.Transport {
	pool := http.DefaultTransport.(*http.Transport).Clone()
	pool.MaxIdleConnsPerHost = 32
	pool.OnProxyConnectResponse = proxyRefusal
	return pool
}

// neverRedirect returns redirects as responses, because the API key is sent only to base_url.
func neverRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// ServiceTime returns the latest time in the service's own responses; zero if there was none. It never goes back.
func (c *Conn) ServiceTime() time.Time {
	c.service.mu.Lock()
	defer c.service.mu.Unlock()
	return c.service.latest
}

// ServiceNow returns the current time by the service's clock, for what the service counts: the clock of this machine may be wrong. If the
// service has not responded yet, it sends a request for its time. Its milliseconds are those of this machine.
func (c *Conn) ServiceNow(ctx context.Context) time.Time {
	c.LearnServiceTime(ctx)
	c.service.mu.Lock()
	defer c.service.mu.Unlock()
	return c.Clock.Now().Add(c.service.ahead)
}

// UnconfiguredError is the error of every call before the provider is configured, and while a provider setting is unknown,
// such as during a plan that creates what the setting depends on.
type UnconfiguredError struct {
	// Setting is the provider attribute whose value is unknown; empty before the provider is configured.
	Setting string
}

func (e *UnconfiguredError) Error() string {
	if e.Setting == "" {
		return "the provider is not configured"
	}
	return fmt.Sprintf("the provider's %s is not known yet", e.Setting)
}

// Configured returns the *UnconfiguredError of every call while a provider setting is unknown, else nil.
func (c *Conn) Configured() error { return c.unconfigured }

// NewUnconfigured returns a connection whose every call fails with an *UnconfiguredError.
func NewUnconfigured(setting string, clk clock.Clock) *Conn {
	c := connect(Config{Clock: clk})
	c.unconfigured = &UnconfiguredError{Setting: setting}
	return c
}

// serviceClock has the latest time in a response that only the service can have sent: a gateway's clock may be wrong.
type serviceClock struct {
	mu     sync.Mutex
	latest time.Time
	// ahead is the difference to the clock of this machine in whole seconds, like the service's time; zero if it is less than sameClock.
	ahead time.Duration
}

// sameClock allows for the way of a response, and for its time without fractions of a second.
const sameClock = 2 * time.Second

// note records the time of a response whose header came now.
func (s *serviceClock) note(at, now time.Time) {
	if at.IsZero() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest, s.ahead = latest(s.latest, at), 0
	if ahead := at.Sub(now); ahead.Abs() >= sameClock {
		s.ahead = ahead.Round(time.Second)
	}
}

// dateOf parses the Date header; zero if it is missing or invalid.
func dateOf(h http.Header) time.Time {
	at, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return time.Time{}
	}
	return at
}
