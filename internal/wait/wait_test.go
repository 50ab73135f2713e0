package wait

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client"
	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

var states = States{Done: []string{"ready"}, InProgress: []string{"building"}, Failed: []string{"failed"}}

func TestFor(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	gone, forbidden := &client.APIError{Status: 404, Detail: "gone", FromService: true}, &client.APIError{Status: 403, Detail: "no"}
	for name, tc := range map[string]struct {
		answers []any // A status or an error; the last one repeats.
		want    string
		err     any
		changes string
	}{
		"at once":           {[]any{"ready"}, "ready", nil, "ready"},
		"after a while":     {[]any{"building", "building", "ready"}, "ready", nil, "building ready"},
		"unknown status":    {[]any{"dreaming", "ready"}, "ready", nil, "dreaming ready"},
		"failed":            {[]any{"building", "failed"}, "failed", new(*FailedError), "building failed"},
		"never":             {[]any{"building"}, "building", new(*TimeoutError), "building"},
		"fault on the way":  {[]any{"building", broken, broken, broken, broken, "ready"}, "ready", nil, "building ready"},
		"broken to the end": {[]any{"building", broken}, "building", new(*TimeoutError), "building"},
		"shown late":        {[]any{gone, gone, "ready"}, "ready", nil, "ready"},
		"gone":              {[]any{"building", gone}, "building", new(*client.APIError), "building"},
		"forbidden":         {[]any{forbidden, "ready"}, "", new(*client.APIError), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clk := clock.NewFake(time.Now())
			n := 0
			var changes []string
			last, err := For(t.Context(), clk, time.Minute, Object[string]{
				Next: func(ctx context.Context) (*string, error) {
					_ = clk.Sleep(ctx, 5*time.Second)
					answer := tc.answers[min(n, len(tc.answers)-1)]
					n++
					if s, ok := answer.(string); ok {
						return &s, nil
					}
					return nil, answer.(error)
				},
				Status: func(s *string) string { return *s }, States: states,
				OnChange: func(s *string) { changes = append(changes, *s) },
			})
			if tc.want == "" && last != nil || tc.want != "" && (last == nil || *last != tc.want) {
				t.Errorf("got %v, want %q", last, tc.want)
			}
			if tc.err == nil && err != nil || tc.err != nil && !errors.As(err, tc.err) {
				t.Errorf("got %v, want %T", err, tc.err)
			}
			if got := strings.Join(changes, " "); got != tc.changes {
				t.Errorf("changes %q, want %q", got, tc.changes)
			}
			var late *TimeoutError
			if errors.As(err, &late) && (late.Waited != time.Minute || n != 12 || !strings.Contains(err.Error(), `still "building" after 1m0s`)) {
				t.Errorf("after %d polls: %v", n, err)
			}
		})
	}
}

func TestFor_endsWithItsContext(t *testing.T) {
	t.Parallel()
	hang := Object[string]{
		Next:   func(ctx context.Context) (*string, error) { <-ctx.Done(); return nil, ctx.Err() },
		Status: func(s *string) string { return *s }, States: states,
	}
	var late *TimeoutError
	if _, err := For(t.Context(), clock.NewFake(time.Now()), time.Millisecond, hang); !errors.As(err, &late) {
		t.Errorf("a poll that hangs: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := For(ctx, clock.NewFake(time.Now()), time.Hour, hang); !errors.Is(err, context.Canceled) {
		t.Errorf("an interruption: %v", err)
	}
}
