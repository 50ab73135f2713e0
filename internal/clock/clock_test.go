package clock

import (
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
