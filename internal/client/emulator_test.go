package client

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

func TestEmulatorClock(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		header string
		host   string
		want   time.Duration
		asked  bool
	}{
		"moved":               {"720h0m0s", "127.0.0.1", 720 * time.Hour, true},
		"not moved":           {"", "127.0.0.1", 0, true},
		"behind":              {"-1h", "127.0.0.1", 0, true},
		"unreadable":          {"tomorrow", "127.0.0.1", 0, true},
		"not on this machine": {"720h0m0s", "0.0.0.0", 0, false}, // It leads to the same server, but is no loopback address.
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := false
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = true
				if r.URL.Path != "/below/_emulator/clock" || r.Header.Get("Authorization") != "" {
					t.Errorf("asked for %s with the headers %v", r.URL, r.Header)
				}
				w.Header().Set("X-Agentyard-Emulator-Ahead", tc.header)
				w.WriteHeader(http.StatusUnauthorized)
			}))
			t.Cleanup(server.Close)
			clk := EmulatorClock(t.Context(), strings.Replace(server.URL, "127.0.0.1", tc.host, 1)+"/below/", clock.NewFake(began))
			if got := clk.Now().Sub(began); got != tc.want || asked != tc.asked {
				t.Errorf("ahead by %v, want %v; asked: %v", got, tc.want, asked)
			}
		})
	}
}

func TestEmulatorClock_nobodyThere(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	fake := clock.NewFake(time.Now())
	for _, address := range []string{server.URL, "", "https://agentyard.example"} {
		if EmulatorClock(t.Context(), address, fake) != clock.Clock(fake) {
			t.Errorf("%q: another clock", address)
		}
	}
}
