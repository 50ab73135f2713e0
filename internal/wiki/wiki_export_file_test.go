package wiki

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/crud"
)

// fillWith is what writes a text, and then fails or not.
func fillWith(text string, err error) func(io.Writer) error {
	return func(w io.Writer) error {
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		return err
	}
}

// replace replaces what stands at the end of a path.
func replace(name string, create func(string) (*os.File, error), fill func(io.Writer) error) error {
	name, err := destination(name)
	if err != nil {
		return err
	}
	return replaceFile(name, create, fill)
}

// writeFile writes a file as others would.
func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// dirHolds fails the test unless a directory has these files and links, and no others, with this content; what is no file has none.
func dirHolds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		var content []byte
		if info, err := os.Stat(filepath.Join(dir, entry.Name())); err == nil && info.Mode().IsRegular() { // Reading a pipe would not end.
			content, _ = os.ReadFile(filepath.Join(dir, entry.Name()))
		}
		if text, ok := want[entry.Name()]; !ok || text != string(content) {
			t.Errorf("%s holds %q, want %q (%v)", entry.Name(), content, text, ok)
		}
	}
	if len(entries) != len(want) {
		t.Errorf("there are %v, want %v", entries, want)
	}
}

func TestReplaceFile(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before func(t *testing.T, dir string)
		path   string
		want   map[string]string
	}{
		"nothing is there": {func(*testing.T, string) {}, "w.zip", map[string]string{"w.zip": "new"}},
		"a file is there":  {func(t *testing.T, dir string) { writeFile(t, filepath.Join(dir, "w.zip"), "an older one") }, "w.zip", map[string]string{"w.zip": "new"}},
		"a longest name":   {func(*testing.T, string) {}, strings.Repeat("w", 255), map[string]string{strings.Repeat("w", 255): "new"}},
		"a link to a file": {func(t *testing.T, dir string) {
			writeFile(t, filepath.Join(dir, "real"), "older")
			symlink(t, "real", dir, "w.zip")
		}, "w.zip", map[string]string{"w.zip": "new", "real": "new"}},
		"a link to nothing": {func(t *testing.T, dir string) { symlink(t, "real", dir, "w.zip") }, "w.zip", map[string]string{"w.zip": "new", "real": "new"}},
		"a chain of links": {func(t *testing.T, dir string) {
			symlink(t, filepath.Join(dir, "b"), dir, "a")
			symlink(t, "c", dir, "b")
		}, "a", map[string]string{"a": "new", "b": "new", "c": "new"}},
		"a linked directory": {func(t *testing.T, dir string) { symlink(t, ".", dir, "d") }, "d/../d/w.zip", map[string]string{"d": "", "w.zip": "new"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tc.before(t, dir)
			if err := replace(filepath.Join(dir, tc.path), createFile, fillWith("new", nil)); err != nil {
				t.Fatal(err)
			}
			dirHolds(t, dir, tc.want)
		})
	}
}

func symlink(t *testing.T, to, dir, name string) {
	t.Helper()
	if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

// A link stays a link, and the file at its end is the one that is replaced.
func TestReplaceFile_keepsLinks(t *testing.T) {
	t.Parallel()
	dir, elsewhere := t.TempDir(), t.TempDir()
	symlink(t, filepath.Join(elsewhere, "real"), dir, "w.zip")
	if err := replace(filepath.Join(dir, "w.zip"), createFile, fillWith("new", nil)); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(filepath.Join(dir, "w.zip"))
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is %v, %v", info, err)
	}
	dirHolds(t, elsewhere, map[string]string{"real": "new"})
}

// A file keeps its permissions, a new one has those of any new file, and an unfinished one is for nobody else.
func TestReplaceFile_permissions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	modeOf := func(name string) fs.FileMode {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	plain, err := os.Create(filepath.Join(dir, "plain"))
	if err != nil {
		t.Fatal(err)
	}
	_ = plain.Close()
	writeFile(t, filepath.Join(dir, "private"), "x")
	writeFile(t, filepath.Join(dir, "shared"), "x")
	for name, mode := range map[string]fs.FileMode{"private": 0o600, "shared": 0o664} {
		if err := os.Chmod(filepath.Join(dir, name), mode); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]fs.FileMode{"private": modeOf("private"), "shared": modeOf("shared"), "new": modeOf("plain")}
	for name, mode := range want {
		var unfinished string
		create := func(name string) (*os.File, error) {
			unfinished = filepath.Base(name)
			return createFile(name)
		}
		err := replace(filepath.Join(dir, name), create, func(w io.Writer) error {
			if runtime.GOOS != "windows" && modeOf(unfinished) != 0o600 {
				t.Errorf("%s is %v while it is unfinished", name, modeOf(unfinished))
			}
			_, err := io.WriteString(w, "new")
			return err
		})
		if err != nil || modeOf(name) != mode {
			t.Errorf("%s is %v, want %v; %v", name, modeOf(name), mode, err)
		}
	}
	dirHolds(t, dir, map[string]string{"plain": "", "private": "new", "shared": "new", "new": "new"})
}

// Whatever fails, an older file stays and no unfinished one does.
func TestReplaceFile_failures(t *testing.T) {
	t.Parallel()
	broken := errors.New("it broke off")
	// The file is created, but what is written goes to a device that is always full.
	full := func(name string) (*os.File, error) {
		file, err := createFile(name)
		if err := errors.Join(err, file.Close()); err != nil {
			return nil, err
		}
		return os.OpenFile("/dev/full", os.O_WRONLY, 0)
	}
	for name, tc := range map[string]struct {
		create func(string) (*os.File, error)
		fill   func(io.Writer) error
		is     error
		want   string
		ofFile bool
	}{
		"the source":        {createFile, fillWith("new", broken), broken, "it broke off", false},
		"the disk is full":  {full, fillWith("new", nil), syscall.ENOSPC, "no space left on device", true},
		"it cannot be made": {func(string) (*os.File, error) { return nil, &os.PathError{Op: "open", Path: "x", Err: syscall.EACCES} }, fillWith("new", nil), os.ErrPermission, "permission denied", true},
		"it was closed": {func(name string) (*os.File, error) {
			file, err := createFile(name)
			return file, errors.Join(err, file.Close())
		}, fillWith("new", nil), os.ErrClosed, "file already closed", true},
		"nothing was written, and it was closed": {func(name string) (*os.File, error) {
			file, err := createFile(name)
			return file, errors.Join(err, file.Close())
		}, func(io.Writer) error { return nil }, os.ErrClosed, "file already closed", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			writeFile(t, filepath.Join(dir, "w.zip"), "older")
			err := replace(filepath.Join(dir, "w.zip"), tc.create, tc.fill)
			var file *fileError
			if !errors.Is(err, tc.is) || errors.As(err, &file) != tc.ofFile || err.Error() != tc.want {
				t.Errorf("got %#v: %v", err, err)
			}
			dirHolds(t, dir, map[string]string{"w.zip": "older"})
		})
	}
}

// Somebody makes a directory of that name while the file is written.
func TestReplaceFile_cannotBeRenamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "w.zip")
	err := replace(name, createFile, func(io.Writer) error { return os.Mkdir(name, 0o700) })
	var file *fileError
	if !errors.As(err, &file) || strings.Contains(err.Error(), ".part") {
		t.Errorf("got %v", err)
	}
	dirHolds(t, dir, map[string]string{"w.zip": ""})
}

func TestReplaceFile_panics(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	func() {
		defer func() { _ = recover() }()
		_ = replace(filepath.Join(dir, "w.zip"), createFile, func(io.Writer) error { panic("x") })
	}()
	dirHolds(t, dir, map[string]string{})
}

// Nothing is asked for where the path cannot be that of a file.
func TestReplaceFile_paths(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFile(t, filepath.Join(dir, "file"), "x")
	symlink(t, "loop", dir, "loop")
	symlink(t, ".", dir, "here")
	for name, want := range map[string]string{
		"":              "that of a directory",
		".":             "that of a directory",
		"..":            "that of a directory",
		"/":             "that of a directory",
		"here":          "that of a directory",
		"none/":         "that of a directory",
		"none/w.zip":    "no such file or directory",
		"file/w.zip":    "not a directory",
		"loop":          "too many others",
		"w.zip\x00.txt": "invalid argument",
	} {
		output := dir
		if name != "" {
			output += "/" + name
		}
		err := replace(output, createFile, func(io.Writer) error { t.Errorf("%q: it was filled", name); return nil })
		var file *fileError
		if !errors.As(err, &file) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	dirHolds(t, dir, map[string]string{"file": "x", "loop": "", "here": ""})
}

// What nobody may write to is not replaced, although that takes no permission for the file. Nothing is asked for.
func TestReplaceFile_writeProtected(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := filepath.Join(dir, "w.zip")
	writeFile(t, name, "older")
	if err := os.Chmod(name, 0o444); err != nil {
		t.Fatal(err)
	}
	err := replace(name, createFile, func(io.Writer) error { t.Error("it was filled"); return nil })
	var file *fileError
	if !errors.As(err, &file) || !errors.Is(err, fs.ErrPermission) || err.Error() != "the file that is there may not be written to: permission denied" {
		t.Errorf("got %v", err)
	}
	dirHolds(t, dir, map[string]string{"w.zip": "older"})
}

// A failure of the file names the run, the path and what to do, at the path.
func TestWikiExport_fileFaults(t *testing.T) {
	t.Parallel()
	m := wikiExportModel{WikiRunID: types.StringValue("r1"), OutputPath: types.StringValue("docs/w.zip")}
	for cause, remedy := range map[syscall.Errno]string{
		syscall.ENOSPC: "Make room on that disk",
		syscall.EACCES: "Let the user who runs Terraform write into the directory, and to a file that is there",
		syscall.EIO:    "The directory must exist",
	} {
		err := m.fault(ofFile(&os.PathError{Op: "write", Path: "docs/.agentyard-x.part", Err: cause}))
		var fault *crud.Fault
		if !errors.As(err, &fault) || !fault.At.Equal(path.Root("output_path")) || strings.Contains(fault.Detail, ".part") {
			t.Fatalf("got %#v", err)
		}
		want := "The archive of the wiki run r1 cannot be written to \"docs/w.zip\": " + cause.Error() + ". Nothing was written: a file that was there before is as it was.\n\n" + remedy
		if !strings.HasPrefix(fault.Detail, want) {
			t.Errorf("got %s, want %s", fault.Detail, want)
		}
	}
}
