package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

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
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+printed["AGENTYARD_API_KEY"])
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("the printed settings do not work: %s %v", resp.Status, err)
	}
	if text, err := os.ReadFile(printed["AGENTYARD_EMULATOR_CLOCK"]); err != nil || string(text) != "0s" {
		t.Errorf("the printed clock: %q %v", text, err)
	}
	if got := <-page; !strings.Contains(got, "Ctrl-C") || !strings.Contains(got, printed["AGENTYARD_BASE_URL"]) {
		t.Errorf("the first line: %q", got)
	}
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
	if err := os.WriteFile(seed, []byte(`{"usageLimits": {"global": 5000000}}`), 0o600); err != nil {
		t.Fatal(err)
	}
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
		if _, err := parse(args, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v does not contain %q", args, err, want)
		}
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
		if err := serveArgs(t.Context(), args, io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v does not contain %q", args, err, want)
		}
	}
}
