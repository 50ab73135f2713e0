package statuspage

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

const (
	reportHead = `{"agentyard_run_report":1,"time":"2026-05-01T12:00:00Z","agent":"terraform-provider-agentyard/1.2.3 Terraform/1.16.4"}`
	oneRead    = `{"time":"2026-05-01T12:00:00Z","ms":5,"operation":"listComputers","method":"GET","route":"/api/v0/computers","status":200}`
)

// inFolder writes the reports of runs, and returns their folder.
func inFolder(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range files {
		check.Must(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	return folder
}

// What cannot be read is one clear line, and the rest is shown.
func TestReadReport_badInput(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files    map[string]string
		problems string
		runs     int
		err      string
	}{
		"none":         {nil, "", 0, "has no run with a request; set AGENTYARD_RUN_REPORT"},
		"no requests":  {map[string]string{"a.jsonl": reportHead}, "", 0, "has no run with a request"},
		"another file": {map[string]string{"a.jsonl": "{}", "b.jsonl": reportHead + "\n" + oneRead, "c.txt": "x"}, "a.jsonl: not a run report", 1, ""},
		"text":         {map[string]string{"a.jsonl": "hello"}, "", 0, "a.jsonl: not a run report"},
		"a newer version": {
			map[string]string{"a.jsonl": `{"agentyard_run_report":2}` + "\n" + oneRead, "b.jsonl": reportHead + "\n" + oneRead},
			"a.jsonl: the format has version 2, and this program reads version 1; use a newer one", 1, "",
		},
		"killed":      {map[string]string{"a.jsonl": reportHead + "\n" + oneRead + "\n" + oneRead[:30]}, "a.jsonl: line 3 is incomplete; the run was probably killed", 1, ""},
		"two at once": {map[string]string{"a.jsonl": reportHead + "\n" + oneRead, "b.jsonl": reportHead + "\n" + oneRead}, "", 2, ""},
	} {
		r, err := ReadReport(inFolder(t, tc.files))
		if err != nil {
			if tc.err == "" || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if got := strings.Join(r.Problems, "; "); tc.err != "" || got != tc.problems || len(r.Runs) != tc.runs {
			t.Errorf("%s: %q, %d runs", name, got, len(r.Runs))
		}
	}
	pattern := filepath.Join(inFolder(t, nil), "[a]")
	check.Must(t, os.Mkdir(pattern, 0o700))
	check.Must(t, os.WriteFile(filepath.Join(pattern, "a.jsonl"), []byte(reportHead+"\n"+oneRead), 0o600))
	if r, err := ReadReport(pattern); err != nil || len(r.Runs) != 1 {
		t.Errorf("%s: %v", pattern, err)
	}
	if _, err := ReadReport(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("a missing folder is no error")
	}
}

// attempt is a line about a request.
func attempt(operation, method, route, rest string) string {
	return `{"time":"2026-05-01T12:00:01Z","ms":5,"operation":"` + operation + `","method":"` + method + `","route":"` + route + `",` + rest + "}"
}

func TestReport_says(t *testing.T) {
	t.Parallel()
	account := `"path":[{"id":"sa_1","name":"robots"}]`
	for want, lines := range map[string][]string{
		"Created computers c-1 to c-2": {attempt("bulkCreateComputers", "POST", "/c", `"status":201,"objects":[{"id":"1","name":"c-1"},{"id":"2","name":"c-2"}]`)},
		"Created API key ci of robots": {attempt("createApiKey", "POST", "/s/{serviceAccountId}/k", `"status":201,"name":"ci","objects":[{"id":"k"}],`+account)},
		"Rotated API key ci of robots": {attempt("rotateApiKey", "POST", "/s/{serviceAccountId}/k/{keyId}/r", `"status":200,"objects":[{"id":"l","name":"ci"}],"path":[{"id":"sa_1","name":"robots"},{"id":"k"}]`)},
		"Revoked API key k of robots":  {attempt("revokeApiKey", "POST", "/s/{serviceAccountId}/k/{keyId}/r", `"status":204,"path":[{"id":"sa_1","name":"robots"},{"id":"k"}]`)},
		"Deleted computer web":         {`{"objects":[{"id":"1","name":"web"}]}`, attempt("deleteComputer", "DELETE", "/c/{computerId}", `"status":204,"path":[{"id":"1"}]`)},
		"Removed member a@b":           {attempt("removeMember", "DELETE", "/m", `"status":204,"query":"email=a@b"`)},
		"Sent invitation a@b":          {attempt("inviteMember", "POST", "/m", `"status":200,"name":"a@b"`)},
		"Set usage limit of a@b":       {attempt("setUserUsageLimits", "PUT", "/u", `"status":200,"name":"a@b, c@d","refusals":["c@d: no member"]`)},
		"Restarted computer web":       {attempt("restartComputer", "POST", "/c/{computerId}/restart", `"status":200,"path":[{"id":"1","name":"web"}]`)},
		"Nothing changed":              {attempt("createComputer", "POST", "/c", `"status":200,"unusable":true`), attempt("inviteMember", "POST", "/m", `"status":200,"name":"a@b","refusals":["a@b: no seat"]`)},
	} {
		r, err := ReadReport(inFolder(t, map[string]string{"a.jsonl": strings.Join(append([]string{reportHead}, lines...), "\n")}))
		check.Must(t, err)
		got := ""
		for _, part := range r.Runs[0].Changes {
			got += part.Lead + part.Text
		}
		check.Is(t, "the text", got, want)
	}
}

// A creation whose object was found is no failure, and one that nobody found is.
func TestReport_lostResponses(t *testing.T) {
	t.Parallel()
	lost := func(name string) string { return attempt("createServiceAccount", "POST", "/s", `"name":"`+name+`"`) }
	r, err := ReadReport(inFolder(t, map[string]string{"a.jsonl": strings.Join([]string{
		reportHead, lost("robots"), lost("others"), strings.Replace(attempt("listServiceAccounts", "GET", "/s", `"status":200`), ":01Z", ":02Z", 1),
		`{"objects":[{"id":"sa_1","name":"robots"}],"state":"found"}`, `{"state":"found"}`,
	}, "\n")}))
	check.Must(t, err)
	run := r.Runs[0]
	if run.Recovered != "1 lost response, found later" || len(run.Failures) != 1 || run.Failures[0].Objects[0].Name != "others" || run.Changes[0].Text != "robots" {
		t.Errorf("%+v", run)
	}
}

// Each operation is one lane, whatever a client repeated, so that no request is left out. The page of a run has each address.
func TestViewRun_hasEachRequest(t *testing.T) {
	t.Parallel()
	var entries []Entry
	for i := range 30 {
		id := uint64(i / 2)
		entries = append(entries, sent("getComputer", 0, ms, 200, id), sent(fmt.Sprint("getOther", i), 0, ms, 200, id), sent("", 0, ms, 404, id))
	}
	entries = append(entries, sent("createComputer", s, ms, 400, 101), sent("createComputer", s, ms, 201, 102))
	for i := range 120 {
		entries = append(entries, sent("deleteComputer", s, ms, 409, uint64(200+i)))
	}
	f := viewRun(entries, nil, runStart, runStart, false, false).Failures
	check.Is(t, "what the last failure lists", fmt.Sprint(len(f[len(f)-1].Each), f[len(f)-1].Others(), f[len(f)-1].Count), "100 117 120")
	for all, want := range map[bool]string{false: "35 lanes, 212 requests, 151 failed", true: "137 lanes, 212 requests, 151 failed"} {
		lanes, count, failed := viewRun(entries, nil, runStart, runStart, false, all).Lanes, 0, 0
		for _, lane := range lanes {
			count, failed = count+lane.Count, failed+lane.Failed
		}
		check.Is(t, fmt.Sprint("all ", all), fmt.Sprintf("%d lanes, %d requests, %d failed", len(lanes), count, failed), want)
	}
}

func TestReport_formats(t *testing.T) {
	t.Parallel()
	lines := []string{reportHead}
	for range 12 {
		lines = append(lines, attempt("createComputer", "POST", "/c", `"status":400,"name":"<b>*x* a@b.c","request_id":"req_1","refusals":["No `+string(rune('a'+len(lines)))+`."]`))
	}
	lines = append(lines, attempt("bulkCreateComputers", "POST", "/b", `"status":201,"objects":[{"id":"1","name":"c-1"},{"id":"2","name":"c-2"}]`))
	r, err := ReadReport(inFolder(t, map[string]string{"a.jsonl": reportHead + "\n" + oneRead, "b.jsonl": strings.Join(lines, "\n"), "c.jsonl": "x"}))
	check.Must(t, err)
	texts := map[string]string{}
	for _, format := range []string{"html", "markdown", "json"} {
		var text strings.Builder
		check.Must(t, r.Write(&text, format))
		texts[format] = text.String()
	}
	if text := texts["markdown"]; strings.Count(text, "\n") != 10 || !strings.HasPrefix(text, "### Agentyard: 12 failed in 5 ms\n**Created computers c-1 to c-2.**\n- ") ||
		!strings.Contains(text, "- createComputer &lt;b&gt;\\*x\\* `a@b.c`: 400, No b. Nothing was changed.") || !strings.Contains(text, "- And 6 more lines: see the report.") {
		t.Error(text)
	}
	for _, part := range []string{"<script", "<link", "href=", "src=", "<b>*x"} {
		if strings.Contains(texts["html"], part) {
			t.Errorf("the page has %s", part)
		}
	}
	for _, part := range []string{"c.jsonl: not a run report", "No b.", "UTC), request ID req_1: 400, No m.<", "Only reads", "prefers-color-scheme", "Created computers c-1 to c-2"} {
		if !strings.Contains(texts["html"], part) {
			t.Errorf("the page lacks %s", part)
		}
	}
	var numbers struct {
		Version int
		Runs    []struct{ Requests, Ms int }
	}
	if err := json.Unmarshal([]byte(texts["json"]), &numbers); err != nil || numbers.Version != 1 || len(numbers.Runs) != 2 || numbers.Runs[0].Requests+numbers.Runs[1].Requests != 14 {
		t.Errorf("%v %s", err, texts["json"])
	}
	check.Fails(t, r.Write(&strings.Builder{}, "pdf"))
}

// The times of a run add up to its own, and the bars of a lane to the lane's, although some are too short to be seen.
func TestReport_addsUp(t *testing.T) {
	t.Parallel()
	const short, long = 20*ms + 300*time.Microsecond, 20*s + 300*time.Microsecond
	var entries []Entry
	end := time.Duration(0)
	for _, next := range []interval{{0, long}, {60 * ms, short}, {50 * ms, long}, {70*ms + 400*time.Microsecond, short}} { // A pause, and a request.
		entries = append(entries, sent("listComputers", end+next.from, next.to, 200, 0))
		end += next.from + next.to
	}
	run := viewRun(entries, nil, runStart, runStart, false, false)
	pauses := run.Lanes[0].Total
	for _, bar := range run.Lanes[0].Bars {
		pauses += ", " + bar.Title + " " + bar.Width
	}
	check.Is(t, "the pauses", pauses, "180 ms, 110 ms 0.45%, 70 ms 0.25%")
	var text strings.Builder
	check.Must(t, (&Report{Runs: []*runView{run}, entries: [][]Entry{entries}}).Write(&text, "json"))
	var got struct {
		Runs []struct {
			Ms    int
			Times []struct{ Ms int }
		}
	}
	check.Must(t, json.Unmarshal([]byte(text.String()), &got))
	sum := 0
	for _, part := range got.Runs[0].Times {
		sum += part.Ms
	}
	check.Is(t, "the sum of the times", sum, got.Runs[0].Ms)
	check.Is(t, "the times", len(got.Runs[0].Times), 2)
}
