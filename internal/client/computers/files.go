package computers

import (
	"cmp"
	"context"
	"fmt"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// WorkspaceFile is a file in a computer's workspace. Fields that the service does not return are empty.
type WorkspaceFile struct {
	FileName  string `json:"fileName"`
	SizeBytes int64  `json:"sizeBytes"`
	Path      string `json:"path"`
}

// CreateFileUpload starts the upload of a workspace file. It replaces an unfinished upload with that name, so it is
// repeatable.
func (c *Client) CreateFileUpload(ctx context.Context, computerID, fileName string, content FileContent) (*transport.SignedURL, error) {
	type body struct {
		SizeBytes   int64  `json:"sizeBytes"`
		ContentType string `json:"contentType,omitempty"`
	}
	r := transport.Post("createFileUpload", "/api/v0/computers/{computerId}/files/{fileName}/create-upload", computerID, fileName)
	return c.conn.CallSigned(ctx, r.Repeatable().With(body{content.Size, content.Type}))
}

// CompleteFileUpload writes an uploaded file to the workspace. The service returns 409 if a file with that name exists, which may be
// this one: written before a lost response, or by a run that was killed. So after a 409 or an unknown outcome, equal content in the
// workspace is success.
func (c *Client) CompleteFileUpload(ctx context.Context, computerID, fileName string, content FileContent) (*WorkspaceFile, error) {
	type body struct {
		SizeBytes int64 `json:"sizeBytes"`
	}
	r := transport.Post("completeFileUpload", "/api/v0/computers/{computerId}/files/{fileName}/complete-upload", computerID, fileName)
	written, err := transport.Call[struct {
		WorkspaceFile
		Wrapped *WorkspaceFile `json:"file"`
	}](ctx, c.conn, r.Repeatable().With(body{content.Size}))
	if err == nil {
		return cmp.Or(written.Wrapped, &written.WorkspaceFile), nil
	}
	if ctx.Err() != nil || !transport.IsConflict(err) && !transport.IsAmbiguous(err) && !transport.IsRepeated(err) {
		return nil, err
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
func (c *Client) CreateFileDownload(ctx context.Context, computerID, fileName, sessionID, contentType string) (*transport.SignedURL, error) {
	type body struct {
		SessionID   string `json:"sessionId,omitempty"`
		ContentType string `json:"contentType,omitempty"`
	}
	r := transport.Post("createFileDownload", "/api/v0/computers/{computerId}/files/{fileName}/create-download", computerID, fileName)
	return c.conn.CallSigned(ctx, r.Repeatable().With(body{sessionID, contentType}))
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
