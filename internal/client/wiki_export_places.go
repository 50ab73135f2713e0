package client

import (
	"context"
	"fmt"
	"sync"
)

// exportPlaces are where this process writes archives. The zero value is ready.
type exportPlaces struct {
	turns keyedLocks
	// of has an *exportPlace for each.
	of sync.Map
}

// exportPlace is the run that a place is for, and what is known of its archive once it is there.
type exportPlace struct {
	runID string
	// written belongs to whose turn it is.
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
	found, _ := c.exports.of.LoadOrStore(place, &exportPlace{runID: runID})
	at := found.(*exportPlace)
	if at.runID != runID {
		return nil, &PlaceTakenError{at.runID}
	}
	release, err := c.exports.turns.lock(ctx, place)
	if err != nil {
		return nil, err
	}
	defer release()
	if at.written != nil {
		return at.written, nil
	}
	export, err := write()
	if err == nil {
		at.written = export
	}
	return export, err
}
