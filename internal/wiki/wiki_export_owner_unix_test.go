//go:build unix

package wiki

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Whoever may give files away keeps whose they are.
func TestReplaceFile_owner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root may give files away")
	}
	dir := t.TempDir()
	name := filepath.Join(dir, "w.zip")
	writeFile(t, name, "older")
	if err := errors.Join(os.Chown(name, 1000, 1001), os.Chmod(name, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := replace(name, createFile, fillWith("new", nil)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if is := info.Sys().(*syscall.Stat_t); is.Uid != 1000 || is.Gid != 1001 || info.Mode() != 0o600 {
		t.Errorf("it belongs to %d and %d, and is %v", is.Uid, is.Gid, info.Mode())
	}
	dirHolds(t, dir, map[string]string{"w.zip": "new"})
}

// Where a file cannot be given away, it is the writer's, and its new group gets no more than others had.
func TestGiveTo(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "w.zip")
	writeFile(t, name, "x")
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	is := info.Sys().(*syscall.Stat_t)
	const wanted = 12345
	for what, tc := range map[string]struct {
		uid, gid uint32
		allowed  map[[2]int]bool
		want     os.FileMode
	}{
		"nothing is to be done": {is.Uid, is.Gid, nil, 0o664},
		"both":                  {wanted, wanted, map[[2]int]bool{{wanted, wanted}: true}, 0o664},
		"the group alone":       {wanted, wanted, map[[2]int]bool{{-1, wanted}: true}, 0o664},
		"neither":               {wanted, wanted, nil, 0o644},
		"the group stays":       {wanted, is.Gid, nil, 0o664},
	} {
		older := &syscall.Stat_t{Uid: tc.uid, Gid: tc.gid}
		chown := func(uid, gid int) error {
			if tc.allowed[[2]int{uid, gid}] {
				return nil
			}
			return syscall.EPERM
		}
		if got := giveTo(is, older, chown, 0o664); got != tc.want {
			t.Errorf("%s: it is %v, want %v", what, got, tc.want)
		}
	}
}

func TestReplaceFile_pipe(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := replace(filepath.Join(dir, "pipe"), createFile, func(io.Writer) error { t.Error("it was filled"); return nil })
	var file *fileError
	if !errors.As(err, &file) || !strings.Contains(err.Error(), "no ordinary file") {
		t.Errorf("got %v", err)
	}
	dirHolds(t, dir, map[string]string{"pipe": ""})
}
