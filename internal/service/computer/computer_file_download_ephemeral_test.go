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
	putFile(t, e, c.ID, "a%20b.txt", "hello")
	opened, out := acctest.NewProcess(t, e, nil).Open("agentyard_computer_file_download", acctest.Values{"computer_id": c.ID, "file_name": "a b.txt", "content_type": "text/x-note", "session_id": "s1"})
	out.MustSucceed(t)
	got := acctest.Plainly(t, opened)
	if content, contentType := storage(t, http.MethodGet, got["url"].(string), "", nil); content != "hello" || contentType != "text/x-note" || !strings.HasPrefix(got["expires_at"].(string), "2026-03-01T12:16:") {
		t.Errorf("the address leads to %q of %q: %v", content, contentType, got)
	}
}

func TestComputerFileDownload_invalid(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	for _, tc := range []struct{ name, value, want string }{
		{"file_name", "a/b", "Invalid File Name"}, {"computer_id", "", "must not be empty"}, {"session_id", "", "must not be empty"}, {"content_type", "", "must be 1 to 255 characters long"},
	} {
		config := acctest.Values{"computer_id": "c", "file_name": "a"}
		config[tc.name] = tc.value
		_, out := acctest.NewProcess(t, e, nil).Open("agentyard_computer_file_download", config)
		out.MustFail(t, tc.name, tc.want)
	}
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

// Each apply uploads another file, which no plan before it finds.
func TestAccComputerFileDownload_ofAReplacedUpload(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	cli := acctest.NewCLI(t, e, `
variable "v" {}
variable "suffix" { default = "" }
resource "agentyard_computer_file_upload" "x" {
  computer_id = "`+c.ID+`"
  file_name   = "${var.v}.txt"
  content     = var.v
}
ephemeral "agentyard_computer_file_download" "x" {
  computer_id = agentyard_computer_file_upload.x.computer_id
  file_name   = "${agentyard_computer_file_upload.x.file_name}${var.suffix}"
}
resource "terraform_data" "x" {
  triggers_replace = [agentyard_computer_file_upload.x.id, var.suffix]
  provisioner "local-exec" {
    command     = "test -n \"$URL\""
    environment = { URL = coalesce(ephemeral.agentyard_computer_file_download.x.url) }
  }
}
`)
	run := func(want int, command string, args ...string) string {
		t.Helper()
		r := cli.Run(append([]string{command, "-auto-approve", "-input=false"}, args...)...)
		if (r.ExitCode == 0) != (want == 0) {
			t.Fatalf("%s %v: exit code %d\n%s", command, args, r.ExitCode, r.Output)
		}
		return acctest.OneLine(r.Output)
	}
	acctest.Says(t, run(0, "apply", "-var=v=1"), "No Download URL")
	acctest.Says(t, run(1, "apply", "-var=v=2", "-var=suffix=x"), `no URL for the file "2.txtx"`, `"coalesce" failed`)
	run(0, "destroy", "-var=v=3")
}
