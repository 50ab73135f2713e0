package emulator

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	bolt "go.etcd.io/bbolt"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const (
	// runsPrefix begins the paths of the pages of runs.
	runsPrefix = "/runs/"
	// runPageLanes is how many lanes are on a page of a run.
	runPageLanes = 500
)

// runPage is what the page of a run shows: all its lanes, on as many pages as they take.
type runPage struct {
	Number         string
	Missing        bool
	Run            *statusRun
	HasPrevious    bool
	Previous, Next int // The lanes that begin these pages.
}

func isRunPage(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, runsPrefix) && isLocalRead(r)
}

// serveRun shows the page of a run.
func (e *Emulator) serveRun(w http.ResponseWriter, r *http.Request) {
	var page bytes.Buffer
	data, err := e.runPage(strings.TrimPrefix(r.URL.Path, runsPrefix), r.URL.Query().Get("from"))
	if err == nil {
		err = statusTemplates.ExecuteTemplate(&page, "run.html", data)
	}
	if err != nil {
		e.writeError(w, r, err)
		return
	}
	status := http.StatusOK
	if data.Missing {
		status = http.StatusNotFound
	}
	e.writePage(w, status, "text/html; charset=utf-8", page.Bytes())
}

func (e *Emulator) runPage(id, start string) (*runPage, error) {
	number, _ := strconv.Atoi(id) // 0 is no run.
	entries := e.journal.entriesOf(number)
	if len(entries) == 0 {
		return &runPage{Number: shortText(id), Missing: true}, nil
	}
	from, _ := strconv.Atoi(start) // Anything but a number begins with the first lane.
	from = max(0, from)
	p := &runPage{Number: id, HasPrevious: from > 0, Previous: max(0, from-runPageLanes)}
	var objects map[string]objectRef
	err := e.store.db.View(func(tx *bolt.Tx) error {
		all := readObjects(&request{e: e, tx: tx, now: e.clock.Now()})
		objects = all.byID()
		return all.err
	})
	if err != nil {
		return nil, err
	}
	p.Run = viewRun(entries, objects, clock.System.Now(), from, runPageLanes, 0)
	p.Run.Connected, p.Run.Partial, p.Run.Newest = e.runs.connected()[number], e.journal.isPartial(number), true
	if p.Run.Rest > 0 {
		p.Next, p.Run.Rest = from+runPageLanes, 0
	}
	return p, nil
}
