package transport

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// placeTime is how long a request without a response keeps its place in the window: a service refuses at once, so a slow request is
// an accepted one, and must not keep others waiting.
const placeTime = time.Second

// window limits how many requests are in flight. It starts with one, so that processes that start together learn of a shared rate
// limit before each of them sends many requests. It grows with each accepted request, and is back at one after a 429.
type window struct {
	mu sync.Mutex
	// size is the limit, and taken is how many places are taken.
	size, taken int
	// refusals counts the 429s.
	refusals int
	// freed is closed when a place may be free.
	freed chan struct{}
}

// place is the place of one request.
type place struct {
	window   *window
	refusals int
	// left and refused are guarded by the window's mu.
	left, refused bool
}

func newWindow() *window { return &window{size: 1, freed: make(chan struct{})} }

// enter waits for a place. The error is the context's.
func (w *window) enter(ctx context.Context) (*place, error) {
	for {
		w.mu.Lock()
		if w.taken < w.size {
			w.taken++
			p := &place{window: w, refusals: w.refusals}
			w.mu.Unlock()
			return p, nil
		}
		freed := w.freed
		w.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// sent starts the time after which the place is free even without a response.
func (p *place) sent() {
	time.AfterFunc(placeTime, func() { p.leave(http.StatusOK) })
}

// leave gives the place back, after a response with a status, or 0 without one. Later calls count only if they refuse the request.
func (p *place) leave(status int) {
	w := p.window
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case status == http.StatusTooManyRequests && !p.refused:
		p.refused = true
		w.size = 1
		w.refusals++
	case status != 0 && !p.left && p.refusals == w.refusals:
		w.size++
	}
	if !p.left {
		p.left = true
		w.taken--
		close(w.freed)
		w.freed = make(chan struct{})
	}
}
