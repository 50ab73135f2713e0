package transport

import (
	"context"
	"fmt"

	"github.com/agentyard/terraform-provider-agentyard/internal/client/wire"
)

// CallObject calls an operation that returns an object, which may be wrapped in a field named by noun, and checks its ID. The ID is
// wire.AnyID for a create request.
func CallObject[T any, P wire.RecordOf[T]](ctx context.Context, c *Conn, r Request, noun, id string) (*T, error) {
	response, err := c.Exchange(ctx, r, OnlyJSON)
	if err != nil {
		return nil, err
	}
	found := new(T)
	if err := wire.Decode(response.Body, noun, found); err != nil {
		return nil, NewTransportError(r.Op, err)
	}
	if problem := wire.Mismatch(P(found), id); problem != "" {
		return nil, r.Unexpected(problem)
	}
	c.report.read(ctx, P(found))
	return found, nil
}

// CallCreate calls an operation that creates an object. The response must have its ID, and isWhole says whether it has all that a record
// must have.
func CallCreate[T any, P wire.RecordOf[T]](ctx context.Context, c *Conn, r Request, noun string) (made *T, isWhole bool, err error) {
	response, err := c.Exchange(ctx, r, OnlyJSON)
	if err != nil {
		return nil, false, err
	}
	made = new(T)
	err = wire.Decode(response.Body, noun, made)
	if P(made).Ref().ID == "" {
		return nil, false, r.Unexpected("it has no ID")
	}
	return made, err == nil && P(made).MissingField() == "", nil
}

// PatchObject updates the object with the given ID. If the response has no object, PatchObject reads the object with read. What differs
// then is drift, like any other difference between the service and the request.
func PatchObject[T any, P wire.RecordOf[T]](ctx context.Context, c *Conn, r Request, noun, id string, read func(ctx context.Context, id string) (*T, error)) (*T, error) {
	response, err := c.Exchange(ctx, r, EmptyOrJSON)
	if err != nil {
		return nil, err
	}
	updated := new(T)
	if wire.Decode(response.Body, noun, updated) == nil && P(updated).Ref().ID != "" {
		if problem := wire.Mismatch(P(updated), id); problem != "" {
			return nil, r.Unexpected(problem)
		}
		return updated, nil
	}
	ctx, cancel := PastCancel(ctx)
	defer cancel()
	if updated, err = read(ctx, id); err != nil {
		return nil, fmt.Errorf("%w (the response to %s has no object, so the provider read the object back)", err, r.Op.Name)
	}
	return updated, nil
}

// Unexpected returns the error for a response with unexpected content.
func (r Request) Unexpected(problem string) error {
	return NewTransportError(r.Op, &wire.ResponseError{Problem: problem})
}

// Denied returns the error for a response that has another value than the requested one.
func (r Request) Denied(field, said, wanted string) error {
	return NewTransportError(r.Op, &wire.ResponseError{Problem: fmt.Sprintf("the field %s is %s instead of %s", field, said, wanted), Denies: true})
}

// CallItems calls an operation that returns a list, in a field with a name or bare. It reads the other fields of the response into
// envelope, unless that is nil.
func CallItems[T any](ctx context.Context, c *Conn, r Request, name string, envelope any) ([]T, error) {
	response, err := c.Exchange(ctx, r, OnlyJSON)
	if err != nil {
		return nil, err
	}
	items, err := wire.ReadList[T](response.Body, name)
	if err == nil && envelope != nil {
		err = wire.ReadEnvelope(response.Body, envelope)
	}
	if err != nil {
		return nil, NewTransportError(r.Op, err)
	}
	return items, nil
}

// CallList is CallItems for objects, which it checks.
func CallList[T any, P wire.RecordOf[T]](ctx context.Context, c *Conn, r Request, name string, envelope any) ([]T, error) {
	objects, err := CallItems[T](ctx, c, r, name, envelope)
	if err != nil {
		return nil, err
	}
	for i := range objects {
		if problem := wire.Mismatch(P(&objects[i]), wire.AnyID); problem != "" {
			return nil, r.Unexpected(fmt.Sprintf("object %d of the list is invalid: %s", i+1, problem))
		}
		c.report.know(P(&objects[i]).Ref())
	}
	return objects, nil
}
