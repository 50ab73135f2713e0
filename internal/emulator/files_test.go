package emulator_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// filesEnv is an emulator with one active managed computer.
type filesEnv struct {
	*env
	computer string
	objects  string // The directory of stored files.
}

func startFiles(t *testing.T) *filesEnv {
	t.Helper()
	v := start(t, emulator.Options{DataFile: dataFile(t)})
	id := v.computer(object{"name": "a"})["id"].(string)
	v.clock.Advance(time.Minute)
	return &filesEnv{v, id, v.file + ".objects"}
}

// noObjects expects that no file is stored.
func (v *filesEnv) noObjects() {
	v.t.Helper()
	left, err := os.ReadDir(v.objects)
	check.Must(v.t, err)
	same(v.t, "stored files", len(left), 0)
}

func (v *filesEnv) file(want int, name, act string, body any) response {
	v.t.Helper()
	return v.call(want, "POST", computers+"/"+v.computer+"/files/"+name+"/"+act, body)
}

// begin asks for an upload and returns its address and form fields.
func (v *filesEnv) begin(name string, body object) (string, map[string]string) {
	v.t.Helper()
	return v.form(v.file(200, name, "create-upload", body))
}

// form reads the address and the fields of a new upload.
func (v *env) form(a response) (string, map[string]string) {
	v.t.Helper()
	var form struct {
		URL       string
		Fields    map[string]string
		ExpiresAt int64
	}
	decode(v.t, a, &form)
	same(v.t, "expiresAt", form.ExpiresAt, v.clock.Now().Add(15*time.Minute).UnixMilli())
	return form.URL, form.Fields
}

// upload posts a form with a file, which is made while it is sent, and expects a status.
func (v *filesEnv) upload(want int, url string, fields map[string]string, content io.Reader, change func(*http.Request)) response {
	v.t.Helper()
	pipe, writer := io.Pipe()
	form := multipart.NewWriter(writer)
	go func() {
		for name, value := range fields {
			_ = form.WriteField(name, value)
		}
		part, err := form.CreateFormFile("file", "file")
		if err == nil {
			_, err = io.Copy(part, content)
		}
		if err == nil {
			err = form.Close()
		}
		writer.CloseWithError(err)
	}()
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, url, pipe)
	check.Must(v.t, err)
	req.Header.Set("Content-Type", form.FormDataContentType())
	if change != nil {
		change(req)
	}
	a, err := do(req)
	check.Must(v.t, err)
	same(v.t, url, a.status, want)
	return a
}

// get fetches a signed address and expects a status.
func (v *filesEnv) get(want int, url, authorization string) response {
	v.t.Helper()
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodGet, url, nil)
	check.Must(v.t, err)
	if authorization != "" {
		req.Header.Set("Authorization", authorization)
	}
	a, err := do(req)
	check.Must(v.t, err)
	same(v.t, url, a.status, want)
	return a
}

func TestUploadAndDownload(t *testing.T) {
	t.Parallel()
	v := startFiles(t)
	url, fields := v.begin("notes.txt", object{"sizeBytes": 5, "contentType": "text/plain"})
	if !strings.HasPrefix(url, v.FilesURL()+"/") || strings.HasPrefix(url, v.URL()) {
		t.Errorf("the address %s is not on the second listener", url)
	}
	v.detail(v.file(400, "notes.txt", "complete-upload", nil), "not uploaded yet")
	v.upload(204, url, fields, strings.NewReader("hello"), nil)
	v.detail(v.file(404, "notes.txt", "create-download", nil), "no file")
	v.detail(v.file(400, "notes.txt", "complete-upload", object{"sizeBytes": 6}), "has 5 bytes")
	same(t, "complete-upload", string(v.file(200, "notes.txt", "complete-upload", object{}).raw), `{"fileName":"notes.txt","path":"/home/agent/workspace/notes.txt","sizeBytes":5}`)
	v.detail(v.file(409, "notes.txt", "complete-upload", nil), "already has a file")
	v.upload(403, url, fields, strings.NewReader("other"), nil)

	var link struct {
		URL       string
		ExpiresAt int64
	}
	decode(t, v.file(200, "notes.txt", "create-download", nil), &link)
	if a := v.get(200, link.URL, ""); string(a.raw) != "hello" || a.header.Get("Content-Type") != "text/plain" {
		t.Errorf("download: %d %q %v", a.status, a.raw, a.header)
	}
	v.get(403, link.URL, "Bearer "+v.BootstrapKey())
	for _, changed := range []string{link.URL + "0", strings.Replace(link.URL, "text%2Fplain", "text%2Fhtml", 1), v.FilesURL() + "/download/../state.db"} {
		v.get(403, changed, "")
	}
	var typed struct{ URL string }
	decode(t, v.file(200, "notes.txt", "create-download", object{"contentType": "text/csv", "sessionId": uuidA}), &typed)
	same(t, "content type", v.get(200, typed.URL, "").header.Get("Content-Type"), "text/csv")
	v.clock.Advance(15 * time.Minute)
	v.detail(v.get(403, link.URL, ""), "expired")

	v.call(204, "DELETE", computers+"/"+v.computer, nil)
	v.noObjects()
}

func TestUploadsRefused(t *testing.T) {
	t.Parallel()
	v := startFiles(t)
	for _, c := range []struct {
		name    string
		content string
		change  func(fields map[string]string)
		request func(*http.Request)
		want    int
		text    string
	}{
		{name: "key sent", content: "hello", want: 403, text: "Authorization", request: func(r *http.Request) { r.Header.Set("Authorization", "Bearer x") }},
		{name: "no form", content: "hello", want: 400, text: "multipart", request: func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }},
		{name: "too short", content: "hell", want: 400, text: "declared 5 bytes"},
		{name: "too long", content: "hello!", want: 400, text: "declared 5 bytes"},
		{name: "changed field", content: "hello", want: 403, text: "signed", change: func(f map[string]string) { f["key"] = "obj_other" }},
		{name: "added field", content: "hello", want: 403, text: "signed", change: func(f map[string]string) { f["acl"] = "public" }},
		{name: "wrong signature", content: "hello", want: 403, text: "signature", change: func(f map[string]string) { f["signature"] = "0" }},
	} {
		url, fields := v.begin("f", object{"sizeBytes": 5})
		if c.change != nil {
			c.change(fields)
		}
		v.detail(v.upload(c.want, url, fields, strings.NewReader(c.content), c.request), c.text)
		v.file(400, "f", "complete-upload", nil)
	}
	url, fields := v.begin("f", object{"sizeBytes": 5})
	v.clock.Advance(15 * time.Minute)
	v.detail(v.upload(403, url, fields, strings.NewReader("hello"), nil), "expired")
	v.noObjects()
}

func TestFileOperationsRefused(t *testing.T) {
	t.Parallel()
	v := startFiles(t)
	size := object{"sizeBytes": 1}
	v.detail(v.file(404, "f", "complete-upload", nil), "No upload")
	check.Must(t, v.UnavailableDaemon(v.computer))
	v.detail(v.file(424, "f", "create-upload", size), "daemon")
	v.file(424, "f", "complete-upload", nil)
	v.file(424, "f", "create-download", nil)
	check.Must(t, v.RestoreDaemon(v.computer))
	v.file(200, "f", "create-upload", size)
	check.Fails(t, v.UnavailableDaemon(uuidA))
	for want, body := range map[int]object{
		424: {"name": "byom", "provider": "byom"},
		200: {"name": "byom-host", "provider": "byom", "hostId": uuidA},
	} {
		id := v.env.computer(body)["id"].(string)
		v.call(want, "POST", computers+"/"+id+"/files/f/create-upload", size)
	}
	starting := v.env.computer(object{"name": "starting"})["id"].(string)
	v.call(424, "POST", computers+"/"+starting+"/files/f/create-upload", size)
}

func TestBeginningAnUploadAgainReplacesTheFormer(t *testing.T) {
	t.Parallel()
	v := startFiles(t)
	url, fields := v.begin("f", object{"sizeBytes": 1})
	v.upload(204, url, fields, strings.NewReader("1"), nil)
	v.begin("f", object{"sizeBytes": 2})
	v.detail(v.file(400, "f", "complete-upload", nil), "not uploaded yet")
	v.noObjects()
	v.get(404, v.FilesURL()+"/other", "")
}

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
	check.Must(t, err)
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		check.Must(t, err)
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
	check.Must(t, json.Unmarshal([]byte(files["wiki.json"]), &index))
	for _, name := range []string{"wikiRunId", "createdAt", "repoUrl", "commitHash", "branch", "pageTree"} {
		same(t, name, index[name], run[name])
	}
	delete(files, "wiki.json")
	same(t, "pages", files, map[string]string{"z.md": "# Z\n", "dir/ä.md": ""})

	req, err := http.NewRequestWithContext(t.Context(), http.MethodHead, address, nil)
	check.Must(t, err)
	if head, err := do(req); err != nil || head.status != 200 || head.header.Get("Content-Length") != strconv.Itoa(len(a.raw)) {
		t.Errorf("HEAD: %d, %v, error %v", head.status, head.header, err)
	}

	// The bytes are the same at all times, in every form, and whatever may change about the run.
	v.call(200, "POST", wiki+"/"+run["wikiRunId"].(string)+"/privacy", object{"privacyLevel": "private"})
	v.clock.Advance(time.Hour)
	check.Must(t, v.SetVideoOverview(run["wikiRunId"].(string), map[string]any{"a": 1}))
	if again := v.get(200, v.link(export), ""); !bytes.Equal(again.raw, a.raw) {
		t.Error("a later export has other bytes")
	}
	check.Must(t, v.SetWikiExport(emulator.WikiExportArchive, 0))
	if direct := v.call(200, "GET", export, nil); direct.header.Get("Content-Type") != "application/zip" || !bytes.Equal(direct.raw, a.raw) {
		t.Errorf("the archive in the answer: %s", direct.header.Get("Content-Type"))
	}
	check.Must(t, v.SetWikiExport(emulator.WikiExportRedirect, 0))
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
	check.Must(t, err)
	if a, err := do(req); err != nil || a.status != 404 {
		t.Errorf("POST: %d, %v", a.status, err)
	}
	for _, wrong := range []object{{"form": "tar"}, {"lifetimeSeconds": -1}, {"lifetime": 1}} {
		v.call(400, "POST", "/_emulator/wiki-export", wrong)
	}
	_, err = emulator.Start(t.Context(), emulator.Options{WikiExport: emulator.WikiExport{Form: "tar"}})
	check.Fails(t, err, "not link, archive, or redirect")
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
