package computer_test

import (
	"bytes"
	"encoding/base64"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// fileOn is the configuration of a file on a computer.
func fileOn(computer, name string, more acctest.Values) acctest.Values {
	all := acctest.Values{"computer_id": computer, "file_name": name}
	maps.Copy(all, more)
	return all
}

func TestComputerFileUpload(t *testing.T) {
	t.Parallel()
	source := filepath.Join(t.TempDir(), "source.bin")
	check.Must(t, os.WriteFile(source, []byte("from a file"), 0o600))
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
			e, c := withComputer(t)
			e.Journal().Reset()
			got := mustInvoke(t, e, "file_upload", fileOn(c.ID, tc.file, tc.arguments))
			if n := len(e.Journal().Entries()); n != 2 || !strings.HasSuffix(got, "as /home/agent/workspace/"+tc.file) || !strings.Contains(got, "Uploading file") {
				t.Errorf("%d requests: %s", n, got)
			}
			if content, contentType := e.File(c.ID, tc.as); content != tc.is || contentType != tc.contentType {
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
	with := func(name string, rest acctest.Values) acctest.Values { return fileOn(id, name, rest) }
	text := acctest.Values{"content": "x"}
	e.Journal().Reset()
	for name, tc := range map[string]struct {
		arguments acctest.Values
		want      string
	}{
		"no content":   {with("a", nil), "Set exactly one of source_path, content, and content_base64."},
		"two contents": {with("a", acctest.Values{"content": "x", "source_path": "y"}), "These are set: source_path, content."},
		"slash":        {with("a/b", text), "must be a file name"},
		"two dots":     {with("a..b", text), "must be a file name"},
		"no name":      {with("", text), "must be 1 to 255 characters long"},
		"long name":    {with(strings.Repeat("ä", 256), text), "must be 1 to 255 characters long"},
		"no Base64":    {with("a", acctest.Values{"content_base64": "%"}), "Invalid Base64"},
		"no file":      {with("a", acctest.Values{"source_path": filepath.Join(folder, "none")}), "Cannot read file"},
		"folder":       {with("a", acctest.Values{"source_path": folder}), "is not a regular file"},
	} {
		_, out := invoke(t, e, "file_upload", tc.arguments)
		if !strings.Contains(out.Text(), tc.want) {
			t.Errorf("%s: %s", name, out)
		}
	}
	check.Is(t, "requests", len(e.Journal().Entries()), 0)
}

func TestComputerFileUpload_errors(t *testing.T) {
	t.Parallel()
	e, c := withComputer(t)
	e.PutFile(c.ID, "taken.txt", "theirs")
	down := makeComputer(e, map[string]any{"name": "down"})
	check.Must(t, e.UnavailableDaemon(down.ID))
	for _, tc := range map[string]struct {
		id, file string
		want     []string
	}{
		"file exists": {c.ID, "taken.txt", []string{"Cannot upload file", "completeFileUpload", "409", "does not overwrite", "Choose another file_name"}},
		"unreachable": {down.ID, "a", []string{"Cannot upload file", "createFileUpload", "424", "check that the computer is active"}},
	} {
		_, out := invoke(t, e, "file_upload", acctest.Values{"computer_id": tc.id, "file_name": tc.file, "content": "mine"})
		check.Says(t, out.Text(), tc.want...)
	}
	if content, _ := e.File(c.ID, "taken.txt"); content != "theirs" {
		t.Errorf("the file is now %q", content)
	}
}

// Whatever fails, a successful upload has written the file, and a failed one can be invoked again.
func TestComputerFileUpload_faults(t *testing.T) {
	t.Parallel()
	for _, fault := range []emulator.Fault{
		{Operation: "createFileUpload", Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusFailedDependency},
		{Operation: "completeFileUpload", Kind: emulator.FaultDropBeforeCommit, Times: -1},
		{Operation: "completeFileUpload", Kind: emulator.FaultStatusAfterCommit, Status: http.StatusServiceUnavailable},
	} {
		e, c := withComputer(t)
		arguments := acctest.Values{"computer_id": c.ID, "file_name": "a.txt", "content": "hello"}
		e.Faults().Add(fault)
		_, out := acctest.NewProcess(t, e, acctest.Values{"max_retries": 2}).Invoke("agentyard_computer_file_upload", arguments)
		e.Faults().Clear()
		content, _ := e.File(c.ID, "a.txt")
		if (content == "hello") != (len(out.Errors) == 0) || content == "" && !strings.Contains(out.Text(), fault.Operation) {
			t.Errorf("the workspace has %q: %s", content, out)
		}
		mustInvoke(t, e, "file_upload", arguments)
		if content, _ := e.File(c.ID, "a.txt"); content != "hello" {
			t.Errorf("the workspace has %q", content)
		}
	}
}

func TestComputerFileUpload_whenNobodyCanTell(t *testing.T) {
	t.Parallel()
	e, c := withComputer(t)
	arguments := acctest.Values{"computer_id": c.ID, "file_name": "a.txt", "content": "hello"}
	e.Faults().Add(
		emulator.Fault{Operation: "completeFileUpload", Kind: emulator.FaultDropAfterCommit},
		emulator.Fault{Operation: "createFileDownload", Kind: emulator.FaultDropBeforeCommit, Times: -1})
	_, out := acctest.NewProcess(t, e, acctest.Values{"max_retries": 1}).Invoke("agentyard_computer_file_upload", arguments)
	e.Faults().Clear()
	check.Says(t, out.Text(), "Cannot upload file", "completeFileUpload", `could not check whether the file "a.txt" is in the workspace`, "check the file in the workspace")
	// The file is compared again.
	mustInvoke(t, e, "file_upload", arguments)
}

func TestComputerFileUpload_endsInTime(t *testing.T) {
	t.Parallel()
	e, c := withComputer(t)
	e.Faults().Add(emulator.Fault{Operation: "createFileUpload", Kind: emulator.FaultDelayAfterCommit, Delay: time.Second, Times: -1})
	_, out := invoke(t, e, "file_upload", acctest.Values{"computer_id": c.ID, "file_name": "a.txt", "content": "x", "timeouts": map[string]any{"invoke": "10ms"}})
	check.Says(t, out.Text(), "Timed out uploading the file", `"a.txt"`, c.ID, "did not finish within 10ms", "may be in the workspace", "raise the timeout in the timeouts block")
}

// An ephemeral secret reaches the computer, and is in no plan, state, log, or error. The computer's ID is unknown in the first plan.
func TestAccComputerFileUpload_secret_everyCLI(t *testing.T) {
	t.Parallel()
	acctest.NeedsWriteOnly(t)
	e := acctest.NewRealTime(t)
	c := makeComputer(e, ownMachine("own"))
	config := func(version string) string {
		return `
variable "secret" {
  type      = string
  ephemeral = true
}
resource "terraform_data" "computer" {
  input = "` + c.ID + `"
}
resource "agentyard_computer_file_upload" "x" {
  computer_id        = terraform_data.computer.output
  file_name          = "secret-` + version + `.txt"
  content_wo         = var.secret
  content_wo_version = "` + version + `"
}`
	}
	cli := acctest.NewCLI(t, e, config("1"))
	cli.Setenv("TF_VAR_secret", "do-not-show")
	cli.Setenv("TF_LOG", "TRACE")
	log := filepath.Join(cli.Dir, "trace.log")
	cli.Setenv("TF_LOG_PATH", log)
	cli.MustRun("plan", "-input=false", "-out=saved.plan")
	output := cli.MustRun("apply", "-input=false", "saved.plan").Output
	cli.MustPlanEmpty()
	cli.Write("main.tf", config("2"))
	output += cli.MustRun("apply", "-auto-approve", "-input=false").Output
	cli.MustRun("apply", "-auto-approve", "-input=false", "-destroy")
	cli.Write("main.tf", config("1"))
	cli.Setenv("TF_VAR_secret", "do-not-show this either")
	failed := cli.Run("apply", "-auto-approve", "-input=false") // The file exists, with another content.
	check.Says(t, acctest.OneLine(failed.Output), "does not overwrite files", "and upload again")
	check.Lacks(t, output+failed.Output, "do-not-show")
	for _, name := range []string{"terraform.tfstate", "terraform.tfstate.backup", "saved.plan", "trace.log"} {
		content, err := os.ReadFile(filepath.Join(cli.Dir, name))
		check.Must(t, err)
		if bytes.Contains(content, []byte("do-not-show")) {
			t.Errorf("%s has the secret", name)
		}
	}
	for _, name := range []string{"secret-1.txt", "secret-2.txt"} {
		if content, _ := e.File(c.ID, name); content != "do-not-show" {
			t.Errorf("%s has %q", name, content)
		}
	}
}

// Another spelling of the same path, of the same bytes, or of the computer's ID uploads nothing.
func TestComputerFileUpload_sameInAnotherForm(t *testing.T) {
	t.Parallel()
	e, c := withComputer(t)
	folder := t.TempDir()
	source := filepath.Join(folder, "task.txt")
	check.Must(t, os.WriteFile(source, []byte("x"), 0o600))
	for name, tc := range map[string]struct{ from, to acctest.Values }{
		"path":  {acctest.Values{"source_path": source}, acctest.Values{"source_path": folder + "/./task.txt"}},
		"bytes": {acctest.Values{"content": "hi"}, acctest.Values{"content_base64": "aGk="}},
		"ID":    {acctest.Values{"content": "hi"}, acctest.Values{"content": "hi", "computer_id": strings.ToUpper(c.ID)}},
	} {
		config := func(more acctest.Values) acctest.Values { return fileOn(c.ID, name, more) }
		_, i := e.Created(t, "agentyard_computer_file_upload", config(tc.from))
		e.Journal().Reset()
		if e.Apply(t, i, config(tc.to)).MustDo(t, acctest.ActionUpdate); len(e.Journal().Entries()) > 0 {
			t.Errorf("%s: %d requests", name, len(e.Journal().Entries()))
		}
		e.Plan(t, i, config(acctest.Values{"content": "other"})).MustDo(t, acctest.ActionReplace)
	}
}

// The value of content_wo may be null in a run that uploads nothing, so its version says that it is the source.
func TestComputerFileUpload_withoutContent(t *testing.T) {
	t.Parallel()
	e, c := withComputer(t)
	for _, tc := range []struct {
		more acctest.Values
		want string
	}{
		{nil, "Not exactly one argument"},
		{acctest.Values{"content_wo": "x"}, "Not exactly one argument"},
		{acctest.Values{"content": "x", "content_wo_version": "1"}, "Not exactly one argument"},
		{acctest.Values{"content": "x", "content_wo": "x"}, "Invalid Attribute Combination"},
		{acctest.Values{"content": "x", "source_path": "x"}, "Invalid Attribute Combination"},
	} {
		check.Says(t, e.Plan(t, e.NewInstance(t, "agentyard_computer_file_upload"), fileOn(c.ID, "a", tc.more)).Text(), tc.want)
	}
}

func TestComputerFileDownload(t *testing.T) {
	t.Parallel()
	e, c := withComputer(t)
	e.PutFile(c.ID, "a%20b.txt", "hello")
	opened, out := acctest.NewProcess(t, e, nil).Open("agentyard_computer_file_download", acctest.Values{"computer_id": c.ID, "file_name": "a b.txt", "content_type": "text/x-note", "session_id": "s1"})
	out.MustSucceed(t)
	got := acctest.Plainly(t, opened)
	if content, contentType := e.Storage(http.MethodGet, got["url"].(string), "", nil); content != "hello" || contentType != "text/x-note" || !strings.HasPrefix(got["expires_at"].(string), "2026-03-01T12:16:") {
		t.Errorf("the address leads to %q of %q: %v", content, contentType, got)
	}
}

func TestComputerFileDownload_invalid(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	_, out := acctest.NewProcess(t, e, nil).Open("agentyard_computer_file_download", acctest.Values{"computer_id": "c", "file_name": "a/b"})
	out.MustFail(t, "file_name", "must be a file name")
}

// Ephemeral resources are opened in plans, and what the apply makes does not exist yet. An error would stop even a destroy.
func TestComputerFileDownload_withoutAFile(t *testing.T) {
	t.Parallel()
	e, c := withComputer(t)
	asleep := makeComputer(e, map[string]any{"name": "b"})
	check.Must(t, e.UnavailableDaemon(asleep.ID))
	for computer, want := range map[string]string{c.ID: "404", nobody: "404", asleep.ID: "424"} {
		attributes, out := acctest.NewProcess(t, e, nil).Open("agentyard_computer_file_download", acctest.Values{"computer_id": computer, "file_name": "none"})
		if len(out.Errors) > 0 || !attributes["url"].IsNull() || !attributes["expires_at"].IsNull() {
			t.Fatalf("%v, %s", attributes, out)
		}
		check.Says(t, out.WarningText(), `no URL for the file "none" on computer `+computer+", so url is null: createFileDownload", want, "check computer_id, file_name")
	}
}
