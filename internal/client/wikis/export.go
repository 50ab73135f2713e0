package wikis

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Export describes an archive that was written.
type Export struct {
	// Size is the length in bytes.
	Size int64
	// SHA256 is the hash in lowercase hexadecimal digits.
	SHA256 string
}

// archive is the content of an export from the service or the file storage.
type archive struct {
	io.ReadCloser

	// failed wraps an error of this source.
	failed func(error) error
}

// Export writes the files of a wiki run as a ZIP archive, and keeps only a small part in memory. After an error, the written
// content is unusable.
func (c *Client) Export(ctx context.Context, runID string, to io.Writer) (*Export, error) {
	from, err := c.openExport(ctx, runID)
	if isExpired(err) {
		from, err = c.openExport(ctx, runID)
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	return from.copyTo(to)
}

// isExpired reports whether the file storage rejects a signed URL. Storage services return different statuses for an expired
// URL, and a URL may expire during retries.
func isExpired(err error) bool {
	var storage *transport.StorageError
	return errors.As(err, &storage) && slices.Contains([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone}, storage.Status)
}

// openExport requests the archive from the service. Any other response has a signed URL, to which the API key is never sent.
func (c *Client) openExport(ctx context.Context, runID string) (*archive, error) {
	r := transport.Request{
		Op:     transport.Operation{Name: "exportWikiRun", Method: http.MethodGet, Route: "/api/v0/wiki/{wikiRunId}/export"},
		Path:   []string{runID},
		Accept: "application/zip, application/json",
	}
	var body []byte
	var isZIP bool
	resp, err := c.conn.Stream(ctx, r, func(resp *http.Response) (err error) {
		start := bufio.NewReader(resp.Body)
		resp.Body = struct {
			io.Reader
			io.Closer
		}{start, resp.Body}
		if isZIP = resp.StatusCode < 300 && beginsArchive(start); isZIP {
			return nil
		}
		if body, err = transport.ReadBody(resp, transport.OnlyJSON); err != nil {
			return fmt.Errorf("it has neither a ZIP archive nor a signed URL of one: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if isZIP {
		return &archive{resp.Body, func(err error) error { return transport.NewTransportError(r.Op, err) }}, nil
	}
	_ = resp.Body.Close()
	address, err := c.exportAddress(r, resp, body)
	if err != nil {
		return nil, err
	}
	stored, err := c.conn.OpenDownload(ctx, address)
	if err != nil {
		return nil, err
	}
	return &archive{stored, func(err error) error { return &transport.StorageError{Act: "download", Err: err} }}, nil
}

// exportAddress returns the signed URL in a response without an archive: from its body, or from its redirect.
func (c *Client) exportAddress(r transport.Request, resp *http.Response, body []byte) (string, error) {
	if resp.StatusCode < 300 {
		var link struct {
			URL string `json:"url"`
		}
		if err := wire.Decode(body, "", &link); err != nil {
			return "", transport.NewTransportError(r.Op, err)
		}
		if link.URL == "" {
			return "", r.Unexpected("it has neither a ZIP archive nor a signed URL of one")
		}
		return link.URL, nil
	}
	location, err := resp.Location()
	if err != nil || resp.StatusCode >= http.StatusBadRequest {
		return "", c.conn.Refusal(r.Op, resp, body)
	}
	return location.String(), nil
}

// IsArchive reports whether a file starts like a ZIP archive.
func IsArchive(file io.Reader) bool { return beginsArchive(bufio.NewReader(file)) }

// beginsArchive reports whether the next bytes start a ZIP archive, which may be empty.
func beginsArchive(from *bufio.Reader) bool {
	start, _ := from.Peek(len(firstFile))
	return bytes.HasPrefix(start, []byte(firstFile)) || bytes.HasPrefix(start, []byte(directoryEnd))
}

const (
	// firstFile starts a ZIP archive. directoryEnd starts the record at the end of every archive, which is all there is in an
	// empty one.
	firstFile    = "PK\x03\x04"
	directoryEnd = "PK\x05\x06"
	// shortestEnd and longestEnd are the lengths of that record without a comment and with the longest comment, in bytes.
	shortestEnd = 22
	longestEnd  = shortestEnd + 1<<16 - 1
)

// copyTo copies the archive, and checks that it is a complete ZIP archive. Content-Length is not enough, because a response
// may not have one.
func (a *archive) copyTo(to io.Writer) (*Export, error) {
	from := bufio.NewReaderSize(a, 64<<10)
	if !beginsArchive(from) {
		return nil, a.failed(notArchive(from))
	}
	hash, end := sha256.New(), &tail{}
	size, err := io.Copy(io.MultiWriter(to, hash, end), from)
	switch {
	case err != nil:
		return nil, a.failed(fmt.Errorf("the archive was cut off after %d bytes: %w", size, transport.WithoutURL(err)))
	case !end.isWhole():
		return nil, a.failed(fmt.Errorf("the archive was cut off after %d bytes: the directory at the end of the ZIP archive is missing", size))
	}
	return &Export{Size: size, SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}

// notArchive says what was returned instead of an archive. It does not quote the content, which may contain the signed URL.
func notArchive(from *bufio.Reader) error {
	const enough = 512
	start, err := from.Peek(enough)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return fmt.Errorf("the archive was cut off after %d bytes: %w", len(start), transport.WithoutURL(err))
	case len(start) == 0:
		return errors.New("the download is empty, not a ZIP archive")
	case bytes.HasPrefix(bytes.TrimSpace(start), []byte("{")):
		return errors.New("the download is JSON, not a ZIP archive")
	}
	return fmt.Errorf("the download is %s, not a ZIP archive", http.DetectContentType(start))
}

// tail keeps the last bytes that are written, enough for the record at the end of an archive.
type tail struct{ last []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if len(t.last) > 4*longestEnd { // Move rarely, to copy little.
		t.last = append(t.last[:0], t.last[len(t.last)-longestEnd:]...)
	}
	return len(p), nil
}

func (t *tail) isWhole() bool {
	at := bytes.LastIndex(t.last, []byte(directoryEnd))
	return at >= 0 && len(t.last)-at >= shortestEnd
}
