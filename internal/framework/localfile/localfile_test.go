package localfile

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	full, empty := filepath.Join(dir, "full"), filepath.Join(dir, "empty")
	for name, content := range map[string]string{full: "12345", empty: ""} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name  string
		limit int64
		want  string
	}{{full, 5, "12345"}, {full, 3, "1234"}, {empty, 0, ""}} {
		if got, err := Read(tc.name, tc.limit); err != nil || string(got) != tc.want {
			t.Errorf("%+v: got %q, %v", tc, got, err)
		}
	}
	for _, name := range []string{dir, filepath.Join(dir, "none")} {
		if _, err := Read(name, 1); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// These claim to be regular and empty. /proc/kmsg needs privileges, and lets a reader wait.
func TestRead_filesOfTheSystem(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		return
	}
	for _, name := range []string{"/proc/self/status", "/proc/kmsg", "/dev/zero"} {
		if _, err := Read(name, 1<<20); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if _, _, err := Open("/proc/self/status"); err == nil || err.Error() != "/proc/self/status has content although its size is 0, so it is a file of the operating system" {
		t.Error(err)
	}
}
