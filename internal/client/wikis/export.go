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
)

// Export is what is known of an archive that was written.
type Export struct {
	// Size is its length in bytes.
	Size int64
	// SHA256 is the hash of its bytes in lower-case hexadecimal digits.
	SHA256 string
}

// archive is the body of an export, which the service or the file storage sends.
type archive struct {
	io.ReadCloser

	// failed is the error of this source.
	failed func(error) error
}

// Export writes the files of a wiki run as a ZIP archive, of which it never holds more than a small part. After an
// error, what was written is worth nothing.
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

// isExpired reports that the file storage refuses a signed address. Storages say in several ways that its time is over,
// and it may pass while failed requests are repeated.
func isExpired(err error) bool {
	var storage *transport.StorageError
	return errors.As(err, &storage) && slices.Contains([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusGone}, storage.Status)
}

// openExport asks the service for the archive. Whatever else it answers with leads to a signed address, to which the
// API key is not sent, wherever it is.
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
	address, err := c.exportAddress(r, resp, body) //nolint:contextcheck // The response has the context of its own attempt.
	if err != nil {
		return nil, err
	}
	stored, err := c.conn.OpenDownload(ctx, address)
	if err != nil {
		return nil, err
	}
	return &archive{stored, func(err error) error { return &transport.StorageError{Act: "download", Err: err} }}, nil
}

// exportAddress is the signed address in a response without an archive: in its body, or where a redirect leads.
func (c *Client) exportAddress(r transport.Request, resp *http.Response, body []byte) (string, error) {
	if resp.StatusCode < 300 {
		var link struct {
			URL string `json:"url"`
		}
		if err := transport.Decode(body, "", &link); err != nil {
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

// IsArchive reports whether a file starts as a ZIP archive does.
func IsArchive(file io.Reader) bool { return beginsArchive(bufio.NewReader(file)) }

// beginsArchive reports whether a ZIP archive follows, which an empty one also is.
func beginsArchive(from *bufio.Reader) bool {
	start, _ := from.Peek(len(firstFile))
	return bytes.HasPrefix(start, []byte(firstFile)) || bytes.HasPrefix(start, []byte(directoryEnd))
}

const (
	// firstFile begins a ZIP archive, and directoryEnd the record that ends every one, or is an empty one.
	firstFile    = "PK\x03\x04"
	directoryEnd = "PK\x05\x06"
	// shortestEnd and longestEnd are the lengths of that record without a comment and with the longest one, in bytes.
	shortestEnd = 22
	longestEnd  = shortestEnd + 1<<16 - 1
)

// copyTo passes the archive on, and checks that it is one and came as a whole. The length that was announced is not enough
// for that: there may be none.
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

// notArchive says what came in an archive's place, without a word of it: it may repeat what was signed.
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

// tail keeps the last bytes of what is written, so many that they hold the record that ends an archive.
type tail struct{ last []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.last = append(t.last, p...)
	if len(t.last) > 4*longestEnd { // Moved rarely, so that little is copied.
		t.last = append(t.last[:0], t.last[len(t.last)-longestEnd:]...)
	}
	return len(p), nil
}

func (t *tail) isWhole() bool {
	at := bytes.LastIndex(t.last, []byte(directoryEnd))
	return at >= 0 && len(t.last)-at >= shortestEnd
}
