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

func TestAccComputerFileDownload_errors(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.New(t)
	c := makeComputer(e, map[string]any{"name": "a"})
	asleep := makeComputer(e, map[string]any{"name": "b"})
	acctest.Must(t, e.UnavailableDaemon(asleep.ID))
	for hcl, want := range map[string]string{
		downloadConfig(c.ID, "none", ""):                                                 `Cannot download file(.|\n)*createFileDownload(.|\n)*no\s+file\s+named\s+"none"`,
		downloadConfig(nobody, "none", ""):                                               `Cannot download file(.|\n)*[Tt]he\s+computer\s+was\s+not\s+found`,
		downloadConfig(asleep.ID, "a", ""):                                               `Cannot download file(.|\n)*424(.|\n)*computer\s+is\s+active`,
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
