package emulator

import (
	"net/http"
	"sync"
	"time"
)

const (
	// maxStreams is how many pages get events at the same time.
	maxStreams = 32
	// eventPause is the shortest time between two events of a stream.
	eventPause = 500 * time.Millisecond
	// eventBeat is the longest time between two events. States and ages change although nothing happens.
	eventBeat = 5 * time.Second
)

// events tells open pages that something changed.
type events struct {
	mu      sync.Mutex
	streams map[chan struct{}]bool
	ended   chan struct{} // Closed when the emulator stops.
	end     func()
}

func newEvents() *events {
	c := &events{streams: map[chan struct{}]bool{}, ended: make(chan struct{})}
	c.end = sync.OnceFunc(func() { close(c.ended) })
	return c
}

// notify wakes all streams. Several changes before a stream looks again are one.
func (c *events) notify() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for changed := range c.streams {
		select {
		case changed <- struct{}{}:
		default:
		}
	}
}

// join adds a stream, unless there are too many. A new stream has a change to tell: it may have missed some.
func (c *events) join() (changed chan struct{}, leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.streams) >= maxStreams {
		return nil, nil, false
	}
	changed = make(chan struct{}, 1)
	changed <- struct{}{}
	c.streams[changed] = true
	return changed, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.streams, changed)
	}, true
}

// serveEvents sends server-sent events to a page until it is closed or the emulator stops. They have no content: the page loads itself again.
func (e *Emulator) serveEvents(w http.ResponseWriter, r *http.Request) {
	changed, leave, ok := e.events.join()
	if !ok {
		e.writeError(w, r, fail(http.StatusServiceUnavailable, "Too many pages are open. Close some."))
		return
	}
	defer leave()
	e.writePage(w, http.StatusOK, "text/event-stream", []byte("retry: 2000\n\n"))
	if r.Method == http.MethodHead {
		return
	}
	connection := http.NewResponseController(w)
	beat := time.NewTicker(eventBeat)
	defer beat.Stop()
	for {
		event := "event: change\ndata:\n\n"
		select {
		case <-r.Context().Done():
			return
		case <-e.events.ended:
			return
		case <-changed:
		case <-beat.C:
			event = "event: beat\ndata:\n\n"
		}
		if _, err := w.Write([]byte(event)); err != nil || connection.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-e.events.ended:
			return
		case <-time.After(eventPause):
		}
	}
}
