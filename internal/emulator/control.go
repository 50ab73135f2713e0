package emulator

import (
	"crypto/subtle"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"syscall"
	"time"
)

// controlPrefix begins the paths of the control API, which lets people and outside programs do what a test does in Go.
// README.md describes it. Its requests are neither journalled nor hit by faults, and it takes the bootstrap key only.
const controlPrefix = "/_emulator/"

// The bodies of the control API.
type (
	entryView struct {
		Seq        int       `json:"seq"`
		Time       time.Time `json:"time"`
		Operation  string    `json:"operation"`
		Method     string    `json:"method"`
		Route      string    `json:"route"`
		Path       string    `json:"path"`
		Query      string    `json:"query,omitempty"`
		Status     int       `json:"status"`
		DurationMS float64   `json:"durationMs"`
		Principal  string    `json:"principal,omitempty"`
		Fault      string    `json:"fault,omitempty"`
	}
	faultBody struct {
		Operation  string    `json:"operation,omitempty"`
		Kind       FaultKind `json:"kind"`
		Status     int       `json:"status,omitempty"`
		Body       string    `json:"body,omitempty"`
		RetryAfter string    `json:"retryAfter,omitempty"`
		DelayMS    int64     `json:"delayMs,omitempty"`
		After      int       `json:"after,omitempty"`
		Times      int       `json:"times,omitempty"`
		PID        int       `json:"pid,omitempty"`
		Signal     int       `json:"signal,omitempty"`
		Match      string    `json:"match,omitempty"`
		Reads      int       `json:"reads,omitempty"`
	}
	provisioningFailureBody struct {
		Name  string `json:"name"`
		Step  string `json:"step"`
		Error string `json:"error"`
		Times int    `json:"times"`
	}
	bulkFailureBody struct {
		After   int    `json:"after"`
		Message string `json:"message"`
	}
	buildFailureBody struct {
		Name     string `json:"name"`
		Phase    string `json:"phase"`
		Category string `json:"category"`
		Reason   string `json:"reason"`
		Excerpt  string `json:"excerpt"`
		Withheld bool   `json:"withheld"`
		Times    int    `json:"times"`
	}
	defaultEnvironmentBody struct {
		EnvironmentID string `json:"environmentId"`
	}
	tierBody struct {
		Tier string `json:"tier"`
	}
	repositoryBody struct {
		URL                string `json:"url"`
		DefaultBranch      string `json:"defaultBranch"`
		IsPrivate          bool   `json:"isPrivate"`
		UserPermission     string `json:"userPermission"`
		ServiceAppWritable bool   `json:"serviceAppWritable"`
	}
	workflowMergeBody struct {
		RepoFullName string `json:"repoFullName"`
		FilePath     string `json:"filePath"`
	}
	wikiExportBody struct {
		Form            WikiExportForm `json:"form"`
		LifetimeSeconds int64          `json:"lifetimeSeconds"`
	}
	wikiRunBody struct {
		RepoURL         string `json:"repoUrl"`
		Branch          string `json:"branch"`
		CommitHash      string `json:"commitHash"`
		Email           string `json:"email"`
		PrivacyLevel    string `json:"privacyLevel"`
		SourceSessionID string `json:"sourceSessionId"`
	}
	wikiRunCreatedView struct {
		WikiRunID string `json:"wikiRunId"`
	}
	videoOverviewBody struct {
		VideoOverview map[string]any `json:"videoOverview"`
	}
	quietDayBody struct {
		Date string `json:"date"`
	}
	humanBody struct {
		Email     string         `json:"email"`
		FirstName string         `json:"firstName"`
		LastName  string         `json:"lastName"`
		Role      string         `json:"role"`
		Metadata  map[string]any `json:"metadata"`
	}
	humanView struct {
		ID  string `json:"id"`
		Key string `json:"key"`
	}
	sessionChangeBody struct {
		Status          *string           `json:"status"`
		Title           *string           `json:"title"`
		ParentSessionID *string           `json:"parentSessionId"`
		ComputerID      *string           `json:"computerId"`
		MessageCount    *int64            `json:"messageCount"`
		ServiceCredits  *float64          `json:"serviceCredits"`
		ArchivedAt      *string           `json:"archivedAt"`
		CompletedAt     *int64            `json:"completedAt"`
		Artifacts       []SessionArtifact `json:"artifacts"`
	}
	settingsOnReadsBody struct {
		On bool `json:"on"`
	}
	invitationBody struct {
		Email string `json:"email"`
		Role  string `json:"role"`
	}
	enterpriseControlsBody struct {
		Settings map[string]json.RawMessage `json:"settings"`
		Email    string                     `json:"email"`
	}
)

func (b faultBody) fault() Fault {
	return Fault{
		Operation: b.Operation, Kind: b.Kind, Status: b.Status, Body: b.Body, RetryAfter: b.RetryAfter, Delay: time.Duration(b.DelayMS) * time.Millisecond,
		After: b.After, Times: b.Times, PID: b.PID, Signal: syscall.Signal(b.Signal), Match: b.Match, Reads: b.Reads,
	}
}

func faultBodyOf(f Fault) faultBody {
	return faultBody{
		Operation: f.Operation, Kind: f.Kind, Status: f.Status, Body: f.Body, RetryAfter: f.RetryAfter, DelayMS: f.Delay.Milliseconds(),
		After: f.After, Times: f.Times, PID: f.PID, Signal: int(f.Signal), Match: f.Match, Reads: f.Reads,
	}
}

func (e *Emulator) serveControl(w http.ResponseWriter, r *http.Request) {
	_, given, _ := strings.Cut(r.Header.Get("Authorization"), "Bearer ")
	if subtle.ConstantTimeCompare([]byte(given), []byte(e.bootstrapKey)) != 1 {
		e.writeError(w, r, unauthorized("The control API needs the emulator's bootstrap key."))
		return
	}
	status, body, err := e.control(r)
	switch {
	case err != nil:
		e.writeError(w, r, err)
	case body == nil:
		w.WriteHeader(status)
	default:
		e.writeJSON(w, status, body)
	}
}

func (e *Emulator) control(r *http.Request) (status int, body any, err error) {
	path := strings.TrimPrefix(r.URL.Path, controlPrefix)
	switch r.Method + " " + path {
	case "POST reset":
		if err := e.Reset(); err != nil {
			return 0, nil, err
		}
		return 204, nil, nil
	case "GET journal":
		return 200, e.journalView(), nil
	case "DELETE journal":
		e.journal.Reset()
		return 204, nil, nil
	case "GET faults":
		return 200, e.faultsView(), nil
	case "DELETE faults":
		e.faults.Clear()
		return 204, nil, nil
	case "POST faults":
		var in faultBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if text := in.fault().problem(); text != "" {
			return 0, nil, badRequest("The fault is wrong: %s.", text)
		}
		if !e.hasOperation(in.Operation) {
			return 0, nil, badRequest("The fault is wrong: there is no operation %q.", in.Operation)
		}
		e.faults.Add(in.fault())
		return 201, e.faultsView(), nil
	case "GET clock":
		return 200, e.clockView(), nil
	case "POST clock":
		var in clockBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.moveClock(in); err != nil {
			return 0, nil, err
		}
		return 200, e.clockView(), nil
	case "POST provisioning-failures":
		var in provisioningFailureBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if in.Step != "" && stepNames[in.Step] == "" {
			return 0, nil, badRequest("There is no provisioning step %q.", in.Step)
		}
		e.FailProvisioning(FailStep(in))
		return 204, nil, nil
	case "POST bulk-failures":
		var in bulkFailureBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		e.FailBulkAfter(in.After, in.Message)
		return 204, nil, nil
	case "POST build-failures":
		var in buildFailureBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.FailBuild(BuildFailure(in)); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	case "POST environments/off", "POST environments/on":
		e.AllowEnvironments(path == "environments/on")
		return 204, nil, nil
	case "POST default-environment":
		var in defaultEnvironmentBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.SetDefaultEnvironment(in.EnvironmentID); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	case "POST tier":
		var in tierBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.SetTier(in.Tier); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	case "POST analytics/off", "POST analytics/on":
		e.AllowAnalytics(path == "analytics/on")
		return 204, nil, nil
	case "POST sessions/off", "POST sessions/on":
		e.AllowSessions(path == "sessions/on")
		return 204, nil, nil
	case "POST sessions/settings-on-reads":
		var in settingsOnReadsBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		e.SessionSettingsOnReads(in.On)
		return 204, nil, nil
	case "POST integration/off", "POST integration/on":
		e.ConnectIntegration(path == "integration/on")
		return 204, nil, nil
	case "POST repositories":
		var in repositoryBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.ConnectRepository(Repository(in)); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	case "DELETE repositories":
		if err := e.DisconnectRepository(r.URL.Query().Get("url")); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	case "POST ci/merge":
		var in workflowMergeBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.MergeWorkflow(in.RepoFullName, in.FilePath); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	case "POST ci/runs":
		var in map[string]any
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.AddCIRun(in); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	case "POST wiki-export":
		var in wikiExportBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.SetWikiExport(in.Form, time.Duration(in.LifetimeSeconds)*time.Second); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	case "POST wiki-runs":
		var in wikiRunBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		id, err := e.AddWikiRun(WikiRun{
			RepoURL: in.RepoURL, Branch: in.Branch, CommitHash: in.CommitHash, OwnerEmail: in.Email, PrivacyLevel: in.PrivacyLevel, SourceSessionID: in.SourceSessionID,
		})
		if err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 201, wikiRunCreatedView{id}, nil
	case "POST quiet-days":
		var in quietDayBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.AddQuietDay(in.Date); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	case "POST humans":
		var in humanBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		var out humanView
		if out.ID, out.Key, err = e.AddHuman(Human(in)); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 201, out, nil
	case "POST invitations":
		var in invitationBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.Invite(in.Email, in.Role); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	case "POST enterprise-controls":
		var in enterpriseControlsBody
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		if err := e.ChangeEnterpriseControls(in.Settings, in.Email); err != nil {
			return 0, nil, badRequest("%v.", err)
		}
		return 204, nil, nil
	}
	if id, found := strings.CutPrefix(path, "sessions/"); found && r.Method == http.MethodPost {
		return e.controlSession(r, id)
	}
	if id, found := strings.CutPrefix(path, "computers/"); found && r.Method == http.MethodPost {
		return e.controlComputer(id)
	}
	if id, found := strings.CutPrefix(path, "wiki-runs/"); found && r.Method == http.MethodPost {
		return e.controlWikiRun(r, id)
	}
	if id, found := strings.CutPrefix(path, "source-providers/"); found && r.Method == http.MethodPost {
		return e.controlSourceProvider(id)
	}
	return 0, nil, notFound("The control API has no operation %s %s.", r.Method, r.URL.Path)
}

// controlComputer serves computers/{id}/sleep, /break, /daemon-down and /daemon-up.
func (e *Emulator) controlComputer(path string) (status int, body any, err error) {
	id, act, _ := strings.Cut(path, "/")
	switch act {
	case "sleep":
		err = e.Sleep(id)
	case "break":
		err = e.Break(id)
	case "daemon-down":
		err = e.UnavailableDaemon(id)
	case "daemon-up":
		err = e.RestoreDaemon(id)
	default:
		return 0, nil, notFound("The control API can do sleep, break, daemon-down and daemon-up to a computer, not %q.", act)
	}
	if err != nil {
		return 0, nil, badRequest("%v.", err)
	}
	return 204, nil, nil
}

// controlSession serves sessions/{id}.
func (e *Emulator) controlSession(r *http.Request, id string) (status int, body any, err error) {
	var in sessionChangeBody
	if err := readControl(r, &in); err != nil {
		return 0, nil, err
	}
	if err := e.ChangeSession(id, SessionChange(in)); err != nil {
		return 0, nil, badRequest("%v.", err)
	}
	return 204, nil, nil
}

// controlWikiRun serves wiki-runs/{id}/video-overview.
func (e *Emulator) controlWikiRun(r *http.Request, path string) (status int, body any, err error) {
	id, act, _ := strings.Cut(path, "/")
	if act != "video-overview" {
		return 0, nil, notFound("The control API can give a wiki run a video-overview, not %q.", act)
	}
	var in videoOverviewBody
	if err := readControl(r, &in); err != nil {
		return 0, nil, err
	}
	if err := e.SetVideoOverview(id, in.VideoOverview); err != nil {
		return 0, nil, badRequest("%v.", err)
	}
	return 204, nil, nil
}

// controlSourceProvider serves source-providers/{id}/available and /unavailable.
func (e *Emulator) controlSourceProvider(path string) (status int, body any, err error) {
	id, act, _ := strings.Cut(path, "/")
	if act != "available" && act != "unavailable" {
		return 0, nil, notFound("The control API can make a provider of sources available and unavailable, not %q.", act)
	}
	if err := e.SetSourceProvider(id, act == "available"); err != nil {
		return 0, nil, badRequest("%v.", err)
	}
	return 204, nil, nil
}

func (e *Emulator) hasOperation(name string) bool {
	for i := range e.routes {
		if e.routes[i].operation == name {
			return true
		}
	}
	return name == ""
}

func readControl(r *http.Request, into any) error {
	dec := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return badRequest("The body cannot be read: %v.", err)
	}
	return nil
}

func (e *Emulator) journalView() any {
	views := []entryView{}
	for _, x := range e.journal.Entries() {
		views = append(views, entryView{
			Seq: x.Seq, Time: x.Time.UTC(), Operation: x.Operation, Method: x.Method, Route: x.Route, Path: x.Path, Query: x.Query,
			Status: x.Status, DurationMS: float64(x.Duration) / float64(time.Millisecond), Principal: x.Principal, Fault: x.Fault,
		})
	}
	return map[string]any{"entries": views}
}

func (e *Emulator) faultsView() any {
	views := []faultBody{}
	for _, f := range e.faults.Pending() {
		views = append(views, faultBodyOf(f))
	}
	return map[string]any{"faults": views}
}
