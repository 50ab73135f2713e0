package evidence

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// Report is what a run showed.
type Report struct {
	Tool       string    `json:"tool"`
	Version    string    `json:"version"`
	StartedAt  time.Time `json:"started_at"`
	FinishedAt time.Time `json:"finished_at"`
	Requests   int       `json:"requests"`
	Unanswered int       `json:"unanswered"`
	// Emulator is true if an answer came from this project's emulator, whose answers say nothing about the service.
	Emulator    bool         `json:"emulator"`
	Operations  []Operation  `json:"operations"`
	Deviations  []Deviation  `json:"deviations"`
	Assumptions []Assumption `json:"assumptions"`
	Skipped     []Skipped    `json:"skipped"`
}

// Operation is an operation of the contract and the statuses that it was answered with, or "none" for no answer.
type Operation struct {
	ID       string         `json:"id"`
	Method   string         `json:"method"`
	Path     string         `json:"path"`
	Statuses map[string]int `json:"statuses"`
	// Beyond is true if none of the documents that the contract follows has the operation.
	Beyond bool `json:"beyond,omitempty"`
}

// Place is where deviations are the same.
type Place struct {
	Operation string        `json:"operation"`
	Status    int           `json:"status"`
	Kind      contract.Kind `json:"kind"`
	Place     string        `json:"place"`
}

// Deviation is a difference between the service and the contract.
type Deviation struct {
	Place
	Expected string `json:"expected"`
	Found    string `json:"found"`
	Count    int    `json:"count"`
}

// Assumption is an assumption of the contract and what the run showed of it.
type Assumption struct {
	ID       string   `json:"id"`
	Areas    []string `json:"areas"`
	Result   Result   `json:"result"`
	Observed string   `json:"observed"`
}

// Skipped is a part of the run that was skipped.
type Skipped struct {
	What     string `json:"what"`
	Variable string `json:"variable"`
	Why      string `json:"why"`
}

// Report returns what was recorded so far.
func (r *Recorder) Report() *Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	report := &Report{
		Tool: r.tool, Version: r.version, StartedAt: r.started.UTC().Truncate(time.Second), FinishedAt: r.clock.Now().UTC().Truncate(time.Second),
		Requests: r.requests, Unanswered: r.unanswered, Emulator: r.emulator,
		Deviations: []Deviation{}, Skipped: append([]Skipped{}, r.skipped...),
	}
	for _, o := range r.doc.Operations() {
		statuses := map[string]int{}
		maps.Copy(statuses, r.statuses[o.ID])
		report.Operations = append(report.Operations, Operation{ID: o.ID, Method: o.Method, Path: o.Path, Statuses: statuses, Beyond: o.Beyond != ""})
	}
	slices.SortFunc(report.Skipped, func(a, b Skipped) int {
		return cmp.Or(strings.Compare(a.What, b.What), strings.Compare(a.Why, b.Why))
	})
	for _, d := range r.deviations {
		report.Deviations = append(report.Deviations, *d)
	}
	slices.SortFunc(report.Deviations, func(a, b Deviation) int { return comparePlaces(a.Place, b.Place) })
	for _, a := range r.doc.Assumptions() {
		judged := Assumption{ID: a.ID, Areas: a.Areas, Result: NotSeen, Observed: ""}
		if known := r.judged[a.ID]; known != nil {
			judged = *known
		}
		report.Assumptions = append(report.Assumptions, judged)
	}
	return report
}

func comparePlaces(a, b Place) int {
	return cmp.Or(strings.Compare(a.Operation, b.Operation), cmp.Compare(a.Status, b.Status),
		strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Place, b.Place))
}

// WriteFiles writes report.json and report.md to a folder, which it makes if it is missing.
func (r *Report) WriteFiles(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "report.json"), append(text, '\n'), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "report.md"), []byte(r.Markdown()), 0o600)
}

// ReadReport reads a report.json.
func ReadReport(path string) (*Report, error) {
	text, err := os.ReadFile(path) //nolint:gosec // The caller names the file.
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read %s as a report: %w", path, err)
	}
	return &r, nil
}

// A word with one of these may be an ID, a person, a host, or a secret.
var (
	quoted    = regexp.MustCompile("\"[^\"]*\"|`[^`]*`|“[^”]*”|(^| )'[^']*'")
	revealing = regexp.MustCompile(`@|://|[0-9a-fA-F]{8}-|\.[a-z]{2,}[/:]|[0-9]{9}`)
	mixed     = regexp.MustCompile(`[A-Za-z]\S*[0-9]|[0-9]\S*[A-Za-z]`)
)

// withoutValues removes what is quoted in a text, and the words that may be values of the service.
func withoutValues(text string) string {
	words := strings.Fields(quoted.ReplaceAllString(text, "$1…"))
	for i, w := range words {
		if revealing.MatchString(w) || len(w) >= 16 && mixed.MatchString(w) || len(w) > 60 {
			words[i] = "…"
		}
	}
	return strings.Join(words, " ")
}
