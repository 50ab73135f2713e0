package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator/statuspage"
)

// The exit codes that shells have for a command that does not start, and for one that a signal ended.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
	exitSignal        = 128
)

// runCommand runs the command beside an emulator of its own and returns its exit code as a shell would. SIGINT and SIGTERM do
// not end the emulator: a command that ends by one may have requests to finish. Only SIGTERM is passed on, because a terminal
// sends its interrupt to the command too, and Terraform takes a second one for an order to drop everything.
func runCommand(ctx context.Context, s *settings, stdin io.Reader, stdout, stderr io.Writer) (code int, err error) {
	signals := make(chan os.Signal, 16)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	e, err := emulator.Start(ctx, s.Options)
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, stop(ctx, e)) }()

	cmd := exec.CommandContext(ctx, s.command[0], s.command[1:]...)
	cmd.Env = append(os.Environ(), envBaseURL+"="+e.URL(), envAPIKey+"="+e.BootstrapKey(), envClock+"="+e.ClockFile())
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	if err := cmd.Start(); err != nil {
		code := exitNotExecutable
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
			code = exitNotFound
		}
		return code, fmt.Errorf("run the command: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case received := <-signals:
			if received == syscall.SIGTERM {
				_ = cmd.Process.Signal(received) // The command may have ended just now.
			}
		case err := <-ended:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 1, fmt.Errorf("wait for the command: %w", err)
			}
			return exitCode(cmd.ProcessState), nil
		}
	}
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return exitSignal + int(status.Signal())
	}
	return state.ExitCode()
}

// control sends one request to the control API of the emulator that the environment names, and prints its response.
func control(ctx context.Context, args []string, stdout io.Writer) error {
	address, key := os.Getenv(envBaseURL), cmp.Or(os.Getenv(envAPIKey), os.Getenv(envGivenKey))
	switch {
	case len(args) < 2 || len(args) > 3:
		return errors.New("usage: control METHOD PATH [BODY], for example: control POST clock '{\"advance\":\"30d\"}'")
	case address == "" || key == "":
		return fmt.Errorf("set %s and %s to those of a running emulator", envBaseURL, envAPIKey)
	}
	req, err := http.NewRequestWithContext(ctx, args[0], address+"/_emulator/"+args[1], strings.NewReader(strings.Join(args[2:], "")))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no emulator answers at %s: %w", address, err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return err
	case resp.StatusCode >= 300:
		refusal := struct{ Detail string }{resp.Status}
		_ = json.Unmarshal(body, &refusal) // The page of another server has no detail.
		return fmt.Errorf("%s %s: %s", args[0], args[1], refusal.Detail)
	}
	if _, err = stdout.Write(body); len(body) > 0 && err == nil {
		_, err = io.WriteString(stdout, "\n")
	}
	return err
}

// report prints what the run reports in a folder say, and what of them cannot be read.
func report(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	format := flags.String("format", "html", "")
	if err := flags.Parse(args); err != nil || flags.NArg() != 1 {
		return errors.New("usage: report [-format html|markdown|json] FOLDER, for example: report reports >report.html")
	}
	r, err := statuspage.ReadReport(flags.Arg(0))
	if err != nil {
		return err
	}
	for _, problem := range r.Problems {
		_, _ = fmt.Fprintln(stderr, "agentyard-emulator:", problem)
	}
	return r.Write(stdout, *format)
}
