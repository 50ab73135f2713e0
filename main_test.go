package main

import (
	"os"
	"runtime/debug"
	"testing"
)

// The settings are the process's, so these tests do not run in parallel.
func TestTune_boundsMemoryUnlessToldOtherwise(t *testing.T) {
	for name, tc := range map[string]struct {
		variable string
		before   int64
		want     int64
	}{
		"no variable":  {"", 7 << 30, memoryLimit},
		"a variable":   {"7GiB", 7 << 30, 7 << 30},
		"switched off": {"off", 7 << 30, 7 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			keep(t)
			t.Setenv("GOMEMLIMIT", tc.variable)
			debug.SetMemoryLimit(tc.before)
			tune()
			if got := debug.SetMemoryLimit(-1); got != tc.want {
				t.Errorf("the limit is %d bytes, want %d", got, tc.want)
			}
		})
	}
}

func TestTune_collectsLessOftenUnlessToldOtherwise(t *testing.T) {
	for variable, want := range map[string]int{"": 400, "50": 100} {
		t.Run("GOGC="+variable, func(t *testing.T) {
			keep(t)
			t.Setenv("GOGC", variable)
			debug.SetGCPercent(100)
			tune()
			if got := debug.SetGCPercent(100); got != want {
				t.Errorf("the percentage is %d, want %d", got, want)
			}
		})
	}
}

func TestTune_quietsTheLibrariesUnlessALogIsWanted(t *testing.T) {
	for variable, want := range map[string]string{"": "ERROR", "TF_LOG": "", "TF_LOG_PROVIDER": "", "TF_LOG_SDK": ""} {
		t.Run(variable, func(t *testing.T) {
			keep(t)
			if variable != "" {
				t.Setenv(variable, "TRACE")
			}
			tune()
			if got := os.Getenv("TF_LOG_SDK_PROTO"); got != want {
				t.Errorf("the level is %q, want %q", got, want)
			}
		})
	}
}

// keep empties what tune reads, and has the test put back what it changes.
func keep(t *testing.T) {
	t.Helper()
	for _, name := range append([]string{"GOGC", "GOMEMLIMIT", "TF_LOG", "TF_LOG_PROVIDER"}, logLevels...) {
		t.Setenv(name, "")
	}
	limit, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	t.Cleanup(func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	})
}
