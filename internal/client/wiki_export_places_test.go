package client

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
)

// Whoever names a place, one archive is written there, and all learn what is known of it.
func TestExportWikiRunTo_samePlace(t *testing.T) {
	t.Parallel()
	c := &Client{}
	var writes atomic.Int32
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			export, err := c.ExportWikiRunTo(t.Context(), "/w.zip", "r1", func() (*WikiExport, error) {
				return &WikiExport{Size: int64(writes.Add(1))}, nil
			})
			if err != nil || export.Size != 1 {
				t.Errorf("got %+v, %v", export, err)
			}
		})
	}
	group.Wait()
	if n := writes.Load(); n != 1 {
		t.Errorf("it was written %d times", n)
	}
}

func TestExportWikiRunTo_otherRun(t *testing.T) {
	t.Parallel()
	c := &Client{}
	broken := errors.New("broken")
	write := func(size int64, err error) func() (*WikiExport, error) {
		return func() (*WikiExport, error) { return &WikiExport{Size: size}, err }
	}
	// The archive may have come as a whole where the file cannot be put in its place.
	if _, err := c.ExportWikiRunTo(t.Context(), "/w.zip", "r1", write(1, broken)); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	// The place stays taken, whether the archive was written or not.
	for range 2 {
		var taken *PlaceTakenError
		_, err := c.ExportWikiRunTo(t.Context(), "/w.zip", "r2", func() (*WikiExport, error) { t.Error("it was written"); return nil, nil })
		if !errors.As(err, &taken) || taken.RunID != "r1" {
			t.Errorf("got %v", err)
		}
		// What failed is written when it is asked for again.
		if export, err := c.ExportWikiRunTo(t.Context(), "/w.zip", "r1", write(2, nil)); err != nil || export.Size != 2 {
			t.Errorf("got %+v, %v", export, err)
		}
	}
	if _, err := c.ExportWikiRunTo(t.Context(), "/x.zip", "r2", write(3, nil)); err != nil {
		t.Errorf("at another place: %v", err)
	}
}

// Who waits for another one's archive stops when the run does.
func TestExportWikiRunTo_stopped(t *testing.T) {
	t.Parallel()
	c := &Client{}
	_, err := c.ExportWikiRunTo(t.Context(), "/w.zip", "r1", func() (*WikiExport, error) {
		ctx, stop := context.WithCancel(t.Context())
		stop()
		_, err := c.ExportWikiRunTo(ctx, "/w.zip", "r1", func() (*WikiExport, error) { t.Error("it was written"); return nil, nil })
		return nil, err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
