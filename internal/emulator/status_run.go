package emulator

import (
	"net/url"
	"strconv"
	"strings"

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
	pageHeader
	Run            *statusRun
	HasPrevious    bool
	Previous, Next int // The lanes that begin these pages.
}

// runPage reads the page of a run.
func (e *Emulator) runPage(address *url.URL) (page, error) {
	id := strings.TrimPrefix(address.Path, runsPrefix)
	p := &runPage{pageHeader: e.pageHeader("Run " + shortText(id))}
	number, _ := strconv.Atoi(id) // 0 is no run.
	entries := e.journal.entriesOf(number)
	if len(entries) == 0 {
		p.Missing = true
		return p, nil
	}
	from, _ := strconv.Atoi(address.Query().Get("from")) // Anything but a number begins with the first lane.
	from = max(0, from)
	p.HasPrevious, p.Previous = from > 0, max(0, from-runPageLanes)
	kinds, _, _, err := e.readObjects("", "")
	if err != nil {
		return nil, err
	}
	p.Run = viewRun(entries, byID(kinds), clock.System.Now(), from, runPageLanes, 0)
	p.Run.Connected, p.Run.Partial, p.Run.Open = ofProvider(&entries[0]) && e.runs.connected()[number], e.journal.isPartial(number), true
	if p.Run.Rest > 0 {
		p.Next, p.Run.Rest = from+runPageLanes, 0
	}
	return p, nil
}
