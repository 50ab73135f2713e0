package main

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// The settings are the process's, so these tests do not run in parallel.
func TestTune_collectsLessOftenUnlessToldOtherwise(t *testing.T) {
	for name, tc := range map[string]struct {
		gogc, limit string
		percent     int
		size        int
	}{
		"no variable":    {"", "", gcPercent, ballastSize},
		"a percentage":   {"80", "", 80, 0},
		"a memory limit": {"", "7GiB", 80, 0},
		"both":           {"80", "7GiB", 80, 0},
	} {
		t.Run(name, func(t *testing.T) {
			keep(t)
			t.Setenv("GOGC", tc.gogc)
			t.Setenv("GOMEMLIMIT", tc.limit)
			debug.SetGCPercent(80)
			tune()
			if percent := debug.SetGCPercent(80); percent != tc.percent || len(ballast) != tc.size {
				t.Errorf("the percentage is %d with %d bytes of ballast, want %d with %d", percent, len(ballast), tc.percent, tc.size)
			}
		})
	}
}

// The provider sets no memory limit, at which it would do little but collect garbage.
func TestTune_keepsTheMemoryLimit(t *testing.T) {
	keep(t)
	debug.SetMemoryLimit(7 << 30)
	tune()
	check.Is(t, "the memory limit", debug.SetMemoryLimit(-1), 7<<30)
}

func TestTune_quietsTheLibrariesUnlessALogIsWanted(t *testing.T) {
	for variable, want := range map[string]string{"": "ERROR", "TF_LOG": "", "TF_LOG_PROVIDER": "", "TF_LOG_SDK": ""} {
		t.Run(variable, func(t *testing.T) {
			keep(t)
			if variable != "" {
				t.Setenv(variable, "TRACE")
			}
			tune()
			check.Is(t, "the level", os.Getenv("TF_LOG_SDK_PROTO"), want)
		})
	}
}

// keep empties the variables that tune reads, and restores what it changes when the test ends.
func keep(t *testing.T) {
	t.Helper()
	for _, name := range append([]string{"GOGC", "GOMEMLIMIT", "TF_LOG", "TF_LOG_PROVIDER"}, logLevels...) {
		t.Setenv(name, "")
	}
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	t.Cleanup(func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
		ballast = nil
	})
}
