package batch

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

var (
	errRefused = errors.New("refused")
	errDown    = errors.New("down")
)

// call is one caller: when it comes, when it gives up (0 is never), what it hands in, and what it is to get.
type call struct {
	at, until  time.Duration
	key, value string
	want       string
}

// run makes calls at their times, by the time of a synctest bubble, and returns the requests that were sent and when.
// A value is a removal if it is "-". A request takes as long as its longest value of the form "slow <duration>". A
// request with the value "bad" is refused; one with "down" fails. A request ends with its context, except for one with a
// value of the form "deaf <duration>", but none begins after it. A result is the value in upper case.
func run(t *testing.T, calls []call) []string {
	t.Helper()
	var requests []string
	start := time.Now()
	b := New(clock.System, Options[string, string]{
		Window: window, Max: 3,
		Removal: func(v string) bool { return v == "-" },
		Equal:   strings.EqualFold,
		Refused: func(err error) bool { return errors.Is(err, errRefused) },
		Send: func(ctx context.Context, entries []Entry[string]) ([]string, error) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var takes time.Duration
			var results, parts []string
			var err error
			for _, e := range entries {
				if d, ok := strings.CutPrefix(e.Value, "slow "); ok {
					takes, _ = time.ParseDuration(d)
				}
				if d, ok := strings.CutPrefix(e.Value, "deaf "); ok {
					takes, _ = time.ParseDuration(d)
					ctx = context.WithoutCancel(ctx)
				}
				switch e.Value {
				case "bad":
					err = errRefused
				case "down":
					err = errDown
				}
				results, parts = append(results, strings.ToUpper(e.Value)), append(parts, e.Key+"="+e.Value)
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
			got, err := b.Do(ctx, c.key, c.value)
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
			[]string{"90ms: a=x b=y", "331ms: c=z"},
		},
		"those who have come once may come again, with longer pauses": {
			[]call{{0, 0, "a", "x", "X"}, {ms, 0, "b", "y", "Y"}, {60 * ms, 0, "c", "z", "Z"}, {240 * ms, 0, "d", "u", "U"}, {300 * ms, 0, "e", "v", "V"}},
			[]string{"51ms: a=x b=y", "290ms: c=z d=u", "500ms: e=v"},
		},
		"who waits for an earlier batch is not missing": {
			[]call{{0, 0, "a", "slow 100ms", "SLOW 100MS"}, {ms, 0, "b", "y", "Y"}, {60 * ms, 0, "c", "z", "Z"}},
			[]string{"51ms: a=slow 100ms b=y", "151ms: c=z"},
		},
		"a full batch is sent at once": {
			[]call{{0, 0, "a", "x", "X"}, {ms, 0, "b", "y", "Y"}, {2 * ms, 0, "c", "z", "Z"}, {3 * ms, 0, "d", "u", "U"}},
			[]string{"2ms: a=x b=y c=z", "203ms: d=u"},
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
			[]call{{0, 0, "a", "x", "X"}, {ms, 0, "a", "X", "X"}, {2 * ms, 0, "b", "y", "Y"}},
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
			[]call{{0, 0, "a", "x", "X"}, {ms, 0, "a", "y", `two different values for "a"`}},
			[]string{"50ms: a=x"},
		},
		"of two values beside a removal the first is sent": {
			[]call{{0, 0, "a", "-", "X"}, {ms, 0, "a", "x", "X"}, {2 * ms, 0, "a", "y", `two different values for "a"`}},
			[]string{"51ms: a=x"},
		},
		"two values in two windows are two requests": {
			[]call{{0, 0, "a", "x", "X"}, {60 * ms, 0, "a", "y", "Y"}},
			[]string{"50ms: a=x", "110ms: a=y"},
		},
		"a later batch does not overtake": {
			[]call{{0, 0, "a", "slow 1s", "SLOW 1S"}, {60 * ms, 0, "a", "y", "Y"}, {200 * ms, 0, "a", "z", "Z"}},
			[]string{"50ms: a=slow 1s", "1.05s: a=y", "1.05s: a=z"},
		},
		"who leaves early is not sent": {
			[]call{{0, 10 * ms, "a", "x", deadline}, {ms, 0, "b", "y", "Y"}},
			[]string{"51ms: b=y"},
		},
		"if all leave, nothing is sent": {
			[]call{{0, 10 * ms, "a", "x", deadline}, {ms, 10 * ms, "b", "y", deadline}},
			nil,
		},
		"who leaves while an earlier batch is sent is not sent": {
			[]call{{0, 0, "a", "slow 1s", "SLOW 1S"}, {60 * ms, 500 * ms, "b", "y", deadline}},
			[]string{"50ms: a=slow 1s"},
		},
		"if one of two equals leaves, the other is sent": {
			[]call{{0, 10 * ms, "a", "x", deadline}, {ms, 0, "a", "x", "X"}},
			[]string{"51ms: a=x"},
		},
		"if the value leaves, the removal is sent": {
			[]call{{0, 0, "a", "-", "-"}, {ms, 10 * ms, "a", "x", deadline}},
			[]string{"51ms: a=-"},
		},
		"who leaves during the request gets the result": {
			[]call{{0, 500 * ms, "a", "slow 1s", "SLOW 1S"}, {ms, 0, "b", "y", "Y"}},
			[]string{"51ms: a=slow 1s b=y"},
		},
		"if all leave during the request, it ends with the last": {
			[]call{{0, 500 * ms, "a", "slow 1s", "context canceled"}, {ms, 600 * ms, "b", "y", "context canceled"}},
			[]string{"51ms: a=slow 1s b=y"},
		},
		"if all leave, what was refused is not sent alone": {
			[]call{{0, 500 * ms, "a", "deaf 1s", "context canceled"}, {ms, 500 * ms, "b", "bad", "context canceled"}},
			[]string{"51ms: a=deaf 1s b=bad"},
		},
		"if one stays, what was refused is sent alone": {
			[]call{{0, 500 * ms, "a", "deaf 1s", "DEAF 1S"}, {ms, 0, "b", "bad", "refused"}},
			[]string{"51ms: a=deaf 1s b=bad", "1.051s: a=deaf 1s", "2.051s: b=bad"},
		},
		"if one stays, the request does not end": {
			[]call{{0, 500 * ms, "a", "slow 1s", "SLOW 1S"}, {ms, 0, "a", "slow 1s", "SLOW 1S"}},
			[]string{"51ms: a=slow 1s"},
		},
		"if those that are left leave during the request, it ends": {
			[]call{{0, 10 * ms, "a", "x", deadline}, {ms, 500 * ms, "b", "slow 1s", "context canceled"}},
			[]string{"51ms: b=slow 1s"},
		},
		"whose second value is refused does not keep the request": {
			[]call{{0, 500 * ms, "a", "slow 1s", "context canceled"}, {ms, 0, "a", "y", "two different values"}},
			[]string{"50ms: a=slow 1s"},
		},
		"who comes after all have left is sent": {
			[]call{{0, 10 * ms, "a", "x", deadline}, {20 * ms, 0, "b", "slow 1s", "SLOW 1S"}},
			[]string{"70ms: b=slow 1s"},
		},
		"the end of one request is not that of the next": {
			[]call{{0, 500 * ms, "a", "slow 1s", "context canceled"}, {60 * ms, 0, "b", "slow 1s", "SLOW 1S"}},
			[]string{"50ms: a=slow 1s", "500ms: b=slow 1s"},
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

func TestDo_sendsNothingForAContextThatHasEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	b := New(clock.NewFake(time.Now()), Options[string, string]{})
	if _, err := b.Do(ctx, "a", "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestDo_conflictTellsTheFirstValue(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := New(clock.System, Options[string, string]{
			Window: window, Max: 3,
			Removal: func(string) bool { return false },
			Equal:   func(a, b string) bool { return a == b },
			Send:    func(context.Context, []Entry[string]) ([]string, error) { return []string{"done"}, nil },
		})
		go func() { _, _ = b.Do(t.Context(), "a", "x") }()
		synctest.Wait()
		_, err := b.Do(t.Context(), "a", "y")
		var conflict *ConflictError[string]
		if !errors.As(err, &conflict) || conflict.Key != "a" || conflict.First != "x" {
			t.Errorf("the error is %v", err)
		}
		_ = clock.System.Sleep(t.Context(), window)
	})
}

// With a clock that does not wait, the window is over at once.
func TestDo_onAFakeClock(t *testing.T) {
	t.Parallel()
	clk := clock.NewFake(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC))
	for name, tc := range map[string]struct {
		results []string
		want    string
	}{
		"a result":          {[]string{"done"}, ""},
		"no result":         {nil, "1 entries has 0 results"},
		"a result too many": {[]string{"done", "done"}, "1 entries has 2 results"},
	} {
		b := New(clk, Options[string, string]{
			Window: window, Max: 3,
			Removal: func(string) bool { return false },
			Refused: func(error) bool { return true },
			Send:    func(context.Context, []Entry[string]) ([]string, error) { return tc.results, nil },
		})
		got, err := b.Do(t.Context(), "a", "x")
		if tc.want == "" && (err != nil || got != "done") || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if got := clk.Sleeps(); len(got) != 3 || got[0] != window {
		t.Errorf("the pauses are %v", got)
	}
}
