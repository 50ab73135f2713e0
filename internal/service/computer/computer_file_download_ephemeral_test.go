package computer_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
)

func TestComputerFileDownload(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
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
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	asleep := makeComputer(e, map[string]any{"name": "b"})
	acctest.Must(t, e.UnavailableDaemon(asleep.ID))
	for computer, want := range map[string]string{c.ID: "404", nobody: "404", asleep.ID: "424"} {
		attributes, out := acctest.NewProcess(t, e, nil).Open("agentyard_computer_file_download", acctest.Values{"computer_id": computer, "file_name": "none"})
		if len(out.Errors) > 0 || !attributes["url"].IsNull() || !attributes["expires_at"].IsNull() {
			t.Fatalf("%v, %s", attributes, out)
		}
		acctest.Says(t, out.WarningText(), `no URL for the file "none" on computer `+computer+", so url is null: createFileDownload", want, "check computer_id, file_name")
	}
}
