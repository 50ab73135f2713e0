package clock

import (
	"strings"
	"testing"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/acctest/check"
)

func TestAhead(t *testing.T) {
	t.Parallel()
	began := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	fake := NewFake(began)
	ahead := NewAhead(fake, time.Hour)
	ahead.Advance(24 * time.Hour)
	if got := ahead.Now(); !got.Equal(began.Add(25*time.Hour)) || ahead.By() != 25*time.Hour {
		t.Errorf("shows %v, ahead by %v", got, ahead.By())
	}
	check.Must(t, ahead.Sleep(t.Context(), time.Minute))
	if got := ahead.Now(); !got.Equal(fake.Now().Add(25*time.Hour)) || !fake.Now().Equal(began.Add(time.Minute)) {
		t.Errorf("after a sleep it shows %v, and the other clock %v", got, fake.Now())
	}
}

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
