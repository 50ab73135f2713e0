package acctest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/provider"
)

// EnvCLI names the variable with the path of the CLI under test. The acceptance library reads it too.
const EnvCLI = "TF_ACC_TERRAFORM_PATH"

// cliTimeout stops a CLI that hangs, so that its test fails with the output.
const cliTimeout = 25 * time.Minute

// CLI runs the real CLI in its own folder, with the provider as a separate process. It does what the acceptance library
// cannot: invoke actions, generate configuration from a query, interrupt, and kill.
type CLI struct {
	// Dir is the working folder.
	Dir string

	t    testing.TB
	path string
	env  []string
}

// Result is the result of a CLI run.
type Result struct {
	ExitCode int
	// Output contains standard output and standard error, without colors.
	Output string
	// CPU is the processor time of the CLI and its providers.
	CPU time.Duration
	// Memory is the largest memory, in bytes, of the CLI or one of its providers.
	Memory int64
}

// NewCLI creates a working folder with a configuration: the provider block for e, and hcl.
func NewCLI(t testing.TB, e *Env, hcl string) *CLI {
	t.Helper()
	path := os.Getenv(EnvCLI)
	if path == "" {
		t.Fatalf("%s is not set; run the tests with `make test`, which builds the CLIs", EnvCLI)
	}
	c := &CLI{Dir: t.TempDir(), t: t, path: path}
	rc := filepath.Join(c.Dir, "cli.rc")
	c.UseProvider(ProviderBinary(t))
	c.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_CLI_ARGS=-no-color", "TF_LOG=", "TF_LOG_PATH=",
		provider.EnvBaseURL+"="+e.URL(), provider.EnvAPIKey+"="+e.BootstrapKey(), provider.EnvEmulatorClock+"="+e.ClockFile())
	c.Write("provider.tf", "terraform {\n  required_providers {\n    agentyard = {\n      source = \"agentyard/agentyard\"\n    }\n  }\n}\n")
	c.Write("main.tf", hcl)
	return c
}

// UseProvider sets the provider binary for later runs. The file name must be that of a provider.
func (c *CLI) UseProvider(binary string) {
	c.t.Helper()
	c.Write("cli.rc", fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"agentyard/agentyard\" = %q\n  }\n  direct {}\n}\n", filepath.Dir(binary)))
}

// Setenv adds an environment variable for later runs.
func (c *CLI) Setenv(name, value string) { c.env = append(c.env, name+"="+value) }

// Write writes a file in the working folder.
func (c *CLI) Write(name, content string) {
	c.t.Helper()
	file := filepath.Join(c.Dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(content), 0o600)); err != nil {
		c.t.Fatal(err)
	}
}

// Run runs the CLI until it exits, whatever the exit code.
func (c *CLI) Run(args ...string) Result {
	c.t.Helper()
	return c.Start(args...).Wait()
}

// MustRun is Run, but fails the test unless the CLI succeeds.
func (c *CLI) MustRun(args ...string) Result {
	c.t.Helper()
	r := c.Run(args...)
	if r.ExitCode != 0 {
		c.t.Fatalf("%s: exit code %d\n%s", strings.Join(args, " "), r.ExitCode, r.Output)
	}
	return r
}

// MustPlanEmpty fails the test unless the plan is empty.
func (c *CLI) MustPlanEmpty() Result {
	c.t.Helper()
	r := c.Run("plan", "-detailed-exitcode", "-input=false")
	if r.ExitCode != 0 {
		c.t.Fatalf("the plan is not empty: exit code %d\n%s", r.ExitCode, r.Output)
	}
	return r
}

// Running is a CLI that has started.
type Running struct {
	t      testing.TB
	cmd    *exec.Cmd
	output *bytes.Buffer
	cancel context.CancelFunc
}

// Start starts the CLI in its own process group.
func (c *CLI) Start(args ...string) *Running {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), cliTimeout)
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Env = c.env
	return c.start(cmd, cancel)
}

func (c *CLI) start(cmd *exec.Cmd, cancel context.CancelFunc) *Running {
	c.t.Helper()
	r := &Running{t: c.t, cmd: cmd, output: &bytes.Buffer{}, cancel: cancel}
	r.cmd.Dir = c.Dir
	r.cmd.Stdout, r.cmd.Stderr = r.output, r.output
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	r.cmd.WaitDelay = 5 * time.Second
	if err := r.cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	return r
}

// Interrupt sends the CLI an interrupt, as Ctrl-C does.
func (r *Running) Interrupt() { _ = r.cmd.Process.Signal(syscall.SIGINT) }

// Kill kills the CLI and the provider immediately.
func (r *Running) Kill() { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) }

// Wait waits until the CLI has exited.
func (r *Running) Wait() Result {
	r.t.Helper()
	defer r.cancel()
	err := r.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		r.t.Fatal(err)
	}
	// A process's times include the child processes that it waited for.
	ended := r.cmd.ProcessState
	return Result{ExitCode: ended.ExitCode(), Output: r.output.String(), CPU: ended.UserTime() + ended.SystemTime(), Memory: memoryOf(ended)}
}

func memoryOf(ended *os.ProcessState) int64 {
	usage, ok := ended.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin":
		return int64(usage.Maxrss)
	}
	return int64(usage.Maxrss) << 10 // Linux counts in kilobytes.
}

var buildProvider = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "agentyard-provider-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "terraform-provider-agentyard")
	cmd := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "github.com/agentyard/terraform-provider-agentyard")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the provider: %w\n%s", err, out)
	}
	return binary, nil
})

// EnvProvider names the variable with the path of a built provider. Without it, each test binary builds its own.
const EnvProvider = "AGENTYARD_PROVIDER_BINARY"

// ProviderBinary returns the path of the provider binary.
func ProviderBinary(t testing.TB) string {
	t.Helper()
	if path := os.Getenv(EnvProvider); path != "" {
		return path
	}
	path, err := buildProvider()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Hold calls hit once, for the first request of an operation, after the emulator has processed it. The response is sent when
// hit returns. Hung is closed if the client disconnects first.
func Hold(operation string, hit func(hung <-chan struct{})) Option {
	var once sync.Once
	return Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r)
			if operationOf(r) == operation {
				once.Do(func() { hit(r.Context().Done()) })
			}
		})
	})
}

// InterruptInFlight interrupts a run when the emulator has processed the first request of an operation. It sends the
// response after the client had time to disconnect. The test sends the started run to the channel.
func InterruptInFlight(operation string, running <-chan *Running) Option {
	return Hold(operation, func(hung <-chan struct{}) {
		(<-running).Interrupt()
		select {
		case <-hung:
		case <-time.After(2 * time.Second):
		}
	})
}

// Intercept calls hit once, for the first request of an operation, before or after the emulator processes it. The request
// gets no response.
func Intercept(operation string, afterCommit bool, hit func()) Option {
	var once sync.Once
	return Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			matched := false
			if operationOf(r) == operation {
				once.Do(func() { matched = true })
			}
			if !matched {
				next.ServeHTTP(w, r)
				return
			}
			if afterCommit {
				next.ServeHTTP(httptest.NewRecorder(), r)
			}
			hit()
			panic(http.ErrAbortHandler)
		})
	})
}

// IsOpenTofu reports whether the CLI under test is OpenTofu, whose version numbers do not match Terraform's features.
func IsOpenTofu() bool { return strings.Contains(filepath.Base(os.Getenv(EnvCLI)), "tofu") }

// HasActions reports whether the CLI under test supports actions and `query`.
func HasActions(t *testing.T) bool { return !IsOpenTofu() && atLeast(t, 14) }

// HasTestFiles reports whether the CLI under test can run module tests.
func HasTestFiles(t *testing.T) bool { return atLeast(t, 6) }

// The functions below skip a test on a CLI without a feature. With the newest Terraform, which has them all, the test fails instead.

// NeedsActions is for actions and `query`.
func NeedsActions(t *testing.T) { needs(t, HasActions(t), 14, "actions and query") }

// NeedsIdentity is for resource identity.
func NeedsIdentity(t *testing.T) { needs(t, atLeast(t, 12), 12, "resource identity") }

// NeedsWriteOnly is for write-only arguments.
func NeedsWriteOnly(t *testing.T) { needs(t, atLeast(t, 11), 11, "write-only arguments") }

// NeedsEphemeral is for ephemeral resources.
func NeedsEphemeral(t *testing.T) { needs(t, atLeast(t, 10), 10, "ephemeral resources") }

// NeedsImportForEach is for for_each in import blocks.
func NeedsImportForEach(t *testing.T) { needs(t, atLeast(t, 7), 7, "for_each in import blocks") }

// NeedsTestFiles is for module tests.
func NeedsTestFiles(t *testing.T) { needs(t, HasTestFiles(t), 6, "test files") }

func needs(t *testing.T, has bool, minor int, feature string) {
	t.Helper()
	switch {
	case has:
	case os.Getenv("AGENTYARD_CLI_HAS_ALL") != "":
		t.Fatalf("skipped by mistake: the CLI has no %s", feature)
	default:
		t.Skipf("needs a CLI with %s: Terraform 1.%d or newer", feature, minor) //nolint:forbidigo // Older CLIs lack it.
	}
}

var cliVersion = sync.OnceValues(func() ([2]int, error) {
	var v [2]int
	out, err := exec.CommandContext(context.Background(), os.Getenv(EnvCLI), "version").Output()
	if err != nil {
		return v, fmt.Errorf("asking %s for its version: %w", os.Getenv(EnvCLI), err)
	}
	_, after, _ := strings.Cut(string(out), " v")
	_, err = fmt.Sscanf(after, "%d.%d", &v[0], &v[1])
	return v, err
})

func atLeast(t *testing.T, minor int) bool {
	t.Helper()
	v, err := cliVersion()
	if err != nil {
		t.Fatal(err)
	}
	return v[0] > 1 || v[1] >= minor
}
