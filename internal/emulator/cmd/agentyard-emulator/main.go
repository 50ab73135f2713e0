// Command agentyard-emulator runs the Agentyard emulator for people: module authors try and test their configuration
// with it without an account.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const usage = `Usage: agentyard-emulator [flags]

Runs an emulator of the Agentyard API. It prints the settings that the provider
needs, then one line per request, until it is interrupted.

  -listen and -files-listen take loopback addresses unless another one is given.
  Without -data all state is lost at the end.

Flags:
`

// stopTime is how long requests under way may take after an interrupt.
const stopTime = 5 * time.Second

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "agentyard-emulator:", err)
		stop()
		os.Exit(1)
	}
}

// run serves until ctx is done. The settings go to stdout, the log to stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var opts emulator.Options
	flags := flag.NewFlagSet("agentyard-emulator", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		_, _ = fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	flags.StringVar(&opts.Listen, "listen", "127.0.0.1:8787", "`address` of the API")
	flags.StringVar(&opts.FilesListen, "files-listen", "127.0.0.1:0", "`address` of the file storage")
	flags.StringVar(&opts.DataFile, "data", "", "database `file` that keeps the state; it is created if missing")
	flags.DurationVar(&opts.Latency, "latency", 0, "delay before each answer, such as 200ms")
	flags.Float64Var(&opts.RequestsPerSecond, "requests-per-second", 0, "rate limit of the whole API; 0 means none")
	flags.IntVar(&opts.MaxPageSize, "max-page-size", 100, "no page is larger than this")
	flags.BoolVar(&opts.ShuffleLists, "shuffle-lists", false, "shuffle lists whose order the API leaves open")
	flags.DurationVar(&opts.Provisioning.Step, "step", 2*time.Second, "duration of each provisioning step of a managed computer")
	quiet := flags.Bool("quiet", false, "do not log requests")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q; see -help", flags.Arg(0))
	}
	for _, address := range []string{opts.Listen, opts.FilesListen} {
		if !loopback(address) {
			_, _ = fmt.Fprintf(stderr, "Warning: %s can be reached from other machines, without encryption.\n", address)
		}
	}
	if !*quiet {
		opts.Logger = slog.New(slog.NewTextHandler(stderr, nil))
	}

	e, err := emulator.Start(context.WithoutCancel(ctx), opts)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(stdout, "export AGENTYARD_BASE_URL=%s\nexport AGENTYARD_API_KEY=%s\n", e.URL(), e.BootstrapKey()); err != nil {
		return errors.Join(err, e.Close())
	}
	<-ctx.Done()
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTime)
	defer cancel()
	return e.Shutdown(stopping)
}

func loopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return true // Start will refuse it with a better message.
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
