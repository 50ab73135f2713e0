package emulator

import (
	"cmp"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// controlPrefix begins the paths of the control API, which lets people and outside programs do what a test does in Go.
// README.md describes it. Faults and the journal do not apply to its requests, and it accepts the bootstrap key only.
const controlPrefix = "/_emulator/"

// Fields whose form in JSON is another one than in Go.
type (
	entryView struct {
		Entry
		DurationMS float64 `json:"durationMs"`
	}
	faultBody struct {
		Fault
		DelayMS int64 `json:"delayMs,omitempty"`
	}
	sessionAnswerBody struct {
		SessionAnswer
		After string `json:"after"`
	}
)

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

		"POST provisioning-failures": takes(func(in FailStep) error {
			if in.Step != "" && stepNames[in.Step] == "" {
				return fmt.Errorf("the provisioning step %q does not exist", in.Step)
			}
			e.FailProvisioning(in)
			return nil
		}),
		"POST bulk-failures":  takes(func(in bulkFailure) error { e.FailBulkAfter(in.After, in.Message); return nil }),
		"POST build-failures": takes(e.FailBuild),

		"POST computers/{id}/sleep":       onObject(e.Sleep),
		"POST computers/{id}/break":       onObject(e.Break),
		"DELETE computers/{id}":           onObject(e.LoseComputer),
		"POST computers/{id}/daemon-down": onObject(e.UnavailableDaemon),
		"POST computers/{id}/daemon-up":   onObject(e.RestoreDaemon),

		"POST environments/{id}/build":           onObject(e.StartBuild),
		"POST default-environment":               takes(func(in struct{ EnvironmentID string }) error { return e.SetDefaultEnvironment(in.EnvironmentID) }),
		"POST source-providers/{id}/available":   onObject(func(id string) error { return e.SetSourceProvider(id, true) }),
		"POST source-providers/{id}/unavailable": onObject(func(id string) error { return e.SetSourceProvider(id, false) }),

		"POST sessions/settings-on-reads": takes(func(in struct{ On bool }) error { e.SessionSettingsOnReads(in.On); return nil }),
		"POST sessions/{id}":              changes(e.ChangeSession),
		"POST sessions/{id}/answers": changes(func(id string, in sessionAnswerBody) error {
			answer, err := in.answer()
			if err != nil {
				return err
			}
			return e.ScriptAnswer(id, answer)
		}),
		"POST sessions/{id}/messages": changes(e.AddMessage),

		"POST tier":        takes(func(in struct{ Tier string }) error { return e.SetTier(in.Tier) }),
		"POST quiet-days":  takes(func(in struct{ Date string }) error { return e.AddQuietDay(in.Date) }),
		"POST humans":      jsonHandler(e.addHuman),
		"POST invitations": takes(func(in struct{ Email, Role string }) error { return e.Invite(in.Email, in.Role) }),
		"POST seats":       takes(func(in struct{ Seats int }) error { return e.SetSeats(in.Seats) }),
		"POST enterprise-controls": takes(func(in struct {
			Settings map[string]json.RawMessage
			Email    string
		}) error {
			return e.ChangeEnterpriseControls(in.Settings, in.Email)
		}),

		"POST repositories": takes(e.ConnectRepository),
		"DELETE repositories": func(r *http.Request) (int, any, error) {
			return done(e.DisconnectRepository(r.URL.Query().Get("url")))
		},
		"POST ci/merge": takes(func(in struct{ RepoFullName, FilePath string }) error {
			return e.MergeWorkflow(in.RepoFullName, in.FilePath)
		}),
		"POST ci/runs": takes(e.AddCIRun),

		"POST wiki-export": takes(func(in struct {
			Form            WikiExportForm
			LifetimeSeconds int64
		}) error {
			return e.SetWikiExport(in.Form, time.Duration(in.LifetimeSeconds)*time.Second)
		}),
		"POST wiki-runs": jsonHandler(e.addWikiRun),
		"POST wiki-runs/{id}/video-overview": changes(func(id string, in struct{ VideoOverview map[string]any }) error {
			return e.SetVideoOverview(id, in.VideoOverview)
		}),
	}
	for name, allow := range map[string]func(bool){
		"environments": e.AllowEnvironments, "sessions": e.AllowSessions, "analytics": e.AllowAnalytics, "integration": e.ConnectIntegration,
	} {
		table["POST "+name+"/on"], table["POST "+name+"/off"] = does(func() { allow(true) }), does(func() { allow(false) })
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
		status, body, err := act(in)
		return status, body, sentence(err)
	}
}

// done is the empty answer of an operation, or its refusal.
func done(err error) (int, any, error) { return http.StatusNoContent, nil, sentence(err) }

// sentence is a 400 with an error as a sentence. It keeps no error, and a response.
func sentence(err error) error {
	var known *apiError
	if err == nil || errors.As(err, &known) {
		return err
	}
	text := err.Error()
	return badRequest("%s%s.", strings.ToUpper(text[:1]), text[1:])
}

func (e *Emulator) addFault(in faultBody) (int, any, error) {
	in.Delay = time.Duration(in.DelayMS) * time.Millisecond
	if text := in.problem(); text != "" {
		return 0, nil, badRequest("The fault is wrong: %s.", text)
	}
	if !e.hasOperation(in.Operation) {
		return 0, nil, badRequest("The fault is wrong: the operation %q does not exist.", in.Operation)
	}
	e.faults.Add(in.Fault)
	return http.StatusCreated, e.faultsView(), nil
}

func (e *Emulator) addWikiRun(in WikiRun) (int, any, error) {
	id, err := e.AddWikiRun(in)
	return http.StatusCreated, map[string]string{"wikiRunId": id}, err
}

func (e *Emulator) addHuman(in Human) (int, any, error) {
	id, key, err := e.AddHuman(in)
	return http.StatusCreated, map[string]string{"id": id, "key": key}, err
}

func (e *Emulator) hasOperation(name string) bool { return name == "" || e.routes[name] != nil }

func readControl(r *http.Request, into any) error {
	dec := json.NewDecoder(io.LimitReader(r.Body, maxBody))
	dec.DisallowUnknownFields()
	err := dec.Decode(into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.Is(err, io.EOF):
		return badRequest("The operation needs a JSON body, such as {}.")
	case errors.As(err, &wrong):
		return badRequest("The JSON body is wrong: %s must not be a JSON %s.", cmp.Or(strings.ToLower(wrong.Field), "it"), wrong.Value)
	case err != nil:
		return badRequest("The JSON body is wrong: %s.", strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

func (e *Emulator) journalView() any {
	views := []entryView{}
	for _, x := range e.journal.Entries() {
		x.Time = x.Time.UTC()
		views = append(views, entryView{x, float64(x.Duration) / float64(time.Millisecond)})
	}
	return map[string]any{"entries": views}
}

func (e *Emulator) faultsView() any {
	views := []faultBody{}
	for _, f := range e.faults.Pending() {
		views = append(views, faultBody{f, f.Delay.Milliseconds()})
	}
	return map[string]any{"faults": views}
}
