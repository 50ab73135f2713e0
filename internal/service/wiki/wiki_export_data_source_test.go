package wiki_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func exportValues(run, output string) acctest.Values {
	return acctest.Values{"wiki_run_id": run, "output_path": output}
}

// filesIn returns the names of the files in a directory.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	check.Must(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// olderArchive is an empty ZIP archive.
const olderArchive = "PK\x05\x06" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// older writes an archive to a new directory. It returns the path, and a function that fails the test unless the directory
// contains only this archive, unchanged.
func older(t *testing.T) (path string, isUntouched func()) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "wiki.zip")
	check.Must(t, os.WriteFile(path, []byte(olderArchive), 0o600))
	return path, func() {
		t.Helper()
		content, err := os.ReadFile(path)
		if err != nil || string(content) != olderArchive || len(filesIn(t, dir)) != 1 {
			t.Errorf("the directory has %v, the file %.20q; %v", filesIn(t, dir), content, err)
		}
	}
}

// Every form writes the same archive and replaces an older one. The emulator's storage rejects the API key.
func TestWikiExport(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run := uploadWiki(e, page{Path: "index.md", Title: "Index", Content: "# Index"}, page{Path: "a/ä.md", Title: "A", Content: strings.Repeat("text ", 1000)})
	var first []byte
	for _, form := range []emulator.WikiExportForm{emulator.WikiExportLink, emulator.WikiExportArchive, emulator.WikiExportRedirect} {
		check.Must(t, e.SetWikiExport(form, time.Minute))
		path, _ := older(t)
		found := read(t, e, nil, "export", exportValues(run, path))
		data, err := os.ReadFile(path)
		check.Must(t, err)
		want := sha256.Sum256(data)
		if found["output_sha256"] != hex.EncodeToString(want[:]) || found["output_size"] != float64(len(data)) || first != nil && !bytes.Equal(data, first) {
			t.Errorf("%s: %v of %d bytes", form, found, len(data))
		}
		first = data
		check.Is(t, string(form)+": files", len(filesIn(t, filepath.Dir(path))), 1)
	}
	archive, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	check.Must(t, err)
	var names []string
	for _, file := range archive.File {
		names = append(names, file.Name)
	}
	slices.Sort(names)
	check.Is(t, "files of the archive", names, []string{"a/ä.md", "index.md", "wiki.json"})
}

// Whatever fails, an older archive is kept.
func TestWikiExport_refusals(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run, private := uploadWiki(e, page{Path: "index.md", Title: "Index"}), privateRun(t, e)
	path, isUntouched := older(t)
	const cannot = "Cannot export wiki run"
	for _, id := range []string{"none", private, "a/b?c"} {
		fails(t, e, "export", exportValues(id, path), "wiki_run_id", cannot, "the wiki run "+id, "404", "does not exist, or")
	}
	fails(t, e, "export", exportValues(run, " "), "output_path", "output_path must not be blank")
	fails(t, e, "export", exportValues(run, t.TempDir()), "output_path", "Cannot replace file", "not a ZIP archive")
	file := filepath.Join(t.TempDir(), "file")
	check.Must(t, os.WriteFile(file, nil, 0o600))
	fails(t, e, "export", exportValues(run, filepath.Join(file, "w.zip")), "output_path", "Cannot write archive", "not a directory")
	check.Must(t, e.SetWikiExport(emulator.WikiExportArchive, time.Minute))
	e.Faults().Add(emulator.Fault{Operation: "exportWikiRun", Kind: emulator.FaultTruncatedBody, Times: -1})
	fails(t, e, "export", exportValues(run, path), "", cannot, "Exporting the wiki run "+run, "the archive was cut off after ")
	isUntouched()
}
