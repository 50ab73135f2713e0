package provider

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func TestEmulatorClock(t *testing.T) {
	const address, service = "http://127.0.0.1:8787", "https://api.agentyard.example"
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		text    string
		baseURL string
		want    time.Duration
		fails   bool
	}{
		"moved":              {"720h0m0s", address, 720 * time.Hour, false},
		"not moved":          {"0s", address, 0, false},
		"another address":    {"720h0m0s", "http://127.0.0.1:9999", 0, false},
		"a real service":     {"720h0m0s", service, 0, false},
		"a line":             {"10h\n", address, 10 * time.Hour, false},
		"unreadable":         {"tomorrow", address, 0, true},
		"emulator has ended": {"", address, 0, true},
		"no variable":        {"-", address, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "clock")
			if tc.text != "" {
				check.Must(t, os.WriteFile(file, []byte(tc.text), 0o600))
			}
			if tc.text == "-" {
				file = ""
			}
			t.Setenv(EnvBaseURL, address)
			if tc.baseURL == service {
				t.Setenv(EnvBaseURL, service)
			}
			t.Setenv(EnvEmulatorClock, file)
			clk, err := emulatorClock(clock.NewFake(began), tc.baseURL)
			if (err != nil) != tc.fails {
				t.Fatalf("error %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "tomorrow") {
				t.Errorf("the error quotes the file: %v", err)
			}
			if err == nil && clk.Now().Sub(began) != tc.want {
				t.Errorf("ahead by %v, want %v", clk.Now().Sub(began), tc.want)
			}
		})
	}
}
