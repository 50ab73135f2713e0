package wiki_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func exportValues(run, output string) acctest.Values {
	return acctest.Values{"wiki_run_id": run, "output_path": output}
}

// filesIn returns the names of the files in a directory.
func filesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	acctest.Must(t, err)
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
	acctest.Must(t, os.WriteFile(path, []byte(olderArchive), 0o600))
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
		acctest.Must(t, e.SetWikiExport(form, time.Minute))
		path, _ := older(t)
		found := read(t, e, nil, "export", exportValues(run, path))
		data, err := os.ReadFile(path)
		acctest.Must(t, err)
		want := sha256.Sum256(data)
		if found["output_sha256"] != hex.EncodeToString(want[:]) || found["output_size"] != float64(len(data)) || first != nil && !bytes.Equal(data, first) {
			t.Errorf("%s: %v of %d bytes", form, found, len(data))
		}
		first = data
		if names := filesIn(t, filepath.Dir(path)); len(names) != 1 {
			t.Errorf("%s: there are %v", form, names)
		}
	}
	archive, err := zip.NewReader(bytes.NewReader(first), int64(len(first)))
	acctest.Must(t, err)
	var names []string
	for _, file := range archive.File {
		names = append(names, file.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"a/ä.md", "index.md", "wiki.json"}) {
		t.Errorf("the archive has %v", names)
	}
}

func TestWikiExport_paths(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run := uploadWiki(e, page{Path: "index.md", Title: "Index"})
	dir := t.TempDir()
	for output, want := range map[string][]string{
		"":                             {"output_path must not be blank"},
		" ":                            {"output_path must not be blank"},
		dir:                            {"Cannot Replace File", "not a ZIP archive"},
		dir + "/new/":                  {"Cannot Write Archive", "no such file or directory"},
		filepath.Join(dir, "no/w.zip"): {"Cannot Write Archive", "no such file or directory", "in an existing directory"},
		"/dev/full":                    {"Cannot Replace File", "not a ZIP archive"},
	} {
		fails(t, e, "export", exportValues(run, output), "output_path", want...)
	}
	if n := e.Journal().Count("exportWikiRun"); n != 0 || len(filesIn(t, dir)) > 0 {
		t.Errorf("%d exports were asked for, and there are %v", n, filesIn(t, dir))
	}
}

// Two exports may have the same path: each reports its own archive, and one archive remains.
func TestWikiExport_samePath(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	runs := []string{uploadWiki(e, page{Path: "index.md", Title: "Index"}), uploadWiki(e, page{Path: "index.md", Title: "Other"})}
	path := filepath.Join(t.TempDir(), "x.zip")
	p, sums := acctest.NewProcess(t, e, nil), make([]string, len(runs))
	acctest.Together(len(runs), len(runs), func(k int) {
		found, out := p.ReadData("agentyard_wiki_export", exportValues(runs[k], path))
		if len(out.Errors) > 0 {
			t.Error(out)
			return
		}
		sums[k] = acctest.Plain(t, found["output_sha256"]).(string)
	})
	data, err := os.ReadFile(path)
	acctest.Must(t, err)
	sum := sha256.Sum256(data)
	if !slices.Contains(sums, hex.EncodeToString(sum[:])) || sums[0] == sums[1] {
		t.Errorf("the file has the hash %x, the exports %v", sum, sums)
	}
}

func TestWikiExport_refusals(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run, private := uploadWiki(e, page{Path: "index.md", Title: "Index"}), privateRun(t, e)
	path, isUntouched := older(t)
	const cannot = "Cannot export wiki run"
	for _, id := range []string{"none", private, "a/b?c"} {
		fails(t, e, "export", exportValues(id, path), "wiki_run_id", cannot, "the wiki run "+id, "404", "does not exist, or")
	}
	fails(t, e, "export", exportValues("..", path), "", "cannot be part of a request's path")
	fails(t, e, "export", exportValues("", path), "wiki_run_id", "wiki_run_id must not be blank")
	switchWikis(t, e, "false")
	fails(t, e, "export", exportValues(run, path), "wiki_run_id", cannot, "403", "wikiCloudSync")
	isUntouched()
}

// Whatever the response, it is either used or leaves everything unchanged.
func TestWikiExport_faults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		form  emulator.WikiExportForm
		fault emulator.Fault
		want  string // Empty if the export succeeds.
	}{
		"a link that was cut":     {emulator.WikiExportLink, emulator.Fault{Kind: emulator.FaultTruncatedBody}, ""},
		"an archive that was cut": {emulator.WikiExportArchive, emulator.Fault{Kind: emulator.FaultTruncatedBody, Times: -1}, "the archive was cut off after "},
		"a page":                  {emulator.WikiExportArchive, emulator.Fault{Kind: emulator.FaultOtherResponse, Body: "<html>", Times: -1}, "neither a ZIP archive nor a signed URL"},
		"JSON of another kind":    {emulator.WikiExportLink, emulator.Fault{Kind: emulator.FaultOtherResponse, Body: `{"status":"done"}`, Times: -1}, "neither a ZIP archive nor a signed URL"},
		"a link in clear text":    {emulator.WikiExportLink, emulator.Fault{Kind: emulator.FaultOtherResponse, Body: `{"url":"http://files.example/x?sig=s3cret"}`, Times: -1}, "plain http to files.example; set allow_insecure_http"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t, func(opts *emulator.Options) { opts.WikiExport.Form = tc.form })
			run := uploadWiki(e, page{Path: "index.md", Title: "Index"})
			tc.fault.Operation = "exportWikiRun"
			e.Faults().Add(tc.fault)
			path, isUntouched := older(t)
			if tc.want == "" {
				read, out := acctest.NewProcess(t, e, nil).ReadData("agentyard_wiki_export", exportValues(run, path))
				if len(out.Errors) > 0 || read["output_size"].IsNull() || len(e.Faults().Pending()) > 0 {
					t.Errorf("%s; faults that did not hit: %v", out, e.Faults().Pending())
				}
				return
			}
			fails(t, e, "export", exportValues(run, path), "", "Cannot export wiki run", "Exporting the wiki run "+run, tc.want)
			isUntouched()
		})
	}
}

// If an argument is unknown during the plan, the apply writes the archive.
func TestAccWikiExport_unknownRun(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	run := uploadWiki(e, page{Path: "index.md", Title: "Index"})
	path := filepath.Join(t.TempDir(), "wiki.zip")
	cli := acctest.NewCLI(t, e, fmt.Sprintf("resource \"terraform_data\" \"run\" {\n  input = %q\n}\ndata \"agentyard_wiki_export\" \"x\" {\n  wiki_run_id = terraform_data.run.output\n  output_path = %q\n}\n", run, path))
	cli.MustRun("plan", "-input=false", "-out=p")
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the plan: %v", err)
	}
	cli.MustRun("apply", "-input=false", "p")
	if _, err := os.Stat(path); err != nil {
		t.Errorf("after the apply: %v", err)
	}
}
