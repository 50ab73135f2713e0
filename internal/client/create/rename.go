package create

import (
	"context"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
)

const (
	// renameTime is the patience of a request that gives an object another name after a 409: the same apply may free the name a moment
	// later, for example if the first element of a list with count is removed.
	renameTime  = 10 * time.Second
	renamePause = time.Second
	// maxIdleLooks is how often the name may belong to an object that this process is not changing: Terraform changes only some objects at a
	// time, and may start the change that frees the name only after this one has ended.
	maxIdleLooks = 2
)

// Changing records that this process is changing or deleting an object, until done is called.
func (l *Ledger[T]) Changing(id string) (done func()) {
	change, end := context.WithCancel(context.Background())
	l.changes.Store(id, change)
	return func() {
		l.changes.CompareAndDelete(id, change)
		end()
	}
}

// Rename sends a request that gives an object a name that hasName recognizes. After a 409, it sends the request again once the object with
// the name has changed, and each second, until its patience ends.
func (l *Ledger[T]) Rename(ctx context.Context, key string, hasName func(*T) bool, send func() error) error {
	idle := 0
	for until := l.conn.Clock.Now().Add(renameTime); ; {
		err := send()
		left := until.Sub(l.conn.Clock.Now())
		if !transport.IsConflict(err) || left <= 0 {
			return err
		}
		change, isIdle := l.changeOf(ctx, key, hasName)
		if isIdle {
			idle++
		}
		if idle == maxIdleLooks || l.sleepUntil(ctx, change, min(renamePause, left)) != nil {
			return err
		}
	}
}

// changeOf returns a context that ends when this process has changed the object with a name. IsIdle says that there is one, which this
// process is not changing.
func (l *Ledger[T]) changeOf(ctx context.Context, key string, hasName func(*T) bool) (change context.Context, isIdle bool) {
	before, err := l.Before(ctx, key, hasName)
	if err != nil {
		return context.Background(), false
	}
	for i := range before.Named {
		if found, ok := l.changes.Load(l.ref(&before.Named[i]).ID); ok {
			return found.(context.Context), false
		}
	}
	return context.Background(), len(before.Named) > 0
}

// sleepUntil sleeps until a change has ended, but not longer than pause. It returns the error of ctx.
func (l *Ledger[T]) sleepUntil(ctx, change context.Context, pause time.Duration) error {
	changeOrRun, stop := context.WithCancel(ctx)
	defer stop()
	defer context.AfterFunc(change, stop)()
	_ = l.conn.Clock.Sleep(changeOrRun, pause)
	return ctx.Err()
}
