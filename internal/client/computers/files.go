package computers

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// FileDownload is a signed address of a workspace file. The address is a secret.
type FileDownload struct {
	URL string
	// ExpiresAt is zero where the service does not say.
	ExpiresAt time.Time
}

// WorkspaceFile is a file in a computer's workspace. What the service does not tell is empty.
type WorkspaceFile struct {
	FileName  string `json:"fileName"`
	SizeBytes int64  `json:"sizeBytes"`
	Path      string `json:"path"`
}

// UnprovenUploadError says that it is not known whether a file was written into the workspace.
type UnprovenUploadError struct {
	FileName string
	// Err is why the answer is missing, Check why the workspace could not be looked at.
	Err, Check error
}

func (e *UnprovenUploadError) Error() string {
	return fmt.Sprintf("%v; the provider could not check whether the file %q is in the workspace: %v", e.Err, e.FileName, e.Check)
}

func (e *UnprovenUploadError) Unwrap() error { return e.Err }

// CreateFileUpload begins the upload of a workspace file. An upload of that name that was begun before is forgotten,
// so the request may be repeated.
func (c *Client) CreateFileUpload(ctx context.Context, computerID, fileName string, content FileContent) (*FileUpload, error) {
	type body struct {
		SizeBytes   int64  `json:"sizeBytes"`
		ContentType string `json:"contentType,omitempty"`
	}
	op := transport.Operation{Name: "createFileUpload", Method: http.MethodPost, Route: "/api/v0/computers/{computerId}/files/{fileName}/create-upload", Repeatable: true}
	// The names of the keys are not documented, so the likely ones are read.
	answer, err := transport.Call[struct {
		URL        string            `json:"url"`
		UploadURL  string            `json:"uploadUrl"`
		Fields     map[string]string `json:"fields"`
		FormFields map[string]string `json:"formFields"`
		ExpiresAt  transport.Millis  `json:"expiresAt"`
	}](ctx, c.conn, transport.Request{Op: op, Path: []string{computerID, fileName}, Body: body{content.Size, content.Type}})
	if err != nil {
		return nil, err
	}
	upload := &FileUpload{url: answer.URL, fields: answer.Fields, ExpiresAt: answer.ExpiresAt.Time()}
	if upload.url == "" {
		upload.url = answer.UploadURL
	}
	if upload.fields == nil {
		upload.fields = answer.FormFields
	}
	if upload.url == "" {
		return nil, transport.Request{Op: op}.Unexpected("it has no upload URL")
	}
	return upload, nil
}

// CompleteFileUpload writes an uploaded file into the workspace, where no file of that name may be (409).
//
// A repetition after a lost answer meets the file that the first attempt may have written, but also any other of that
// name. So what the workspace holds is compared with what was uploaded: the same bytes are success, whoever wrote them.
func (c *Client) CompleteFileUpload(ctx context.Context, computerID, fileName string, content FileContent) (*WorkspaceFile, error) {
	type body struct {
		SizeBytes int64 `json:"sizeBytes"`
	}
	var lost error
	for failed := 0; ; failed++ {
		written, err := transport.Call[WorkspaceFile](ctx, c.conn, transport.Request{
			Op:   transport.Operation{Name: "completeFileUpload", Method: http.MethodPost, Route: "/api/v0/computers/{computerId}/files/{fileName}/complete-upload"},
			Path: []string{computerID, fileName},
			Body: body{content.Size},
			Noun: "file",
		})
		switch {
		case err == nil:
			return written, nil
		case ctx.Err() != nil:
			return nil, err
		case transport.IsAmbiguous(err):
			lost = err
			if again, err := c.conn.BackOff(ctx, failed); again || err != nil {
				if err != nil {
					return nil, err
				}
				continue
			}
		case lost == nil:
			return nil, err
		}
		same, checkErr := c.workspaceHas(ctx, computerID, fileName, content)
		switch {
		case same:
			return &WorkspaceFile{FileName: fileName, SizeBytes: content.Size}, nil
		case checkErr == nil:
			return nil, err
		}
		return nil, &UnprovenUploadError{FileName: fileName, Err: lost, Check: checkErr}
	}
}

// CreateFileDownload returns a signed address of a workspace file. Empty arguments are not sent.
func (c *Client) CreateFileDownload(ctx context.Context, computerID, fileName, sessionID, contentType string) (*FileDownload, error) {
	type body struct {
		SessionID   string `json:"sessionId,omitempty"`
		ContentType string `json:"contentType,omitempty"`
	}
	op := transport.Operation{Name: "createFileDownload", Method: http.MethodPost, Route: "/api/v0/computers/{computerId}/files/{fileName}/create-download", Repeatable: true}
	answer, err := transport.Call[struct {
		URL         string           `json:"url"`
		DownloadURL string           `json:"downloadUrl"`
		ExpiresAt   transport.Millis `json:"expiresAt"`
	}](ctx, c.conn, transport.Request{Op: op, Path: []string{computerID, fileName}, Body: body{sessionID, contentType}})
	if err != nil {
		return nil, err
	}
	download := &FileDownload{URL: answer.URL, ExpiresAt: answer.ExpiresAt.Time()}
	if download.URL == "" {
		download.URL = answer.DownloadURL
	}
	if download.URL == "" {
		return nil, transport.Request{Op: op}.Unexpected("it has no download URL")
	}
	return download, nil
}

// workspaceHas reports whether a file of that name is in the workspace and has this content.
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
