package computers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

func inline(text string) FileContent {
	return FileContent{Size: int64(len(text)), Type: "text/plain", Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }}
}

func TestUpload_isAFormWithoutTheKey(t *testing.T) {
	t.Parallel()
	storage, stored := clienttest.Serve(t, clienttest.NoContent)
	c, rec, _ := area.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { clienttest.RespondJSON(w, 200, `{}`) })
	content := inline("hello")
	content.Open = func() (io.ReadCloser, error) {
		return io.NopCloser(iotest.OneByteReader(strings.NewReader("hello"))), nil
	}
	upload := &transport.SignedURL{URL: storage + "/put?sig=s3cret", Fields: map[string]string{"policy": "p", "key": "k"}}
	check.Must(t, c.Upload(t.Context(), upload, `ä"b.txt`, content))
	r := stored.Requests[0]
	r.Body = io.NopCloser(strings.NewReader(stored.Bodies[0]))
	check.Must(t, r.ParseMultipartForm(1<<20))
	file := r.MultipartForm.File["file"][0]
	check.Is(t, "the form", fmt.Sprint(r.MultipartForm.Value, file.Filename, file.Size, file.Header["Content-Type"]), `map[key:[k] policy:[p]]ä"b.txt5 [text/plain]`)
	check.Says(t, stored.Bodies[0], "\r\nhello\r\n")
	if r.Header.Get("Authorization") != "" || strings.Contains(r.URL.String(), clienttest.Key) {
		t.Error("the API key was sent to the file storage")
	}
	if r.ContentLength <= content.Size || len(r.TransferEncoding) > 0 {
		t.Errorf("content length %d, transfer encoding %v", r.ContentLength, r.TransferEncoding)
	}
	check.Is(t, "the agent", r.Header.Get("User-Agent"), "test/1")
	rec.WantCount(t, http.MethodPost, 0)
}

func TestUpload_fileThatChanges(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"grown": "hello, world", "shrunk": "hell"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storage, _ := clienttest.Serve(t, clienttest.NoContent)
			c, _, clk := area.Serve(t, func(http.ResponseWriter, *http.Request, int) {})
			content := inline(text)
			content.Size = 5
			err := c.Upload(t.Context(), &transport.SignedURL{URL: storage}, "a", content)
			if err == nil || !strings.Contains(err.Error(), "changed during the upload") || len(clk.Sleeps()) != 0 {
				t.Errorf("%d pauses, error %v", len(clk.Sleeps()), err)
			}
		})
	}
}

func TestCompleteFileUpload(t *testing.T) {
	t.Parallel()
	conflict := func(w http.ResponseWriter) { clienttest.RespondJSON(w, 409, `{"detail":"exists"}`) }
	failed := func(w http.ResponseWriter) { clienttest.RespondJSON(w, 500, `{"detail":"down"}`) }
	absent := func(w http.ResponseWriter) { clienttest.RespondJSON(w, 404, `{"detail":"absent"}`) }
	done := func(w http.ResponseWriter) {
		clienttest.RespondJSON(w, 200, `{"fileName":"a","sizeBytes":5,"path":"/home/agent/workspace/a"}`)
	}
	for name, tc := range map[string]struct {
		answers  []func(http.ResponseWriter) // The last one is repeated.
		inPlace  string                      // What the workspace has; "-" is nothing, "?" makes looking fail.
		path     string
		status   int
		unproven bool
		lookups  int64
		sent     int64
	}{
		"another file exists":             {[]func(http.ResponseWriter){conflict}, "jello", "", 409, false, 1, 1},
		"a killed run has written it":     {[]func(http.ResponseWriter){conflict}, "hello", "", 0, false, 1, 1},
		"exists, and nobody can tell":     {[]func(http.ResponseWriter){conflict}, "?", "", 409, true, 1, 1},
		"lost, then done":                 {[]func(http.ResponseWriter){clienttest.Drop, done}, "-", "/home/agent/workspace/a", 0, false, 0, 2},
		"lost, then found as sent":        {[]func(http.ResponseWriter){clienttest.Drop, conflict}, "hello", "", 0, false, 1, 2},
		"lost, then found as another one": {[]func(http.ResponseWriter){failed, conflict}, "jello", "", 409, false, 1, 2},
		"lost, and the upload is used up": {[]func(http.ResponseWriter){clienttest.Drop, absent}, "hello", "", 0, false, 1, 2},
		"always lost, but written":        {[]func(http.ResponseWriter){failed}, "hello", "", 0, false, 1, 4},
		"always lost, and not written":    {[]func(http.ResponseWriter){failed}, "-", "", 500, false, 1, 4},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storage, stored := clienttest.Serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = io.WriteString(w, tc.inPlace) })
			var completions, lookups atomic.Int64
			c, _, _ := area.Serve(t, func(w http.ResponseWriter, r *http.Request, _ int) {
				if strings.HasSuffix(r.URL.Path, "/complete-upload") {
					tc.answers[min(int(completions.Add(1)), len(tc.answers))-1](w)
					return
				}
				lookups.Add(1)
				switch tc.inPlace {
				case "-":
					absent(w)
				case "?":
					clienttest.RespondJSON(w, 424, `{"detail":"asleep"}`)
				default:
					clienttest.RespondJSON(w, 200, `{"url":"`+storage+`/get?sig=s3cret"}`)
				}
			})
			file, err := c.CompleteFileUpload(t.Context(), "c1", "a", inline("hello"))
			if transport.StatusOf(err) != tc.status || err == nil && (file.FileName != "a" || file.SizeBytes != 5 || file.Path != tc.path) {
				t.Errorf("got %+v, error %v", file, err)
			}
			if unproven := err != nil && strings.Contains(err.Error(), "could not check whether the file"); unproven != tc.unproven || lookups.Load() != tc.lookups || completions.Load() != tc.sent {
				t.Errorf("%d look-ups after %d attempts, error %v", lookups.Load(), completions.Load(), err)
			}
			for _, r := range stored.Requests {
				check.Is(t, "the key that the file storage gets", r.Header.Get("Authorization"), "")
			}
		})
	}
}

func TestSameBytes(t *testing.T) {
	t.Parallel()
	long := bytes.Repeat([]byte("0123456789"), 20_000)
	other := bytes.Clone(long)
	other[len(other)-1] = 'x'
	for name, tc := range map[string]struct {
		a, b []byte
		want bool
	}{
		"both empty":     {nil, nil, true},
		"one empty":      {nil, []byte("a"), false},
		"same":           {long, long, true},
		"last differs":   {long, other, false},
		"one is longer":  {long, long[:len(long)-1], false},
		"exact chunks":   {long[:128<<10], long[:128<<10], true},
		"a chunk longer": {long[:128<<10], long[:64<<10], false},
	} {
		if got, err := sameBytes(bytes.NewReader(tc.a), bytes.NewReader(tc.b)); err != nil || got != tc.want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := sameBytes(strings.NewReader("a"), io.MultiReader(strings.NewReader("a"), brokenReader{})); err == nil {
		t.Error("a stream that breaks off counts as compared")
	}
}

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error) { return 0, errors.New("broken") }
