package computer_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

func downloadConfig(computer, name, more string) string {
	return `
ephemeral "agentyard_computer_file_download" "test" {
  computer_id = "` + computer + `"
  file_name   = "` + name + `"
` + more + `
}
provider "echo" {
  data = ephemeral.agentyard_computer_file_download.test
}
resource "echo" "test" {}
`
}

func TestAccComputerFileDownload(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	putFile(t, e, c.ID, "a%20b.txt", "hello")
	data := func(name string) tfjsonpath.Path { return tfjsonpath.New("data").AtMapKey(name) }
	e.RunEcho(t, resource.TestStep{
		Config: e.Config(downloadConfig(c.ID, "a b.txt", "content_type = \"text/x-note\"\nsession_id = \"s1\"")),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("echo.test", data("url"), knownvalue.StringFunc(func(url string) error {
				if content, contentType := storage(t, http.MethodGet, url, "", nil); content != "hello" || contentType != "text/x-note" {
					t.Errorf("the address leads to %q of %q", content, contentType)
				}
				return nil
			})),
			statecheck.ExpectKnownValue("echo.test", data("expires_at"), knownvalue.StringRegexp(regexp.MustCompile(`^2026-03-01T12:16:\d\d(\.\d+)?Z$`))),
			statecheck.ExpectKnownValue("echo.test", data("session_id"), knownvalue.StringExact("s1")),
		},
	})
}

// The contract requires the time, so a response without it is represented by 0 here.
func TestAccComputerFileDownload_withoutExpiry(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	expiry := regexp.MustCompile(`"expiresAt":\d+`)
	e := acctest.New(t, rewriting("/create-download", func(body []byte) []byte { return expiry.ReplaceAll(body, []byte(`"expiresAt":0`)) }))
	c := makeComputer(e, ownMachine("own"))
	putFile(t, e, c.ID, "a.txt", "hello")
	e.RunEcho(t, resource.TestStep{
		Config: e.Config(downloadConfig(c.ID, "a.txt", "")),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("echo.test", tfjsonpath.New("data").AtMapKey("expires_at"), knownvalue.Null()),
		},
	})
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

func TestComputerFileDownload_errors(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	id := makeComputer(e, map[string]any{"name": "a"}).ID
	open := func(config acctest.Values) acctest.Outcome {
		_, out := acctest.NewProcess(t, e, acctest.Values{"max_retries": 0}).Open("agentyard_computer_file_download", config)
		return out
	}
	for status, faults := range map[string][]emulator.Fault{
		"403": {{Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusForbidden, Times: 1}},
		"503": {{Kind: emulator.FaultStatusBeforeCommit, Status: http.StatusServiceUnavailable, Times: 1}},
	} {
		faults[0].Operation = "createFileDownload"
		e.Faults().Add(faults[0])
		acctest.Says(t, open(acctest.Values{"computer_id": id, "file_name": "none"}).Text(), "Cannot download file", "createFileDownload", status)
	}
}

func TestAccComputerFileDownload_invalid(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	for hcl, want := range map[string]string{
		downloadConfig(c.ID, "a/b", ""):                                                  `Invalid File Name`,
		downloadConfig("", "a", ""):                                                      `must not be empty`,
		downloadConfig(c.ID, "a", `session_id = ""`):                                     `must not be empty`,
		downloadConfig(c.ID, "a", `content_type = ""`):                                   `must be 1 to 255 characters long`,
		downloadConfig(c.ID, "a", `url = "https://x/"`):                                  `Invalid Configuration for Read-Only Attribute|Can't configure a value for "url"`,
		strings.Replace(downloadConfig(c.ID, "a", ""), "  file_name   = \"a\"\n", "", 1): `The argument "file_name" is required`,
	} {
		e.RunEcho(t, resource.TestStep{Config: e.Config(hcl), ExpectError: regexp.MustCompile(want)})
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
