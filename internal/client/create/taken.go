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
	// patience is how long a collection waits for all names in it that are taken, so that Terraform soon runs the change that frees
	// them. Whoever comes later looks once. A name that is found taken after patienceRest belongs to other changes, and is waited for.
	patience     = 10 * time.Second
	patienceRest = patience + collection.FreshFor
	// lookPause is how soon a change of this process is noticed, and listEvery how soon one of others, by a listing that all share.
	lookPause = 100 * time.Millisecond
	listEvery = 2 * time.Second
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
	for until := l.startPatience(key); ; {
		isLast := !l.conn.Clock.Now().Before(until)
		if before, err = l.view(ctx, key, listEvery); err != nil {
			return before, nil, err
		}
		others = before.Find(prevents)
		if len(others) == 0 || isLast || l.conn.Clock.Sleep(ctx, lookPause) != nil {
			return before, others, nil
		}
	}
}

// Update sends a request that changes an object, and records the outcome. HasName is nil unless the request gives the object a name: then
// the request is sent again after a 409, once nothing is known to have the name, as when the first element of a list with count is removed,
// and each object gets the name of the next one.
func (l *Ledger[T]) Update(ctx context.Context, key string, hasName func(*T) bool, send func() (*T, error)) (updated *T, err error) {
	for isLast := false; ; {
		updated, err = send()
		if hasName == nil || isLast || !transport.IsConflict(err) {
			break
		}
		until := l.startPatience(key)
		if l.conn.Clock.Sleep(ctx, renamePause) != nil {
			break
		}
		isLast = !l.conn.Clock.Now().Before(until)
		// If the listing fails, the request itself asks the service.
		if _, others, _ := l.UntilFree(ctx, key, hasName); len(others) > 0 {
			break
		}
	}
	return l.AfterWrite(key, updated, err)
}

// startPatience starts the patience of a collection if it rests, and returns its end.
func (l *Ledger[T]) startPatience(key string) time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	k, now := l.of(key), l.conn.Clock.Now()
	if now.Sub(k.patienceSince) >= patienceRest {
		k.patienceSince = now
	}
	return k.patienceSince.Add(patience)
}
