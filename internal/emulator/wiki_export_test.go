package emulator_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// startWiki is an emulator with an uploaded wiki, and the path of its export.
func startWiki(t *testing.T, opts emulator.Options) (v *filesEnv, run object, export string) {
	t.Helper()
	opts.DataFile = dataFile(t)
	v = &filesEnv{env: start(t, opts), objects: opts.DataFile + ".objects"}
	run = v.call(200, "POST", wiki, upload(object{"path": "z.md", "content": "# Z\n"}, object{"path": "dir/ä.md", "content": ""})).object(t)
	return v, run, wiki + "/" + run["wikiRunId"].(string) + "/export"
}

// link asks for an export and returns its signed address.
func (v *filesEnv) link(export string) string {
	v.t.Helper()
	var view struct {
		URL       string
		ExpiresAt int64
	}
	decode(v.t, v.call(200, "GET", export, nil), &view)
	if want := v.clock.Now().Add(time.Minute).UnixMilli(); view.ExpiresAt != want {
		v.t.Errorf("expiresAt %d, want %d", view.ExpiresAt, want)
	}
	return view.URL
}

// unpack reads an archive of a run; it fails the test if a file is there twice or of another time than the run.
func unpack(t *testing.T, data []byte, made int64) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		must(t, err)
		content, err := io.ReadAll(r)
		if _, twice := files[f.Name]; err != nil || twice || f.Modified.UnixMilli() != made {
			t.Errorf("%s: twice %v, modified %s, error %v", f.Name, twice, f.Modified, err)
		}
		files[f.Name] = string(content)
	}
	return files
}

func TestExportWiki(t *testing.T) {
	t.Parallel()
	v, run, export := startWiki(t, emulator.Options{})
	address := v.link(export)
	if !strings.HasPrefix(address, v.FilesURL()+"/") || strings.HasPrefix(address, v.URL()) {
		t.Errorf("the address %s is not on the second listener", address)
	}
	a := v.get(address, "")
	if a.status != 200 || a.header.Get("Content-Type") != "application/zip" {
		t.Fatalf("%d %s: %s", a.status, a.header.Get("Content-Type"), a.raw)
	}
	files := unpack(t, a.raw, int64(run["createdAt"].(float64)))
	var index object
	must(t, json.Unmarshal([]byte(files["wiki.json"]), &index))
	for _, name := range []string{"wikiRunId", "createdAt", "repoUrl", "commitHash", "branch", "pageTree"} {
		same(t, name, index[name], run[name])
	}
	delete(files, "wiki.json")
	same(t, "pages", files, map[string]string{"z.md": "# Z\n", "dir/ä.md": ""})

	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, address, nil)
	must(t, err)
	if head, err := do(req); err != nil || head.status != 200 || head.header.Get("Content-Length") != strconv.Itoa(len(a.raw)) {
		t.Errorf("HEAD: %d, %v, error %v", head.status, head.header, err)
	}

	// The bytes are the same at all times, in every form, and whatever may change about the run.
	v.call(200, "POST", wiki+"/"+run["wikiRunId"].(string)+"/privacy", object{"privacyLevel": "private"})
	v.clock.Advance(time.Hour)
	must(t, v.SetVideoOverview(run["wikiRunId"].(string), map[string]any{"a": 1}))
	if again := v.get(v.link(export), ""); !bytes.Equal(again.raw, a.raw) {
		t.Error("a later export has other bytes")
	}
	must(t, v.SetWikiExport(emulator.WikiExportArchive, 0))
	if direct := v.call(200, "GET", export, nil); direct.header.Get("Content-Type") != "application/zip" || !bytes.Equal(direct.raw, a.raw) {
		t.Errorf("the archive in the answer: %s", direct.header.Get("Content-Type"))
	}
	must(t, v.SetWikiExport(emulator.WikiExportRedirect, 0))
	to := v.call(302, "GET", export, nil)
	if got := v.get(to.header.Get("Location"), ""); !bytes.Equal(got.raw, a.raw) || len(to.raw) != 0 {
		t.Errorf("the redirection to %s: %d", to.header.Get("Location"), got.status)
	}
}

func TestExportWikiExpires(t *testing.T) {
	t.Parallel()
	v, run, export := startWiki(t, emulator.Options{})
	address := v.link(export)
	v.clock.Advance(time.Minute - time.Millisecond)
	same(t, "just before the end", v.get(address, "").status, 200)
	v.clock.Advance(time.Millisecond)
	if a := v.get(address, ""); a.status != 403 || !strings.Contains(string(a.raw), "has expired") {
		t.Errorf("afterwards: %d %s", a.status, a.raw)
	}
	same(t, "a new address", v.get(v.link(export), "").status, 200)

	v.call(204, "POST", "/_emulator/wiki-export", object{"form": "redirect", "lifetimeSeconds": 5})
	address = v.call(302, "GET", export, nil).header.Get("Location")
	v.clock.Advance(5*time.Second - time.Millisecond)
	same(t, "a redirection just before the end", v.get(address, "").status, 200)
	v.clock.Advance(time.Millisecond)
	same(t, "a redirection afterwards", v.get(address, "").status, 403)
	// A run that was deleted is gone from the storage too.
	v.call(204, "POST", "/_emulator/wiki-export", object{})
	address = v.link(export)
	v.call(200, "DELETE", wiki+"/"+run["wikiRunId"].(string), nil)
	same(t, "after the deletion", v.get(address, "").status, 404)
}

func TestExportWikiRefuses(t *testing.T) {
	t.Parallel()
	v, run, export := startWiki(t, emulator.Options{})
	address := v.link(export)
	if a := v.get(address, "Bearer "+v.BootstrapKey()); a.status != 403 || !strings.Contains(string(a.raw), "do not send the API key here") {
		t.Errorf("with the API key: %d %s", a.status, a.raw)
	}
	other := v.wikiRun(web, nil)["wikiRunId"].(string)
	for name, changed := range map[string]string{
		"a later end":    strings.Replace(address, "expires=", "expires=9", 1),
		"another run":    strings.Replace(address, run["wikiRunId"].(string), other, 1),
		"no signature":   address[:strings.Index(address, "&signature")],
		"another object": strings.Replace(address, "/wiki-export/", "/download/", 1),
	} {
		if a := v.get(changed, ""); changed == address || a.status != 403 {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, nil)
	must(t, err)
	if a, err := do(req); err != nil || a.status != 404 {
		t.Errorf("POST: %d, %v", a.status, err)
	}
	v.call(400, "GET", export+"?form=archive", nil)

	for _, wrong := range []object{{"form": "tar"}, {"lifetimeSeconds": -1}, {"lifetime": 1}} {
		v.call(400, "POST", "/_emulator/wiki-export", wrong)
	}
	_, err = emulator.Start(t.Context(), emulator.Options{WikiExport: emulator.WikiExport{Form: "tar"}})
	fails(t, err, "not link, archive or redirect")
}

func TestExportWikiOptions(t *testing.T) {
	t.Parallel()
	v, _, export := startWiki(t, emulator.Options{WikiExport: emulator.WikiExport{Form: emulator.WikiExportRedirect, Lifetime: time.Second}})
	address := v.call(302, "GET", export, nil).header.Get("Location")
	v.clock.Advance(time.Second)
	same(t, "after a second", v.get(address, "").status, 403)
}

func TestUploadWikiVideo(t *testing.T) {
	t.Parallel()
	v, _, _ := startWiki(t, emulator.Options{})
	begin := func() (string, map[string]string) {
		t.Helper()
		var form struct {
			URL       string
			Fields    map[string]string
			ExpiresAt int64
		}
		decode(t, v.call(200, "POST", wiki+"/video-upload-url", nil), &form)
		if want := v.clock.Now().Add(15 * time.Minute).UnixMilli(); form.ExpiresAt != want {
			t.Errorf("expiresAt %d, want %d", form.ExpiresAt, want)
		}
		return form.URL, form.Fields
	}
	address, fields := begin()
	if a := v.upload(address, fields, strings.NewReader("a video"), nil); a.status != 204 {
		t.Fatalf("upload: %d %s", a.status, a.raw)
	}
	if data, err := os.ReadFile(filepath.Join(v.objects, fields["key"])); err != nil || string(data) != "a video" {
		t.Errorf("stored %q, error %v", data, err)
	}
	if _, again := begin(); again["key"] == fields["key"] {
		t.Error("two uploads have one key")
	}
	withKey := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+v.BootstrapKey()) }
	same(t, "with the API key", v.upload(address, fields, strings.NewReader("a"), withKey).status, 403)
	address, fields = begin()
	v.clock.Advance(15 * time.Minute)
	if a := v.upload(address, fields, strings.NewReader("a"), nil); a.status != 403 || !strings.Contains(string(a.raw), "has expired") {
		t.Errorf("too late: %d %s", a.status, a.raw)
	}
	v.call(200, "POST", wiki+"/video-upload-url", object{})
	v.call(400, "POST", wiki+"/video-upload-url", object{"sizeBytes": 1})
}
