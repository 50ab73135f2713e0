package emulator

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestEvents_notify(t *testing.T) {
	t.Parallel()
	e := startInternal(t)
	changed, leave, ok := e.events.join()
	if !ok {
		t.Fatal("no stream is free")
	}
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	for _, tc := range []struct{ name, method, path, body string }{
		{"a new stream", "", "", ""},
		{"an object is created", "POST", "/api/v0/computers", `{"name":"a"}`},
		{"a request fails", "GET", "/api/v0/nothing", ""},
		{"the clock moves", "POST", "/_emulator/clock", `{"advance":"1d"}`},
		{"a fault is programmed", "POST", "/_emulator/faults", `{"kind":"rate-limited"}`},
		{"faults are cleared", "DELETE", "/_emulator/faults", ""},
	} {
		if tc.method != "" {
			req, err := http.NewRequestWithContext(t.Context(), tc.method, e.URL()+tc.path, strings.NewReader(tc.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+e.BootstrapKey())
			req.Header.Set("Content-Type", "application/json")
			resp, err := transport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Error(err)
			}
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
		}
		select {
		case <-changed:
		default:
			t.Errorf("%s: nobody is notified", tc.name)
		}
	}
	transport.CloseIdleConnections()
	<-changed // The run is over.
	leave()
	if n := len(e.events.streams); n != 0 {
		t.Errorf("%d streams are left", n)
	}
}
