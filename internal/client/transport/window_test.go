package transport

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// enterAll takes as many places as are free.
func enterAll(t *testing.T, w *window) []*place {
	t.Helper()
	var taken []*place
	for {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		p, err := w.enter(ctx)
		cancel()
		if err != nil {
			return taken
		}
		taken = append(taken, p)
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWindow()
		leave := func(status int, all []*place) {
			for _, p := range all {
				p.leave(status)
			}
		}
		for _, step := range []struct {
			what   string
			status int
			// places is how many requests may be in flight before they get the status.
			places int
		}{
			{"at first", http.StatusOK, 1},
			{"after one response", http.StatusNotFound, 2},
			{"after three responses", 0, 4},
			{"without a response", http.StatusTooManyRequests, 4},
			{"after a 429", http.StatusOK, 1},
			{"and one response", http.StatusOK, 2},
		} {
			all := enterAll(t, w)
			if len(all) != step.places {
				t.Errorf("%s: %d requests in flight, want %d", step.what, len(all), step.places)
			}
			leave(step.status, all)
			leave(http.StatusOK, all) // The second time does not count.
		}
	})
}

// What was sent before a 429 says nothing about the rate after it.
func TestWindow_responsesFromBeforeARefusal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWindow()
		w.size = 3
		all := enterAll(t, w)
		all[0].leave(http.StatusTooManyRequests)
		all[1].leave(http.StatusOK)
		if more := enterAll(t, w); len(more) != 0 {
			t.Errorf("%d more requests while one of three is in flight", len(more))
		}
		all[2].leave(http.StatusOK)
		if more := enterAll(t, w); len(more) != 1 {
			t.Errorf("%d requests after the refusal, want 1", len(more))
		}
	})
}

// One slow request does not hold back the others.
func TestWindow_slowRequest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWindow()
		slow := enterAll(t, w)[0]
		slow.sent()
		began := time.Now()
		p, err := w.enter(t.Context())
		if err != nil || time.Since(began) != placeTime || w.size != 2 {
			t.Errorf("the next request waited %v for a window of %d (%v), want %v and 2", time.Since(began), w.size, err, placeTime)
		}
		p.leave(0)
		slow.leave(http.StatusTooManyRequests)
		slow.leave(http.StatusTooManyRequests)
		if w.size != 1 || w.refusals != 1 || w.taken != 0 {
			t.Errorf("after its late 429: a window of %d, %d refusals, %d places taken", w.size, w.refusals, w.taken)
		}
	})
}

func TestWindow_interrupted(t *testing.T) {
	t.Parallel()
	w := newWindow()
	if _, err := w.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := w.enter(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Whoever waits for a turn and then needs no request must not keep the place of another one, nor must a request that is held back.
func TestWindow_unusedPlaces(t *testing.T) {
	t.Parallel()
	c, _, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) {
		clienttest.RespondJSON(w, 200, `{"id":"c1","name":"c1","providerType":"byom"}`)
	})
	turn, err := c.AwaitTurn(t.Context())
	clienttest.Must(t, err)
	turn.PassBack()
	turn.PassBack()
	if c.window.taken != 0 || c.window.size != 1 {
		t.Errorf("unused: %d of %d places are taken", c.window.taken, c.window.size)
	}
	turn, err = c.AwaitTurn(t.Context())
	clienttest.Must(t, err)
	_, err = getSample(WithTurn(t.Context(), turn), c)
	clienttest.Must(t, err)
	turn.PassBack()
	if c.window.taken != 0 || c.window.size != 2 {
		t.Errorf("used: %d of %d places are taken", c.window.taken, c.window.size)
	}
	c.Gate.refused(&Passage{}, 10*time.Minute)
	hurried, cancel := context.WithDeadline(t.Context(), clock.System.Now().Add(time.Minute))
	defer cancel()
	if _, err := getSample(hurried, c); !errors.Is(err, ErrHeldBack) || c.window.taken != 0 {
		t.Errorf("held back: %v, %d places are taken", err, c.window.taken)
	}
}
