package computers

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// FileDownload is a signed URL of a workspace file. The URL is a secret.
type FileDownload struct {
	URL string
	// ExpiresAt is zero if the service does not return it.
	ExpiresAt time.Time
}

// WorkspaceFile is a file in a computer's workspace. Fields that the service does not return are empty.
type WorkspaceFile struct {
	FileName  string `json:"fileName"`
	SizeBytes int64  `json:"sizeBytes"`
	Path      string `json:"path"`
}

// CreateFileUpload starts the upload of a workspace file. It replaces an unfinished upload with that name, so it is
// repeatable.
func (c *Client) CreateFileUpload(ctx context.Context, computerID, fileName string, content FileContent) (*FileUpload, error) {
	type body struct {
		SizeBytes   int64  `json:"sizeBytes"`
		ContentType string `json:"contentType,omitempty"`
	}
	op := transport.Operation{Name: "createFileUpload", Method: http.MethodPost, Route: "/api/v0/computers/{computerId}/files/{fileName}/create-upload", Repeatable: true}
	// The names of the fields are not documented, so the likely ones are read.
	response, err := transport.Call[struct {
		URL        string            `json:"url"`
		UploadURL  string            `json:"uploadUrl"`
		Fields     map[string]string `json:"fields"`
		FormFields map[string]string `json:"formFields"`
		ExpiresAt  wire.Millis       `json:"expiresAt"`
	}](ctx, c.conn, transport.Request{Op: op, Path: []string{computerID, fileName}, Body: body{content.Size, content.Type}})
	if err != nil {
		return nil, err
	}
	upload := &FileUpload{url: cmp.Or(response.URL, response.UploadURL), fields: response.Fields, ExpiresAt: response.ExpiresAt.Time()}
	if upload.fields == nil {
		upload.fields = response.FormFields
	}
	if upload.url == "" {
		return nil, transport.Request{Op: op}.Unexpected("it has no upload URL")
	}
	return upload, nil
}

// CompleteFileUpload writes an uploaded file to the workspace. The service returns 409 if a file with that name exists, which may be
// this one: written before a lost response, or by a run that was killed. So after a 409 or an unknown outcome, equal content in the
// workspace is success.
func (c *Client) CompleteFileUpload(ctx context.Context, computerID, fileName string, content FileContent) (*WorkspaceFile, error) {
	type body struct {
		SizeBytes int64 `json:"sizeBytes"`
	}
	written, err := transport.Call[WorkspaceFile](ctx, c.conn, transport.Request{
		Op:   transport.Operation{Name: "completeFileUpload", Method: http.MethodPost, Route: "/api/v0/computers/{computerId}/files/{fileName}/complete-upload", Repeatable: true},
		Path: []string{computerID, fileName},
		Body: body{content.Size},
		Noun: "file",
	})
	if err == nil || ctx.Err() != nil || !transport.IsConflict(err) && !transport.IsAmbiguous(err) && !transport.IsRepeated(err) {
		return written, err
	}
	same, checkErr := c.workspaceHas(ctx, computerID, fileName, content)
	switch {
	case same:
		return &WorkspaceFile{FileName: fileName, SizeBytes: content.Size}, nil
	case checkErr != nil:
		err = fmt.Errorf("%w; the provider could not check whether the file %q is in the workspace: %v", err, fileName, checkErr) //nolint:errorlint // Its remedy is that of the upload.
	}
	return nil, err
}

// CreateFileDownload returns a signed URL of a workspace file. Empty arguments are not sent.
func (c *Client) CreateFileDownload(ctx context.Context, computerID, fileName, sessionID, contentType string) (*FileDownload, error) {
	type body struct {
		SessionID   string `json:"sessionId,omitempty"`
		ContentType string `json:"contentType,omitempty"`
	}
	op := transport.Operation{Name: "createFileDownload", Method: http.MethodPost, Route: "/api/v0/computers/{computerId}/files/{fileName}/create-download", Repeatable: true}
	response, err := transport.Call[struct {
		URL         string      `json:"url"`
		DownloadURL string      `json:"downloadUrl"`
		ExpiresAt   wire.Millis `json:"expiresAt"`
	}](ctx, c.conn, transport.Request{Op: op, Path: []string{computerID, fileName}, Body: body{sessionID, contentType}})
	if err != nil {
		return nil, err
	}
	download := &FileDownload{URL: cmp.Or(response.URL, response.DownloadURL), ExpiresAt: response.ExpiresAt.Time()}
	if download.URL == "" {
		return nil, transport.Request{Op: op}.Unexpected("it has no download URL")
	}
	return download, nil
}

// workspaceHas reports whether the workspace has a file with that name and content.
func (c *Client) workspaceHas(ctx context.Context, computerID, fileName string, content FileContent) (bool, error) {
	download, err := c.CreateFileDownload(ctx, computerID, fileName, "", "")
	if transport.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	stored, err := c.conn.OpenDownload(ctx, download.URL)
	if err != nil {
		return false, err
	}
	defer func() { _ = stored.Close() }()
	wanted, err := content.Open()
	if err != nil {
		return false, err
	}
	defer func() { _ = wanted.Close() }()
	return sameBytes(wanted, stored)
}
