package wiki

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wikis"
	"github.com/agentyard/terraform-provider-agentyard/internal/framework/crud"
)

// older and newer start like ZIP archives.
const older, newer = "PK\x03\x04 older", "PK\x03\x04 newer"

// exportOf writes a text and then returns err.
func exportOf(text string, err error) func(io.Writer) (*wikis.Export, error) {
	return func(w io.Writer) (*wikis.Export, error) {
		if _, err := io.WriteString(w, text); err != nil {
			return nil, err
		}
		sum := sha256.Sum256([]byte(text))
		return &wikis.Export{Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}, err
	}
}

// dirWith returns a new directory with these files.
func dirWith(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		check.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// dirHolds fails the test unless a directory contains exactly these files.
func dirHolds(t *testing.T, dir string, want map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check.Must(t, err)
	for _, entry := range entries {
		content, _ := os.ReadFile(filepath.Join(dir, entry.Name()))
		if text, ok := want[entry.Name()]; !ok || text != string(content) {
			t.Errorf("%s holds %q, want %q (%v)", entry.Name(), content, text, ok)
		}
	}
	check.Is(t, "entries", len(entries), len(want))
}

// After any failure, what was there is kept, and the temporary file is removed.
func TestWriteArchive(t *testing.T) {
	t.Parallel()
	broken := errors.New("it was cut off")
	for name, tc := range map[string]struct {
		before map[string]string
		file   string
		export error
		want   error
	}{
		"nothing":             {nil, "w", nil, nil},
		"an archive":          {map[string]string{"w": older}, "w", nil, nil},
		"a text":              {map[string]string{"w": "resource {}"}, "w", nil, errNotArchive},
		"an empty file":       {map[string]string{"w": ""}, "w", nil, errNotArchive},
		"a directory":         {map[string]string{"w": older}, "", nil, errNotArchive},
		"an export that ends": {map[string]string{"w": older}, "w", broken, broken},
	} {
		dir := dirWith(t, tc.before)
		export, err := writeArchive(filepath.Join(dir, tc.file), exportOf(newer, tc.export))
		want := map[string]string{"w": newer}
		if tc.want != nil {
			want = tc.before
		}
		if !errors.Is(err, tc.want) || (err == nil) != (export != nil) {
			t.Errorf("%s: got %v, %v", name, export, err)
		}
		dirHolds(t, dir, want)
	}
}

// A link is neither followed nor replaced.
func TestWriteArchive_links(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"archive", "text", "nothing", "loop"} {
		before := map[string]string{"archive": older, "text": "x"}
		dir := dirWith(t, before)
		link := filepath.Join(dir, "loop")
		check.Must(t, os.Symlink(target, link))
		_, err := writeArchive(link, func(io.Writer) (*wikis.Export, error) { t.Error("it was requested"); return nil, nil })
		if !errors.Is(err, errNotArchive) {
			t.Errorf("%s: %v", target, err)
		}
		if found, err := os.Readlink(link); err != nil || found != target {
			t.Errorf("the link leads to %s, %v", found, err)
		}
		before["loop"] = before[target]
		dirHolds(t, dir, before)
	}
}

// Two exports may have the same path: one archive remains.
func TestWriteArchive_samePath(t *testing.T) {
	t.Parallel()
	dir := dirWith(t, nil)
	name := filepath.Join(dir, "w")
	_, err := writeArchive(name, func(w io.Writer) (*wikis.Export, error) {
		if _, err := writeArchive(name, exportOf(newer, nil)); err != nil {
			t.Error(err)
		}
		return exportOf(older, nil)(w)
	})
	if err != nil {
		t.Error(err)
	}
	dirHolds(t, dir, map[string]string{"w": older})
}

// A file error names the run, the path, and the remedy, and is shown at the path.
func TestWikiExport_fileFaults(t *testing.T) {
	t.Parallel()
	m := wikiExportModel{WikiRunID: types.StringValue("r1"), OutputPath: types.StringValue("docs/w.zip")}
	for _, cause := range []error{syscall.ENOSPC, syscall.EACCES, errNotArchive} {
		err := m.fault(&os.PathError{Op: "write", Path: "docs/.agentyard-x.part", Err: cause})
		var fault *crud.ObjectError
		if !errors.As(err, &fault) || !fault.At.Equal(path.Root("output_path")) || strings.Contains(fault.Detail, ".part") {
			t.Fatalf("got %#v", err)
		}
		if want := "The archive of wiki run r1 was not written to \"docs/w.zip\": " + cause.Error() + ". Set output_path to "; !strings.HasPrefix(fault.Detail, want) {
			t.Errorf("got %s, want %s", fault.Detail, want)
		}
	}
}
