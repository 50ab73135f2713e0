package emulator

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// controlPrefix begins the paths of the control API, which lets people and outside programs do what a test does in Go.
// README.md describes it. Faults and the journal do not apply to its requests, and it accepts the bootstrap key only.
const controlPrefix = "/_emulator/"

// The bodies of the control API.
type (
	entryView struct {
		Seq        int       `json:"seq"`
		Run        int       `json:"run"`
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
	sessionAnswerBody struct {
		Text     string `json:"text"`
		After    string `json:"after"`
		ToolUses int    `json:"tool_uses"`
		IsError  bool   `json:"is_error"`
	}
	sessionMessageBody struct {
		Role    string            `json:"role"`
		Content []json.RawMessage `json:"content"`
		IsError bool              `json:"isError"`
	}
	settingsOnReadsBody struct {
		On bool `json:"on"`
	}
	seatsBody struct {
		Seats int `json:"seats"`
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
		After: b.After, Times: b.Times, Match: b.Match, Reads: b.Reads,
	}
}

func faultBodyOf(f Fault) faultBody {
	return faultBody{
		Operation: f.Operation, Kind: f.Kind, Status: f.Status, Body: f.Body, RetryAfter: f.RetryAfter, DelayMS: f.Delay.Milliseconds(),
		After: f.After, Times: f.Times, Match: f.Match, Reads: f.Reads,
	}
}

func (e *Emulator) serveControl(w http.ResponseWriter, r *http.Request) {
	given, found := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !found || subtle.ConstantTimeCompare([]byte(given), []byte(e.bootstrapKey)) != 1 {
		e.writeError(w, r, unauthorized("The control API needs the emulator's bootstrap key."))
		return
	}
	e.controls.ServeHTTP(w, r)
}

// reply writes the response of an operation of the control API.
func (e *Emulator) reply(w http.ResponseWriter, r *http.Request, operation controlFunc) {
	status, body, err := operation(r)
	switch {
	case err != nil:
		e.writeError(w, r, err)
	case body == nil:
		w.WriteHeader(status)
	default:
		e.writeJSON(w, status, body)
	}
}

// controlFunc carries out one operation of the control API. Without a body the response is empty.
type controlFunc func(r *http.Request) (status int, body any, err error)

// newControls is the table of the control API.
func newControls(e *Emulator) *http.ServeMux {
	table := map[string]controlFunc{
		"POST reset": func(*http.Request) (int, any, error) { return http.StatusNoContent, nil, e.Reset() },

		"GET journal":    func(*http.Request) (int, any, error) { return http.StatusOK, e.journalView(), nil },
		"DELETE journal": does(e.journal.Reset),
		"GET faults":     func(*http.Request) (int, any, error) { return http.StatusOK, e.faultsView(), nil },
		"DELETE faults":  does(e.faults.Clear),
		"POST faults":    jsonHandler(e.addFault),
		"GET clock":      func(*http.Request) (int, any, error) { return http.StatusOK, e.clockView(), nil },
		"POST clock": jsonHandler(func(in clockBody) (int, any, error) {
			if err := e.moveClock(in); err != nil {
				return 0, nil, err
			}
			return http.StatusOK, e.clockView(), nil
		}),

		"POST provisioning-failures": takes(func(in provisioningFailureBody) error {
			if in.Step != "" && stepNames[in.Step] == "" {
				return fmt.Errorf("the provisioning step %q does not exist", in.Step)
			}
			e.FailProvisioning(FailStep(in))
			return nil
		}),
		"POST bulk-failures": takes(func(in bulkFailureBody) error {
			e.FailBulkAfter(in.After, in.Message)
			return nil
		}),
		"POST build-failures": takes(func(in buildFailureBody) error { return e.FailBuild(BuildFailure(in)) }),

		"POST computers/{id}/sleep":       onObject(e.Sleep),
		"POST computers/{id}/break":       onObject(e.Break),
		"DELETE computers/{id}":           onObject(e.LoseComputer),
		"POST computers/{id}/daemon-down": onObject(e.UnavailableDaemon),
		"POST computers/{id}/daemon-up":   onObject(e.RestoreDaemon),

		"POST environments/on":         does(func() { e.AllowEnvironments(true) }),
		"POST environments/off":        does(func() { e.AllowEnvironments(false) }),
		"POST environments/{id}/build": onObject(e.StartBuild),
		"POST default-environment":     takes(func(in defaultEnvironmentBody) error { return e.SetDefaultEnvironment(in.EnvironmentID) }),
		"POST source-providers/{id}/available": onObject(func(id string) error {
			return e.SetSourceProvider(id, true)
		}),
		"POST source-providers/{id}/unavailable": onObject(func(id string) error {
			return e.SetSourceProvider(id, false)
		}),

		"POST sessions/on":  does(func() { e.AllowSessions(true) }),
		"POST sessions/off": does(func() { e.AllowSessions(false) }),
		"POST sessions/settings-on-reads": takes(func(in settingsOnReadsBody) error {
			e.SessionSettingsOnReads(in.On)
			return nil
		}),
		"POST sessions/{id}": changes(func(id string, in sessionChangeBody) error { return e.ChangeSession(id, SessionChange(in)) }),
		"POST sessions/{id}/answers": changes(func(id string, in sessionAnswerBody) error {
			answer, err := in.answer()
			if err != nil {
				return err
			}
			return e.ScriptAnswer(id, answer)
		}),
		"POST sessions/{id}/messages": changes(func(id string, in sessionMessageBody) error { return e.AddMessage(id, SessionMessage(in)) }),

		"POST tier":                takes(func(in tierBody) error { return e.SetTier(in.Tier) }),
		"POST analytics/on":        does(func() { e.AllowAnalytics(true) }),
		"POST analytics/off":       does(func() { e.AllowAnalytics(false) }),
		"POST quiet-days":          takes(func(in quietDayBody) error { return e.AddQuietDay(in.Date) }),
		"POST humans":              jsonHandler(e.addHuman),
		"POST invitations":         takes(func(in invitationBody) error { return e.Invite(in.Email, in.Role) }),
		"POST seats":               takes(func(in seatsBody) error { return e.SetSeats(in.Seats) }),
		"POST enterprise-controls": takes(func(in enterpriseControlsBody) error { return e.ChangeEnterpriseControls(in.Settings, in.Email) }),

		"POST integration/on":  does(func() { e.ConnectIntegration(true) }),
		"POST integration/off": does(func() { e.ConnectIntegration(false) }),
		"POST repositories":    takes(func(in repositoryBody) error { return e.ConnectRepository(Repository(in)) }),
		"DELETE repositories": func(r *http.Request) (int, any, error) {
			return done(e.DisconnectRepository(r.URL.Query().Get("url")))
		},
		"POST ci/merge": takes(func(in workflowMergeBody) error { return e.MergeWorkflow(in.RepoFullName, in.FilePath) }),
		"POST ci/runs":  takes(e.AddCIRun),

		"POST wiki-export": takes(func(in wikiExportBody) error {
			return e.SetWikiExport(in.Form, time.Duration(in.LifetimeSeconds)*time.Second)
		}),
		"POST wiki-runs":                     jsonHandler(e.addWikiRun),
		"POST wiki-runs/{id}/video-overview": changes(func(id string, in videoOverviewBody) error { return e.SetVideoOverview(id, in.VideoOverview) }),
	}
	mux := http.NewServeMux()
	for pattern, operation := range table {
		method, path, _ := strings.Cut(pattern, " ")
		mux.HandleFunc(method+" "+controlPrefix+path, func(w http.ResponseWriter, r *http.Request) { e.reply(w, r, operation) })
	}
	mux.HandleFunc(controlPrefix, func(w http.ResponseWriter, r *http.Request) {
		e.writeError(w, r, notFound("The control API has no operation %s %s.", r.Method, r.URL.Path))
	})
	return mux
}

// does is an operation without a body that always succeeds.
func does(act func()) controlFunc {
	return func(*http.Request) (int, any, error) {
		act()
		return http.StatusNoContent, nil, nil
	}
}

// onObject is an operation without a body on the object whose ID is in the path.
func onObject(act func(id string) error) controlFunc {
	return func(r *http.Request) (int, any, error) { return done(act(r.PathValue("id"))) }
}

// takes is an operation with a body and an empty answer.
func takes[T any](act func(T) error) controlFunc {
	return jsonHandler(func(in T) (int, any, error) { return done(act(in)) })
}

// changes is an operation with a body on the object whose ID is in the path.
func changes[T any](act func(id string, in T) error) controlFunc {
	return func(r *http.Request) (int, any, error) {
		return takes(func(in T) error { return act(r.PathValue("id"), in) })(r)
	}
}

// jsonHandler is an operation with a body and a response.
func jsonHandler[T any](act func(T) (int, any, error)) controlFunc {
	return func(r *http.Request) (int, any, error) {
		var in T
		if err := readControl(r, &in); err != nil {
			return 0, nil, err
		}
		return act(in)
	}
}

// done is the empty answer of an operation, or its refusal.
func done(err error) (int, any, error) {
	if err != nil {
		return 0, nil, sentence(err)
	}
	return http.StatusNoContent, nil, nil
}

// sentence is a 400 with an error as a sentence.
func sentence(err error) error {
	text := err.Error()
	return badRequest("%s%s.", strings.ToUpper(text[:1]), text[1:])
}

func (e *Emulator) addFault(in faultBody) (int, any, error) {
	if text := in.fault().problem(); text != "" {
		return 0, nil, badRequest("The fault is wrong: %s.", text)
	}
	if !e.hasOperation(in.Operation) {
		return 0, nil, badRequest("The fault is wrong: the operation %q does not exist.", in.Operation)
	}
	e.faults.Add(in.fault())
	return http.StatusCreated, e.faultsView(), nil
}

func (e *Emulator) addWikiRun(in wikiRunBody) (int, any, error) {
	id, err := e.AddWikiRun(WikiRun{
		RepoURL: in.RepoURL, Branch: in.Branch, CommitHash: in.CommitHash, OwnerEmail: in.Email, PrivacyLevel: in.PrivacyLevel, SourceSessionID: in.SourceSessionID,
	})
	if err != nil {
		return 0, nil, sentence(err)
	}
	return http.StatusCreated, wikiRunCreatedView{id}, nil
}

func (e *Emulator) addHuman(in humanBody) (int, any, error) {
	id, key, err := e.AddHuman(Human(in))
	if err != nil {
		return 0, nil, sentence(err)
	}
	return http.StatusCreated, humanView{ID: id, Key: key}, nil
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
			Seq: x.Seq, Run: x.Run, Time: x.Time.UTC(), Operation: x.Operation, Method: x.Method, Route: x.Route, Path: x.Path, Query: x.Query,
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
