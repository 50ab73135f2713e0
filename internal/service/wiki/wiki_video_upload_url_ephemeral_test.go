package wiki_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const videoType = "agentyard_wiki_video_upload_url"

func TestWikiVideoUploadURL(t *testing.T) {
	t.Parallel()
	e := acctest.New(t)
	opened, out := acctest.NewProcess(t, e, nil).Open(videoType, nil)
	out.MustSucceed(t)
	found := acctest.Plainly(t, opened)
	if at, err := time.Parse(time.RFC3339, found["expires_at"].(string)); err != nil || !at.After(acctest.Start) {
		t.Errorf("it expires at %s, %v", at, err)
	}
	// The upload needs the form's fields, and no API key.
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	for name, value := range found["fields"].(map[string]any) {
		check.Must(t, form.WriteField(name, fmt.Sprint(value)))
	}
	part, err := form.CreateFormFile("file", "tour.mp4")
	check.Must(t, err)
	_, _ = io.WriteString(part, "a video")
	check.Must(t, form.Close())
	e.Storage(http.MethodPost, found["url"].(string), form.FormDataContentType(), &body)

	e.Faults().Add(
		emulator.Fault{Operation: "createWikiVideoUploadUrl", Kind: emulator.FaultDropAfterCommit},
		emulator.Fault{Operation: "createWikiVideoUploadUrl", Kind: emulator.FaultOtherResponse, Times: -1, Body: `{"url":"https://files.example/v"}`},
	)
	opened, out = acctest.NewProcess(t, e, nil).Open(videoType, nil)
	out.MustSucceed(t)
	acctest.MustHave(t, acctest.Plainly(t, opened), map[string]any{"url": "https://files.example/v", "expires_at": nil, "fields": nil})

}
