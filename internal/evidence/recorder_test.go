package evidence

import (
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

const computer = `{"id":"8a4f5b1e-32a5-4a1c-9d57-0d6d0e5f7a11","name":"a","providerType":"byom","createdAt":1}`

// recorder returns a recorder and its proxies for a service that answers all requests alike.
func recorder(t *testing.T, service http.HandlerFunc) (r *Recorder, proxy, trial string) {
	t.Helper()
	doc, err := contract.Load()
	check.Must(t, err)
	origin := httptest.NewServer(service)
	t.Cleanup(origin.Close)
	base, err := url.Parse(origin.URL)
	check.Must(t, err)
	r = NewRecorder(doc, "testacc", "0.0.0")
	serve := func(h http.Handler) string {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		return s.URL
	}
	return r, serve(r.Proxy(base)), serve(r.Trial(base))
}

// answer is a service that has one answer.
func answer(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if body != "" {
			w.Header().Set("Content-Type", "application/json")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// send sends a request with a key and returns the body of the answer.
func send(t *testing.T, method, url, body string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	check.Must(t, err)
	req.Header.Set("Authorization", "Bearer key")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	check.Must(t, err)
	defer func() { _ = resp.Body.Close() }()
	got, err := io.ReadAll(resp.Body)
	check.Must(t, err)
	return string(got)
}

func deviations(r *Report) []string {
	var all []string
	for _, d := range r.Deviations {
		all = append(all, strings.Join([]string{d.Operation, string(d.Kind), d.Place.Place, d.Expected, d.Found}, " | "))
	}
	return all
}

func TestRecorder_deviations(t *testing.T) {
	t.Parallel()
	const one = "/api/v0/computers/c"
	with := func(fields string) string { return strings.TrimSuffix(computer, "}") + "," + fields + "}" }
	for name, tc := range map[string]struct {
		method, path, sent string
		status             int
		body               string
		want               []string
	}{
		"as the contract says": {"GET", one, "", 200, computer, nil},
		"several deviations": {"GET", "/api/v0/computers", "", 200, `{"computers":[` + computer + `,{"id":"x","name":1,"createdAt":1},{"id":"y","name":"b","providerType":"byom","createdAt":1}]}`, []string{
			"listComputers | format | /computers/*/id | string (uuid) | string of another form",
			"listComputers | missing field | /computers/*/providerType | string | absent",
			"listComputers | type | /computers/*/name | string | integer",
		}},
		"another word":         {"GET", one, "", 200, with(`"status":"asleep"`), []string{"getComputer | enum | /status | STATUS | asleep"}},
		"another kind":         {"GET", one, "", 200, with(`"computerSource":{"kind":"snapshot","snapshotId":"s"}`), []string{"getComputer | enum | /computerSource/kind | one of computer, execution-template, template | snapshot"}},
		"another status":       {"GET", one, "", 418, "{}", []string{"getComputer | new status | status | 200, 400, 401, 403, 404, 429, 500 | 418"}},
		"an unknown operation": {"GET", "/api/v0/computers/c/other", "", 404, `{"detail":"d","status":404,"title":"t"}`, []string{"GET /api/v0/computers/{}/{} | new operation | path | an operation of the contract | GET /api/v0/computers/{}/{}"}},
		"a refusal":            {"GET", one, "", 400, `{"detail":"d","status":400,"title":"t"}`, []string{"getComputer | refused | status | a request that the contract allows is accepted | 400"}},
		"a body of our own":    {"POST", "/api/v0/computers", `{"name":"a","colour":1}`, 201, computer, []string{"createComputer | request | /colour | no such field | integer (new field)"}},
		"a body where none is": {"DELETE", one, "", 200, computer, []string{"deleteComputer | new status | status | 204, 400, 401, 403, 404, 429, 500 | 200"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, proxy, _ := recorder(t, answer(tc.status, tc.body))
			check.Is(t, "the traffic", send(t, tc.method, proxy+tc.path, tc.sent), tc.body)
			got := deviations(r.Report())
			for i := range got {
				if j := strings.Index(got[i], "one of provisioning"); j > 0 {
					k := strings.Index(got[i][j:], " |")
					got[i] = got[i][:j] + "STATUS" + got[i][j+k:]
				}
			}
			check.Is(t, "the report", got, tc.want)
		})
	}
}

func TestRecorder_trialsAreNoDeviations(t *testing.T) {
	t.Parallel()
	r, proxy, trial := recorder(t, answer(400, `{"detail":"d","status":400,"title":"t"}`))
	send(t, "GET", trial+"/api/v0/computers/c", "")
	send(t, "POST", trial+"/api/v0/computers", `{"name":""}`)
	check.None(t, "deviations", deviations(r.Report()))
	send(t, "GET", proxy+"/api/v0/computers/c", "")
	report := r.Report()
	if got := deviations(report); len(got) != 1 || report.Requests != 3 {
		t.Errorf("got %v and %d requests", got, report.Requests)
	}
	i := slices.IndexFunc(report.Operations, func(o Operation) bool { return o.ID == "getComputer" })
	check.Is(t, "refusals", report.Operations[i].Statuses["400"], 2)
}

func TestRecorder_readsCompressedAnswers(t *testing.T) {
	t.Parallel()
	r, proxy, _ := recorder(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		zip := gzip.NewWriter(w)
		_, _ = io.WriteString(zip, computer)
		_ = zip.Close()
	})
	check.Is(t, "the response", send(t, "GET", proxy+"/api/v0/computers/c", ""), computer)
	check.None(t, "deviations", deviations(r.Report()))
}

func TestRecorder_noAnswer(t *testing.T) {
	t.Parallel()
	r, proxy, _ := recorder(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	req, err := http.NewRequestWithContext(t.Context(), "DELETE", proxy+"/api/v0/computers/c", http.NoBody)
	check.Must(t, err)
	req.Header.Set("Authorization", "Bearer key")
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
		t.Errorf("got status %d", resp.StatusCode)
	}
	if report := r.Report(); report.Unanswered != 1 || !strings.Contains(report.Markdown(), "| deleteComputer | DELETE /api/v0/computers/{computerId} | none (1) |") {
		t.Error(report.Markdown())
	}
}

func TestRecorder_rules(t *testing.T) {
	t.Parallel()
	r, _, _ := recorder(t, answer(200, ""))
	r.Rule("list-computers", NotSeen, "no second computer")
	r.Rule("list-computers", Refuted, "the older one came first")
	r.Rule("list-computers", Confirmed, "the newer one came first")
	r.Skip("an account", "", `The service said: user "Ada Lovelace" (ada@example.com, usr_01HZX3M9QK7B2C4D) may not do this.`)
	r.Skip("managed computers", "AGENTYARD_ACC_MANAGED", "They cost money.")
	report := r.Report()
	for _, a := range report.Assumptions {
		want := Assumption{ID: a.ID, Areas: a.Areas, Result: NotSeen}
		if a.ID == "list-computers" {
			want.Result, want.Observed = Refuted, "the older one came first"
		}
		if a.Result != want.Result || a.Observed != want.Observed {
			t.Errorf("got %+v, want %+v", a, want)
		}
	}
	check.Is(t, "why", report.Skipped[0].Why, "The service said: user … … … may not do this.")
	if got := deviations(report); !slices.Equal(got, []string{
		"listComputers | rule | list-computers | " + r.assumptions["list-computers"].Why + " | the older one came first",
	}) {
		t.Errorf("got %q", got)
	}
	defer func() {
		if recover() == nil {
			t.Error("an unknown ID did not panic")
		}
	}()
	r.Rule("no-such-rule", Confirmed, "")
}

func TestReport_namesNoSilentAssumption(t *testing.T) {
	t.Parallel()
	r, _, _ := recorder(t, answer(200, ""))
	r.Rule("body-size", Confirmed, "a large body was refused")
	text := r.Report().Markdown()
	silent := len(r.Report().Assumptions) - 1
	check.Says(t, text, "| body-size | all | a large body was refused |", fmt.Sprintf("Nothing in this run shows %d assumptions.", silent))
	check.Lacks(t, text, "list-computers")
}

// Neither the host, nor a header, nor anything that a person or the service wrote is in a file of the report.
func TestReport_showsNoValues(t *testing.T) {
	t.Parallel()
	const canary = "Canary7f3a"
	r, proxy, trial := recorder(t, func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("X-Request-Id", canary)
		w.Header().Set("Retry-After", canary)
		w.Header().Set("Content-Type", "application/json; a="+canary)
		if req.Method == http.MethodPost {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"detail":"`+canary+`","status":400,"title":"`+canary+`","metadata":{"`+canary+`":"`+canary+`"},"`+canary+`":1}`)
			return
		}
		_, _ = io.WriteString(w, `{"computers":[{"id":"`+canary+`","name":"`+canary+`","status":"`+canary+`","`+canary+`":{"`+canary+`":["`+canary+`"]}}],"more":"`+canary+`"}`)
	})
	for _, address := range []string{proxy, trial} {
		send(t, "GET", address+"/api/v0/computers?"+canary+"="+canary, "")
		send(t, "GET", address+"/api/v0/"+canary+"/"+canary, "")
		send(t, "POST", address+"/api/v0/computers/"+canary+"/restart", `{"mode":"`+canary+`","`+canary+`":1}`)
		send(t, "POST", address+"/api/v0/computers", `{"name":"`+canary+`"}`)
	}
	r.Rule("list-computers", Refuted, `the service said "`+canary+`"`)
	r.Skip("sessions", "", `the service said "`+canary+`"`)
	report, dir := r.Report(), t.TempDir()
	check.Must(t, report.WriteFiles(dir))
	if len(report.Deviations) < 10 {
		t.Errorf("only %d deviations", len(report.Deviations))
	}
	for _, name := range []string{"report.json", "report.md"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || strings.Contains(strings.ToLower(string(text)), "canary") || strings.Contains(string(text), "127.0.0.1") {
			t.Errorf("%v, or a value is in %s", err, text)
		}
	}
}
