package create

import (
	"context"
	"errors"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/collection"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/transport"
	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// NamedObject describes an object whose name nothing else in its collection has.
type NamedObject[T any] struct {
	// Object and Name are used in errors, such as "computer" and "ci".
	Object, Name string
	// Key is the collection that the object becomes a part of.
	Key string
	// HasName reports whether an object has the name that the new object would have.
	HasName func(*T) bool
	// Send sends the request, and IsWanted reports whether an object matches it, as far as a response shows.
	Send     func(ctx context.Context) (*T, error)
	IsWanted func(*T) bool
}

// Named creates an object with a name. Besides the service's own errors, it returns *ExistsError and *LostError.
//
// If an object has the name for ten seconds, nothing is sent. After a lost response, the object is the only new one that has the name and
// matches the request. Creations with one name run one after the other, because neither would see the other's object.
func Named[T any, P wire.RecordOf[T]](ctx context.Context, l *Ledger[T], o NamedObject[T]) (made *T, err error) {
	unlock, err := l.Lock(ctx, o.Key, o.Name)
	if err != nil {
		return nil, err
	}
	defer unlock()
	defer func() {
		if err != nil {
			l.Listing.Invalidate(o.Key)
		}
	}()
	listNow := func(ctx context.Context) ([]T, error) { return l.Listing.FindNow(ctx, o.Key, o.HasName) }

	before, err := l.Before(ctx, o.Key, o.HasName)
	if err != nil {
		return nil, err
	}
	if len(before.Named) > 0 {
		taken, err := l.UntilFree(ctx, o.Key, o.HasName)
		if len(taken) > 0 {
			return nil, AlreadyExists(wire.Refs[T, P](taken))
		}
		if err != nil {
			return nil, err
		}
	}

	since := l.conn.ServiceTime()
	made, err = o.Send(ctx)
	switch {
	case err == nil:
		if ref := P(made).Ref(); before.Has(ref.ID) || ref.Name != o.Name {
			return nil, AnotherObject(o.Object, o.Name, ref)
		}
		l.Wrote(o.Key, made)
		return made, nil
	case transport.IsConflict(err): // Somebody else may have created an object with the name first.
		if taken, listErr := listNow(ctx); listErr == nil && len(taken) > 0 {
			return nil, AlreadyExists(wire.Refs[T, P](taken))
		}
		return nil, err
	case !transport.IsAmbiguous(err):
		return nil, err
	}

	// The response was lost.
	listed, lookErr := LookAfterLoss(ctx, l.conn, 1, listNow)
	found := collection.Filter(listed, func(object *T) bool { return !before.Has(P(object).Ref().ID) })
	wanted := collection.Filter(found, func(object *T) bool {
		return o.IsWanted(object) && CreatedSince(P(object).Ref().CreatedAt, since)
	})
	if len(wanted) != 1 {
		return nil, &LostError{Object: o.Object, Name: o.Name, Found: wire.Refs[T, P](found), Err: errors.Join(err, lookErr)}
	}
	l.Wrote(o.Key, &wanted[0])
	NoteFound(ctx, Found{Ref: P(&wanted[0]).Ref()})
	return &wanted[0], nil
}
