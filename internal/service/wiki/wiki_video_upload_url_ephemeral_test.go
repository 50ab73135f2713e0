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
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

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
	if status, err := postVideo(found["url"].(string), found["fields"].(map[string]any), "a video"); err != nil || status >= 300 {
		t.Errorf("the upload is answered %d, %v", status, err)
	}

	e.Faults().Add(
		emulator.Fault{Operation: "createWikiVideoUploadUrl", Kind: emulator.FaultDropAfterCommit},
		emulator.Fault{Operation: "createWikiVideoUploadUrl", Kind: emulator.FaultOtherResponse, Times: -1, Body: `{"url":"https://files.example/v"}`},
	)
	opened, out = acctest.NewProcess(t, e, nil).Open(videoType, nil)
	out.MustSucceed(t)
	acctest.MustHave(t, acctest.Plainly(t, opened), map[string]any{"url": "https://files.example/v", "expires_at": nil, "fields": nil})

	e.Faults().Clear()
	switchWikis(t, e, "false")
	_, out = acctest.NewProcess(t, e, nil).Open(videoType, nil)
	out.MustFail(t, "", "Cannot open wiki video upload URL", "403", "wikiCloudSync")
}
