package wikis

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"

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

// Export writes the files of a wiki run as a ZIP archive, and keeps only a small part in memory. After an error, the written
// content is unusable.
func (c *Client) Export(ctx context.Context, runID string, to io.Writer) (*Export, error) {
	r := transport.Get("exportWikiRun", "/api/v0/wiki/{wikiRunId}/export", runID)
	r.Accept = "application/zip, application/json"
	archive, err := c.openExport(ctx, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = archive.Close() }()
	from, hash := bufio.NewReaderSize(archive, 64<<10), sha256.New()
	if !beginsArchive(from) {
		start, _ := from.Peek(512) // It is not quoted, because it may contain the signed URL.
		return nil, transport.NewTransportError(r.Op, fmt.Errorf("the download is %s, not a ZIP archive", http.DetectContentType(start)))
	}
	size, err := io.Copy(io.MultiWriter(to, hash), from)
	if err != nil {
		err = fmt.Errorf("the archive was cut off after %d bytes: %w", size, transport.WithoutURL(err))
		return nil, transport.NewTransportError(r.Op, err)
	}
	return &Export{Size: size, SHA256: hex.EncodeToString(hash.Sum(nil))}, nil
}

// openExport requests the archive from the service. Any other response has a signed URL, to which the API key is never sent.
func (c *Client) openExport(ctx context.Context, r transport.Request) (io.ReadCloser, error) {
	var body []byte
	var isZIP bool
	resp, err := c.conn.Stream(ctx, r, func(resp *http.Response) (_ []byte, err error) {
		start := bufio.NewReader(resp.Body)
		resp.Body = struct {
			io.Reader
			io.Closer
		}{start, resp.Body}
		if isZIP = resp.StatusCode < 300 && beginsArchive(start); isZIP {
			return nil, nil
		}
		if body, err = transport.ReadBody(resp, transport.OnlyJSON); err != nil {
			return nil, fmt.Errorf("it has neither a ZIP archive nor a signed URL of one: %w", err)
		}
		return body, nil
	})
	if err != nil {
		return nil, err
	}
	if isZIP {
		return resp.Body, nil
	}
	_ = resp.Body.Close()
	address, err := c.exportAddress(r, resp, body)
	if err != nil {
		return nil, err
	}
	return c.conn.OpenDownload(ctx, address)
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
		return "", c.conn.ErrorOf(r.Op, resp, body)
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

// firstFile starts a ZIP archive, and directoryEnd an empty one.
const (
	firstFile    = "PK\x03\x04"
	directoryEnd = "PK\x05\x06"
)

// CreateVideoUpload returns the upload URL of a video. The request is repeatable: the URL of a lost response is known to
// nobody and expires, and nothing else is created.
func (c *Client) CreateVideoUpload(ctx context.Context) (*transport.SignedURL, error) {
	return c.conn.CallSigned(ctx, transport.Post("createWikiVideoUploadUrl", "/api/v0/wiki/video-upload-url").Repeatable())
}
