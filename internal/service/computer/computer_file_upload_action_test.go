package computer_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// storage sends a request to the file storage, which needs only the URL. It returns the content and its media type.
func storage(t *testing.T, method, url, contentType string, body io.Reader) (content, contentTypeOfAnswer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), method, url, body)
	acctest.Must(t, err)
	req.Header.Set("Content-Type", contentType)
	resp, err := http.DefaultClient.Do(req)
	acctest.Must(t, err)
	defer func() { _ = resp.Body.Close() }()
	data, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		t.Fatalf("%s at the file storage: %s %s %v", method, resp.Status, data, err)
	}
	return string(data), resp.Header.Get("Content-Type")
}

// putFile writes a file to a workspace outside Terraform.
func putFile(t *testing.T, e *acctest.Env, computer, name, content string) {
	t.Helper()
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
	storage(t, http.MethodPost, upload.URL, form.FormDataContentType(), &body)
	e.API(http.MethodPost, at+"/complete-upload", map[string]any{}, nil)
}

// getFile returns the content and media type of a file in a workspace, or "" and "" if there is none.
func getFile(t *testing.T, e *acctest.Env, computer, name string) (content, contentType string) {
	t.Helper()
	at := "/api/v0/computers/" + computer + "/files/" + name + "/create-download"
	if status, _ := e.Try(http.MethodPost, at, map[string]any{}); status == http.StatusNotFound {
		return "", ""
	}
	var download struct{ URL string }
	e.API(http.MethodPost, at, map[string]any{}, &download)
	return storage(t, http.MethodGet, download.URL, "", nil)
}

func TestComputerFileUpload(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "source.bin")
	acctest.Must(t, os.WriteFile(source, []byte("from a file"), 0o600))
	for name, tc := range map[string]struct {
		file, as, is, contentType string
		arguments                 acctest.Values
	}{
		"text":            {"notes.json", "notes.json", `{"a":1}`, "application/json", acctest.Values{"content": `{"a":1}`}},
		"empty":           {"empty", "empty", "", "application/octet-stream", acctest.Values{"content": ""}},
		"bytes":           {"logo.unknown", "logo.unknown", "\x00\xff", "application/octet-stream", acctest.Values{"content_base64": base64.StdEncoding.EncodeToString([]byte("\x00\xff"))}},
		"file":            {"a b.html", "a%20b.html", "from a file", "text/html; charset=utf-8", acctest.Values{"source_path": source}},
		"given type":      {"x.html", "x.html", "x", "application/x-thing", acctest.Values{"content": "x", "content_type": "application/x-thing"}},
		"name with marks": {`q"u%{}#?ä.x`, "q%22u%25%7B%7D%23%3F%C3%A4.x", "x", "application/octet-stream", acctest.Values{"content": "x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := acctest.New(t)
			c := makeComputer(e, map[string]any{"name": "a"})
			arguments := acctest.Values{"computer_id": c.ID, "file_name": tc.file}
			maps.Copy(arguments, tc.arguments)
			e.Journal().Reset()
			got := mustInvoke(t, e, "file_upload", arguments)
			if n := len(e.Journal().Entries()); n != 2 || !strings.HasSuffix(got, "as /home/agent/workspace/"+tc.file) || !strings.Contains(got, "Uploading file") {
				t.Errorf("%d requests: %s", n, got)
			}
			if content, contentType := getFile(t, e, c.ID, tc.as); content != tc.is || contentType != tc.contentType {
				t.Errorf("the workspace has %q of %q, want %q of %q", content, contentType, tc.is, tc.contentType)
			}
		})
	}
}

func TestComputerFileUpload_validation(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := makeComputer(e, ownMachine("own")).ID
	folder := t.TempDir()
	with := func(name string, rest acctest.Values) acctest.Values {
		arguments := acctest.Values{"computer_id": id, "file_name": name}
		maps.Copy(arguments, rest)
		return arguments
	}
	text := acctest.Values{"content": "x"}
	e.Journal().Reset()
	for name, tc := range map[string]struct {
		arguments acctest.Values
		want      string
	}{
		"no content":         {with("a", nil), "Exactly one of these attributes must be configured"},
		"two contents":       {with("a", acctest.Values{"content": "x", "source_path": "y"}), "Exactly one of these attributes must be configured"},
		"slash":              {with("a/b", text), "Invalid File Name"},
		"backslash":          {with(`a\b`, text), "Invalid File Name"},
		"two dots":           {with("a..b", text), "Invalid File Name"},
		"one dot":            {with(".", text), "Invalid File Name"},
		"blank":              {with(" ", text), "Invalid File Name"},
		"no name":            {with("", text), "must be 1 to 255 characters long"},
		"long name":          {with(strings.Repeat("ä", 256), text), "must be 1 to 255 characters long"},
		"no Base64":          {with("a", acctest.Values{"content_base64": "%"}), "Invalid Base64"},
		"empty path":         {with("a", acctest.Values{"source_path": ""}), "must not be empty"},
		"no file":            {with("a", acctest.Values{"source_path": filepath.Join(folder, "none")}), "Cannot Read File"},
		"folder":             {with("a", acctest.Values{"source_path": folder}), "is not a regular file"},
		"empty content type": {with("a", acctest.Values{"content": "x", "content_type": ""}), "must be 1 to 255 characters long"},
	} {
		_, out := invoke(t, e, "file_upload", tc.arguments)
		if !strings.Contains(out.Text(), tc.want) {
			t.Errorf("%s: %s", name, out)
		}
	}
	if n := len(e.Journal().Entries()); n != 0 {
		t.Errorf("%d requests were sent", n)
	}
}

func TestComputerFileUpload_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	putFile(t, e, c.ID, "taken.txt", "theirs")
	down := makeComputer(e, map[string]any{"name": "down"})
	acctest.Must(t, e.UnavailableDaemon(down.ID))
	for _, tc := range map[string]struct {
		id, file string
		want     []string
	}{
		"file exists": {c.ID, "taken.txt", []string{"Cannot upload file", "completeFileUpload", "409", "does not overwrite", "Choose another file_name"}},
		"no computer": {nobody, "a", []string{"Cannot upload file", "createFileUpload", "404", "No computer with the ID"}},
		"unreachable": {down.ID, "a", []string{"Cannot upload file", "createFileUpload", "424", "Check that the computer is active"}},
	} {
		_, out := invoke(t, e, "file_upload", acctest.Values{"computer_id": tc.id, "file_name": tc.file, "content": "mine"})
		acctest.Says(t, out.Text(), tc.want...)
	}
	if content, _ := getFile(t, e, c.ID, "taken.txt"); content != "theirs" {
		t.Errorf("the file is now %q", content)
	}
}

// Whatever fails, a successful upload has written the file, and a failed upload can be invoked again. It then succeeds, or
// says that the file exists, which is then the uploaded file.
func TestComputerFileUpload_faultMatrix(t *testing.T) {
	t.Parallel()
	cases := 0
	for _, operation := range []string{"createFileUpload", "completeFileUpload"} {
		for name, fault := range map[string]emulator.Fault{
			"500 before commit":     {Kind: emulator.FaultStatusBeforeCommit, Status: 500},
			"503 before commit":     {Kind: emulator.FaultStatusBeforeCommit, Status: 503},
			"424 before commit":     {Kind: emulator.FaultStatusBeforeCommit, Status: 424},
			"500 after commit":      {Kind: emulator.FaultStatusAfterCommit, Status: 500},
			"503 after commit":      {Kind: emulator.FaultStatusAfterCommit, Status: 503},
			"dropped before commit": {Kind: emulator.FaultDropBeforeCommit},
			"dropped after commit":  {Kind: emulator.FaultDropAfterCommit},
			"truncated":             {Kind: emulator.FaultTruncatedBody},
			"not JSON":              {Kind: emulator.FaultNonJSON},
			"rate limited":          {Kind: emulator.FaultRateLimited},
			"timeout after commit":  {Kind: emulator.FaultDelayAfterCommit, Delay: time.Minute},
		} {
			for _, times := range []int{1, -1} {
				if times < 0 && fault.Delay > 0 {
					continue // Each attempt would wait in real time.
				}
				fault.Operation, fault.Times = operation, times
				cases++
				t.Run(fmt.Sprintf("%s/%s/%d", operation, name, times), func(t *testing.T) {
					t.Parallel()
					uploadUnder(t, fault)
				})
			}
		}
	}
	t.Logf("%d cases", cases)
}

func uploadUnder(t *testing.T, fault emulator.Fault) {
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	arguments := acctest.Values{"computer_id": c.ID, "file_name": "a.txt", "content": "hello"}
	settings := acctest.Values{"max_retries": 2}
	if fault.Delay > 0 {
		settings["request_timeout"] = "1s"
	}

	e.Faults().Add(fault)
	_, out := acctest.NewProcess(t, e, settings).Invoke("agentyard_computer_file_upload", arguments)
	e.Faults().Clear()
	content, _ := getFile(t, e, c.ID, "a.txt")
	if len(out.Errors) == 0 {
		if content != "hello" {
			t.Errorf("the upload succeeded, and the workspace has %q", content)
		}
		return
	}
	if fault.Times == 1 && fault.Status != http.StatusFailedDependency {
		t.Errorf("a fault that passes makes the upload fail: %s", out)
	}
	if !strings.Contains(out.Text(), fault.Operation) {
		t.Errorf("the error does not name the operation: %s", out)
	}
	if content != "" {
		t.Errorf("the upload failed although the file is there: %s", out)
	}
	_, out = acctest.NewProcess(t, e, nil).Invoke("agentyard_computer_file_upload", arguments)
	if content, _ = getFile(t, e, c.ID, "a.txt"); len(out.Errors) > 0 || content != "hello" {
		t.Errorf("invoked again, the workspace has %q: %s", content, out)
	}
}

func TestComputerFileUpload_whenNobodyCanTell(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	arguments := acctest.Values{"computer_id": c.ID, "file_name": "a.txt", "content": "hello"}
	e.Faults().Add(
		emulator.Fault{Operation: "completeFileUpload", Kind: emulator.FaultDropAfterCommit},
		emulator.Fault{Operation: "createFileDownload", Kind: emulator.FaultDropBeforeCommit, Times: -1})
	_, out := acctest.NewProcess(t, e, acctest.Values{"max_retries": 1}).Invoke("agentyard_computer_file_upload", arguments)
	e.Faults().Clear()
	acctest.Says(t, out.Text(), "Cannot upload file", "completeFileUpload", `could not check whether the file "a.txt" is in the workspace`, "Check the workspace")
	// The file is compared again.
	mustInvoke(t, e, "file_upload", arguments)
}

// A run that was killed after the upload has stored nothing.
func TestComputerFileUpload_convergesAfterAKill(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	putFile(t, e, c.ID, "a.txt", "hello")
	config := acctest.Values{"computer_id": c.ID, "file_name": "a.txt", "content": "hello"}
	i := e.NewInstance(t, "agentyard_computer_file_upload")
	e.MustApply(t, i, config).MustDo(t, acctest.ActionCreate)
	e.MustApply(t, i, config).MustDo(t, acctest.ActionNone)
}

func TestComputerFileUpload_storageIsGone(t *testing.T) {
	t.Parallel()
	e := acctest.New(t, rewriting("/create-upload", func(body []byte) []byte {
		return bytes.ReplaceAll(body, []byte("/upload"), []byte("/elsewhere"))
	}))
	c := makeComputer(e, map[string]any{"name": "a"})
	_, out := invoke(t, e, "file_upload", acctest.Values{"computer_id": c.ID, "file_name": "a", "content": "x"})
	acctest.Says(t, out.Text(), "Cannot upload file", "file storage returned 404 for the upload", "Nothing was written to the workspace", "then upload again")
	if strings.Contains(out.Text(), e.FilesURL()) || e.Journal().Count("completeFileUpload") != 0 {
		t.Errorf("the address is shown, or the upload was completed: %s", out.Text())
	}
}

func TestComputerFileUpload_endsInTime(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	e.Faults().Add(emulator.Fault{Operation: "createFileUpload", Kind: emulator.FaultDelayAfterCommit, Delay: time.Second, Times: -1})
	_, out := invoke(t, e, "file_upload", acctest.Values{"computer_id": c.ID, "file_name": "a.txt", "content": "x", "timeouts": map[string]any{"invoke": "10ms"}})
	acctest.Says(t, out.Text(), "Timed Out Uploading the File", `"a.txt"`, c.ID, "did not finish within 10ms", "Nothing was written", "raise the timeout in the timeouts block")
}

// rewriting changes the responses to requests whose path has the suffix.
func rewriting(suffix string, change func([]byte) []byte) acctest.Option {
	return acctest.Wrap(func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasSuffix(r.URL.Path, suffix) {
				next.ServeHTTP(w, r)
				return
			}
			kept := &answerRecorder{header: w.Header(), status: http.StatusOK}
			next.ServeHTTP(kept, r)
			w.Header().Del("Content-Length")
			w.WriteHeader(kept.status)
			_, _ = w.Write(change(kept.body.Bytes()))
		})
	})
}

type answerRecorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *answerRecorder) Header() http.Header         { return a.header }
func (a *answerRecorder) WriteHeader(status int)      { a.status = status }
func (a *answerRecorder) Write(p []byte) (int, error) { return a.body.Write(p) }

func TestAccComputerFileUpload_invokedByHand(t *testing.T) {
	t.Parallel()
	acctest.NeedsActions(t)
	e := acctest.NewRealTime(t)
	c := makeComputer(e, ownMachine("own"))
	cli := acctest.NewCLI(t, e, `
variable "text" {
  type      = string
  sensitive = true
}
action "agentyard_computer_file_upload" "x" {
  config {
    computer_id = "`+c.ID+`"
    file_name   = "secret.txt"
    content     = var.text
  }
}`)
	cli.Setenv("TF_VAR_text", "do-not-show")
	cli.Setenv("TF_LOG_PROVIDER", "TRACE")
	got := invokeText(cli, "file_upload.x")
	acctest.Says(t, got, "to the workspace of computer")
	if !strings.Contains(got, "createFileUpload") {
		t.Error("the provider's log is not in the output, so it was not searched")
	}
	for _, secret := range []string{"do-not-show", "signature=", e.FilesURL() + "/upload"} {
		if strings.Contains(got, secret) {
			t.Errorf("the output and the log show %q", secret)
		}
	}
	if content, _ := getFile(t, e, c.ID, "secret.txt"); content != "do-not-show" {
		t.Errorf("the workspace has %q", content)
	}
	cli.Setenv("TF_VAR_text", "do-not-show this either")
	r := cli.Run("apply", "-auto-approve", "-input=false", "-invoke=action.agentyard_computer_file_upload.x")
	if r.ExitCode == 0 || !strings.Contains(r.Output, "does not overwrite") {
		t.Errorf("a second upload: exit code %d\n%s", r.ExitCode, r.Output)
	}
}
