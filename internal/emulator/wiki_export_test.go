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
	a := v.get(200, address, "")
	if a.header.Get("Content-Type") != "application/zip" {
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
	if again := v.get(200, v.link(export), ""); !bytes.Equal(again.raw, a.raw) {
		t.Error("a later export has other bytes")
	}
	must(t, v.SetWikiExport(emulator.WikiExportArchive, 0))
	if direct := v.call(200, "GET", export, nil); direct.header.Get("Content-Type") != "application/zip" || !bytes.Equal(direct.raw, a.raw) {
		t.Errorf("the archive in the answer: %s", direct.header.Get("Content-Type"))
	}
	must(t, v.SetWikiExport(emulator.WikiExportRedirect, 0))
	to := v.call(302, "GET", export, nil)
	if got := v.get(200, to.header.Get("Location"), ""); !bytes.Equal(got.raw, a.raw) || len(to.raw) != 0 {
		t.Errorf("the redirection to %s has other bytes", to.header.Get("Location"))
	}
}

func TestExportWikiExpires(t *testing.T) {
	t.Parallel()
	v, _, export := startWiki(t, emulator.Options{})
	address := v.link(export)
	v.clock.Advance(time.Minute - time.Millisecond)
	v.get(200, address, "")
	v.clock.Advance(time.Millisecond)
	v.detail(v.get(403, address, ""), "has expired")
	v.get(200, v.link(export), "")

	v.call(204, "POST", "/_emulator/wiki-export", object{"form": "redirect", "lifetimeSeconds": 5})
	address = v.call(302, "GET", export, nil).header.Get("Location")
	v.clock.Advance(5*time.Second - time.Millisecond)
	v.get(200, address, "")
	v.clock.Advance(time.Millisecond)
	v.get(403, address, "")
}

func TestExportWikiRefuses(t *testing.T) {
	t.Parallel()
	v, run, export := startWiki(t, emulator.Options{})
	address := v.link(export)
	v.detail(v.get(403, address, "Bearer "+v.BootstrapKey()), "do not send the API key here")
	other := v.wikiRun(web, nil)["wikiRunId"].(string)
	for name, changed := range map[string]string{
		"a later end":  strings.Replace(address, "expires=", "expires=9", 1),
		"another run":  strings.Replace(address, run["wikiRunId"].(string), other, 1),
		"no signature": address[:strings.Index(address, "&signature")],
	} {
		if v.get(403, changed, ""); changed == address {
			t.Errorf("%s: the address is the same", name)
		}
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, nil)
	must(t, err)
	if a, err := do(req); err != nil || a.status != 404 {
		t.Errorf("POST: %d, %v", a.status, err)
	}
	for _, wrong := range []object{{"form": "tar"}, {"lifetimeSeconds": -1}, {"lifetime": 1}} {
		v.call(400, "POST", "/_emulator/wiki-export", wrong)
	}
	_, err = emulator.Start(t.Context(), emulator.Options{WikiExport: emulator.WikiExport{Form: "tar"}})
	fails(t, err, "not link, archive, or redirect")
}

func TestUploadWikiVideo(t *testing.T) {
	t.Parallel()
	v, _, _ := startWiki(t, emulator.Options{})
	begin := func() (string, map[string]string) {
		t.Helper()
		return v.form(v.call(200, "POST", wiki+"/video-upload-url", nil))
	}
	address, fields := begin()
	v.upload(204, address, fields, strings.NewReader("a video"), nil)
	if data, err := os.ReadFile(filepath.Join(v.objects, fields["key"])); err != nil || string(data) != "a video" {
		t.Errorf("stored %q, error %v", data, err)
	}
	if _, again := begin(); again["key"] == fields["key"] {
		t.Error("two uploads have one key")
	}
	withKey := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+v.BootstrapKey()) }
	v.upload(403, address, fields, strings.NewReader("a"), withKey)
	address, fields = begin()
	v.clock.Advance(15 * time.Minute)
	v.detail(v.upload(403, address, fields, strings.NewReader("a"), nil), "has expired")
	v.call(200, "POST", wiki+"/video-upload-url", object{})
}
