// Command agentyard-emulator runs the Agentyard emulator for people: module authors try and test their configuration
// with it without an account.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

const usage = `Usage: agentyard-emulator [flags]
       agentyard-emulator [flags] -- COMMAND [ARGUMENTS]
       agentyard-emulator control METHOD PATH [BODY]
       agentyard-emulator report [-format html|markdown|json] FOLDER

Runs an emulator of the Agentyard API. It prints the provider's settings, the
address of the status page, and one line for each request. To stop it, press
Ctrl-C.

With a command, such as "terraform test", "go test ./...", or "pytest", it runs
the command with the settings in AGENTYARD_BASE_URL, AGENTYARD_API_KEY, and
AGENTYARD_EMULATOR_CLOCK. It stops when the command ends, and returns its exit
code. It then uses a free port, and computers, builds, and sessions are ready at
once. To stop it from a program, send SIGTERM.

"control" sends a request to the control API of the emulator that these settings
name, for example: control POST clock '{"advance":"30d"}'
The provider follows a moved clock through AGENTYARD_EMULATOR_CLOCK.

"report" summarizes the run reports in a folder: what each run changed, what
failed and why, and what took time. To write reports, also with a real service,
set AGENTYARD_RUN_REPORT to a folder for the provider.

-listen and -files-listen use loopback addresses by default.
Without -data, the state is lost when the emulator stops.

-seed reads members, repositories, service accounts, and usage limits from a JSON
file. It fills only an empty organization. If the same file filled it before, the
emulator changes nothing. In any other case, it does not start.

Flags:
`

// version is set by the release build.
var version = ""

// stopTime is how long requests under way may take after an interrupt.
const stopTime = 5 * time.Second

// The variables with the provider's settings. The last one has the provider follow the emulator's clock.
const (
	envBaseURL = "AGENTYARD_BASE_URL"
	envAPIKey  = "AGENTYARD_API_KEY" //nolint:gosec // The name of a variable, not a credential.
	envClock   = "AGENTYARD_EMULATOR_CLOCK"
	// envGivenKey sets the key, so that it is in no list of processes.
	envGivenKey = "AGENTYARD_EMULATOR_API_KEY" //nolint:gosec // The name of a variable, not a credential.
)

func main() {
	switch first := strings.Join(os.Args[1:min(2, len(os.Args))], ""); first {
	case "control":
		failIf(control(context.Background(), os.Args[2:], os.Stdout))
		return
	case "report":
		failIf(report(os.Args[2:], os.Stdout, os.Stderr))
		return
	}
	s, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		failIf(err)
	case s.printVersion:
		fmt.Println("agentyard-emulator", versionText())
	case s.command != nil:
		code, err := runCommand(context.Background(), s, os.Stdin, os.Stdout, os.Stderr)
		if err != nil {
			fmt.Fprintln(os.Stderr, "agentyard-emulator:", err)
		}
		os.Exit(code)
	default:
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		failIf(serve(ctx, s, os.Stdout, os.Stderr))
	}
}

func failIf(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "agentyard-emulator:", err)
		os.Exit(1)
	}
}

// settings are what the command line says.
type settings struct {
	emulator.Options
	// command is what to run beside the emulator; nil is nothing.
	command []string
	// printVersion is for a version and nothing else.
	printVersion bool
}

// versionText is the version of a release, or the one that `go install` has built.
func versionText() string {
	info, ok := debug.ReadBuildInfo()
	switch {
	case version != "":
		return version
	case ok && strings.HasPrefix(info.Main.Version, "v"):
		return info.Main.Version[1:]
	default:
		return "dev"
	}
}

// parse reads the command line. Warnings and the help go to stderr.
func parse(args []string, stderr io.Writer) (*settings, error) {
	s := &settings{}
	if i := slices.Index(args, "--"); i >= 0 {
		args, s.command = args[:i], args[i+1:]
		if len(s.command) == 0 {
			return nil, errors.New("no command after --; see -help")
		}
	}
	runs := s.command != nil
	listen, step := "127.0.0.1:8787", 2*time.Second
	sessionDelay, sessionListDelay, messageDelay := 2*time.Second, 5*time.Second, 20*time.Second
	if runs {
		listen, step, sessionDelay, sessionListDelay, messageDelay = "127.0.0.1:0", 0, 0, 0, 0
	}
	flags := flag.NewFlagSet("agentyard-emulator", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&s.Listen, "listen", listen, "`address` of the API")
	flags.StringVar(&s.FilesListen, "files-listen", "127.0.0.1:0", "`address` of the file storage")
	flags.StringVar(&s.FilesURL, "files-url", "", "`URL` of the file storage for clients in other containers, such as http://emulator:8788")
	flags.StringVar(&s.APIKey, "api-key", "", "API `key` of the first manager; also "+envGivenKey+"; random if not given")
	flags.StringVar(&s.DataFile, "data", "", "database `file` for the state; created if missing")
	flags.DurationVar(&s.Latency, "latency", 0, "delay before each response, such as 200ms")
	flags.Float64Var(&s.RequestsPerSecond, "requests-per-second", 0, "rate limit of the API; 0 for none")
	flags.IntVar(&s.MaxPageSize, "max-page-size", 100, "maximum page size")
	flags.BoolVar(&s.ShuffleLists, "shuffle-lists", false, "shuffle lists whose order the API leaves open")
	flags.StringVar(&s.Tier, "tier", emulator.TierEnterprise, "`tier` of the organization: free, team, or enterprise")
	flags.DurationVar(&s.Provisioning.Step, "step", step, "duration of each provisioning step, and of each phase of a build and of an agent's turn; 0 for none")
	flags.DurationVar(&s.SessionDelay, "session-delay", sessionDelay, "how long a new session returns 404; 0 for none")
	flags.DurationVar(&s.SessionListDelay, "session-list-delay", sessionListDelay, "delay until lists show a new or changed session; 0 for none")
	flags.DurationVar(&s.MessageDelay, "message-delay", messageDelay, "delay until lists show a new message of a session; 0 for none")
	flags.BoolVar(&s.printVersion, "version", false, "print the version and exit")
	seed := flags.String("seed", "", "JSON `file` that fills an empty organization")
	quiet := flags.Bool("quiet", runs, "do not log requests")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		_, _ = fmt.Fprint(stderr, usage)
		flags.SetOutput(stderr)
		flags.PrintDefaults()
		return nil, err
	} else if err != nil {
		return nil, fmt.Errorf("%w; see -help (a duration has a unit, such as 200ms)", err)
	}
	if flags.NArg() > 0 {
		return nil, fmt.Errorf("unexpected argument %q; put a command after --, see -help", flags.Arg(0))
	}
	if *seed != "" {
		var err error
		if s.Seed, err = emulator.ReadSeed(*seed); err != nil {
			return nil, err
		}
	}
	s.APIKey, s.FilesURL = cmp.Or(s.APIKey, os.Getenv(envGivenKey)), strings.TrimSuffix(s.FilesURL, "/")
	if err := checkFilesURL(s.FilesURL); err != nil {
		return nil, err
	}
	s.Provisioning.Step = max(s.Provisioning.Step, time.Millisecond)
	s.BuildPhase, s.AgentPhase = s.Provisioning.Step, s.Provisioning.Step
	for _, delay := range []*time.Duration{&s.SessionDelay, &s.SessionListDelay, &s.MessageDelay} {
		if *delay == 0 {
			*delay = -1 // None; 0 would mean the default.
		}
	}
	for _, address := range []*string{&s.Listen, &s.FilesListen} {
		if !strings.Contains(*address, ":") {
			*address = "127.0.0.1:" + *address // A port alone.
		}
		if !statuspage.IsLoopback(*address) {
			_, _ = fmt.Fprintf(stderr, "Warning: other machines can reach %s, without encryption.\n", *address)
		}
	}
	if !*quiet {
		s.Logger = slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{ReplaceAttr: shortened}))
	}
	return s, nil
}

// shortened leaves out of a log line what each has, and the date.
func shortened(_ []string, a slog.Attr) slog.Attr {
	switch text := a.Value.String(); {
	case a.Key == slog.TimeKey:
		return slog.String(a.Key, a.Value.Time().Format(time.TimeOnly))
	case a.Key == slog.LevelKey && text == "INFO", a.Key == slog.MessageKey && text == "request":
		return slog.Attr{}
	}
	return a
}

// checkFilesURL rejects what the provider would reject in the first upload.
func checkFilesURL(address string) error {
	u, err := url.Parse(address)
	isOrigin := err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
	if address == "" || isOrigin {
		return nil
	}
	return errors.New("-files-url must be a URL with http or https and a host, without a user, a query, or a fragment, such as http://emulator:8788")
}

// serve runs an emulator until ctx is done. The provider's settings go to stdout, which a shell may read. The key is in the fragment of the
// page's address, which a browser sends nowhere.
func serve(ctx context.Context, s *settings, stdout, stderr io.Writer) error {
	e, err := emulator.Start(context.WithoutCancel(ctx), s.Options)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(stderr, "Listening on %s. To stop, press Ctrl-C. Paste these lines into the shell that runs Terraform:\n", e.URL())
	if _, err := fmt.Fprintf(stdout, "export %s=%s\nexport %s=%s\nexport %s=%s\n",
		envBaseURL, e.URL(), envAPIKey, statuspage.ShellText(e.BootstrapKey()), envClock, statuspage.ShellText(e.ClockFile())); err != nil {
		return errors.Join(err, e.Close())
	}
	where := "for browsers on this machine"
	if !statuspage.IsLoopback(s.Listen) {
		where = "only inside of this machine or container"
	}
	_, _ = fmt.Fprintf(stderr, "Status page, %s: %s/#key=%s\n", where, e.URL(), url.QueryEscape(e.BootstrapKey()))
	<-ctx.Done()
	return stop(ctx, e)
}

// stop answers the requests under way, for a while, and closes the emulator. It goes on although ctx is done.
func stop(ctx context.Context, e *emulator.Emulator) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	return e.Shutdown(ctx)
}
