package collection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/clock"
)

const window = 50 * time.Millisecond

func conflict(key, first, second string) error {
	return fmt.Errorf("%s is %s and %s", key, first, second)
}

var (
	errRefused = errors.New("refused")
	errDown    = errors.New("down")
)

// call is one caller: when it starts, when it is canceled (0 means never), its entry, and its wanted result.
type call struct {
	at, until  time.Duration
	key, value string
	want       string
}

// run makes calls at their times in a synctest bubble, and returns the requests and their times. The value "-" is a removal. A
// request takes as long as its longest value of the form "slow <duration>", or until its context is done. The service rejects
// a request with the value "bad", and fails one with "down". A result is the value in upper case.
func run(t *testing.T, calls []call) []string {
	t.Helper()
	var requests []string
	start := time.Now()
	b := NewBatcher(clock.System, BatchOptions[string, string]{
		Window: window, Max: 3,
		IsRefused: func(err error) bool { return errors.Is(err, errRefused) },
		Conflict:  conflict,
		Send: func(ctx context.Context, entries []BatchEntry[string]) ([]string, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var takes time.Duration
			var results, parts []string
			var err error
			for _, e := range entries {
				if e.Value == nil {
					results, parts = append(results, "-"), append(parts, e.Key+"=-")
					continue
				}
				value := *e.Value
				if d, ok := strings.CutPrefix(value, "slow "); ok {
					takes, _ = time.ParseDuration(d)
				}
				switch value {
				case "bad":
					err = errRefused
				case "down":
					err = errDown
				}
				results, parts = append(results, strings.ToUpper(value)), append(parts, e.Key+"="+value)
			}
			requests = append(requests, fmt.Sprintf("%v: %s", time.Since(start), strings.Join(parts, " ")))
			if sleepErr := clock.System.Sleep(ctx, takes); sleepErr != nil {
				return nil, sleepErr
			}
			return results, err
		},
	})
	for n, c := range calls {
		go func() {
			ctx := t.Context()
			_ = clock.System.Sleep(ctx, c.at)
			if c.until > 0 {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, c.until-c.at)
				defer cancel()
			}
			value := &c.value
			if c.value == "-" {
				value = nil
			}
			got, err := b.Do(ctx, c.key, value)
			if err != nil {
				got = err.Error()
			}
			if !strings.Contains(got, c.want) || got == "" && c.want != "" {
				t.Errorf("caller %d gets %q, want %q", n, got, c.want)
			}
		}()
	}
	_ = clock.System.Sleep(t.Context(), time.Hour)
	synctest.Wait()
	return requests
}

func TestDo(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	deadline := context.DeadlineExceeded.Error()
	for name, tc := range map[string]struct {
		calls    []call
		requests []string
	}{
		"one caller": {
			[]call{{0, 0, "a", "x", "X"}},
			[]string{"50ms: a=x"},
		},
		"callers that come together share a request": {
			[]call{{0, 0, "a", "x", "X"}, {ms, 0, "b", "y", "Y"}},
			[]string{"51ms: a=x b=y"},
		},
		"each arrival keeps the window open": {
			[]call{{0, 0, "a", "x", "X"}, {40 * ms, 0, "b", "y", "Y"}, {131 * ms, 0, "c", "z", "Z"}},
			[]string{"90ms: a=x b=y", "181ms: c=z"},
		},
		"a full batch is sent at once": {
			[]call{{0, 0, "a", "x", "X"}, {ms, 0, "b", "y", "Y"}, {2 * ms, 0, "c", "z", "Z"}, {3 * ms, 0, "d", "u", "U"}},
			[]string{"2ms: a=x b=y c=z", "53ms: d=u"},
		},
		"only what is at fault fails": {
			[]call{{0, 0, "a", "x", "X"}, {ms, 0, "b", "bad", "refused"}},
			[]string{"51ms: a=x b=bad", "51ms: a=x", "51ms: b=bad"},
		},
		"what is refused alone is not sent again": {
			[]call{{0, 0, "a", "bad", "refused"}},
			[]string{"50ms: a=bad"},
		},
		"a failure that may have been acted on is everybody's": {
			[]call{{0, 0, "a", "x", "down"}, {ms, 0, "b", "down", "down"}},
			[]string{"51ms: a=x b=down"},
		},
		"equal values share an entry": {
			[]call{{0, 0, "a", "x", "X"}, {ms, 0, "A", "x", "X"}, {2 * ms, 0, "b", "y", "Y"}},
			[]string{"52ms: a=x b=y"},
		},
		"two removals share an entry": {
			[]call{{0, 0, "a", "-", "-"}, {ms, 0, "a", "-", "-"}},
			[]string{"51ms: a=-"},
		},
		"a value takes the place of a removal": {
			[]call{{0, 0, "a", "-", "X"}, {ms, 0, "a", "x", "X"}},
			[]string{"51ms: a=x"},
		},
		"a removal does not take the place of a value": {
			[]call{{0, 0, "a", "x", "X"}, {ms, 0, "a", "-", "X"}},
			[]string{"51ms: a=x"},
		},
		"of two values the first is sent": {
			[]call{{0, 0, "a", "x", "X"}, {ms, 0, "a", "y", "a is x and y"}},
			[]string{"50ms: a=x"},
		},
		"of two values beside a removal the first is sent": {
			[]call{{0, 0, "a", "-", "X"}, {ms, 0, "a", "x", "X"}, {2 * ms, 0, "a", "y", "a is x and y"}},
			[]string{"51ms: a=x"},
		},
		"two values in two windows are two requests": {
			[]call{{0, 0, "a", "x", "X"}, {60 * ms, 0, "a", "y", "Y"}},
			[]string{"50ms: a=x", "110ms: a=y"},
		},
		"the end of the run sends the batch at once": {
			[]call{{0, 10 * ms, "a", "x", deadline}, {ms, 10 * ms, "b", "y", deadline}},
			nil,
		},
		"the end of the run ends the request": {
			[]call{{0, 500 * ms, "a", "slow 1s", deadline}, {ms, 500 * ms, "b", "y", deadline}},
			[]string{"51ms: a=slow 1s b=y"},
		},
		"a later batch does not overtake": {
			[]call{{0, 0, "a", "slow 1s", "SLOW 1S"}, {60 * ms, 0, "a", "y", "Y"}, {200 * ms, 0, "a", "z", "Z"}},
			[]string{"50ms: a=slow 1s", "1.05s: a=y", "1.05s: a=z"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				if got := run(t, tc.calls); !slices.Equal(got, tc.requests) {
					t.Errorf("the requests are %q, want %q", got, tc.requests)
				}
			})
		})
	}
}

// With a clock that does not wait, the window ends immediately.
func TestDo_onAFakeClock(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	b := NewBatcher(clk, BatchOptions[string, string]{
		Window: window, Max: 3,
		IsRefused: func(error) bool { return true },
		Conflict:  conflict,
		Send:      func(context.Context, []BatchEntry[string]) ([]string, error) { return []string{"done"}, nil },
	})
	value := "x"
	if got, err := b.Do(t.Context(), "a", &value); err != nil || got != "done" {
		t.Errorf("%q, %v", got, err)
	}
	if got := clk.Sleeps(); len(got) != 1 || got[0] != window {
		t.Errorf("the pauses are %v", got)
	}
}
