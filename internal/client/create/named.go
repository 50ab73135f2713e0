package create

import (
	"context"
	"errors"
	"time"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// Named creates an object with a name. Besides the service's own errors, it returns *ExistsError and *LostError.
//
// Nothing is sent if the name stays taken while the collection waits; see patience. After a lost response, the object is the only new one
// that has the name and matches the request. Creations with one name run one after the other, because neither would see the other's object.
func Named[T any, P wire.RecordOf[T]](ctx context.Context, l *Ledger[T], o NamedObject[T]) (*T, error) {
	if o.HasName == nil {
		o.HasName = wire.HasName[T, P](o.Name)
	}
	unlock, err := l.Lock(ctx, o.Key, o.Name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	before, named, err := l.UntilFree(ctx, o.Key, o.HasName)
	if err != nil {
		return nil, err
	}
	if len(named) > 0 {
		return nil, AlreadyExists(l.refs(named))
	}
	made, err := l.sendNamed(ctx, o, before)
	return l.AfterWrite(o.Key, made, err)
}

// NamedObject describes an object whose name nothing else in its collection has.
type NamedObject[T any] struct {
	Name string
	// Key is the collection that the object becomes a part of.
	Key string
	// HasName reports whether an object has the name that the new object would have. Nil compares only the names.
	HasName func(*T) bool
	// Send sends the request, and IsWanted reports whether an object with the name matches it, as far as a response shows.
	Send     func(ctx context.Context) (*T, error)
	IsWanted func(*T) bool
	// OnAnswered gets the object of a response, but not one that was found: that may be another run's. It may be nil.
	OnAnswered func(*T)
}

// sendNamed sends the request for an object whose name is free.
func (l *Ledger[T]) sendNamed(ctx context.Context, o NamedObject[T], before View[T]) (*T, error) {
	since := l.conn.ServiceTime() // Known, if at all, from the listing before.
	made, err := o.Send(ctx)
	switch {
	case err == nil:
		if ref := l.ref(made); before.CannotBeNew(ref.ID) || !wire.SameText(ref.Name, o.Name) {
			return nil, AnotherObject(ref.Object, o.Name, ref)
		}
		if o.OnAnswered != nil {
			o.OnAnswered(made)
		}
		return made, nil
	case transport.IsConflict(err):
		// Somebody else may have created an object with the name since the last look. Unlike a rename, a
		// creation is not sent again: it has waited if the name was known to be taken.
		if named, listErr := l.Relist(ctx, o.Key, o.HasName); listErr == nil && len(named) > 0 {
			return nil, AlreadyExists(l.refs(named))
		}
		return nil, err
	case transport.IsAmbiguous(err):
		return l.findNamed(ctx, o, before, since, err)
	}
	return nil, err
}

// findNamed returns the object of a request whose response was lost.
func (l *Ledger[T]) findNamed(ctx context.Context, o NamedObject[T], before View[T], since time.Time, lostErr error) (*T, error) {
	isNew := func(object *T) bool { return o.HasName(object) && !before.CannotBeNew(l.ref(object).ID) }
	isWanted := func(object *T) bool { return o.IsWanted(object) && CreatedSince(l.ref(object).CreatedAt, since) }
	var named []T // All new ones, as they were listed last. A namesake of another run may be listed before the wanted one.
	wanted, lookErr := LookAfterLoss(ctx, l.conn, Search[T]{Look: func(ctx context.Context) ([]T, error) {
		listed, err := l.Relist(ctx, o.Key, isNew)
		if err == nil {
			named = listed
		}
		return collection.Filter(listed, isWanted), err
	}})
	if len(wanted) != 1 {
		return nil, &LostError{Object: l.ref(new(T)).Object, Name: o.Name, Found: l.refs(named), Err: errors.Join(lostErr, lookErr)}
	}
	NoteFound(ctx, l.conn, Found{Ref: l.ref(&wanted[0])})
	return &wanted[0], nil
}
