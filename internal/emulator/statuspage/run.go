package statuspage

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
	Run *runView
}

// runPage reads the page of a run.
func (pages *Pages) runPage(address *url.URL) (page, error) {
	id := strings.TrimPrefix(address.Path, runsPrefix)
	p := &runPage{pageHeader: headerOf(pages.source.State(), "Run "+Short(id))}
	number, _ := strconv.Atoi(id) // 0 is no run.
	entries := pages.source.Requests(number)
	if number == 0 || len(entries) == 0 {
		p.Missing = true
		return p, nil
	}
	kinds, _, _, err := pages.objects("", "")
	if err != nil {
		return nil, err
	}
	p.Run = viewRun(entries, byID(kinds), clock.System.Now(), len(entries))
	p.Run.Connected, p.Run.Partial, p.Run.Open = ofProvider(&entries[0]) && pages.source.Connected()[number], pages.source.IsPartial(number), true
	return p, nil
}
