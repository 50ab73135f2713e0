package main

import (
	"bytes"
	"cmp"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

func TestRun(t *testing.T) {
	var requests atomic.Int32
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		requests.Add(1)
		w.WriteHeader(http.StatusUnauthorized) // After which the probe ends.
	}))
	t.Cleanup(service.Close)
	out := filepath.Join(t.TempDir(), "new")
	for _, tc := range []struct {
		name, key, input string
		address          string
		args             []string
		want             string
		sends            bool
	}{
		{name: "no key", args: []string{"-yes"}, want: "set AGENTYARD_BASE_URL and AGENTYARD_API_KEY"},
		{name: "a broken key", key: "a b", args: []string{"-yes"}, want: "api_key contains a space"},
		{name: "clear text", key: "k", address: "http://agentyard.example", args: []string{"-yes"}, want: "clear text"},
		{name: "an argument", key: "k", args: []string{"-yes", "now"}, want: `unexpected argument "now"`},
		{name: "no", key: "k", input: "n\n", want: "nothing was sent"},
		{name: "enter", key: "k", input: "\n", want: "nothing was sent"},
		{name: "no input", key: "k", want: "nothing was sent"},
		{name: "yes", key: "k", input: "y\n", want: "status 401", sends: true},
		{name: "not asked", key: "k", args: []string{"-yes", "-out", out}, want: "status 401", sends: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Setenv(envBaseURL, cmp.Or(tc.address, service.URL))
			t.Setenv(envAPIKey, tc.key)
			requests.Store(0)
			var stdout, stderr bytes.Buffer
			err := run(t.Context(), tc.args, strings.NewReader(tc.input), &stdout, &stderr)
			check.Fails(t, err, tc.want)
			if sent := requests.Load() > 0; sent != tc.sends || strings.Contains(stdout.String(), "# Report of agentyard-probe") != tc.sends {
				t.Errorf("sent is %t, and the report is %q", sent, stdout.String())
			}
			if asked := strings.Contains(stderr.String(), "which change nothing? [y/N]"); asked && strings.Contains(strings.Join(tc.args, " "), "-yes") {
				t.Errorf("asked: %s", stderr.String())
			}
		})
	}
	report, err := evidence.ReadReport(filepath.Join(out, "report.json"))
	if err != nil || report.Requests != 1 {
		t.Errorf("got %+v, %v", report, err)
	}
	if _, err := os.Stat(filepath.Join(out, "report.md")); err != nil {
		t.Error(err)
	}
}
