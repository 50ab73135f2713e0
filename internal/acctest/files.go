package acctest

import (
	"bytes"
	"context"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

// PutFile writes a file to a computer's workspace outside Terraform. The name is escaped as in a path.
func (e *Env) PutFile(computer, name, content string) {
	e.t.Helper()
	at := "/api/v0/computers/" + computer + "/files/" + name
	var upload struct {
		URL    string
		Fields map[string]string
	}
	e.API(http.MethodPost, at+"/create-upload", map[string]any{"sizeBytes": len(content)}, &upload)
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for field, v := range upload.Fields {
		_ = form.WriteField(field, v)
	}
	part, _ := form.CreateFormFile("file", name)
	_, _ = io.WriteString(part, content)
	_ = form.Close()
	e.Storage(http.MethodPost, upload.URL, form.FormDataContentType(), &body)
	e.API(http.MethodPost, at+"/complete-upload", map[string]any{}, nil)
}

// File returns the content and media type of a file in a workspace, or "" and "" if there is none.
func (e *Env) File(computer, name string) (content, contentType string) {
	e.t.Helper()
	at := "/api/v0/computers/" + computer + "/files/" + name + "/create-download"
	if status, _ := e.Try(http.MethodPost, at, map[string]any{}); status == http.StatusNotFound {
		return "", ""
	}
	var download struct{ URL string }
	e.API(http.MethodPost, at, map[string]any{}, &download)
	return e.Storage(http.MethodGet, download.URL, "", nil)
}

// Storage sends a request to the file storage, which needs only the URL. It returns the content and its media type.
func (e *Env) Storage(method, url, contentType string, body io.Reader) (content, contentTypeOfAnswer string) {
	e.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, body)
	check.Must(e.t, err)
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	check.Must(e.t, err)
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= http.StatusMultipleChoices {
		e.t.Fatalf("%s at the file storage: %s %s %v", method, resp.Status, data, err)
	}
	return string(data), resp.Header.Get("Content-Type")
}

// Example returns the content of a file in examples/.
func Example(t testing.TB, path string) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	text, err := os.ReadFile(filepath.Join(dir, "examples", path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
