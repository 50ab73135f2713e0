package computers

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"

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
	mayBeWritten := transport.IsConflict(err) || transport.IsAmbiguous(err) || transport.IsRepeated(err)
	if ctx.Err() != nil || !mayBeWritten {
		return nil, err
	}
	same, checkErr := c.workspaceHas(ctx, computerID, fileName, content)
	switch {
	case same:
		return &WorkspaceFile{FileName: fileName, SizeBytes: content.Size}, nil
	case checkErr != nil:
		//nolint:errorlint // The remedy is that of the upload.
		err = fmt.Errorf("%w; the provider could not check whether the file %q is in the workspace: %v", err, fileName, checkErr)
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

// Upload posts a file to its signed URL as a form: the signed fields, then the file. The same form stores the same object, so
// the request is retried like an idempotent one.
func (c *Client) Upload(ctx context.Context, upload *transport.SignedURL, fileName string, content FileContent) error {
	head, tail, boundary, err := formAround(upload.Fields, fileName, content.Type)
	if err != nil {
		return err
	}
	response, err := c.conn.SendToStorage(ctx, "upload", upload.URL, func(ctx context.Context) (*http.Request, error) {
		file, err := content.Open()
		if err != nil {
			return nil, err
		}
		exact := &exactReader{file: file, left: content.Size, size: content.Size}
		body := struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(head), exact, bytes.NewReader(tail)), file}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, upload.URL, body)
		if err != nil {
			return nil, errors.Join(err, file.Close())
		}
		req.ContentLength = int64(len(head)) + content.Size + int64(len(tail))
		req.Header.Set("Content-Type", "multipart/form-data; boundary="+boundary)
		return req, nil
	})
	if err != nil {
		return err
	}
	_ = response.Close()
	return nil
}

// formAround returns the parts of a form before and after the file's bytes.
func formAround(fields map[string]string, fileName, contentType string) (head, tail []byte, boundary string, err error) {
	var buffer bytes.Buffer
	form := multipart.NewWriter(&buffer)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if err := form.WriteField(name, fields[name]); err != nil {
			return nil, nil, "", err
		}
	}
	header := textproto.MIMEHeader{}
	header.Set("Content-Disposition", multipart.FileContentDisposition("file", fileName))
	if contentType != "" {
		header.Set("Content-Type", contentType)
	}
	if _, err := form.CreatePart(header); err != nil {
		return nil, nil, "", err
	}
	split := buffer.Len()
	if err := form.Close(); err != nil {
		return nil, nil, "", err
	}
	return buffer.Bytes()[:split], buffer.Bytes()[split:], form.Boundary(), nil
}

// exactReader fails if the file does not have the announced length.
type exactReader struct {
	file       io.Reader
	left, size int64
}

func (r *exactReader) Read(p []byte) (int, error) {
	n, err := r.file.Read(p)
	r.left -= int64(n)
	if r.left < 0 || r.left > 0 && errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("%w: it had %d bytes at the start", transport.ErrFileChanged, r.size)
	}
	return n, err
}

// sameBytes reports whether two streams are equal.
func sameBytes(a, b io.Reader) (bool, error) {
	var sums [2][]byte
	for i, stream := range []io.Reader{a, b} {
		hash := sha256.New()
		if _, err := io.Copy(hash, stream); err != nil {
			return false, fmt.Errorf("the files could not be compared: %w", transport.WithoutURL(err))
		}
		sums[i] = hash.Sum(nil)
	}
	return bytes.Equal(sums[0], sums[1]), nil
}

// FileContent is what an upload sends. It is streamed and never kept in memory.
type FileContent struct {
	// Size is in bytes.
	Size int64
	// Type is the media type.
	Type string
	// Open returns the bytes from the start. It is called for every attempt.
	Open func() (io.ReadCloser, error)
}
