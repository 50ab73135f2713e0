package wikis

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest/areatest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/create"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

var area = areatest.New[*Client](New)

const (
	getWikis    = "GET /api/v0/wiki"
	postWiki    = "POST /api/v0/wiki"
	acmeAPI     = "https://code.example/acme/api"
	acmeWeb     = "https://code.example/acme/web"
	historyOf   = "GET /api/v0/wiki/history/https:%2F%2Fcode.example%2Facme%2F"
	noSuchWiki  = `404 {"title":"Not Found","status":404,"detail":"There is no such wiki run."}`
	notCovered  = `403 {"title":"Forbidden","status":403,"detail":"The repository is not connected."}`
	wikiFailed  = `500 {"title":"Error","status":500,"detail":"no"}`
	getWikiOne  = getWikis + "/w1"
	wikiPrivacy = postWiki + "/w1/privacy"
	deleteWiki  = "DELETE /api/v0/wiki/w1"
)

// wiki is the JSON of a run of acme/api; more starts with a comma.
func wiki(id, more string) string { return wikiOf(acmeAPI, id, more) }

func wikiOf(repoURL, id, more string) string {
	return fmt.Sprintf(`{"wikiRunId":%q,"repoUrl":%q,"commitHash":"c0ffee0123","branch":"main","hasLocalChanges":false,"hasNonRemoteCommits":false,`+
		`"pageCount":1,"createdAt":%d,"pageTree":[{"pageId":"p","title":"T","path":"a.md","order":0,"children":[]}]%s}`,
		id, repoURL, clienttest.Start.UnixMilli(), more)
}

func wikis(runs ...string) string { return `200 {"wikiRuns":[` + strings.Join(runs, ",") + `]}` }

func wikiIDs(runs []Run) string {
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = runs[i].ID
	}
	return strings.Join(ids, " ")
}

func TestWikiRunHistory(t *testing.T) {
	t.Parallel()
	older, newer := wiki("w9", ""), strings.Replace(wiki("w1", ""), `"createdAt":1772323200000`, `"createdAt":1772323200001`, 1)
	c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{historyOf + "api": wikis(older, newer, wiki("w5", "")), historyOf + "web": notCovered}))
	for range 2 {
		got, err := c.History(t.Context(), acmeAPI)
		if err != nil || wikiIDs(got) != "w1 w5 w9" {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if _, err := c.History(t.Context(), acmeWeb); transport.StatusOf(err) != http.StatusForbidden {
		t.Errorf("got %v", err)
	}
	rec.Want(t, historyOf+"api", historyOf+"web")
	// A URL is one segment of the path, whatever it contains.
	c, rec, _ = area.ServeShort(t, clienttest.Responses(nil))
	for _, address := range []string{"https://code.example/../../computers?x=1#y", "a/%2f/../b"} {
		_, _ = c.History(t.Context(), address)
	}
	rec.Want(t, "GET /api/v0/wiki/history/https:%2F%2Fcode.example%2F..%2F..%2Fcomputers%3Fx=1%23y", "GET /api/v0/wiki/history/a%2F%252f%2F..%2Fb")
}

func TestSameRepositoryAndCommit(t *testing.T) {
	t.Parallel()
	for other, want := range map[string]bool{
		acmeAPI: true, acmeAPI + "/": true, acmeAPI + ".git": true, acmeAPI + ".git/": true, "HTTPS://Code.Example/Acme/API.GIT": true,
		acmeWeb: false, "http://code.example/acme/api": false, acmeAPI + "2": false, acmeAPI + ".gitx": false, "": false,
	} {
		if SameRepository(acmeAPI, other) != want || SameRepository(other, acmeAPI) != want {
			t.Errorf("%q: not %v", other, want)
		}
	}
	const whole = "c0ffee0123456789c0ffee0123456789c0ffee01"
	for other, want := range map[string]bool{whole: true, "C0FFEE0": true, whole[:12]: true, "c0ffee": false, "": false, "c0ffee1": false, whole + "0": true} {
		if SameCommit(whole, other) != want || SameCommit(other, whole) != want {
			t.Errorf("%q: not %v", other, want)
		}
	}
	if !SameCommit("v1", "V1") || SameCommit("v1", "v12") {
		t.Error("a short name is compared as a whole")
	}
}

func TestCreateWikiRun_takesEveryAnswer(t *testing.T) {
	t.Parallel()
	yes := true
	asked := CreateRequest{RepoURL: acmeAPI + ".git", CommitHash: "c0ffee0", Branch: "main", HasLocalChanges: &yes, Pages: []PageUpload{{Path: "a.md"}}}
	mine := strings.Replace(wiki("w1", ""), `"hasLocalChanges":false`, `"hasLocalChanges":true`, 1)
	late := strings.Replace(mine, "1772323200000", "1772323199000", 1)
	known := strings.Replace(wiki("w0", ""), "1772323200000", "1772323100000", 1)
	lost := clienttest.Is[*create.LostError]
	for name, tc := range map[string]struct {
		post, single string
		history      []string
		want         func(error) bool
		branch       string
	}{
		"the record":                       {post: "200 " + mine, branch: "main"},
		"the ID alone":                     {post: `200 {"wikiRunId":"w1"}`, single: "200 " + mine, branch: "main"},
		"the ID alone, and no read":        {post: `200 {"wikiRunId":"w1"}`, single: noSuchWiki, branch: "main"},
		"nothing":                          {post: "200 {}", history: []string{known, mine}, branch: "main"},
		"lost":                             {post: "drop", history: []string{mine}, branch: "main"},
		"lost, and one of before appears":  {post: "drop", history: []string{late}, want: lost},
		"lost, and one of another branch":  {post: "drop", history: []string{strings.Replace(mine, "main", "next", 1)}, want: lost},
		"lost, and one of another commit":  {post: "drop", history: []string{strings.Replace(mine, "c0ffee", "facade", 1)}, want: lost},
		"lost, and one that tells no time": {post: "drop", history: []string{strings.Replace(mine, `"createdAt":1772323200000,`, "", 1)}, want: lost},
		"lost, and the history fails":      {post: "drop", want: lost},
		"created before the request":       {post: "200 " + strings.Replace(mine, "1772323200000", "1772319600000", 1), branch: "main"},
		"the repository is not covered":    {post: notCovered, want: clienttest.Is[*transport.APIError]},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			history := wikiFailed
			if tc.history != nil {
				history = wikis(tc.history...)
			}
			c, rec, _ := area.ServeShort(t, clienttest.Responses(map[string]string{getWikis: wikis(known), postWiki: tc.post, getWikiOne: tc.single, historyOf + "api.git": history}))
			_ = c.conn.CheckAccess(t.Context()) // Its response has the service's time.
			got, err := c.Create(t.Context(), asked)
			if !clienttest.IsA(err, tc.want) || err == nil && (got.ID != "w1" || got.Branch != tc.branch) {
				t.Errorf("got %+v, %v", got, err)
			}
			rec.WantCount(t, http.MethodPost, 1)
		})
	}
}

// A run that an agent or another person created is somebody else's.
func TestCreateWikiRunRequest_isWanted(t *testing.T) {
	t.Parallel()
	for more, want := range map[string]bool{
		"": true, `,"sourceSessionId":"s1"`: false, `,"canUpdatePrivacy":false`: false, `,"canUpdatePrivacy":true,"sourceSessionId":""`: true,
	} {
		var run Run
		check.Must(t, json.Unmarshal([]byte(wiki("w1", more)), &run))
		if got := (CreateRequest{RepoURL: acmeAPI}).isWanted(&run); got != want {
			t.Errorf("got %v for %+v", got, run)
		}
	}
}

const wikiPageBody = `{"pageId":"p1","path":"a/b.md","title":"T","content":"# T","order":2}`

func TestWikiPage(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ answer, problem string }{
		"bare":            {wikiPageBody, ""},
		"an empty page":   {`{"pageId":"p1","content":""}`, ""},
		"another page":    {`{"pageId":"p2","path":"a","title":"T","content":"","order":1}`, "it contains p2 instead of p1"},
		"no page":         {`{}`, "the field pageId is missing"},
		"without content": {`{"pageId":"p1","path":"a","title":"T","content":null,"order":1}`, "the field content is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, 200, tc.answer) })
			page, err := c.Page(t.Context(), "r1", "p1")
			if tc.problem == "" {
				if err != nil || page.ID != "p1" || page.Content == nil {
					t.Errorf("got %+v, %v", page, err)
				}
				return
			}
			var answer *wire.ResponseError
			if !errors.As(err, &answer) || answer.Problem != tc.problem || page != nil {
				t.Errorf("got %+v, %v", page, err)
			}
		})
	}
}

// aWiki is an archive.
var aWiki = func() []byte {
	var data bytes.Buffer
	z := zip.NewWriter(&data)
	for _, name := range []string{"wiki.json", "index.md"} {
		w, err := z.Create(name)
		if err == nil {
			_, err = io.WriteString(w, strings.Repeat("text of "+name, 100))
		}
		if err != nil {
			panic(err)
		}
	}
	if err := z.Close(); err != nil {
		panic(err)
	}
	return data.Bytes()
}()

// exportForms are the ways in which the service returns an archive in the storage.
var exportForms = map[string]func(w http.ResponseWriter, storage string){
	"link": func(w http.ResponseWriter, storage string) { clienttest.RespondJSON(w, 200, `{"url":"`+storage+`"}`) },
	"link of a kind": func(w http.ResponseWriter, storage string) {
		_, _ = io.WriteString(w, "\n {\"url\":\""+storage+"\",\"more\":1}")
	},
	"redirect":     func(w http.ResponseWriter, storage string) { redirect(w, 302, storage) },
	"redirect 307": func(w http.ResponseWriter, storage string) { redirect(w, 307, storage) },
}

func redirect(w http.ResponseWriter, status int, to string) {
	w.Header().Set("Location", to)
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<html>")
}

func sendArchive(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = w.Write(aWiki) }

// The storage is on the same host as the service, on a different port.
func TestExportWikiRun_withoutTheKey(t *testing.T) {
	t.Parallel()
	for name, answer := range exportForms {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storage, stored := clienttest.Serve(t, sendArchive)
			c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { answer(w, storage+"/x?sig=s") })
			var got bytes.Buffer
			export, err := c.Export(t.Context(), "r1", &got)
			sum := sha256.Sum256(aWiki)
			if err != nil || !bytes.Equal(got.Bytes(), aWiki) || export.Size != int64(len(aWiki)) || export.SHA256 != hex.EncodeToString(sum[:]) {
				t.Errorf("got %+v and %d bytes, %v", export, got.Len(), err)
			}
			requests := stored.Requests
			if len(requests) != 1 || rec.Count(http.MethodGet) != 1 {
				t.Fatalf("%d requests to the storage, %d to the service", len(requests), rec.Count(http.MethodGet))
			}
			if sent := fmt.Sprint(requests[0].Header, requests[0].URL); strings.Contains(sent, clienttest.Key) || requests[0].Header.Get("Authorization") != "" || requests[0].URL.RawQuery != "sig=s" {
				t.Errorf("the storage got %s", sent)
			}
			if sent := rec.Requests[0]; sent.Header.Get("Authorization") != "Bearer "+clienttest.Key || sent.Header.Get("Accept") != "application/zip, application/json" {
				t.Errorf("the service got %v", sent.Header)
			}
		})
	}
}

func TestExportWikiRun_archiveInTheAnswer(t *testing.T) {
	t.Parallel()
	empty := []byte("PK\x05\x06" + strings.Repeat("\x00", 18))
	for name, data := range map[string][]byte{"some files": aWiki, "no files": empty} {
		c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
			if n == 1 {
				clienttest.RespondJSON(w, 503, `{"detail":"later"}`)
				return
			}
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(data)
		})
		var got bytes.Buffer
		export, err := c.Export(t.Context(), "r1", &got)
		if err != nil || export.Size != int64(len(data)) || !bytes.Equal(got.Bytes(), data) || rec.Count(http.MethodGet) != 2 {
			t.Errorf("%s: got %+v after %d requests, %v", name, export, rec.Count(http.MethodGet), err)
		}
	}
}

// If the content is not a complete archive, the error says what it is without quoting it.
func TestExportWikiRun_notAnArchive(t *testing.T) {
	t.Parallel()
	short := func(w http.ResponseWriter) {
		w.Header().Set("Content-Length", strconv.Itoa(len(aWiki)))
		_, _ = w.Write(aWiki[:200])
	}
	dropped := func(w http.ResponseWriter) {
		_, _ = w.Write(aWiki[:200])
		_ = http.NewResponseController(w).Flush()
		clienttest.Drop(w)
	}
	text := func(body string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) { _, _ = io.WriteString(w, body) }
	}
	for name, tc := range map[string]struct {
		answer             func(http.ResponseWriter)
		inStorage, service string
	}{
		"short":        {short, "was cut off after 200 bytes: unexpected EOF", "was cut off after 200 bytes: unexpected EOF"},
		"dropped":      {dropped, "was cut off after 200 bytes: unexpected EOF", "was cut off after 200 bytes: unexpected EOF"},
		"HTML":         {text("<!DOCTYPE html><title>s3cret</title>"), "the download is text/html; charset=utf-8, not a ZIP archive", "neither a ZIP archive nor a signed URL of one"},
		"JSON in bits": {text(` {"url":"https://s3cret`), "not a ZIP archive", "neither a ZIP archive nor a signed URL of one"},
		"empty":        {text(""), "not a ZIP archive", "neither a ZIP archive nor a signed URL of one"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check := func(where, want string, answer func(w http.ResponseWriter)) {
				c, _, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { answer(w) })
				export, err := c.Export(t.Context(), "r1", io.Discard)
				if export != nil || err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cret") {
					t.Errorf("%s: got %+v, %v", where, export, err)
				}
			}
			storage, _ := clienttest.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { tc.answer(w) })
			check("storage", tc.inStorage, func(w http.ResponseWriter) { exportForms["link"](w, storage) })
			check("service", tc.service, tc.answer)
		})
	}
}

// sendMany sends an archive with so many bytes.
func sendMany(w http.ResponseWriter, size int64) {
	_, _ = io.Copy(w, io.MultiReader(bytes.NewReader(aWiki[:30]), io.LimitReader(clienttest.Endless{}, size-30)))
}

// manyServed returns clients of services that export archives with so many bytes, by the form of the export.
func manyServed(t testing.TB, size int64) map[string]*Client {
	t.Helper()
	storage, _ := clienttest.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { sendMany(w, size) })
	link, _, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { exportForms["link"](w, storage) })
	direct, _, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { sendMany(w, size) })
	return map[string]*Client{"link": link, "archive": direct}
}

// Not parallel, so that only its own memory is counted. The total of all allocations is an upper limit for the memory in use.
func TestExportWikiRun_takesLittleMemory(t *testing.T) {
	const size = 256 << 20
	for form, c := range manyServed(t, size) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		export, err := c.Export(t.Context(), "r1", io.Discard)
		runtime.ReadMemStats(&after)
		if err != nil || export.Size != size {
			t.Fatalf("%s: got %+v, %v", form, export, err)
		}
		allocated := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d KiB allocated in all", form, allocated>>10)
		if allocated > 4<<20 {
			t.Errorf("%s: an export of 256 MiB allocated %d bytes", form, allocated)
		}
	}
}

func TestCreateVideoUpload_isRepeated(t *testing.T) {
	t.Parallel()
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
		if n == 1 {
			clienttest.Drop(w) // Nobody has the URL of the lost response.
		}
		clienttest.RespondJSON(w, 200, `{"uploadUrl":"https://files.example/v","formFields":{"key":"k"}}`)
	})
	upload, err := c.CreateVideoUpload(t.Context())
	check.Must(t, err)
	if upload.URL != "https://files.example/v" || upload.Fields["key"] != "k" || !upload.ExpiresAt.IsZero() {
		t.Errorf("got %+v", upload)
	}
	rec.Want(t, "POST /api/v0/wiki/video-upload-url", "POST /api/v0/wiki/video-upload-url")
}
