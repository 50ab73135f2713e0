package transport

import (
	"cmp"
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// StorageError says that a request to a signed URL of the file storage failed. It never contains the URL, which is a secret.
type StorageError struct {
	// Act is "upload" or "download".
	Act string
	// Status is the HTTP status; 0 if there was no response, and Err says why.
	Status int
	// Detail is the file storage's message; it may be empty.
	Detail string
	Err    error
}

func (e *StorageError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("the file %s failed: %v", e.Act, e.Err)
	}
	text := fmt.Sprintf("the file storage returned %d for the %s", e.Status, e.Act)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

func (e *StorageError) Unwrap() error { return e.Err }

// errStalled says that a transfer was canceled because no data was transferred for too long.
var errStalled = errors.New("the transfer stalled")

// idleConn is a connection that fails if no data is transferred within the timeout. The transfer itself may take longer.
type idleConn struct {
	net.Conn
	timeout time.Duration
	// stalled is set when a deadline has passed. The transport then closes the connection, so pending calls fail with other
	// errors.
	stalled atomic.Bool
}

func (c *idleConn) Read(p []byte) (int, error) {
	_ = c.SetReadDeadline(time.Now().Add(c.timeout))
	n, err := c.Conn.Read(p)
	return n, c.reason(err)
}

// Write also extends the deadline of the pending read of the response.
func (c *idleConn) Write(p []byte) (int, error) {
	_ = c.SetDeadline(time.Now().Add(c.timeout))
	n, err := c.Conn.Write(p)
	return n, c.reason(err)
}

func (c *idleConn) reason(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.stalled.Store(true)
	}
	if err != nil && c.stalled.Load() {
		return fmt.Errorf("%w: no data moved for %s; check the connection, or raise request_timeout in the provider block", errStalled, c.timeout)
	}
	return err
}

type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// idleLimited limits the idle time of the connections that dial returns, and the time to connect.
func idleLimited(dial dialFunc, timeout time.Duration) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &idleConn{Conn: conn, timeout: timeout}, nil
	}
}

// newTransferClient returns a client for transfers, with a limit on their idle time. Each transfer has its own connection.
func newTransferClient(timeout time.Duration) *http.Client {
	transport := newPool()
	transport.DialContext = idleLimited(transport.DialContext, timeout)
	transport.ForceAttemptHTTP2 = false // HTTP/2 would share a connection among transfers.
	return &http.Client{Transport: signedLocations{transport}, CheckRedirect: neverRedirect}
}

// signedLocations drops an invalid Location header: net/http would quote it in an error, and it may be a signed URL.
type signedLocations struct{ http.RoundTripper }

func (s signedLocations) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := s.RoundTripper.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if _, err := url.Parse(resp.Header.Get("Location")); err != nil {
		resp.Header.Del("Location")
	}
	return resp, nil
}

// SignedURL is the address of a file in the file storage. The URL and the fields are secrets.
type SignedURL struct {
	URL string
	// Fields are sent in the form before the file; nil if the URL needs none.
	Fields map[string]string
	// ExpiresAt is zero if the service does not return it.
	ExpiresAt time.Time
}

// CallSigned calls an operation that returns a signed URL. The names of the response's fields are not documented, so it reads the
// likely ones.
func (c *Conn) CallSigned(ctx context.Context, r Request) (*SignedURL, error) {
	response, err := Call[struct {
		URL         string            `json:"url"`
		UploadURL   string            `json:"uploadUrl"`
		DownloadURL string            `json:"downloadUrl"`
		Fields      map[string]string `json:"fields"`
		FormFields  map[string]string `json:"formFields"`
		ExpiresAt   wire.Millis       `json:"expiresAt"`
	}](ctx, c, r)
	if err != nil {
		return nil, err
	}
	signed := &SignedURL{URL: cmp.Or(response.URL, response.UploadURL, response.DownloadURL), Fields: response.Fields, ExpiresAt: response.ExpiresAt.Time()}
	if signed.Fields == nil {
		signed.Fields = response.FormFields
	}
	if signed.URL == "" {
		return nil, r.Unexpected("it has no signed URL")
	}
	return signed, nil
}

// OpenDownload returns the content at a signed URL. The caller closes it.
func (c *Conn) OpenDownload(ctx context.Context, address string) (io.ReadCloser, error) {
	return c.SendToStorage(ctx, "download", address, func(ctx context.Context) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	})
}

// SendToStorage sends a request without the API key until it succeeds or there are no retries left. The caller closes the
// response.
func (c *Conn) SendToStorage(ctx context.Context, act, address string, newRequest func(context.Context) (*http.Request, error)) (io.ReadCloser, error) {
	if err := c.checkSignedURL(address); err != nil {
		return nil, &StorageError{Act: act, Err: err}
	}
	state, ctx := newAttempts(ctx, Request{}, true)
	resp, err := c.retry.repeat(state, func() (*http.Response, bool, error) {
		req, err := newRequest(ctx)
		if err != nil {
			return nil, false, err
		}
		req.Header.Set("User-Agent", c.userAgent)
		resp, err := c.transfers.Do(req)
		if err == nil && resp.StatusCode < 300 {
			return resp, false, nil
		}
		again := !errors.Is(err, ErrFileChanged) && c.retry.again(state, resp, err)
		failure := storageFailure(act, resp, err)
		tflog.Debug(ctx, "The file storage failed", map[string]any{"act": act, "status": failure.Status})
		return nil, again, failure
	})
	var failure *StorageError
	switch {
	case err == nil:
		return resp.Body, nil
	case errors.As(err, &failure):
		return nil, failure
	}
	return nil, &StorageError{Act: act, Err: WithoutURL(err)}
}

// checkSignedURL rejects plain HTTP over a network, like ParseBaseURL.
func (c *Conn) checkSignedURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("the service returned a signed URL that is not an http or https URL")
	case u.Scheme == "http" && !c.allowInsecureHTTP && !isLoopback(u.Hostname()):
		return fmt.Errorf("the service returned a signed URL with plain http to %s; set allow_insecure_http = true in the provider block if you trust the network", u.Hostname())
	}
	return nil
}

// storageFailure reads only the message of a JSON or XML error, because the rest of the response may contain the signed URL.
func storageFailure(act string, resp *http.Response, err error) *StorageError {
	if err != nil {
		return &StorageError{Act: act, Err: WithoutURL(err)}
	}
	defer func() { _ = resp.Body.Close() }()
	body, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	var text struct {
		Detail  string `json:"detail" xml:"-"`
		Message string `json:"message" xml:"Message"`
	}
	_ = json.Unmarshal(body, &text)
	_ = xml.Unmarshal(body, &text)
	return &StorageError{Act: act, Status: resp.StatusCode, Detail: cmp.Or(text.Detail, text.Message)}
}

// ErrFileChanged says that a file's size changed during its upload.
var ErrFileChanged = errors.New("the file changed during the upload")
