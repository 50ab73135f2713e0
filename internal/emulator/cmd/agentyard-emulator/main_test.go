package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// started runs the emulator until stop is called and returns the values of the three lines it prints.
func started(t *testing.T, args ...string) (url, key, clock string, stop func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	out, stdout := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := serveArgs(ctx, args, stdout)
		stdout.CloseWithError(io.EOF)
		ended <- err
	}()
	url, key, clock = printed(t, out)
	return url, key, clock, func() error {
		cancel()
		return <-ended
	}
}

// printed returns the values of the three lines that an emulator prints.
func printed(t *testing.T, out io.Reader) (url, key, clock string) {
	t.Helper()
	lines := bufio.NewScanner(out)
	for _, into := range []struct {
		value *string
		name  string
	}{{&url, "AGENTYARD_BASE_URL"}, {&key, "AGENTYARD_API_KEY"}, {&clock, "AGENTYARD_EMULATOR_CLOCK"}} {
		lines.Scan()
		value, found := strings.CutPrefix(lines.Text(), "export "+into.name+"=")
		if !found {
			t.Fatalf("line %q does not set %s", lines.Text(), into.name)
		}
		*into.value = value
	}
	return url, key, clock
}

func serveArgs(ctx context.Context, args []string, stdout io.Writer) error {
	s, err := parse(args, io.Discard)
	if err != nil {
		return err
	}
	return serve(ctx, s, stdout)
}

func TestServe(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "state.db")
	args := []string{"-listen", "127.0.0.1:0", "-data", file}
	url, key, clock, stop := started(t, args...)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/api/v0/computers", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the printed settings do not work: %s %v", resp.Status, err)
	}
	if text, err := os.ReadFile(clock); err != nil || string(text) != "0s" {
		t.Errorf("the printed clock: %q %v", text, err)
	}
	if err := stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	_, keyAgain, clockAgain, stop := started(t, args...)
	if keyAgain != key || clockAgain != clock {
		t.Error("the key or the clock file changed over a restart with the same data file")
	}
	if err := stop(); err != nil {
		t.Errorf("second stop: %v", err)
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
	if err := os.WriteFile(seed, []byte(`{"usageLimits": {"global": 5000000}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := parse([]string{"-seed", seed}, io.Discard); err != nil || s.Seed == nil || *s.Seed.UsageLimits.Global != 5000000 {
		t.Errorf("seed: %v", err)
	}
	for want, args := range map[string][]string{
		"unexpected argument": {"extra", "--", "true"},
		"not defined":         {"-nonsense"},
		"no command after --": {"--"},
		"needs an argument":   {"-data", "--", "true"},
		"read the seed":       {"-seed", filepath.Join(t.TempDir(), "none.json")},
	} {
		if _, err := parse(args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v does not contain %q", args, err, want)
		}
	}
	type result struct {
		listen string
		step   time.Duration
		quiet  bool
	}
	for name, tc := range map[string]struct {
		args []string
		want result
	}{
		"alone":                      {nil, result{"127.0.0.1:8787", 2 * time.Second, false}},
		"at once":                    {[]string{"-step", "0", "-quiet"}, result{"127.0.0.1:8787", time.Millisecond, true}},
		"with a command":             {[]string{"--", "true", "-step", "9s"}, result{"127.0.0.1:0", time.Millisecond, true}},
		"with a command, as ordered": {[]string{"-listen", "127.0.0.1:1", "-step", "3s", "-quiet=false", "--", "true"}, result{"127.0.0.1:1", 3 * time.Second, false}},
	} {
		s, err := parse(tc.args, io.Discard)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := (result{s.Listen, s.Provisioning.Step, s.Logger == nil}); got != tc.want || s.BuildPhase != got.step || s.AgentPhase != got.step {
			t.Errorf("%s: %+v, want %+v; a phase of a build takes %s", name, got, tc.want, s.BuildPhase)
		}
	}
}

func TestParse_sessions(t *testing.T) {
	t.Parallel()
	type delays struct{ found, listed, message time.Duration }
	for name, tc := range map[string]struct {
		args []string
		want delays
	}{
		"alone":                      {nil, delays{2 * time.Second, 5 * time.Second, 20 * time.Second}},
		"at once":                    {[]string{"-session-delay", "0", "-session-list-delay", "0s", "-message-delay", "0"}, delays{-1, -1, -1}},
		"as ordered":                 {[]string{"-session-delay", "1s", "-session-list-delay", "20s", "-message-delay", "3s"}, delays{time.Second, 20 * time.Second, 3 * time.Second}},
		"with a command":             {[]string{"--", "true"}, delays{-1, -1, -1}},
		"with a command, as ordered": {[]string{"-session-list-delay", "1s", "--", "true"}, delays{-1, time.Second, -1}},
	} {
		s, err := parse(tc.args, io.Discard)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if got := (delays{s.SessionDelay, s.SessionListDelay, s.MessageDelay}); got != tc.want {
			t.Errorf("%s: %+v, want %+v", name, got, tc.want)
		}
	}
}

func TestServe_refuses(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"listen for the API":  {"-listen", "127.0.0.1:99999"},
		"team, or enterprise": {"-listen", "127.0.0.1:0", "-tier", "gold"},
		"data file":           {"-listen", "127.0.0.1:0", "-data", t.TempDir()},
	} {
		if err := serveArgs(t.Context(), args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v does not contain %q", args, err, want)
		}
	}
}
