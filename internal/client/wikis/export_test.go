package wikis

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
)

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
