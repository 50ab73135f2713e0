package computers

import (
	"bytes"
	"context"
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
	const chunk = 64 << 10
	left, right := make([]byte, chunk), make([]byte, chunk)
	for {
		n, errA := io.ReadFull(a, left)
		m, errB := io.ReadFull(b, right)
		for _, err := range []error{errA, errB} {
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
				return false, fmt.Errorf("the files could not be compared: %w", transport.WithoutURL(err))
			}
		}
		if !bytes.Equal(left[:n], right[:m]) {
			return false, nil
		}
		if errA != nil || errB != nil {
			return errA != nil && errB != nil, nil
		}
	}
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
