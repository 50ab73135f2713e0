package evidence_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest"
	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
	"github.com/agentyard/terraform-provider-agentyard/internal/evidence"
)

// organization returns an emulator with objects of each kind.
func organization(t *testing.T) *acctest.Organization {
	t.Helper()
	o := acctest.NewOrganization(t, acctest.New(t, func(o *emulator.Options) { o.SessionDelay, o.SessionListDelay, o.MessageDelay = -1, -1, -1 }))
	o.Furnish()
	return o
}

// probed sends the probe's requests to a service, which sees no other method than GET, and no more than it may.
func probed(t *testing.T, key string, clk clock.Clock, service http.Handler) (*evidence.Report, error) {
	t.Helper()
	var requests atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1); r.Method != http.MethodGet || r.ContentLength > 0 {
			t.Errorf("the probe sent %s %s with %d bytes", r.Method, r.URL, r.ContentLength)
		}
		service.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	base, err := url.Parse(server.URL)
	check.Must(t, err)
	doc, err := contract.Load()
	check.Must(t, err)
	p := &evidence.Probe{Base: base, Key: key, Clock: clk, Progress: io.Discard, Recorder: evidence.NewRecorder(doc, "agentyard-probe", "0.0.0")}
	err = p.Run(t.Context())
	report := p.Recorder.Report()
	if n := int(requests.Load()); n != report.Requests || n > evidence.MaxProbes {
		t.Errorf("%d requests were sent, and %d are in the report", n, report.Requests)
	}
	return report, err
}

// forward passes requests on to an emulator.
func forward(t *testing.T, e *acctest.Organization, change func(*http.Response) error) http.Handler {
	t.Helper()
	target, err := url.Parse(e.URL())
	check.Must(t, err)
	return &httputil.ReverseProxy{Rewrite: func(p *httputil.ProxyRequest) { p.SetURL(target) }, ModifyResponse: change}
}

func TestProbe_readsEverything(t *testing.T) {
	t.Parallel()
	e := organization(t)
	report, err := probed(t, e.BootstrapKey(), e.Clock, forward(t, e, nil))
	if err != nil || len(report.Deviations) > 0 || !report.Emulator {
		t.Errorf("got %v, %+v, emulator %t", err, report.Deviations, report.Emulator)
	}
	for _, o := range report.Operations {
		if o.Method == http.MethodGet && o.Statuses["200"]+o.Statuses["302"] == 0 {
			t.Errorf("%s was answered %v", o.ID, o.Statuses)
		}
	}
	queries := 0
	for _, read := range evidence.Reads {
		queries += max(1, len(strings.Fields(read))-1)
	}
	check.Is(t, "requests, one for each query of reads", report.Requests, queries)
}

func TestProbe_namesDeviations(t *testing.T) {
	t.Parallel()
	e := organization(t)
	report, err := probed(t, e.BootstrapKey(), e.Clock, forward(t, e, func(resp *http.Response) error {
		body, err := io.ReadAll(resp.Body)
		text := strings.NewReplacer(`"providerType":`, `"colour":"red","providerType":`).Replace(string(body))
		switch path := resp.Request.URL.Path; {
		case strings.HasSuffix(path, "/providers"):
			resp.StatusCode, text = http.StatusTeapot, "{}"
		case strings.HasSuffix(path, "/scan"):
			text = "<html>"
		case strings.HasSuffix(path, "/environments"):
			text = strings.ReplaceAll(text, `"scope":"organization"`, `"scope":"team"`)
		}
		resp.Body, resp.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
		resp.Header.Del("Content-Length")
		return err
	}))
	check.Must(t, err)
	var got []string
	for _, d := range report.Deviations {
		got = append(got, fmt.Sprintf("%s %s %s", d.Operation, d.Kind, d.Place.Place))
	}
	check.Says(t, report.Markdown(), "| getComputer | 200 | new field | /colour | no such field | string | ")
	for _, want := range []string{
		"listComputers new field /computers/*/colour", "getComputer new field /colour", "listComputerProviders new status status",
		"scanCiWorkflows not JSON /", "listEnvironments enum /environments/*/scope",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

func TestProbe_worksWithEachRole(t *testing.T) {
	t.Parallel()
	e := organization(t)
	account, _ := e.ServiceAccountKey()
	keys := map[string]string{"user": e.MemberKey("drew@agentyard.example", "user"), "owner": e.MemberKey("emery@agentyard.example", "owner"), "service account": account}
	for role, key := range keys {
		report, err := probed(t, key, e.Clock, forward(t, e, nil))
		if err != nil || len(report.Deviations) > 0 || report.Requests < 30 {
			t.Errorf("%s: got %v and %+v after %d requests", role, err, report.Deviations, report.Requests)
		}
	}
}

func TestProbe_endsEarly(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status     int
		answers    bool // Each third request.
		retryAfter string
		requests   int // 0 means that the jitter of the pauses decides.
		slept      time.Duration
		want       string
	}{
		"a wrong key":     {status: 401, requests: 1, want: "refuses the API key"},
		"many pauses":     {status: 429, answers: true, retryAfter: "2", requests: evidence.MaxProbes, slept: 60 * time.Second, want: "60 requests were sent"},
		"only pauses":     {status: 429, retryAfter: "30", slept: 4 * time.Minute, want: "rate limit"},
		"a long pause":    {status: 429, retryAfter: "3600", requests: 1, want: "rate limit"},
		"no service left": {status: 0, requests: 1, want: "does not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := clock.NewFake(acctest.Start)
			requests := 0
			report, err := probed(t, "key", clk, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tc.status == 0 {
					panic(http.ErrAbortHandler)
				}
				if requests++; tc.answers && requests%3 == 0 {
					return
				}
				w.Header().Set("Retry-After", tc.retryAfter)
				w.WriteHeader(tc.status)
			}))
			if got := fmt.Sprint(err); !strings.Contains(got, tc.want) || tc.requests > 0 && report.Requests != tc.requests {
				t.Errorf("got %q after %d requests, want %q after %d", got, report.Requests, tc.want, tc.requests)
			}
			if slept := clk.Now().Sub(acctest.Start); slept < tc.slept {
				t.Errorf("slept %v, want at least %v", slept, tc.slept)
			}
		})
	}
}

const root = "../.."

func document(t *testing.T) *contract.Document {
	t.Helper()
	doc, err := contract.Load()
	check.Must(t, err)
	return doc
}

func TestPage_isCurrent(t *testing.T) {
	t.Parallel()
	record, err := evidence.ReadRecord("record.json")
	check.Must(t, err)
	text, err := os.ReadFile(filepath.Join(root, "docs/guides/evidence.md"))
	if err != nil || string(text) != evidence.Page(document(t), record) {
		t.Errorf("docs/guides/evidence.md is not up to date: run make assumptions (%v)", err)
	}
}

func TestRecord_add(t *testing.T) {
	t.Parallel()
	report := func(hour int, emulator bool, result evidence.Result) *evidence.Report {
		return &evidence.Report{
			Tool: "testacc", Version: "1.0.0", FinishedAt: time.Date(2026, 12, 3, hour, 0, 0, 0, time.UTC), Emulator: emulator,
			Assumptions: []evidence.Assumption{{ID: "list-computers", Result: result, Observed: "the older one came first"}, {ID: "gone", Result: result}},
			Operations:  []evidence.Operation{{ID: "inviteMember", Beyond: true, Statuses: map[string]int{"404": 1}}, {ID: "listSessionChildren", Beyond: true, Statuses: map[string]int{"200": 1}}},
		}
	}
	const refuted = "| refuted on 2026-12-03 (testacc 1.0.0): `the older one came first` |"
	record := evidence.Record{}
	if err := record.Add(report(1, true, evidence.Confirmed)); err == nil || len(record) > 0 {
		t.Errorf("a report of the emulator counts: %v, %v", err, record)
	}
	for _, step := range []struct {
		hour     int
		result   evidence.Result
		want     string
		wantHour int
	}{
		{3, evidence.Confirmed, "| confirmed on 2026-12-03 (testacc 1.0.0): `the older one came first` |", 3},
		{2, evidence.Confirmed, "| confirmed on 2026-12-03 (testacc 1.0.0): `the older one came first` |", 3},
		{1, evidence.Refuted, refuted, 1}, // An older report can show what a newer one did not try.
		{4, evidence.NotSeen, refuted, 1},
		{5, evidence.Confirmed, refuted, 1},
		{7, evidence.Refuted, refuted, 7},
		{6, evidence.Refuted, refuted, 7},
	} {
		check.Must(t, record.Add(report(step.hour, false, step.result)))
		if page := evidence.Page(document(t), record); !strings.Contains(page, step.want) {
			t.Errorf("hour %d: the page has no %q", step.hour, step.want)
		}
		check.Is(t, fmt.Sprint("the hour of the result after hour ", step.hour), record["list-computers"].Time.Hour(), step.wantHour)
	}
	record.Prune(document(t))
	if len(record) != 2 || record["listSessionChildren"].Observed != "answered 200" {
		t.Errorf("got %v", record)
	}
	page := evidence.Page(document(t), record)
	if !strings.Contains(page, "A real service has confirmed 0 of them and refuted 1. The newest report is of 2026-12-03.") {
		t.Error(page[:600])
	}
}
