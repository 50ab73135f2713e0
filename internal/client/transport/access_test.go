package transport

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/clienttest"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

// Each process sends the check once, and it fails only if everything else would fail too.
func TestCheckAccess(t *testing.T) {
	t.Parallel()
	const problem = `{"detail":"no","title":"No"}`
	for name, tc := range map[string]struct {
		answer func(w http.ResponseWriter)
		fails  bool
	}{
		"allowed":         {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusOK, `{"providers":[]}`) }, false},
		"a wrong key":     {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusUnauthorized, problem) }, true},
		"a wrong role":    {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusForbidden, problem) }, true},
		"a wrong tier":    {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusPaymentRequired, problem) }, true},
		"unavailable":     {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusServiceUnavailable, problem) }, true},
		"rate limited":    {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusTooManyRequests, problem) }, true},
		"a wrong address": {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusNotFound, `<html>`) }, true},
		"no connection":   {clienttest.Drop, true},
		"not found":       {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusNotFound, problem) }, false},
		"not offered":     {func(w http.ResponseWriter) { clienttest.RespondJSON(w, http.StatusNotImplemented, problem) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, _ := serve(t, func(w http.ResponseWriter, _ *http.Request, _ int) { tc.answer(w) })
			if err := c.CheckAccess(t.Context()); (err != nil) != tc.fails {
				t.Errorf("got %v", err)
			}
			sent := rec.Count(http.MethodGet)
			if err := c.CheckAccess(t.Context()); err != nil || rec.Count(http.MethodGet) != sent {
				t.Errorf("the second plan: %v, %d requests", err, rec.Count(http.MethodGet))
			}
		})
	}
	if err := NewUnconfigured("base_url", clock.System).CheckAccess(t.Context()); err != nil {
		t.Errorf("unknown settings: %v", err)
	}
}

// The day is that of the first response with a date, also if this key may not list providers. Errors are not kept.
func TestToday(t *testing.T) {
	t.Parallel()
	const problem = `{"detail":"no","title":"No"}`
	type answer struct {
		status     int
		body, date string
	}
	const day, next = "Tue, 03 Mar 2026 23:59:59 GMT", "Wed, 04 Mar 2026 00:00:00 GMT"
	service, local := time.Date(2026, 3, 3, 23, 59, 59, 0, time.UTC), func(clk clock.Clock) time.Time { return clk.Now().UTC() }
	for name, tc := range map[string]struct {
		answers []answer
		// fails is how many calls fail first.
		fails int
		want  time.Time
	}{
		"allowed":                   {[]answer{{200, `{"providers":[]}`, day}, {200, `{"providers":[]}`, next}}, 0, service},
		"a wrong role":              {[]answer{{403, problem, day}, {200, `{"providers":[]}`, next}}, 0, service},
		"no date":                   {[]answer{{200, `{"providers":[]}`, ""}, {200, `{"providers":[]}`, next}}, 0, time.Time{}},
		"a wrong role and no date":  {[]answer{{403, problem, ""}, {200, `{"providers":[]}`, next}}, 0, time.Time{}},
		"a wrong role of a gateway": {[]answer{{403, `<html>`, next}, {200, `{"providers":[]}`, day}}, 1, service},
		"a wrong key for a moment":  {[]answer{{401, problem, next}, {200, `{"providers":[]}`, day}}, 1, service},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, rec, clk := serve(t, func(w http.ResponseWriter, _ *http.Request, n int) {
				a := tc.answers[n-1]
				if w.Header()["Date"] = nil; a.date != "" {
					w.Header().Set("Date", a.date)
				}
				clienttest.RespondJSON(w, a.status, a.body)
			})
			c.Service.note(service.AddDate(0, 0, 9), clk.Now()) // Another request of the process.
			want := tc.want
			if want.IsZero() {
				want = local(clk)
			}
			for range tc.fails {
				if at, err := c.Today(t.Context()); err == nil {
					t.Errorf("got %s", at)
				}
			}
			for range 2 {
				if at, err := c.Today(t.Context()); err != nil || !at.Equal(want) {
					t.Errorf("got %s, %v; want %s", at, err, want)
				}
			}
			if n := rec.Count(http.MethodGet); n != tc.fails+1 {
				t.Errorf("%d requests", n)
			}
		})
	}
}

// Who waits for the check of another may leave before it ends.
func TestCheckOnce_waitersMayLeave(t *testing.T) {
	t.Parallel()
	c, _, _ := serve(t, func(http.ResponseWriter, *http.Request, int) {})
	started, end := make(chan struct{}), make(chan struct{})
	first := make(chan error, 1)
	go func() {
		first <- c.CheckOnce(context.Background(), "keys", func(context.Context) error {
			close(started)
			<-end
			return &TransportError{}
		})
	}()
	<-started
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.CheckOnce(canceled, "keys", nil); err != nil {
		t.Errorf("who leaves gets %v", err)
	}
	close(end)
	if err := <-first; err == nil {
		t.Error("the first caller gets no error")
	}
}
