package client

import (
	"context"
	"fmt"
	"sync"
)

// exportPlaces are where this process writes archives. The zero value is ready.
type exportPlaces struct {
	turns keyedLocks
	mu    sync.Mutex
	of    map[string]exportPlace
}

// exportPlace is the run that a place is for, and what is known of its archive once it is there.
type exportPlace struct {
	runID   string
	written *WikiExport
}

// PlaceTakenError says that a place is for the archive of another run.
type PlaceTakenError struct{ RunID string }

func (e *PlaceTakenError) Error() string {
	return fmt.Sprintf("the archive of the wiki run %s is written there", e.RunID)
}

// ExportWikiRunTo has the archive of a run written to a place, which one process does once: two data sources may name the
// same one. A place that is for another run is a *PlaceTakenError, whatever became of that run's archive.
func (c *Client) ExportWikiRunTo(ctx context.Context, place, runID string, write func() (*WikiExport, error)) (*WikiExport, error) {
	if err := c.exports.claim(place, runID); err != nil {
		return nil, err
	}
	release, err := c.exports.turns.lock(ctx, place)
	if err != nil {
		return nil, err
	}
	defer release()
	if written := c.exports.written(place); written != nil {
		return written, nil
	}
	export, err := write()
	if err == nil {
		c.exports.note(place, exportPlace{runID, export})
	}
	return export, err
}

func (p *exportPlaces) claim(place, runID string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	taken, ok := p.of[place]
	switch {
	case ok && taken.runID != runID:
		return &PlaceTakenError{taken.runID}
	case !ok && p.of == nil:
		p.of = map[string]exportPlace{}
	}
	if !ok {
		p.of[place] = exportPlace{runID: runID}
	}
	return nil
}

func (p *exportPlaces) written(place string) *WikiExport {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of[place].written
}

func (p *exportPlaces) note(place string, of exportPlace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of[place] = of
}
