package emulator

import (
	"bytes"
	"mime/multipart"
	"net/http/httptest"
	"testing"
	"time"
)

// startInternal starts an emulator for a test that looks inside it.
func startInternal(t *testing.T) *Emulator {
	t.Helper()
	e, err := Start(t.Context(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// The largest size that an operation allows is too much for a test, so the form is made here.
func TestUploadUpToASize(t *testing.T) {
	t.Parallel()
	e := startInternal(t)
	fields, err := e.uploadForm(uploadPolicy{Key: "k", Size: 3, AtMost: true, Expires: millis(e.clock.Now().Add(time.Hour))})
	if err != nil {
		t.Fatal(err)
	}
	for content, want := range map[string]int{"": 204, "ab": 204, "abc": 204, "abcd": 400, "abcde": 400} {
		var body bytes.Buffer
		form := multipart.NewWriter(&body)
		for name, value := range fields {
			if err := form.WriteField(name, value); err != nil {
				t.Fatal(err)
			}
		}
		part, err := form.CreateFormFile("file", "f")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = part.Write([]byte(content)) // A buffer takes everything.
		if err := form.Close(); err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequestWithContext(t.Context(), "POST", "/upload", &body)
		r.Header.Set("Content-Type", form.FormDataContentType())
		w := httptest.NewRecorder()
		e.serveFiles(w, r)
		if w.Code != want {
			t.Errorf("%d bytes: %d %s", len(content), w.Code, w.Body)
		}
	}
}
