package transport

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/maphash"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// The reasons of waits in a report.
const (
	waitRate   = "rate limit"
	waitAfter  = "Retry-After"
	waitRetry  = "retry"
	WaitStatus = "status"
	WaitSearch = "search after a lost response"
)

// reportVersion is the version of the format of reports.
const reportVersion = 1

// report appends to a file of its own what a provider requests and why it waits, as a JSON object on each line. It never contains a key, a
// body, a header, a text to search for, a file name, a password in a URL, or what the service quotes. A nil report measures and writes nothing.
type report struct {
	folder, agent, apiKey string
	clock                 clock.Clock
	seed                  maphash.Seed

	mu       sync.Mutex
	file     *os.File // Nil before the first line, and if there can be none.
	isBroken bool
	// names has the objects that were read, by ID.
	names map[string]string
}

// reportLine is an attempt at a request, a wait, or an object that was read.
type reportLine struct {
	Time         *time.Time     `json:"time,omitempty"`
	Milliseconds float64        `json:"ms,omitempty"`
	Operation    string         `json:"operation,omitempty"`
	Method       string         `json:"method,omitempty"`
	Route        string         `json:"route,omitempty"`
	Path         []reportObject `json:"path,omitempty"` // What the placeholders of the route stand for.
	Query        string         `json:"query,omitempty"`
	Name         string         `json:"name,omitempty"` // Of the object in the body.
	Hash         string         `json:"hash,omitempty"` // Equal requests of a process have the same.
	Status       int            `json:"status,omitempty"`
	Unusable     bool           `json:"unusable,omitempty"` // Nobody can read the response.
	RequestID    string         `json:"request_id,omitempty"`
	Refusals     []string       `json:"refusals,omitempty"` // Why the service refused the request, or parts of it.
	Objects      []reportObject `json:"objects,omitempty"`  // What the request created or changed, or what was read.
	Wait         string         `json:"wait,omitempty"`
	State        string         `json:"state,omitempty"` // The status that a wait ended with.
}

type reportObject struct {
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
}

// newReport returns the report of a connection; nil without a folder.
func newReport(cfg Config) *report {
	if cfg.ReportFolder == "" {
		return nil
	}
	return &report{folder: cfg.ReportFolder, agent: cfg.UserAgent, apiKey: cfg.APIKey, clock: cfg.Clock, seed: maphash.MakeSeed(), names: map[string]string{}}
}

var (
	// passwordInURL is what may stand before the host in a URL.
	passwordInURL = regexp.MustCompile(`://[^/\s]+@`)
	// quoted is what the service quotes, from the first quote to the last: a script has quotes too. Without a last one, it was cut off.
	quoted = regexp.MustCompile(`(?s)(["\x60“]|\B')(.*["'\x60”]\B|.*)`)
)

// mask hides the API key and passwords. Text that is already encoded may have them in another form.
func (r *report) mask(text string) string {
	return passwordInURL.ReplaceAllString(strings.ReplaceAll(text, r.apiKey, "***"), "://***@")
}

// write appends a line without secrets. A folder that cannot be written is logged once.
func (r *report) write(ctx context.Context, line *reportLine) {
	line.Name, line.State, line.RequestID = r.mask(line.Name), r.mask(line.State), r.mask(line.RequestID)
	for i, refusal := range line.Refusals {
		line.Refusals[i] = quoted.ReplaceAllString(r.mask(refusal), `"…"`)
	}
	for _, objects := range [][]reportObject{line.Path, line.Objects} {
		for i, object := range objects {
			objects[i] = reportObject{r.mask(object.ID), r.mask(object.Name)}
		}
	}
	text, err := json.Marshal(line)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isBroken {
		return
	}
	if r.file == nil && err == nil {
		if err = os.MkdirAll(r.folder, 0o700); err == nil {
			started := r.clock.Now().UTC()
			r.file, err = os.CreateTemp(r.folder, started.Format("20060102T150405Z")+"-*.jsonl")
			text = fmt.Appendf(nil, "{\"agentyard_run_report\":%d,\"time\":%q,\"agent\":%q}\n%s", reportVersion, started.Format(time.RFC3339Nano), r.agent, text)
		}
	}
	if err == nil {
		_, err = r.file.Write(append(text, '\n'))
	}
	if r.isBroken = err != nil; r.isBroken {
		tflog.Warn(ctx, "The run report cannot be written", map[string]any{"folder": r.folder, "error": err.Error()})
	}
}

// timed returns a line about what has lasted until now.
func (r *report) timed(from time.Time) *reportLine {
	from = from.UTC()
	return &reportLine{Time: &from, Milliseconds: float64(r.clock.Now().Sub(from).Microseconds()) / 1000}
}

// waited reports a wait for an object or, if that has no ID, for a request. What took no time was none.
func (r *report) waited(ctx context.Context, reason, operation string, object wire.Ref, state string, from time.Time) {
	if r == nil || r.clock.Now().Sub(from) < time.Millisecond {
		return
	}
	line := r.timed(from)
	line.Wait, line.Operation, line.State = reason, operation, state
	if object.ID != "" {
		line.Objects = []reportObject{{object.ID, object.Name}}
	}
	r.write(ctx, line)
}

// NoteWait reports a wait since a time for an object, and the status that it then had.
func (c *Conn) NoteWait(ctx context.Context, reason string, object wire.Ref, state string, from time.Time) {
	c.report.waited(ctx, reason, "", object, state, from)
}

// attempt reports an attempt. That of the last one with a response waits for answered.
func (r *report) attempt(ctx context.Context, state *attempts, from time.Time, resp *http.Response, err error, again bool) {
	if r == nil {
		return
	}
	line := r.timed(from)
	line.Operation, line.Method, line.Route = state.op.Name, state.op.Method, state.op.Route
	line.Path, line.Query, line.Name, line.Hash = r.named(state.path), state.query, state.name, strconv.FormatUint(state.hash, 16)
	if resp != nil {
		line.Status, line.Unusable = resp.StatusCode, err != nil
	}
	if state.refusal != nil {
		line.Refusals, line.RequestID = []string{state.refusal.Detail}, state.refusal.RequestID
	}
	if state.line = line; again || err != nil {
		r.write(ctx, line)
	}
}

// named adds the known names to the IDs in a path.
func (r *report) named(ids []string) (path []reportObject) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, id := range ids {
		path = append(path, reportObject{id, r.names[id]})
	}
	return path
}

// identify notes the request of a call: its path without names of files, the name in its body, and what makes it equal to another.
func (r *report) identify(state *attempts, request Request, target string, body []byte) {
	if r == nil {
		return
	}
	for i, value := range request.Path {
		if i > 0 && strings.Contains(request.Op.Route, "{fileName}") {
			value = "(file)"
		}
		state.path = append(state.path, value)
	}
	var named struct {
		Name, NamePrefix, Email, RepoURL, EnvironmentID string
		Users                                           []struct{ Email string }
	}
	_ = json.Unmarshal(body, &named) // Not every request has a body.
	state.name = named.Name + named.NamePrefix + named.Email + named.RepoURL + named.EnvironmentID
	for i, user := range named.Users {
		state.name += strings.Repeat(", ", min(i, 1)) + user.Email
	}
	query := url.Values{}
	for name, values := range request.Query {
		for _, value := range values {
			query.Add(name, r.mask(value))
		}
	}
	query.Del("q")
	state.query = query.Encode()
	state.hash = maphash.String(r.seed, target+"\n"+string(body))
}

// answered reports the attempt with the final response: an error, or what a request that changes something did.
func (r *report) answered(ctx context.Context, state *attempts, failed *APIError, body []byte) {
	if r == nil {
		return
	}
	switch line := state.line; {
	case failed != nil:
		line.Refusals, line.RequestID = []string{failed.Detail}, failed.RequestID
	case state.op.Changes():
		line.Objects, line.Refusals = readAnswer(body)
	}
	r.write(ctx, state.line)
}

// readAnswer returns the objects in the response to a request that changes something, and why the service refused parts of it.
func readAnswer(body []byte) (objects []reportObject, refusals []string) {
	type part struct {
		ID, SessionID, WikiRunID, Name, Email, RepoFullName string
		Error                                               json.RawMessage
	}
	var whole struct {
		part
		APIKey, Computer, Environment, ServiceAccount, Session, WikiRun part
		Computers, Errors, Sessions                                     []part
		RequestedQuantity                                               int
	}
	_ = json.Unmarshal(body, &whole) // Fields of other types count as missing.
	parts := append([]part{whole.part, whole.APIKey, whole.Computer, whole.Environment, whole.ServiceAccount, whole.Session, whole.WikiRun}, whole.Computers...)
	for _, p := range parts {
		if id := p.ID + p.SessionID + p.WikiRunID; id != "" {
			objects = append(objects, reportObject{id, p.Name})
		}
	}
	for _, p := range append(append([]part{whole.part}, whole.Errors...), whole.Sessions...) {
		text, isText := wire.TextOf(p.Error)
		switch {
		case isText && text != "":
			refusals = append(refusals, strings.TrimPrefix(p.Email+p.RepoFullName+": "+text, ": "))
		case len(p.Error) > 0 && p.Error[0] == '{':
			var stopped struct{ Message string }
			_ = json.Unmarshal(p.Error, &stopped)
			refusals = append(refusals, fmt.Sprintf("%d of %d computers created: %s", len(whole.Computers), whole.RequestedQuantity, stopped.Message))
		}
	}
	return objects, refusals
}

// know remembers the names of objects that were read. The single object of a response is reported.
func (r *report) know(ctx context.Context, isSingle bool, refs ...wire.Ref) {
	if r == nil {
		return
	}
	var news []reportObject
	r.mu.Lock()
	for _, ref := range refs {
		if ref.Name != "" && r.names[ref.ID] == "" {
			r.names[ref.ID] = ref.Name
			news = append(news, reportObject{ref.ID, ref.Name})
		}
	}
	r.mu.Unlock()
	if isSingle && news != nil {
		r.write(ctx, &reportLine{Objects: news})
	}
}
