package emulator_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

// raw sends bytes that are no well-formed request and returns the answer.
func raw(t *testing.T, address, request string) answer {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), "tcp", strings.TrimPrefix(address, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, body}
}

// Every error has a JSON body, also one that the HTTP server finds before the emulator sees the request.
func TestErrorsAreJSON(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{})
	tooLong := strings.Repeat("x", http.DefaultMaxHeaderBytes+16<<10) // Little more, lest the sender is cut off while it writes.
	key := "Authorization: Bearer " + v.BootstrapKey() + "\r\n\r\n"
	for _, c := range []struct {
		request string
		status  int
		detail  string
	}{
		{"GET /api/v0/computers/%zz HTTP/1.1\r\nHost: h\r\n" + key, 400, "400 Bad Request"},
		{"GET /api/v0/computers/a% HTTP/1.1\r\nHost: h\r\n" + key, 400, "400 Bad Request"},
		{"GET /api/v0/computers?hostId=%zz HTTP/1.1\r\nHost: h\r\n" + key, 400, "cannot be parsed"},
		{"GET /api/v0/computers HTTP/1.1\r\n" + key, 400, "missing required Host header"},
		{"G(T /api/v0/computers HTTP/1.1\r\nHost: h\r\n" + key, 400, "400 Bad Request"},
		{"GET /api/v0/computers HTTP/1.1\r\nHost: h\r\nNot a header: 1\r\n" + key, 400, "400 Bad Request"},
		{"GET /api/v0/computers HTTP/1.1\r\nHost: h\r\nX-Large: " + tooLong + "\r\n" + key, 431, "Too Large"},
		{"GET /" + tooLong + " HTTP/1.1\r\nHost: h\r\n" + key, 431, "Too Large"},
		{"POST /api/v0/computers HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n" + key, 501, "ransfer encoding"},
		{"GET /api/v0/computers HTTP/7.1\r\nHost: h\r\n" + key, 505, "HTTP Version"},
		{"GET /api/v0/nothing HTTP/1.1\r\nHost: h\r\n" + key, 404, "no operation"},
		{"GET / HTTP/1.1\r\nHost: h\r\n\r\n", 404, "no operation"},
		{"GET http://h HTTP/1.1\r\nHost: h\r\n\r\n", 404, "no operation"},
		{"BREW /api/v0/computers HTTP/1.1\r\nHost: h\r\n\r\n", 405, "does not support BREW"},
		{"GET /api/v1/nothing HTTP/1.1\r\nHost: h\r\n" + key, 404, "no operation"},
		{"GET /_emulator/nothing HTTP/1.1\r\nHost: h\r\n" + key, 404, ""},
	} {
		a := raw(t, v.URL(), c.request)
		var body struct {
			Detail, Title string
			Status        int
		}
		err := json.Unmarshal(a.raw, &body)
		if a.status != c.status || a.header.Get("Content-Type") != "application/json" || err != nil ||
			body.Status != c.status || body.Title != http.StatusText(c.status) || !strings.Contains(body.Detail, c.detail) {
			t.Errorf("%.60q: %d %s %s, error %v", c.request, a.status, a.header.Get("Content-Type"), a.raw, err)
		}
	}
}
