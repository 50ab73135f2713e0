package clock

import (
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"90m": 90 * time.Minute, "720h": 720 * time.Hour, "30d": 720 * time.Hour, "2w": 336 * time.Hour, "1w12h": 180 * time.Hour,
		"1.5d": 36 * time.Hour, "0.01d": 14*time.Minute + 24*time.Second, "1d1h1m1s": 25*time.Hour + time.Minute + time.Second, "-1d": -24 * time.Hour, "0s": 0, "100ms": 100 * time.Millisecond,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "soon", "10", "d", "1y", "1 d", "1dd", "9999999999w"} {
		if got, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), "number with a unit") {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
}
