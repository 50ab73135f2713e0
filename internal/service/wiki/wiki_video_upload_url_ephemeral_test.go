package wiki_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"regexp"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const videoConfig = `
ephemeral "agentyard_wiki_video_upload_url" "x" {}
provider "echo" {
  data = ephemeral.agentyard_wiki_video_upload_url.x
}
resource "echo" "x" {}
`

func echoed(attribute string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue("echo.x", tfjsonpath.New("data").AtMapKey(attribute), want)
}

// postVideo uploads a video with the form's fields and without the API key, and returns the response's status.
func postVideo(url string, fields map[string]any, video string) (int, error) {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range fields {
		if err := form.WriteField(name, fmt.Sprint(value)); err != nil {
			return 0, err
		}
	}
	part, err := form.CreateFormFile("file", "tour.mp4")
	if err == nil {
		_, err = io.WriteString(part, video)
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		return 0, err
	}
	resp, err := http.Post(url, form.FormDataContentType(), &body) //nolint:noctx // The test's own emulator.
	if err != nil {
		return 0, err
	}
	return resp.StatusCode, resp.Body.Close()
}

// formCheck uploads a video with an attribute's value.
type formCheck struct {
	knownvalue.Check

	upload func(fields map[string]any) error
}

func (c formCheck) CheckValue(v any) error { return c.upload(v.(map[string]any)) }

func (formCheck) String() string { return "the fields of a form that takes a video" }

func TestAccWikiVideoUploadURL(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.New(t)
	var address string
	e.RunEcho(t, resource.TestStep{
		Config: e.Config(videoConfig),
		ConfigStateChecks: []statecheck.StateCheck{
			echoed("url", knownvalue.StringFunc(func(url string) error { address = url; return nil })),
			echoed("expires_at", knownvalue.StringRegexp(regexp.MustCompile(`^2026-03-01T12:\d\d:\d\d(\.\d+)?Z$`))),
			echoed("fields", formCheck{upload: func(fields map[string]any) error {
				if status, err := postVideo(address, fields, "a video"); err != nil || status >= 300 {
					return fmt.Errorf("the upload is answered %d, %w", status, err)
				}
				return nil
			}}),
		},
	})
	if n := e.Journal().Count("createWikiVideoUploadUrl"); n < 2 {
		t.Errorf("%d addresses were made, want one for each plan and apply", n)
	}
}

func TestAccWikiVideoUploadURL_addressOnly(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.New(t)
	e.Faults().Add(
		emulator.Fault{Operation: "createWikiVideoUploadUrl", Kind: emulator.FaultDropAfterCommit},
		emulator.Fault{Operation: "createWikiVideoUploadUrl", Kind: emulator.FaultOtherResponse, Times: -1, Body: `{"url":"https://files.example/v"}`},
	)
	e.RunEcho(t, resource.TestStep{
		Config: e.Config(videoConfig),
		ConfigStateChecks: []statecheck.StateCheck{
			echoed("url", knownvalue.StringExact("https://files.example/v")), echoed("expires_at", knownvalue.Null()), echoed("fields", knownvalue.Null()),
		},
	})
}

func TestAccWikiVideoUploadURL_errors(t *testing.T) {
	t.Parallel()
	acctest.NeedsEphemeral(t)
	e := acctest.New(t)
	e.Faults().Add(emulator.Fault{Operation: "createWikiVideoUploadUrl", Kind: emulator.FaultOtherResponse, Times: -1, Body: `{}`})
	e.RunEcho(t, resource.TestStep{Config: e.Config(videoConfig), ExpectError: regexp.MustCompile(`Cannot open wiki video upload URL(.|\n)*field\s+url\s+is\s+missing`)})
	e.Faults().Clear()
	switchWikis(t, e, "false")
	e.RunEcho(t, resource.TestStep{Config: e.Config(videoConfig), ExpectError: regexp.MustCompile(`Cannot open wiki video upload URL(.|\n)*403(.|\n)*wikiCloudSync`)})
}
