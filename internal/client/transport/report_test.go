package transport

import (
	"encoding/json"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
)

// The key of reported, which JSON escapes, and how the service does that.
const (
	reportedKey       = `planted&<"\planted`
	reportedKeyInJSON = `planted&<\"\\planted`
)

// reported is a connection that reports to a folder, and its service.
func reported(t *testing.T, folder string, handle clienttest.Handler) *Conn {
	t.Helper()
	address, _ := clienttest.Serve(t, handle)
	c, err := New(Config{BaseURL: address, APIKey: reportedKey, MaxRetries: 1, UserAgent: "agent/1", Clock: clock.NewFake(clienttest.Start), ReportFolder: folder})
	check.Must(t, err)
	return c
}

// linesOf returns the lines of the only report in a folder, without times.
func linesOf(t *testing.T, folder string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	check.Must(t, err)
	if len(files) != 1 {
		t.Fatalf("%d files: %v", len(files), files)
	}
	info, err := os.Stat(files[0])
	check.Must(t, err)
	if info.Mode() != 0o600 || !strings.HasPrefix(info.Name(), "20260301T000000Z-") {
		t.Errorf("%s %v", info.Name(), info.Mode())
	}
	text, err := os.ReadFile(files[0])
	check.Must(t, err)
	for line := range strings.Lines(string(text)) {
		var fields map[string]any
		check.Must(t, json.Unmarshal([]byte(line), &fields))
		for _, name := range []string{"time", "ms", "hash"} {
			delete(fields, name)
		}
		short, _ := json.Marshal(fields)
		lines = append(lines, string(short))
	}
	return lines
}

func TestReport(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		request   Request
		responses []string
		want      []string
	}{
		"a creation after a failure": {
			Put("createThing", "/things").With(map[string]any{"name": "ci", "script": "planted"}), []string{`503 {"detail":"later"}`, `201 {"thing":{"otherId":"o1","thingId":"k1","name":"ci","key":"planted"}}`},
			[]string{
				`{"method":"PUT","name":"ci","operation":"createThing","route":"/things","status":503}`,
				`{"operation":"createThing","wait":"retry"}`,
				`{"method":"PUT","name":"ci","objects":[{"id":"k1","name":"ci"}],"operation":"createThing","route":"/things","status":201}`,
			},
		},
		"a refusal that repeats the key": {
			Post("sendThing", "/things/{id}", "t1"), []string{`400 {"detail":"No ` + reportedKeyInJSON + ` for https://u:planted@h","requestId":"r1"}`},
			[]string{`{"method":"POST","operation":"sendThing","path":[{"id":"t1"}],"refusals":["No *** for https://***@h"],"request_id":"r1","route":"/things/{id}","status":400}`},
		},
		"parts that are refused": {
			Put("setLimits", "/limits"), []string{`200 {"errors":[{"email":"a@b","error":"no member"},{"email":"c@d","error":"No ` + reportedKeyInJSON + ` for \"planted\""}]}`},
			[]string{`{"method":"PUT","operation":"setLimits","refusals":["a@b: no member","c@d: No *** for \"…\""],"route":"/limits","status":200}`},
		},
		"computers that are missing": {
			Post("bulkCreateComputers", "/bulk").With(map[string]any{"namePrefix": "f"}), []string{`201 {"computers":[{"id":"c1","name":"f-1"}],"requestedQuantity":3,"error":{"message":"full"}}`},
			[]string{`{"method":"POST","name":"f","objects":[{"id":"c1","name":"f-1"}],"operation":"bulkCreateComputers","refusals":["1 of 3 computers created: full"],"route":"/bulk","status":201}`},
		},
		"a file and a query": {
			Get("getFile", "/computers/{computerId}/files/{fileName}", "c1", "planted").Where(url.Values{"q": {"planted"}, "email": {"a@b"}}), []string{`200 {"id":"c1","url":"planted"}`},
			[]string{`{"method":"GET","operation":"getFile","path":[{"id":"c1"},{"id":"(file)"}],"query":"email=a@b","route":"/computers/{computerId}/files/{fileName}","status":200}`},
		},
		"a refusal that repeats the file": {
			Post("completeFile", "/computers/{computerId}/files/{fileName}", "c1", "planted"), []string{`409 {"detail":"The user's workspace has \"planted\" already."}`},
			[]string{`{"method":"POST","operation":"completeFile","path":[{"id":"c1"},{"id":"(file)"}],"refusals":["The user's workspace has \"…\" already."],"route":"/computers/{computerId}/files/{fileName}","status":409}`},
		},
		"a refusal that repeats the query": {
			Get("search", "/search").Where(url.Values{"q": {"\"planted\n'"}, "owner": {reportedKey, "o"}}), []string{`400 {"detail":"q must not be \"\"planted\n'\", which isn't short"}`},
			[]string{`{"method":"GET","operation":"search","query":"owner=***\u0026owner=o","refusals":["q must not be \"…\", which isn't short"],"route":"/search","status":400}`},
		},
		"a refusal that repeats a script without quotes": {
			Post("createThing", "/things").With(map[string]any{"name": "ci", "setupScript": "export TOKEN=planted-1\nmake all\nls"}), []string{`400 {"detail":"Line 1 of ci: cannot set planted-1. Line 2: make all: no make."}`},
			[]string{`{"method":"POST","name":"ci","operation":"createThing","refusals":["Line 1 of ci: cannot set …. Line 2: …: no make."],"route":"/things","status":400}`},
		},
		"a refusal that is cut off": {
			Post("sendThing", "/things").With(map[string]any{"prompt": "planted"}), []string{`400 {"detail":"No 'planted"}`},
			[]string{`{"method":"POST","operation":"sendThing","refusals":["No \"…\""],"route":"/things","status":400}`},
		},
		"a password": {
			Post("createThing", "/things").With(map[string]any{"repoUrl": "https://u:planted@planted@host/r"}), []string{`201 {"id":"x"}`},
			[]string{`{"method":"POST","name":"https://***@host/r","objects":[{"id":"x"}],"operation":"createThing","route":"/things","status":201}`},
		},
		"a refusal that repeats a password": {
			Post("createThing", "/things").With(map[string]any{"name": "ci", "repos": []string{"https://u:planted-2@host/r"}}), []string{`400 {"detail":"No login with planted-2."}`},
			[]string{`{"method":"POST","name":"ci","operation":"createThing","refusals":["No login with …."],"route":"/things","status":400}`},
		},
		"a page of another server": {
			Post("createThing", "/things"), []string{`200 planted`},
			[]string{`{"method":"POST","operation":"createThing","route":"/things","status":200,"unusable":true}`},
		},
		"a rate limit": {
			Post("createThing", "/things"), []string{`429 {"detail":"slow down"}`, `201 {"id":"x"}`},
			[]string{
				`{"method":"POST","operation":"createThing","refusals":["slow down"],"route":"/things","status":429}`,
				`{"operation":"createThing","wait":"rate limit"}`,
				`{"method":"POST","objects":[{"id":"x"}],"operation":"createThing","route":"/things","status":201}`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "new", "folder")
			c := reported(t, folder, func(w http.ResponseWriter, _ *http.Request, n int) { clienttest.Say(w, tc.responses[n-1]) })
			_, _ = c.Exchange(t.Context(), tc.request, OnlyJSON)
			lines := linesOf(t, folder)
			if got, want := strings.Join(lines[1:], "\n"), strings.Join(tc.want, "\n"); lines[0] != `{"agent":"agent/1","agentyard_run_report":1}` || got != want {
				t.Errorf("%s\nwant\n%s", strings.Join(lines, "\n"), want)
			}
		})
	}
}

func TestReport_waitsAndNames(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c := reported(t, folder, clienttest.NoContent)
	c.report.know(wire.Ref{ID: "c1", Name: "listed"})
	for _, id := range []string{"c1", "c2", "c2", "c3", "c3"} {
		c.report.read(t.Context(), thing{id})
	}
	c.NoteFound(t.Context(), wire.Ref{ID: "c4", Name: "found"})
	check.Must(t, c.CallIgnoringBody(t.Context(), Delete("deleteThing", "/things/{id}", "c1")))
	c.NoteWait(t.Context(), runreport.WaitStatus, wire.Ref{ID: "c1"}, "active", clienttest.Start.Add(-time.Minute))
	c.NoteWait(t.Context(), runreport.WaitStatus, wire.Ref{ID: "c1"}, "active", clienttest.Start)
	want := []string{
		`{"agent":"agent/1","agentyard_run_report":1}`, `{"objects":[{"id":"c2","name":"read"}]}`,
		`{"objects":[{"id":"c3","name":"read"}],"state":"failed: validation"}`, `{"objects":[{"id":"c3","name":"read"}],"state":"failed: validation"}`,
		`{"objects":[{"id":"c4","name":"found"}],"state":"found"}`,
		`{"method":"DELETE","operation":"deleteThing","path":[{"id":"c1","name":"listed"}],"route":"/things/{id}","status":204}`,
		`{"objects":[{"id":"c1"}],"state":"active","wait":"status"}`,
	}
	check.Is(t, "the report", strings.Join(linesOf(t, folder), "\n"), strings.Join(want, "\n"))
}

// The response to a creation names the object, so the read after it adds no line.
func TestReport_namesACreatedObjectOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	c := reported(t, folder, func(w http.ResponseWriter, _ *http.Request, _ int) {
		clienttest.RespondJSON(w, http.StatusCreated, `{"id":"c1","name":"read"}`)
	})
	_, err := c.Exchange(t.Context(), Post("createThing", "/things"), OnlyJSON)
	check.Must(t, err)
	c.report.read(t.Context(), thing{"c1"})
	if lines := linesOf(t, folder); len(lines) != 2 {
		t.Errorf("the head and one line are expected:\n%s", strings.Join(lines, "\n"))
	}
}

// thing is an object, which failed if it is the third.
type thing struct{ id string }

func (o thing) Ref() wire.Ref { return wire.Ref{ID: o.id, Name: "read"} }

func (o thing) Failure() string {
	if o.id != "c3" {
		return ""
	}
	return "failed: validation"
}

// A report that cannot be written harms no request.
func TestReport_cannotBeWritten(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	check.Must(t, os.WriteFile(file, nil, 0o600))
	for _, folder := range []string{"", filepath.Join(file, "folder")} {
		c := reported(t, folder, clienttest.NoContent)
		for range 2 {
			check.Must(t, c.CallIgnoringBody(t.Context(), Get("getThing", "/thing")))
		}
		if _, err := fs.Stat(os.DirFS(filepath.Dir(file)), "folder"); err == nil || c.report != nil && !c.report.isBroken {
			t.Errorf("%q: %v", folder, err)
		}
	}
}

// What a report costs per request, of which an apply of 1,000 objects sends a few thousand.
func BenchmarkReport(b *testing.B) {
	for name, folder := range map[string]string{"without": "", "with": b.TempDir()} {
		b.Run(name, func(b *testing.B) {
			answer := func(*http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: http.StatusCreated, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"id":"c1","name":"box-1","status":"provisioning"}`))}, nil
			}
			c, err := New(Config{BaseURL: "http://127.0.0.1", APIKey: "key", UserAgent: "agent/1", Transport: roundTrip(answer), ReportFolder: folder})
			check.Must(b, err)
			create := Post("createThing", "/things/{id}/parts", "t1").With(map[string]any{"name": "box-1", "repos": []string{"https://host/r"}})
			b.ReportAllocs()
			for b.Loop() {
				_, _ = c.Exchange(b.Context(), create, OnlyJSON)
			}
		})
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
