package wait

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

var states = States{Done: []string{"ready"}, InProgress: []string{"building"}, Failed: []string{"failed"}}

// script returns one response per poll on a fake clock. The last response repeats.
type script struct {
	t       *testing.T
	clock   *clock.Fake
	began   time.Time
	answers []any // A status or an error.
	// looks contains the times of the polls, and took their durations.
	looks []time.Duration
	took  time.Duration
	// early is how much earlier than requested the polls run.
	early   time.Duration
	changes []string
}

func newScript(t *testing.T, answers ...any) *script {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return &script{t: t, clock: clock.NewFake(now), began: now, answers: answers}
}

func (s *script) next(ctx context.Context, pause time.Duration) (*string, error) {
	if err := s.clock.Sleep(ctx, max(pause-s.early, 0)); err != nil {
		return nil, err
	}
	if len(s.looks) > 100 {
		s.t.Fatalf("the wait does not end: looks at %v", s.looks)
	}
	answer := s.answers[min(len(s.looks), len(s.answers)-1)]
	s.looks = append(s.looks, s.clock.Now().Sub(s.began))
	s.clock.Advance(s.took)
	if status, ok := answer.(string); ok {
		return &status, nil
	}
	return nil, answer.(error)
}

func (s *script) object(start *string) Object[string] {
	return Object[string]{
		Start: start, Next: s.next, States: states,
		Status:   func(v *string) string { return *v },
		OnChange: func(v *string) { s.changes = append(s.changes, *v) },
	}
}

func TestFor(t *testing.T) {
	t.Parallel()
	status := func(code int, text string) error {
		return &transport.APIError{Status: code, Detail: text, FromService: true}
	}
	broken, refused, odd := status(500, "broken"), status(400, "refused"), errors.New("odd")
	gone, forbidden := &transport.APIError{Status: 404, Detail: "gone", FromService: true}, &transport.APIError{Status: 403, Detail: "no"}
	building, ready, failed := "building", "ready", "failed"
	for name, tc := range map[string]struct {
		start   *string
		answers []any
		want    string
		err     any
		text    string
		changes string
		looks   int
	}{
		"at once":           {nil, []any{"ready"}, "ready", nil, "", "ready", 1},
		"after a while":     {nil, []any{"building", "building", "ready"}, "ready", nil, "", "building ready", 3},
		"unknown status":    {nil, []any{"dreaming", "ready"}, "ready", nil, "", "dreaming ready", 2},
		"failed":            {nil, []any{"building", "failed"}, "failed", new(*FailedError), `the status is "failed"`, "building failed", 2},
		"never":             {nil, []any{"building"}, "building", new(*TimeoutError), `the status is still "building" after 1m0s`, "building", 15},
		"fault on the way":  {nil, []any{"building", broken, broken, broken, broken, "ready"}, "ready", nil, "", "building ready", 6},
		"broken to the end": {nil, []any{"building", broken}, "building", new(*TimeoutError), `still "building" after 1m0s (the last request failed: `, "building", 15},
		"never seen":        {nil, []any{broken}, "", new(*TimeoutError), "no status could be read in 1m0s (the last request failed: ", "", 15},
		"shown late":        {nil, []any{gone, gone, gone, gone, gone, "ready"}, "ready", nil, "", "ready", 6},
		"gone":              {nil, []any{"building", gone}, "building", new(*transport.APIError), "gone", "building", 6},
		"gone for exactly as long as one waits for a late one": {nil, []any{"building", "building", "building", "building", gone}, "building", new(*transport.APIError), "gone", "building", 8},
		"gone and back":            {nil, []any{gone, gone, gone, "building", gone, gone, gone, "ready"}, "ready", nil, "", "building ready", 8},
		"forbidden":                {nil, []any{forbidden, "ready"}, "", new(*transport.APIError), "no", "", 1},
		"refused for a while":      {nil, []any{"building", refused, refused, refused, refused, "ready"}, "ready", nil, "", "building ready", 6},
		"refused":                  {nil, []any{"building", refused}, "building", new(*transport.APIError), "refused", "building", 6},
		"refused and back":         {nil, []any{refused, refused, refused, "building", refused, refused, refused, "ready"}, "ready", nil, "", "building ready", 8},
		"no method":                {nil, []any{status(405, "odd")}, "", new(*transport.APIError), "odd", "", 6},
		"no entity":                {nil, []any{status(422, "odd")}, "", new(*transport.APIError), "odd", "", 6},
		"an error of the provider": {nil, []any{odd}, "", new(error), "odd", "", 6},
		"a conflict for ever":      {nil, []any{status(409, "busy")}, "", new(*TimeoutError), "no status could be read in 1m0s", "", 15},
		"no such operation":        {nil, []any{status(501, "odd"), "ready"}, "", new(*transport.APIError), "odd", "", 1},
		"not configured":           {nil, []any{&transport.UnconfiguredError{}, "ready"}, "", new(*transport.UnconfiguredError), "", "", 1},
		"too large":                {nil, []any{transport.ErrTooLarge, "ready"}, "", new(error), "larger than", "", 1},

		"done from the start":          {&ready, []any{"failed"}, "ready", nil, "", "ready", 0},
		"failed from the start":        {&failed, []any{"ready"}, "failed", new(*FailedError), `the status is "failed"`, "failed", 0},
		"starts as it goes on":         {&building, []any{"building", "ready"}, "ready", nil, "", "building ready", 2},
		"never seen but its start":     {&building, []any{broken}, "building", new(*TimeoutError), `still "building" after 1m0s (the last request failed: `, "building", 15},
		"gone since its start":         {&building, []any{gone}, "building", new(*transport.APIError), "gone", "building", 6},
		"refused to look at the start": {&building, []any{forbidden}, "building", new(*transport.APIError), "no", "building", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, tc.answers...)
			last, err := For(t.Context(), s.clock, time.Minute, s.object(tc.start))
			if tc.want == "" && last != nil || tc.want != "" && (last == nil || *last != tc.want) {
				t.Errorf("got %v, want %q", last, tc.want)
			}
			if tc.err == nil && err != nil || tc.err != nil && (!errors.As(err, tc.err) || !strings.Contains(err.Error(), tc.text)) {
				t.Errorf("got %v, want %T with %q", err, tc.err, tc.text)
			}
			check.Is(t, "changes", strings.Join(s.changes, " "), tc.changes)
			check.Is(t, "looks", len(s.looks), tc.looks)
		})
	}
}

func seconds(s ...float64) []time.Duration {
	var all []time.Duration
	for _, v := range s {
		all = append(all, time.Duration(v*float64(time.Second)))
	}
	return all
}

func TestFor_looksSoonThenSeldomAndOnceMoreAtTheDeadline(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		timeout, took time.Duration
		want          []time.Duration
		waited        time.Duration
	}{
		"long":                   {20 * time.Second, 0, seconds(0.5, 1.5, 3.5, 7.5, 12.5, 17.5, 20), 20 * time.Second},
		"a look at the deadline": {12500 * time.Millisecond, 0, seconds(0.5, 1.5, 3.5, 7.5, 12.5), 12500 * time.Millisecond},
		"short":                  {200 * time.Millisecond, 0, seconds(0.2), 200 * time.Millisecond},
		"nothing left":           {-time.Second, 0, seconds(0), 0},
		"looks that take long":   {10 * time.Second, 3 * time.Second, seconds(0.5, 4.5, 9.5, 12.5), 15500 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript(t, "building")
			s.took = tc.took
			_, err := For(t.Context(), s.clock, tc.timeout, s.object(nil))
			check.Is(t, "looks at", s.looks, tc.want)
			var late *TimeoutError
			if !errors.As(err, &late) || late.Waited != tc.waited {
				t.Errorf("got %v, want a timeout after %v", err, tc.waited)
			}
		})
	}
}

func hanging(ctx context.Context, _ time.Duration) (*string, error) {
	<-ctx.Done()
	return nil, fmt.Errorf("cut off: %w", ctx.Err())
}

func TestFor_aLookThatHangsEndsSoonAfterTheDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, start := time.Now(), "building"
		last, err := For(t.Context(), clock.System, time.Minute, Object[string]{
			Start: &start, Next: hanging, Status: func(s *string) string { return *s }, States: states,
		})
		var late *TimeoutError
		if !errors.As(err, &late) || !strings.Contains(err.Error(), `still "building" after 1m10s (the last request failed: the service did not respond)`) || last == nil {
			t.Errorf("got %v and %v", last, err)
		}
		check.Is(t, "it took", time.Since(began), time.Minute+lastLookPatience)
	})
}
