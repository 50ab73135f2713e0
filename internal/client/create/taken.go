package create

import (
	"context"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

// A name that is taken may become free a moment later: a listing may be out of date, and the same apply may delete or rename what has the
// name. A plan says nothing about such a name, because only Terraform knows what the same apply deletes, renames, or moves.
const (
	// takenTime is how long a collection has for all names in it that are taken, so that Terraform soon has a place for the change that
	// frees them. Whoever comes later looks once. A name that is found taken after takenRest belongs to other changes, and has time again.
	takenTime = 10 * time.Second
	takenRest = takenTime + collection.FreshFor
	// takenPause is how soon a change of this process is noticed, and takenAge how soon one of others: it takes a listing, which all share.
	takenPause = 100 * time.Millisecond
	takenAge   = 2 * time.Second
	// renamePause is how soon a rename is sent again if it is refused, but nothing is known to have the name.
	renamePause = time.Second
)

// UntilFree waits until no object prevents a creation, and otherwise returns those that do, also if the wait is interrupted. Before is what
// was known at the last look. With an error, there are no others.
func (l *Ledger[T]) UntilFree(ctx context.Context, key string, prevents func(*T) bool) (before View[T], others []T, err error) {
	before, err = l.View(ctx, key)
	if err != nil || len(before.Find(prevents)) == 0 {
		return before, nil, err
	}
	for until := l.takenUntil(key); ; {
		isLast := !l.conn.Clock.Now().Before(until)
		if before, err = l.view(ctx, key, takenAge); err != nil {
			return before, nil, err
		}
		others = before.Find(prevents)
		if len(others) == 0 || isLast || l.conn.Clock.Sleep(ctx, takenPause) != nil {
			return before, others, nil
		}
	}
}

// Rename sends a request that gives an object a name. After a 409, it sends the request again once nothing is known to have the name, as
// when the first element of a list with count is removed, and each object gets the name of the next one.
func (l *Ledger[T]) Rename(ctx context.Context, key string, hasName func(*T) bool, send func() error) error {
	for isLast := false; ; {
		err := send()
		if !transport.IsConflict(err) || isLast {
			return err
		}
		until := l.takenUntil(key)
		if l.conn.Clock.Sleep(ctx, renamePause) != nil {
			return err
		}
		isLast = !l.conn.Clock.Now().Before(until)
		// If the listing fails, the request itself asks the service.
		if _, others, _ := l.UntilFree(ctx, key, hasName); len(others) > 0 {
			return err
		}
	}
}

// takenUntil returns until when the names of a collection have time to become free, from the first one that was found taken.
func (l *Ledger[T]) takenUntil(key string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, now := l.of(key), l.conn.Clock.Now()
	if now.Sub(k.patienceSince) >= takenRest {
		k.patienceSince = now
	}
	return k.patienceSince.Add(takenTime)
}
