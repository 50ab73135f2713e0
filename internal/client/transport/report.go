package transport

import (
	"context"
	"encoding/json"
	"hash/maphash"
	"maps"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
)

// report appends to a file of its own what a provider requests and why it waits. The file never contains a key, a body, a header, a text to
// search for, a file name, a password in a URL, or what the service quotes. A nil report measures and writes nothing.
type report struct {
	folder, agent, apiKey string
	clock                 clock.Clock
	seed                  maphash.Seed
	names                 sync.Map // Of the objects that were read, by ID.

	mu       sync.Mutex
	file     *os.File // Nil before the first line, and if there can be none.
	isBroken bool
}

// newReport returns the report of a connection; nil without a folder.
func newReport(cfg Config) *report {
	if cfg.ReportFolder == "" {
		return nil
	}
	return &report{folder: cfg.ReportFolder, agent: cfg.UserAgent, apiKey: cfg.APIKey, clock: cfg.Clock, seed: maphash.MakeSeed()}
}

var (
	// passwordInURL is what may stand before the host in a URL, as JSON has it.
	passwordInURL = regexp.MustCompile(`://(?:[^/\s"\\]|\\.)+@`)
	// quoted is what the service quotes, from the first quote to the last: a script has quotes too. Without a last one, it was cut off.
	quoted = regexp.MustCompile(`(?s)(["\x60“]|\B')(.*["'\x60”]\B|.*)`)
	// written is what people write in a body, and a file.
	written = regexp.MustCompile(`"(?:append|content|customPrompt|cwd|data|description|parsedData|path|script|setupScript|systemPrompt|text|title|yamlParams)":("(?:[^"\\]|\\.)+")`)
)

// conceal hides in a text of the service what it quotes, and whatever it repeats of other texts: lines, and words with more than letters.
func conceal(text string, secrets []string) string {
	var parts []string
	for _, secret := range secrets {
		parts = append(parts, strings.Split(secret, "\n")...)
		parts = append(parts, strings.FieldsFunc(secret, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune(`"'=:,;()`, c) })...)
	}
	slices.SortFunc(parts, func(a, b string) int { return len(b) - len(a) })
	for _, part := range parts {
		part = strings.TrimSpace(part)
		if len(part) >= 4 && strings.ContainsFunc(strings.TrimRight(part, ".!?"), func(c rune) bool { return !unicode.IsLetter(c) }) {
			text = strings.ReplaceAll(text, part, "…")
		}
	}
	return quoted.ReplaceAllString(text, `"…"`)
}

// write appends a line. A folder that cannot be written is logged once.
func (r *report) write(ctx context.Context, line *runreport.Line) {
	text, err := json.Marshal(line)
	key, _ := json.Marshal(r.apiKey) // A string can always be encoded.
	text = passwordInURL.ReplaceAll([]byte(strings.ReplaceAll(string(text), string(key[1:len(key)-1]), "***")), []byte("://***@"))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isBroken {
		return
	}
	if r.file == nil && err == nil {
		if err = os.MkdirAll(r.folder, 0o700); err == nil {
			started := r.clock.Now().UTC()
			r.file, err = os.CreateTemp(r.folder, started.Format("20060102T150405Z")+"-*.jsonl")
			head, _ := json.Marshal(runreport.Line{Version: runreport.Version, Time: started, Agent: r.agent}) // The same.
			text = slices.Concat(head, []byte("\n"), text)
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
func (r *report) timed(line runreport.Line, from time.Time) *runreport.Line {
	line.Time, line.Milliseconds = from.UTC(), float64(r.clock.Now().Sub(from).Microseconds())/1000
	return &line
}

// waited reports a wait. What took no time was none.
func (r *report) waited(ctx context.Context, wait runreport.Line, from time.Time) {
	if r != nil && r.clock.Now().Sub(from) >= time.Millisecond {
		r.write(ctx, r.timed(wait, from))
	}
}

// NoteWait reports a wait since a time for an object, and the status that it then had.
func (c *Conn) NoteWait(ctx context.Context, reason string, object wire.Ref, state string, from time.Time) {
	wait := runreport.Line{Wait: reason, State: state}
	if object.ID != "" {
		wait.Objects = []runreport.Object{{ID: object.ID, Name: object.Name}}
	}
	c.report.waited(ctx, wait, from)
}

// NoteFound reports an object that was found after a lost response.
func (c *Conn) NoteFound(ctx context.Context, object wire.Ref) {
	if c.report != nil {
		c.report.write(ctx, &runreport.Line{Objects: []runreport.Object{{ID: object.ID, Name: object.Name}}, State: runreport.StateFound})
	}
}

// described is what the lines about all attempts at a request have in common: no names of files, and no text to search for.
func (r *report) described(request Request, target string, body []byte) (line runreport.Line) {
	if r == nil {
		return line
	}
	line.Operation, line.Method, line.Route, line.Name = request.Op.Name, request.Op.Method, request.Op.Route, runreport.NameIn(body)
	for i, id := range request.Path {
		if isFile(request.Op, i) {
			id = "(file)"
		}
		name, _ := r.names.Load(id)
		text, _ := name.(string)
		line.Path = append(line.Path, runreport.Object{ID: id, Name: text})
	}
	query := url.Values{}
	maps.Copy(query, request.Query)
	query.Del("q")
	line.Query, _ = url.QueryUnescape(query.Encode()) // What was just escaped can be read.
	line.Hash = strconv.FormatUint(maphash.String(r.seed, target+"\n"+string(body)), 16)
	return line
}

// isFile reports whether a value of a path is the name of a file.
func isFile(op Operation, at int) bool { return at > 0 && strings.Contains(op.Route, "{fileName}") }

// writing is what no report may repeat of a request: its search, its file, and what people write in its body.
func (r Request) writing(body []byte) []string {
	texts := slices.Clone(r.Query["q"])
	for i, value := range r.Path {
		if isFile(r.Op, i) {
			texts = append(texts, value)
		}
	}
	for _, password := range passwordInURL.FindAllString(string(body), -1) {
		texts = append(texts, strings.Trim(password, ":/@"))
	}
	for _, found := range written.FindAllSubmatch(body, -1) {
		var text string
		_ = json.Unmarshal(found[1], &text) // It is a string of JSON.
		texts = append(texts, text)
	}
	return texts
}

// reportAttempt reports an attempt, with the response that was read.
func (c *Conn) reportAttempt(ctx context.Context, state *attempts, from time.Time, resp *http.Response, err error, again bool) {
	r := c.report
	if r == nil {
		return
	}
	line := r.timed(state.line, from)
	if resp != nil {
		line.Status, line.Unusable = resp.StatusCode, err != nil
	}
	refusal := state.refusal
	switch {
	case resp == nil || err != nil || again:
	case resp.StatusCode >= http.StatusBadRequest:
		refusal = c.ErrorOf(state.request.Op, resp, state.body)
	case state.request.Op.Changes():
		line.Objects, line.Refusals, _ = runreport.Answer(state.request.Op.Name, state.body)
		for _, object := range line.Objects {
			r.know(wire.Ref{ID: object.ID, Name: object.Name})
		}
	}
	if refusal != nil {
		line.Refusals, line.RequestID = []string{refusal.Detail}, refusal.RequestID
	}
	if line.Refusals != nil {
		secrets := state.request.writing(state.sent)
		for i, text := range line.Refusals {
			line.Refusals[i] = conceal(strings.ReplaceAll(text, r.apiKey, "***"), secrets)
		}
	}
	r.write(ctx, line)
}

// know remembers the name of an object, and reports whether it is new.
func (r *report) know(object wire.Ref) bool {
	if r == nil || object.Name == "" {
		return false
	}
	_, isKnown := r.names.LoadOrStore(object.ID, object.Name)
	return !isKnown
}

// read reports the name of an object when it is first read, and why it failed, if it says so.
func (r *report) read(ctx context.Context, object interface{ Ref() wire.Ref }) {
	if r == nil {
		return
	}
	ref := object.Ref()
	line := &runreport.Line{Objects: []runreport.Object{{ID: ref.ID, Name: ref.Name}}}
	if failing, ok := object.(interface{ Failure() string }); ok {
		line.State = failing.Failure()
	}
	if r.know(ref) || line.State != "" {
		r.write(ctx, line)
	}
}
