package collection

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

func TestLocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l Locks
		release, err := l.Lock(t.Context(), "a")
		if err != nil {
			t.Fatal(err)
		}
		stopped, stop := context.WithCancel(t.Context())
		stop()
		if _, err := l.Lock(stopped, "a"); !errors.Is(err, context.Canceled) {
			t.Errorf("a canceled wait ended with %v", err)
		}
		other, err := l.Lock(t.Context(), "b")
		if err != nil {
			t.Fatal(err)
		}
		other()
		hasLock := false
		go func() {
			if again, err := l.Lock(t.Context(), "a"); err == nil {
				hasLock = true
				again()
			}
		}()
		synctest.Wait()
		if hasLock {
			t.Error("two callers held the same lock")
		}
		release()
		synctest.Wait()
		if !hasLock {
			t.Error("a released lock was not taken")
		}
	})
}
