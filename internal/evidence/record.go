package evidence

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/contract"
)

// Record holds what reports have shown, by the ID of an assumption, or of an operation that no document has.
type Record map[string]Entry

// Entry is the newest refutation, or the newest result if nothing was refuted.
type Entry struct {
	Result   Result `json:"result"`
	Observed string `json:"observed"`
	// Time is when the report was finished.
	Time time.Time `json:"time"`
	// Tool and Version made the report.
	Tool    string `json:"tool"`
	Version string `json:"version"`
}

// ReadRecord reads a record.
func ReadRecord(path string) (Record, error) {
	text, err := os.ReadFile(path) //nolint:gosec // The caller names the file.
	if err != nil {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("read %s as a record: %w", path, err)
	}
	return r, nil
}

// Write writes the record, sorted by ID.
func (r Record) Write(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644) //nolint:gosec // It is part of the project.
}

// Add adds the results of a report, unless the record has newer ones. What a report has not seen changes nothing. A refutation is
// replaced only by a newer one: another run may have seen less of the service. A person who corrects the assumption removes it.
func (r Record) Add(report *Report) error {
	if report.Emulator {
		return errors.New("the emulator answered, so the report shows nothing about the service; make one with a real service")
	}
	add := func(id string, result Result, observed string) {
		e := Entry{result, observed, report.FinishedAt.UTC(), report.Tool, report.Version}
		switch known := r[id]; {
		case known.Result == Refuted && result != Refuted:
		case known.Result != Refuted && result == Refuted, !e.Time.Before(known.Time):
			r[id] = e
		}
	}
	for _, a := range report.Assumptions {
		if a.Result != NotSeen {
			add(a.ID, a.Result, a.Observed)
		}
	}
	for _, o := range report.Operations {
		for status := range o.Statuses {
			if o.Beyond && strings.HasPrefix(status, "2") {
				add(o.ID, Confirmed, "answered "+status)
			}
		}
	}
	return nil
}

// Prune removes what the contract does not have any more.
func (r Record) Prune(doc *contract.Document) {
	known := map[string]bool{}
	for _, a := range doc.Assumptions() {
		known[a.ID] = true
	}
	for _, o := range doc.Operations() {
		known[o.ID] = o.Beyond != ""
	}
	maps.DeleteFunc(r, func(id string, _ Entry) bool { return !known[id] })
}
