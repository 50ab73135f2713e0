package wikis

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// VideoUpload says where and how to upload the video of a wiki. The URL and the fields are secrets.
type VideoUpload struct {
	URL string
	// Fields are sent in the form before the file; nil if the URL needs none.
	Fields map[string]string
	// ExpiresAt is zero if the service does not return it.
	ExpiresAt time.Time
}

// CreateVideoUpload returns the upload URL of a video. The request is repeatable: the URL of a lost response is known to
// nobody and expires, and nothing else is created.
func (c *Client) CreateVideoUpload(ctx context.Context) (*VideoUpload, error) {
	r := transport.Request{Op: transport.Operation{Name: "createWikiVideoUploadUrl", Method: http.MethodPost, Route: "/api/v0/wiki/video-upload-url", Repeatable: true}}
	// The names of the fields are not documented, so the likely ones are read.
	response, err := transport.Call[struct {
		URL        string            `json:"url"`
		UploadURL  string            `json:"uploadUrl"`
		Fields     map[string]string `json:"fields"`
		FormFields map[string]string `json:"formFields"`
		ExpiresAt  wire.Millis       `json:"expiresAt"`
	}](ctx, c.conn, r)
	if err != nil {
		return nil, err
	}
	upload := &VideoUpload{URL: cmp.Or(response.URL, response.UploadURL), Fields: response.Fields, ExpiresAt: response.ExpiresAt.Time()}
	if upload.Fields == nil {
		upload.Fields = response.FormFields
	}
	if upload.URL == "" {
		return nil, r.Unexpected("the field url is missing")
	}
	return upload, nil
}
