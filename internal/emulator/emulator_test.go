package emulator_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
	"github.com/agentyard/terraform-provider-agentyard/internal/emulator"
)

const uuidA, uuidB = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"

// object is a decoded JSON object.
type object = map[string]any

// request is one of a table.
type request struct {
	method, path string
	body         any
}

// refusal is a body that answers 400, and a text of the detail.
type refusal struct {
	body any
	want string
}

// badRequest is a request that answers 400, and a text of the detail.
type badRequest struct {
	method, path string
	body         any
	want         string
}

// env is an emulator with a clock that stands still until the test moves it.
type env struct {
	*emulator.Emulator
	t     *testing.T
	clock *clock.Fake
	file  string // Of its data.
}

// startParallel starts a default emulator for a test that runs in parallel with others.
func startParallel(t *testing.T) *env {
	t.Helper()
	t.Parallel()
	return start(t, emulator.Options{})
}

// dataFile is the path of a state that can outlive an emulator.
func dataFile(t *testing.T) string { return filepath.Join(t.TempDir(), "state.db") }

// restart ends the emulator and starts another one from its data file.
func (v *env) restart() *env {
	v.t.Helper()
	check.Must(v.t, v.Close())
	return start(v.t, emulator.Options{DataFile: v.file, Clock: v.clock})
}

func start(t *testing.T, opts emulator.Options) *env {
	t.Helper()
	fake, ok := opts.Clock.(*clock.Fake)
	if !ok {
		fake = clock.NewFake(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
		opts.Clock = fake
	}
	opts.Wrap = checked(t, opts.Wrap)
	e, err := emulator.Start(t.Context(), opts)
	check.Must(t, err)
	t.Cleanup(func() {
		check.Must(t, e.Close())
	})
	return &env{e, t, fake, opts.DataFile}
}

// checked holds the traffic against the contract: every response must be in it, and a request that is not may only be refused.
func checked(t *testing.T, inner func(http.Handler) http.Handler) func(http.Handler) http.Handler {
	t.Helper()
	document, err := contract.Load()
	check.Must(t, err)
	return func(next http.Handler) http.Handler {
		if inner != nil {
			next = inner(next)
		}
		return document.Handler(next, func(v contract.Violation) {
			isRefusal := v.Side == contract.Request && v.Status >= 400
			if isRefusal {
				return
			}
			t.Errorf("contract: %s of %s %s (%s, status %d): %v", v.Side, v.Method, v.Path, v.Operation, v.Status, v.Err)
		})
	}
}

// response is what came back.
type response struct {
	status int
	header http.Header
	raw    []byte
}

func (a response) object(t *testing.T) object {
	t.Helper()
	var o object
	if err := json.Unmarshal(a.raw, &o); err != nil {
		t.Fatalf("status %d, body %q: %v", a.status, a.raw, err)
	}
	return o
}

// try sends a request with a key; it returns the error of the transport, if there is one. A nil body sends none.
func (v *env) try(key, method, path string, body any) (response, error) {
	v.t.Helper()
	var reader io.Reader
	if text, ok := body.(string); ok {
		reader = strings.NewReader(text)
	} else if body != nil {
		data, err := json.Marshal(body)
		check.Must(v.t, err)
		reader = bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.URL()+path, reader)
	check.Must(v.t, err)
	if reader != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	return do(req)
}

func do(req *http.Request) (response, error) {
	// A transport of its own: no request is repeated because a pooled connection was cut.
	transport := &http.Transport{DisableKeepAlives: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return response{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return response{resp.StatusCode, resp.Header, raw}, err
}

// as sends a request and fails the test unless the status is the wanted one.
func (v *env) as(key string, want int, method, path string, body any) response {
	v.t.Helper()
	a, err := v.try(key, method, path, body)
	if err != nil {
		v.t.Fatalf("%s %s: %v", method, path, err)
	}
	if a.status != want {
		v.t.Fatalf("%s %s: status %d, want %d: %s", method, path, a.status, want, a.raw)
	}
	return a
}

// call is as with the manager's key.
func (v *env) call(want int, method, path string, body any) response {
	v.t.Helper()
	return v.as(v.BootstrapKey(), want, method, path, body)
}

func (v *env) human(role string) (id, key string) {
	v.t.Helper()
	id, key, err := v.AddHuman(emulator.Human{Email: role + "@people.example", Role: role})
	check.Must(v.t, err)
	return id, key
}

// detail fails the test unless an error body has its documented form and its detail contains a text.
func (v *env) detail(a response, text string) {
	v.t.Helper()
	o := a.object(v.t)
	detail, _ := o["detail"].(string)
	if !strings.Contains(detail, text) {
		v.t.Errorf("detail %q does not contain %q", detail, text)
	}
	if o["status"] != float64(a.status) || o["title"] != http.StatusText(a.status) {
		v.t.Errorf("error body %s does not repeat the status %d", a.raw, a.status)
	}
}

func TestAuthentication(t *testing.T) {
	v := startParallel(t)
	for name, header := range map[string]string{
		"missing": "", "unknown": "Bearer fk-unknown", "scheme": "Basic " + v.BootstrapKey(), "case": "bearer " + v.BootstrapKey(), "bare": v.BootstrapKey(),
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, v.URL()+"/api/v0/computers", nil)
		check.Must(t, err)
		if header != "" {
			req.Header.Set("Authorization", header)
		}
		a, err := do(req)
		if err != nil || a.status != 401 || a.header.Get("WWW-Authenticate") != "Bearer" {
			t.Errorf("%s: %v %v %v", name, a.status, a.header, err)
		}
		v.detail(a, "API key")
	}
	v.call(200, "GET", "/api/v0/computers", nil)
}

// Every list is the same after a restart. A reset empties each, and switches everything on again.
func TestRestartAndReset(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{DataFile: dataFile(t)})
	objects := everything(v)
	check.Must(t, errors.Join(v.AddQuietDay("2026-04-15"), v.DisconnectRepository("https://code.example/acme/legacy"), v.ConnectRepository(emulator.Repository{URL: "https://code.example/acme/new"})))
	v.join("gone@people.example")
	v.call(204, "DELETE", remove("gone@people.example"), nil)
	v.changeControls(object{"outputStyle": "verbose"}, "")
	v.merge("acme/web", reviewFile)
	read := func(v *env) (all []string) {
		for _, path := range []string{
			computers, accounts, environments, sessions, members, globalLimits, userLimits, history, wiki, historyOf(api),
			ciAutomation + "/jobs", ciAutomation + "/repositories", ciAutomation + "/scan", analytics + "/tokens?" + april, analytics + "/users?" + april,
		} {
			all = append(all, path+": "+string(v.call(200, "GET", path, nil).raw))
		}
		return all
	}
	want := read(v)
	single := []string{
		environments + "/" + idOf(objects["agentyard_environment"]), sessions + "/" + idOf(objects["agentyard_session"]),
		sessions + "/" + idOf(objects["agentyard_session"]) + "/messages", wiki + "/" + idOf(objects["agentyard_wiki_run"]),
		computers + "/name/box", accounts + "/" + idOf(objects["agentyard_service_account"]) + "/api-keys",
	}
	for _, path := range single {
		want = append(want, string(v.call(200, "GET", path, nil).raw))
	}
	_, key := v.account("later")
	want[1] = accounts + ": " + string(v.call(200, "GET", accounts, nil).raw)
	former := v.BootstrapKey()
	v = v.restart()
	same(t, "bootstrap key", v.BootstrapKey(), former)
	same(t, "journal entries of this run", len(v.Journal().Entries()), 0)
	v.as(key, 200, "GET", computers, nil)
	got := read(v)
	for _, path := range single {
		got = append(got, string(v.call(200, "GET", path, nil).raw))
	}
	same(t, "after a restart", got, want)

	v.AllowEnvironments(false)
	v.AllowSessions(false)
	v.AllowAnalytics(false)
	v.ConnectIntegration(false)
	check.Must(t, errors.Join(v.SetTier(emulator.TierTeam), v.SetSourceProvider("provider-a", false), v.SetWikiExport(emulator.WikiExportArchive, 0)))
	v.SessionSettingsOnReads(false)
	v.fail(emulator.BuildFailure{Times: -1})
	v.call(204, "POST", "/_emulator/reset", nil)
	ids := regexp.MustCompile(`(user|rev|ecc)_[0-9A-Z]+|"createdAt":[^,}]+|"(updatedAt|lastSignInAt)":[^,}]+|"scannedAt":[^,}]+|[0-9a-f]{8}-[0-9a-f-]{27}`)
	fresh := read(start(t, emulator.Options{Clock: v.clock}))
	for i, after := range read(v) {
		same(t, "after a reset", ids.ReplaceAllString(after, "X"), ids.ReplaceAllString(fresh[i], "X"))
	}
	for _, path := range single[:4] {
		v.call(404, "GET", path, nil)
	}
	same(t, "a new environment", v.environmentOf(v.ready(nil))["source"].(object)["id"], "source-base")
	same(t, "type of an export", v.call(200, "GET", wiki+"/"+v.wikiRun(api, nil)["wikiRunId"].(string)+"/export", nil).header.Get("Content-Type"), "application/json")
	v.join("gone@people.example", "new@people.example")
}

func TestRateLimit(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{RequestsPerSecond: 2})
	v.call(200, "GET", "/api/v0/computers", nil)
	v.call(200, "GET", "/api/v0/computers", nil)
	a := v.call(429, "GET", "/api/v0/computers", nil)
	same(t, "Retry-After", a.header.Get("Retry-After"), "1")
	v.clock.Advance(time.Second)
	v.call(200, "GET", "/api/v0/computers", nil)
}

func TestWrapSeesRealAnswersOnly(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	v := start(t, emulator.Options{Wrap: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, r.URL.Path)
			next.ServeHTTP(w, r)
		})
	}})
	v.Faults().Add(emulator.Fault{Kind: emulator.FaultStatusBeforeCommit, Status: 503})
	v.call(503, "GET", "/api/v0/computers", nil)
	v.call(200, "GET", "/api/v0/computers/providers", nil)
	same(t, "seen", seen, []string{"/api/v0/computers/providers"})
}

func TestJournal(t *testing.T) {
	v := startParallel(t)
	v.call(200, "GET", "/api/v0/computers?includeUnlisted=true", nil)
	id := v.call(201, "POST", "/api/v0/computers", object{"name": "a"}).object(t)["id"].(string)
	v.as("", 401, "GET", "/api/v0/computers/"+id, nil)
	got := v.Journal().Entries()
	if len(got) != 3 || v.Journal().Count("createComputer") != 1 {
		t.Fatalf("entries: %+v", got)
	}
	if e := got[0]; e.Seq != 1 || e.Operation != "listComputers" || e.Method != "GET" || e.Route != "/api/v0/computers" ||
		e.Query != "includeUnlisted=true" || e.Status != 200 || e.Principal == "" || !e.Time.Equal(v.clock.Now()) || e.Duration <= 0 {
		t.Errorf("first entry: %+v", e)
	}
	if e := got[2]; e.Route != "/api/v0/computers/{computerId}" || e.Path != "/api/v0/computers/"+id || e.Status != 401 || e.Principal != "" {
		t.Errorf("third entry: %+v", e)
	}
}

func TestCloseEndsRequestsUnderWay(t *testing.T) {
	t.Parallel()
	arrived, ended := make(chan struct{}), make(chan error)
	v := start(t, emulator.Options{Wrap: func(http.Handler) http.Handler {
		return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(arrived)
			<-r.Context().Done()
			panic(http.ErrAbortHandler)
		})
	}})
	go func() {
		_, err := v.try(v.BootstrapKey(), "GET", "/api/v0/computers", nil)
		ended <- err
	}()
	<-arrived
	check.Must(t, v.Close())
	check.Fails(t, <-ended, "")
}

// decode reads a body that is not an object.
func decode(t *testing.T, a response, into any) {
	t.Helper()
	if err := json.Unmarshal(a.raw, into); err != nil {
		t.Fatalf("%q: %v", a.raw, err)
	}
}

// same compares values by their JSON.
func same(t *testing.T, what, got, want any) {
	t.Helper()
	g, err := json.Marshal(got)
	check.Must(t, err)
	w, err := json.Marshal(want)
	check.Must(t, err)
	check.Is(t, fmt.Sprint(what), string(g), string(w))
}

// fields compares some fields of an object. A wanted nil stands for null, and for a missing field.
func fields(t *testing.T, what any, got, want object) {
	t.Helper()
	some := object{}
	for name := range want {
		some[name] = got[name]
	}
	same(t, what, some, want)
}

// Where the service promises no order, answers differ in it.
func TestShuffledLists(t *testing.T) {
	t.Parallel()
	v := start(t, emulator.Options{ShuffleLists: true})
	var builds []string
	var limits []object
	for i := range 8 {
		name := fmt.Sprint("n", i)
		v.call(201, "POST", accounts, object{"name": name})
		builds = append(builds, "environmentIds="+v.environment(object{"name": name}))
		v.outcomes(ciBody("create", ciTarget("acme/api", ".github/workflows/"+name+".yml")))
		v.merge("acme/api", ".github/workflows/"+name+".yml")
		repository := fmt.Sprintf("https://code.example/owner%d/name", i)
		check.Must(t, v.ConnectRepository(emulator.Repository{URL: repository}))
		v.wikiRun(repository, nil)
		v.join(name + "@people.example")
		limits = append(limits, object{"email": name + "@people.example", "limit": 1_000_000}, object{"email": name, "limit": nil})
	}
	for _, c := range []struct {
		request
		list   string
		length int
	}{
		{request{"GET", accounts, nil}, "serviceAccounts", 8},
		{request{"GET", environments + "/build-statuses?" + strings.Join(builds, "&"), nil}, "builds", 8},
		{request{"GET", ciAutomation + "/repository-owners", nil}, "owners", 10},
		{request{"GET", ciAutomation + "/repositories", nil}, "repositories", 12},
		{request{"GET", ciAutomation + "/scan", nil}, "workflows", 9},
		{request{"GET", wiki, nil}, "wikiRuns", 8},
		{request{"GET", userLimits, nil}, "userLimits", 9},
		{request{"PUT", userLimits, object{"users": limits}}, "updated", 8},
		{request{"PUT", userLimits, object{"users": limits}}, "errors", 8},
	} {
		orders := map[string]bool{}
		for range 20 { // Twenty equal orders of eight come once in 10^87 times.
			list := v.call(200, c.method, c.path, c.body).object(t)[c.list].([]any)
			same(t, c.list, len(list), c.length)
			orders[fmt.Sprint(list)] = true
		}
		if len(orders) < 2 {
			t.Errorf("%s are always in the same order", c.list)
		}
	}
}

// The lists in a record, whose order the API leaves open, differ in it too.
func TestShuffledLists_inRecords(t *testing.T) {
	t.Parallel()
	v, box := startSessionsWith(t, emulator.Options{ShuffleLists: true})
	session := v.session(object{"computerId": box, "sessionSettings": object{"enabledToolIds": []string{"a", "b", "c", "d", "e", "f", "g", "h", "a"}}})
	v.staff()
	same(t, "each tool once", len(v.settingsOf(session)["enabledToolIds"].([]any)), 8)
	var repositories, urls []any
	for i := range 8 {
		url := fmt.Sprintf("https://code.example/acme/n%d", i)
		repositories, urls = append(repositories, object{"url": url, "script": "make"}), append(urls, url)
	}
	machine := v.computer(object{"name": "cloner", "repos": urls})["id"].(string)
	environment := environments + "/" + v.ready(object{"name": "e", "repositories": repositories})
	for name, list := range map[string]func() any{
		"repositories":        func() any { return v.call(200, "GET", environment, nil).object(t)["repositories"] },
		"active repositories": func() any { return v.call(200, "GET", environment, nil).object(t)["activeRepositories"] },
		"built repositories": func() any {
			return v.call(200, "GET", environment, nil).object(t)["latestBuild"].(object)["repositories"]
		},
		"directories": func() any {
			return v.call(200, "GET", computers+"/"+machine, nil).object(t)["clonedRepoDirectories"]
		},
		"users of a day":  func() any { return v.rows("/tokens", "startDate=2026-04-01&endDate=2026-04-01")[0]["by_user"] },
		"groups of a day": func() any { return v.rows("/tokens", "startDate=2026-04-01&endDate=2026-04-01&group_by=model") },
		"tools":           func() any { return v.settingsOf(session)["enabledToolIds"] },
		"sources": func() any {
			return v.call(200, "GET", environments+"/source-options", nil).object(t)["providers"].([]any)[0].(object)["sources"]
		},
	} {
		orders := map[string]bool{}
		for range 20 {
			orders[fmt.Sprint(list())] = true
		}
		if len(orders) < 2 {
			t.Errorf("%s are always in the same order: %v", name, orders)
		}
	}
}
