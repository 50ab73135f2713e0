package statuspage

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/runreport"
)

// faultUnusable stands for a response that the client could not read.
const faultUnusable = "unusable"

// Report is what the run reports in a folder say, oldest run first.
type Report struct {
	Problems []string // What could not be read, one line each.
	Runs     []*runView
	entries  [][]Entry
}

// ReadReport reads the run reports in a folder.
func ReadReport(folder string) (*Report, error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	report, names := &Report{}, map[string]Row{}
	var runs [][]runreport.Line
	for _, file := range files {
		if filepath.Ext(file.Name()) != ".jsonl" {
			continue
		}
		lines, problem := readLines(filepath.Join(folder, file.Name()))
		if problem != "" {
			report.Problems = append(report.Problems, file.Name()+": "+problem)
		}
		if len(lines) > 1 {
			runs = append(runs, lines)
		}
		for _, l := range lines {
			for _, o := range slices.Concat(l.Path, l.Objects) {
				row := names[o.ID]
				row.ID, row.Name = o.ID, cmp.Or(o.Name, row.Name)
				if _, note, noted := strings.Cut(l.State, ": "); noted {
					row.Note = Short(note) + "; the reason is in Terraform's output"
				}
				names[o.ID] = row
			}
		}
	}
	if len(runs) == 0 {
		return nil, errors.New(strings.Join(append([]string{folder + " has no run with a request; set AGENTYARD_RUN_REPORT to this folder before you run Terraform"}, report.Problems...), "; "))
	}
	slices.SortFunc(runs, func(a, b []runreport.Line) int { return a[0].Time.Compare(b[0].Time) })
	for _, lines := range runs {
		entries := entriesOf(lines, len(report.Runs)+1, names)
		if len(entries) == 0 {
			continue
		}
		last := entries[len(entries)-1].Started.Add(time.Hour) // No attempt is under way.
		r := viewRun(entries, names, last, last, false, false)
		r.More = false // There is no other page.
		for i := range r.Changes {
			r.Changes[i].Path = ""
		}
		r.Open, r.Started.Age = r.IsChange || len(r.Failures) > 0, entries[0].Started.UTC().Format(time.DateTime)+" UTC"
		report.Runs, report.entries = append(report.Runs, r), append(report.entries, entries)
	}
	return report, nil
}

// readLines reads a report as far as it can, and says what is wrong with the rest.
func readLines(file string) (lines []runreport.Line, problem string) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err.Error()
	}
	for text := range bytes.Lines(text) {
		var line runreport.Line
		err := json.Unmarshal(text, &line)
		switch {
		case len(lines) == 0 && (err != nil || line.Version == 0):
			return nil, "not a run report"
		case len(lines) == 0 && line.Version > runreport.Version:
			return nil, fmt.Sprintf("the format has version %d, and this program reads version %d; use a newer one", line.Version, runreport.Version)
		case err != nil:
			problem = fmt.Sprintf("line %d is incomplete; the run was probably killed", len(lines)+1)
			continue
		}
		lines = append(lines, line)
	}
	return lines, problem
}

// entriesOf returns the requests of a run. The names of objects are from all reports.
func entriesOf(lines []runreport.Line, number int, names map[string]Row) (entries []Entry) {
	waits := map[string]runreport.Line{}
	for i := range lines {
		l := &lines[i]
		if l.Wait == runreport.WaitStatus && len(l.Objects) > 0 {
			waits[l.Objects[0].ID] = *l
		}
		if l.State == runreport.StateFound && len(l.Objects) > 0 {
			addFound(entries, l.Objects[0])
		}
		if l.Operation == "" || l.Wait != "" {
			continue
		}
		x := Entry{
			Run: number, Time: l.Time, Started: l.Time, Duration: max(1, time.Duration(l.Milliseconds*float64(time.Millisecond))), UserAgent: lines[0].Agent,
			Operation: l.Operation, Method: l.Method, Route: l.Route, Path: l.Route, Query: l.Query, Named: l.Name, Status: l.Status, Refusals: l.Refusals,
			RequestID: l.RequestID,
		}
		x.BodyHash, _ = strconv.ParseUint(l.Hash, 16, 64)
		if l.Unusable {
			x.Fault = faultUnusable
		}
		for _, o := range l.Path {
			before, after, _ := strings.Cut(x.Path, "{")
			_, after, _ = strings.Cut(after, "}")
			x.Path = before + o.ID + after
		}
		if l.Status >= 200 && l.Status < 300 {
			x.Changes = changesBy(l, names)
		}
		entries = append(entries, x)
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Started.Compare(b.Started) })
	for i := range entries {
		for n := range entries[i].Changes {
			entries[i].finish(&entries[i].Changes[n], waits, entries[i+1:])
		}
	}
	return entries
}

// addFound adds what was found after a lost response to the last creation that may have created it.
func addFound(entries []Entry, found runreport.Object) {
	for i := range slices.Backward(entries) {
		x := &entries[i]
		isLost := x.Method == "POST" && (x.Status == 0 || x.Status >= 500 || x.Fault != "")
		if isLost && (x.Named == "" || x.Named == found.Name || strings.HasPrefix(found.Name, x.Named+"-")) {
			effect := Effects[x.Operation]
			x.Changes = append(x.Changes, Change{Verb: effect.Verb, Ref: Ref{effect.Kind, found.ID, cmp.Or(found.Name, found.ID)}})
			return
		}
	}
}

// changesBy returns what a successful request changed.
func changesBy(l *runreport.Line, names map[string]Row) (changes []Change) {
	effect, known := Effects[l.Operation]
	add := func(id, name string) {
		changes = append(changes, Change{Verb: effect.Verb, Ref: Ref{Kind: effect.Kind, ID: id, Name: cmp.Or(name, names[id].Name, l.Name, id)}})
	}
	switch {
	case !known, l.Operation == "inviteMember" && len(l.Refusals) > 0: // Nobody was invited.
	case effect.Kind == "usage-limits":
		for _, email := range strings.Split(cmp.Or(l.Name, "the organization"), ", ") {
			if !slices.ContainsFunc(l.Refusals, func(refusal string) bool { return strings.HasPrefix(refusal, email+": ") }) {
				add(email, "of "+email)
			}
		}
	case effect.Kind == "api-keys" && len(l.Path) > 0:
		account, key := l.Path[0], slices.Concat(l.Objects, l.Path[1:], l.Path)[0]
		add(key.ID, cmp.Or(key.Name, names[key.ID].Name, l.Name, key.ID)+" of "+cmp.Or(names[account.ID].Name, account.ID))
	case effect.Verb == "created" && effect.Kind != "ci-jobs":
		for _, o := range l.Objects {
			add(o.ID, o.Name)
		}
	case len(l.Path) > 0:
		add(l.Path[0].ID, l.Path[0].Name)
	default:
		id := cmp.Or(l.Name, strings.TrimPrefix(l.Query, "email="), l.Operation)
		add(id, names[id].Name)
	}
	return changes
}

// finish adds when an object was ready, and whether it failed, as far as the later requests of the run and its waits say.
func (x *Entry) finish(c *Change, waits map[string]runreport.Line, later []Entry) {
	wait, waited := waits[c.ID]
	end := wait.Time.Add(time.Duration(wait.Milliseconds*float64(time.Millisecond)) + time.Microsecond)
	hidden := false
	for i := range later {
		read := &later[i]
		switch {
		case c.Kind == "sessions" && c.Verb == "created" && read.Operation == "getSession" && read.names(c):
			if hidden = hidden || read.Status == 404; hidden && read.Status == 200 && c.Until == 0 {
				c.Until = read.Time.UnixMilli()
			}
		case waited && read.reads(c) && read.Status == 200 && !read.Time.After(end) && !wait.Time.Before(x.Time):
			c.Until = read.Time.UnixMilli()
		}
	}
	if state, _, _ := strings.Cut(wait.State, ": "); waited && stateClasses[state] == "bad" {
		c.Failure = map[string]string{"computers": "provisioning failed", "environments": "build failed"}[c.Kind]
	}
}

// Write writes the report as html, markdown, or json.
func (r *Report) Write(w io.Writer, format string) error {
	switch format {
	case "html":
		return r.writeHTML(w)
	case "markdown":
		_, err := io.WriteString(w, r.markdown())
		return err
	case "json":
		return r.writeJSON(w)
	}
	return fmt.Errorf("-format must be html, markdown, or json, not %q", format)
}

// writeHTML writes one file that loads nothing.
func (r *Report) writeHTML(w io.Writer) error {
	var styles []string
	for _, name := range []string{"style.css", "objects.css", "runs.css"} {
		text, err := statusFiles.ReadFile("status/" + name)
		if err != nil {
			return err
		}
		styles = append(styles, string(text))
	}
	newest := slices.Clone(r.Runs)
	slices.Reverse(newest)
	return statusTemplates.ExecuteTemplate(w, "report.html", struct {
		Style    template.CSS
		Problems []string
		Runs     []*runView
	}{template.CSS(strings.Join(styles, "")), r.Problems, newest}) //nolint:gosec // The styles are files of this package.
}

// reportLines is how many lines a comment on a pull request has room for.
const reportLines = 10

var (
	special = strings.NewReplacer("\\", "\\\\", "`", "\\`", "*", "\\*", "_", "\\_", "[", "\\[", "]", "\\]", "|", "\\|", "\n", " ", "&", "&amp;", "<", "&lt;", ">", "&gt;")
	word    = regexp.MustCompile("(?s)[^\\s,;:()`]+|.")
)

// escape is a text in Markdown. Addresses are code, so that they mention nobody.
func escape(text string) string {
	return word.ReplaceAllStringFunc(text, func(part string) string {
		if strings.Contains(part, "@") {
			return "`" + part + "`"
		}
		return special.Replace(part)
	})
}

// markdown is the newest runs that changed something or failed in a few lines, or the newest of all.
func (r *Report) markdown() string {
	var lines []string
	for i, run := range slices.Backward(r.Runs) {
		if !run.IsChange && len(run.Failures) == 0 && (i > 0 || len(lines) > 0) {
			continue
		}
		var text strings.Builder
		for _, part := range run.Changes {
			text.WriteString(part.String())
		}
		verdict := cmp.Or(map[int]string{0: "no failures"}[run.FailedCount], fmt.Sprint(run.FailedCount, " failed"))
		lines = append(lines, "### Agentyard: "+verdict+" in "+run.Duration, strings.TrimSpace("**"+escape(text.String())+".** "+run.Reason))
		for _, f := range run.Failures {
			var names []string
			for _, o := range f.First() {
				names = append(names, o.Name)
			}
			if f.Others() > 0 {
				names = append(names, fmt.Sprintf("and %d more", f.Others()))
			}
			lines = append(lines, "- "+escape(strings.TrimSpace(f.What+" "+strings.Join(names, ", "))+": "+f.Why))
		}
	}
	for _, problem := range r.Problems {
		lines = append(lines, "- "+escape(problem))
	}
	if len(lines) > reportLines {
		lines = append(lines[:reportLines-1], fmt.Sprintf("- And %d more lines: see the report.", len(lines)-reportLines+1))
	}
	return strings.Join(lines, "\n") + "\n"
}

// writeJSON writes the numbers of each run, oldest first.
func (r *Report) writeJSON(w io.Writer) error {
	type values = map[string]any
	runs := []values{}
	for i, run := range r.Runs {
		times, sum := []values{}, time.Duration(0)
		for _, reason := range run.reasons {
			before := sum.Milliseconds() // Of the sum, so that the rounded times add up.
			sum += length(reason.time)
			if took := sum.Milliseconds() - before; took > 0 {
				times = append(times, values{"name": reason.name, "ms": took})
			}
		}
		runs = append(runs, values{
			"started": run.Started.At, "client": run.Client, "ms": run.end.Milliseconds(), "requests": len(r.entries[i]), "rejected": run.Rejected,
			"failures": append([]failure{}, run.Failures...), "changes": append([]*Change{}, run.net...), "times": times,
		})
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(values{"version": 1, "runs": runs, "problems": append([]string{}, r.Problems...)})
}
