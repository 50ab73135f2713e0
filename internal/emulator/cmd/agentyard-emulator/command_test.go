package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// role names the variable that makes the test binary the emulator, or a command that it runs.
const role = "AGENTYARD_EMULATOR_TEST"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "emulator":
		_ = os.Setenv(role, "command")
		main()
	case "command":
		os.Exit(command(os.Args[1]))
	default:
		os.Exit(m.Run())
	}
}

// command is what the emulator runs.
func command(what string) int {
	switch what {
	case "look":
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, os.Getenv("AGENTYARD_BASE_URL")+"/api/v0/computers", nil)
		if err != nil {
			return 1
		}
		req.Header.Set("Authorization", "Bearer "+os.Getenv("AGENTYARD_API_KEY"))
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return 1
		}
		_ = resp.Body.Close()
		ahead, err := os.ReadFile(os.Getenv("AGENTYARD_EMULATOR_CLOCK"))
		if err != nil {
			return 1
		}
		fmt.Println(resp.Status, os.Getenv("AGENTYARD_API_KEY"), string(ahead))
	case "signals":
		received := make(chan os.Signal, 8)
		signal.Notify(received, syscall.SIGINT, syscall.SIGTERM)
		fmt.Println("ready")
		for s := range received {
			fmt.Println(s)
			if s == syscall.SIGTERM {
				return 3
			}
		}
	}
	return 0
}

// emulatorCommand is the emulator as a process of its own, in a process group of its own as a shell would start it.
func emulatorCommand(t *testing.T, temporary string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	check.Must(t, err)
	for i, arg := range args {
		if arg == "SELF" {
			args[i] = self
		}
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), role+"=emulator", "TMPDIR="+temporary, "AGENTYARD_BASE_URL=http://127.0.0.1:1", "AGENTYARD_API_KEY=fk-another", "AGENTYARD_EMULATOR_CLOCK=/nowhere")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// outcome runs the emulator to its end.
func outcome(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	temporary := t.TempDir()
	cmd := emulatorCommand(t, temporary, args...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("input\n"), &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

func TestCommand_exitCodeAndOutput(t *testing.T) {
	t.Parallel()
	plain := filepath.Join(t.TempDir(), "plain")
	check.Must(t, os.WriteFile(plain, []byte("text"), 0o600))
	for name, tc := range map[string]struct {
		args   []string
		code   int
		stdout string
		stderr string // Contained; nothing at all where it is empty.
	}{
		"success":                  {[]string{"--", "true"}, 0, "", ""},
		"failure":                  {[]string{"--", "sh", "-c", "echo out; echo err >&2; exit 7"}, 7, "out\n", "err\n"},
		"arguments and input":      {[]string{"--", "sh", "-c", `read line; echo "$line" "$@"`, "--", "-a", "--", "b c"}, 0, "input -a -- b c\n", ""},
		"killed":                   {[]string{"--", "sh", "-c", "kill -KILL $$"}, 137, "", ""},
		"terminated":               {[]string{"--", "sh", "-c", "kill -TERM $$"}, 143, "", ""},
		"not found":                {[]string{"--", "no-such-command"}, 127, "", "no-such-command"},
		"no such path":             {[]string{"--", "./no/such/command"}, 127, "", "no such file"},
		"not executable":           {[]string{"--", plain}, 126, "", "permission denied"},
		"help on stopping it":      {[]string{"-help"}, 0, "", "send SIGTERM"},
		"no command":               {[]string{"--"}, 1, "", "no command"},
		"an emulator that fails":   {[]string{"-listen", "127.0.0.1:99999", "--", "echo", "never"}, 1, "", "listen for the API"},
		"a log, when asked for it": {[]string{"-quiet=false", "--", "SELF", "look"}, 0, "*", "operation=listComputers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := outcome(t, tc.args...)
			if code != tc.code || tc.stdout != "*" && stdout != tc.stdout || !strings.Contains(stderr, tc.stderr) || tc.stderr == "" && stderr != "" {
				t.Errorf("code %d, want %d\nstdout: %q, want %q\nstderr: %q, want %q", code, tc.code, stdout, tc.stdout, stderr, tc.stderr)
			}
		})
	}
}

func TestCommand_settings(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := outcome(t, "--", "SELF", "look")
	if code != 0 || !strings.HasPrefix(stdout, "200 OK fk-") || stdout == "200 OK fk-another 0s\n" || stderr != "" {
		t.Errorf("code %d, %q %q", code, stdout, stderr)
	}
	file := filepath.Join(t.TempDir(), "state.db")
	_, first, _ := outcome(t, "-data", file, "--", "SELF", "look")
	_, second, _ := outcome(t, "-data", file, "--", "SELF", "look")
	if first != second || first == stdout {
		t.Errorf("the data file keeps the key: %q, then %q", first, second)
	}
}

func TestControl(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		"with a body":    {[]string{"POST", "clock", `{"advance":"30d"}`}, 0, `"ahead":"720h0m0s"`, ""},
		"without a body": {[]string{"GET", "faults"}, 0, `{"faults":[]}`, ""},
		"refused":        {[]string{"POST", "clock", `{"advance":"-1h"}`}, 1, "", "agentyard-emulator: POST clock: The clock never goes back, so \"advance\" cannot be -1h.\n"},
		"too many":       {[]string{"POST", "clock", "{", "}"}, 1, "", "METHOD PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, stdout, stderr := outcome(t, append([]string{"--", "env", role + "=emulator", "SELF", "control"}, tc.args...)...)
			if code != tc.code || !strings.Contains(stdout, tc.stdout) || !strings.Contains(stderr, tc.stderr) {
				t.Errorf("code %d, %q, %q", code, stdout, stderr)
			}
		})
	}
	if _, _, stderr := outcome(t, "--", "env", role+"=emulator", "AGENTYARD_API_KEY=", "SELF", "control", "GET", "clock"); !strings.Contains(stderr, "to those of a running emulator") {
		t.Errorf("without a key: %q", stderr)
	}
}

// The terminal has sent its interrupt to the command already.
func TestCommand_passesOnlyTerminationOn(t *testing.T) {
	t.Parallel()
	cmd := emulatorCommand(t, t.TempDir(), "--", "SELF", "signals")
	out, err := cmd.StdoutPipe()
	check.Must(t, err)
	check.Must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	expect := func(want string) {
		t.Helper()
		if lines.Scan(); lines.Text() != want {
			t.Fatalf("the command says %q, want %q", lines.Text(), want)
		}
	}
	expect("ready")
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		check.Must(t, cmd.Process.Signal(s))
	}
	expect("terminated")
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("%v, want the command's exit code 3", err)
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for want, args := range map[string][]string{
		"usage: report":         {},
		"FOLDER, for example":   {"-nonsense", folder},
		"has no run":            {folder},
		"no such file or direc": {filepath.Join(folder, "missing")},
	} {
		check.Fails(t, report(args, io.Discard, io.Discard), want)
	}
	for name, text := range map[string]string{
		"a.jsonl": `{"agentyard_run_report":1,"time":"2026-05-01T12:00:00Z","agent":"a"}` + "\n" + `{"time":"2026-05-01T12:00:00Z","ms":5,"operation":"listComputers","method":"GET","route":"/c","status":200}`,
		"b.jsonl": "broken",
	} {
		check.Must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	var out, problems strings.Builder
	check.Must(t, report([]string{"-format", "markdown", folder}, &out, &problems))
	check.Is(t, "problems", problems.String(), "agentyard-emulator: b.jsonl: not a run report\n")
	if !strings.HasPrefix(out.String(), "### Agentyard: no failures in 5 ms\n**Only reads.**\n") {
		t.Errorf("%q", out.String())
	}
}

func serveArgs(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	s, err := parse(args, io.Discard)
	if err != nil {
		return err
	}
	return serve(ctx, s, stdout, stderr)
}

// lineOf is a writer for lines.
type lineOf chan string

func (l lineOf) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// What it prints works, and it ends with its context. TestCommand_settings keeps the key in a data file.
func TestServe(t *testing.T) {
	t.Parallel()
	const key = "a'b$(c)"
	ctx, stop := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	page := make(lineOf, 2)
	go func() { ended <- serveArgs(ctx, []string{"-listen", "127.0.0.1:0", "-api-key", key}, stdout, page) }()
	printed, lines := map[string]string{}, bufio.NewScanner(out)
	for range 3 {
		lines.Scan()
		name, value, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "export "), "=")
		printed[name] = strings.ReplaceAll(strings.Trim(value, "'"), `'\''`, "'") // As a shell reads it.
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, printed["AGENTYARD_BASE_URL"]+"/api/v0/computers", nil)
	check.Must(t, err)
	req.Header.Set("Authorization", "Bearer "+printed["AGENTYARD_API_KEY"])
	resp, err := http.DefaultClient.Do(req)
	check.Must(t, err)
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the printed settings do not work: %s %v", resp.Status, err)
	}
	if text, err := os.ReadFile(printed["AGENTYARD_EMULATOR_CLOCK"]); err != nil || string(text) != "0s" {
		t.Errorf("the printed clock: %q %v", text, err)
	}
	check.Says(t, <-page, "Ctrl-C", printed["AGENTYARD_BASE_URL"])
	if got, want := <-page, printed["AGENTYARD_BASE_URL"]+"/#key="+url.QueryEscape(key)+"\n"; !strings.HasSuffix(got, ": "+want) {
		t.Errorf("the status page: %q", got)
	}
	stop()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if err := <-ended; err != nil {
		t.Errorf("stop: %v", err)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	var help, warning strings.Builder
	if _, err := parse([]string{"-help"}, &help); !errors.Is(err, flag.ErrHelp) || !strings.Contains(help.String(), "-data file") {
		t.Errorf("help: %v %s", err, help.String())
	}
	if s, err := parse([]string{"-version"}, io.Discard); err != nil || !s.printVersion {
		t.Errorf("version: %v", err)
	}
	if _, err := parse([]string{"-listen", "0.0.0.0:0"}, &warning); err != nil || !strings.Contains(warning.String(), "without encryption") {
		t.Errorf("open to all: %v %s", err, warning.String())
	}
	seed := filepath.Join(t.TempDir(), "organization.json")
	check.Must(t, os.WriteFile(seed, []byte(`{"usageLimits": {"global": 5000000}}`), 0o600))
	if s, err := parse([]string{"-seed", seed}, io.Discard); err != nil || s.Seed == nil || *s.Seed.UsageLimits.Global != 5000000 {
		t.Errorf("seed: %v", err)
	}
	for want, args := range map[string][]string{
		"unexpected argument": {"extra", "--", "true"},
		"not defined":         {"-nonsense"},
		"see -help":           {"-nonsense"},
		"such as 200ms":       {"-latency", "200"},
		"such as http://emul": {"-files-url", "javascript:alert(1)"},
		"without a user":      {"-files-url", "http://a:b@h"},
		"http or https":       {"-files-url", "h:8788"},
		"a query":             {"-files-url", "http://h?x=1"},
		"no command after --": {"--"},
		"needs an argument":   {"-data", "--", "true"},
		"read the seed":       {"-seed", filepath.Join(t.TempDir(), "none.json")},
	} {
		_, err := parse(args, io.Discard)
		check.Fails(t, err, want)
	}
	var refusal strings.Builder
	if _, err := parse([]string{"-nonsense"}, &refusal); err == nil || refusal.Len() > 0 {
		t.Errorf("an unknown flag prints %s beside its error %v", refusal.String(), err)
	}
	if s, err := parse([]string{"-listen", "8790", "-files-url", "https://files.example/a/"}, io.Discard); err != nil || s.Listen != "127.0.0.1:8790" || s.FilesURL != "https://files.example/a" {
		t.Errorf("a port alone: %v", err)
	}
	type result struct {
		listen                       string
		step, found, listed, message time.Duration
		quiet                        bool
	}
	const at = "127.0.0.1:8787"
	for name, tc := range map[string]struct {
		args []string
		want result
	}{
		"alone":          {nil, result{at, 2 * time.Second, 2 * time.Second, 5 * time.Second, 20 * time.Second, false}},
		"at once":        {[]string{"-step", "0", "-quiet", "-session-delay", "0", "-session-list-delay", "0s", "-message-delay", "0"}, result{at, time.Millisecond, -1, -1, -1, true}},
		"with a command": {[]string{"--", "true", "-step", "9s"}, result{"127.0.0.1:0", time.Millisecond, -1, -1, -1, true}},
		"with a command, as ordered": {
			[]string{"-listen", "127.0.0.1:1", "-step", "3s", "-quiet=false", "-session-delay", "1s", "-session-list-delay", "20s", "-message-delay", "3s", "--", "true"},
			result{"127.0.0.1:1", 3 * time.Second, time.Second, 20 * time.Second, 3 * time.Second, false},
		},
	} {
		s, err := parse(tc.args, io.Discard)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := (result{s.Listen, s.Provisioning.Step, s.SessionDelay, s.SessionListDelay, s.MessageDelay, s.Logger == nil}); got != tc.want || s.BuildPhase != got.step || s.AgentPhase != got.step {
			t.Errorf("%s: %+v, want %+v; a phase of a build takes %s", name, got, tc.want, s.BuildPhase)
		}
	}
}

func TestServe_refuses(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"listen for the API":  {"-listen", "127.0.0.1:99999"},
		"such as 127.0.0.1:8": {"-listen", "127.0.0.1:99999"},
		"team, or enterprise": {"-listen", "127.0.0.1:0", "-tier", "gold"},
		"data file":           {"-listen", "127.0.0.1:0", "-data", t.TempDir()},
	} {
		check.Fails(t, serveArgs(t.Context(), args, io.Discard, io.Discard), want)
	}
}
