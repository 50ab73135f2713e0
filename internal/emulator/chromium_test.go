package emulator_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"
	"time"
)

// chromium returns the path of the browser, or skips the test.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("needs Chromium on the PATH") //nolint:forbidigo // Not every machine has it.
	return ""
}

// inChromium opens the root of a server, and returns what its script posts to /measured.
func inChromium(t *testing.T, pages http.HandlerFunc) []byte {
	t.Helper()
	browser := chromium(t)
	results := make(chan []byte, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost && r.URL.Path == "/measured" {
			body, _ := io.ReadAll(r.Body)
			results <- body
			return
		}
		pages(w, r)
	}))
	t.Cleanup(server.Close)

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	cmd := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), server.URL)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // So that it ends its other processes.
	cmd.WaitDelay = 10 * time.Second
	must(t, cmd.Start())
	var waited error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		waited = cmd.Wait()
	}()
	select {
	case body := <-results:
		stop()
		<-ended
		return body
	case <-ended:
		t.Fatalf("Chromium ended before it measured the pages: %v", waited)
	}
	return nil
}
