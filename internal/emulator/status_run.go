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
)

// runPage is what the page of a run shows: all its lanes.
type runPage struct {
	pageHeader
	Run *statusRun
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
	kinds, _, _, err := e.readObjects("", "")
	if err != nil {
		return nil, err
	}
	p.Run = viewRun(entries, byID(kinds), clock.System.Now(), len(entries))
	p.Run.Connected, p.Run.Partial, p.Run.Open = ofProvider(&entries[0]) && e.runs.connected()[number], e.journal.isPartial(number), true
	return p, nil
}
