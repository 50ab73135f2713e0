// Command agentyard-probe reads an Agentyard organization with a user's key and reports where the service differs from what
// the provider expects.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

const usage = `Usage: agentyard-probe [flags]

Compares the answers of an Agentyard organization with what the provider
expects, and prints a report. It sends at most %d GET requests, one after the
other, and changes nothing. Any role works: what the key may not read is listed.

AGENTYARD_API_KEY is the API key, and AGENTYARD_BASE_URL the service's address.

The report contains names of operations and fields, also of fields that only the
service knows, types, words of enums, and statuses. It contains no key, no
address, no ID, and no other value.

Flags:
`

// version is set by the release build.
var version = ""

// The provider's variables.
const (
	envBaseURL = "AGENTYARD_BASE_URL"
	envAPIKey  = "AGENTYARD_API_KEY" //nolint:gosec // The name of a variable, not a credential.
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "agentyard-probe:", err)
		os.Exit(1)
	}
}

// run reads the command line, asks, and probes. The report goes to stdout, everything else to stderr.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("agentyard-probe", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = fmt.Fprintf(stderr, usage, evidence.MaxProbes)
		flags.PrintDefaults()
	}
	insecure := flags.Bool("allow-insecure-http", false, "allow http:// to another machine, which sends the key in clear text")
	out := flags.String("out", "", "also write report.json and report.md to this `folder`")
	yes := flags.Bool("yes", false, "do not ask before the first request")
	printVersion := flags.Bool("version", false, "print the version and exit")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; see -help", flags.Arg(0))
	}
	if *printVersion {
		_, err := fmt.Fprintln(stdout, "agentyard-probe", versionText())
		return err
	}
	address, key := os.Getenv(envBaseURL), os.Getenv(envAPIKey)
	if address == "" || key == "" {
		return fmt.Errorf("set %s and %s; see -help", envBaseURL, envAPIKey)
	}
	base, err := transport.ParseBaseURL(address, *insecure)
	if err == nil {
		err = transport.CheckAPIKey(key)
	}
	if err != nil {
		return err
	}
	doc, err := contract.Load()
	if err != nil {
		return err
	}
	if !*yes {
		_, err := fmt.Fprintf(stderr, "Send at most %d GET requests to %s, which change nothing? [y/N] ", evidence.MaxProbes, base.Host)
		answer, _ := bufio.NewReader(stdin).ReadString('\n') // The end of the input is no.
		if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
			return errors.New("nothing was sent")
		}
	}
	p := &evidence.Probe{
		Base: base, Key: key, UserAgent: "agentyard-probe/" + versionText(), Clock: clock.System, Progress: stderr,
		Recorder: evidence.NewRecorder(doc, "agentyard-probe", versionText()),
	}
	probeErr := p.Run(ctx)
	report := p.Recorder.Report()
	if _, err := io.WriteString(stdout, report.Markdown()); err != nil {
		return errors.Join(probeErr, err)
	}
	if *out != "" {
		probeErr = errors.Join(probeErr, report.WriteFiles(*out))
	}
	return probeErr
}

// versionText is the version of a release, or the one that `go install` has built.
func versionText() string {
	if info, ok := debug.ReadBuildInfo(); ok && version == "" && strings.HasPrefix(info.Main.Version, "v") {
		return info.Main.Version[1:]
	}
	return cmp.Or(version, "dev")
}
