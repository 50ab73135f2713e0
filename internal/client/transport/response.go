package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Record is an object in a response.
type Record interface {
	// Identifier returns the object's ID.
	Identifier() string
	// MissingField returns the first required field that the object lacks; empty if it is complete.
	MissingField() string
}

// ResponseError says that a successful response does not have the requested content.
type ResponseError struct{ Problem string }

func (e *ResponseError) Error() string { return "unexpected response: " + e.Problem }

// CallObject calls an operation that returns an object, and checks its ID. The ID is NewObject for a create request.
func CallObject[T any, P interface {
	*T
	Record
}](ctx context.Context, c *Conn, r Request, id string) (*T, error) {
	found, err := Call[T](ctx, c, r)
	if err != nil {
		return nil, err
	}
	if problem := Mismatch(P(found), id); problem != "" {
		return nil, r.Unexpected(problem)
	}
	return found, nil
}

// PatchObject updates the object with the given ID. If the response has no object, PatchObject reads the object with read, and
// requires that holds accepts it.
func PatchObject[T any, P interface {
	*T
	Record
}](ctx context.Context, c *Conn, r Request, id string, read func(context.Context) (*T, error), holds func(*T) bool) (*T, error) {
	response, err := c.Exchange(ctx, r, AnyBody)
	if err != nil {
		return nil, err
	}
	updated := new(T)
	if Decode(response.Body, r.Noun, updated) == nil && P(updated).Identifier() != "" {
		if problem := Mismatch(P(updated), id); problem != "" {
			return nil, r.Unexpected(problem)
		}
		return updated, nil
	}
	ctx, cancel := Outlive(ctx)
	defer cancel()
	updated, err = read(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w (the response to %s has no object, so the provider read the object back)", err, r.Op.Name)
	case !holds(updated):
		return nil, r.Unexpected("it has no object, and the object read back differs")
	}
	return updated, nil
}

// Mismatch says why a response is not the complete object with the given ID; empty if it is. The service may return an ID in
// another case.
func Mismatch(response Record, id string) string {
	switch {
	case response.Identifier() == "":
		return "it has no ID"
	case id != "" && !strings.EqualFold(response.Identifier(), id):
		return fmt.Sprintf("it contains %s instead of %s", response.Identifier(), id)
	case response.MissingField() != "":
		return fmt.Sprintf("the field %s is missing", response.MissingField())
	}
	return ""
}

// CheckObjects checks the objects of a listing.
func CheckObjects[T any, P interface {
	*T
	Record
}](r Request, objects []T) ([]T, error) {
	for i := range objects {
		if problem := Mismatch(P(&objects[i]), ""); problem != "" {
			return nil, r.Unexpected(fmt.Sprintf("object %d of the list is invalid: %s", i+1, problem))
		}
	}
	return objects, nil
}

// Kept is embedded in records whose format is not documented. Raw is the whole record as the service returned it.
type Kept struct {
	Raw json.RawMessage `json:"-"`
}

func (k *Kept) keep(raw json.RawMessage) { k.Raw = raw }

type keeper interface{ keep(raw json.RawMessage) }

// Decode decodes an object that may be wrapped in its noun.
func Decode(body []byte, noun string, into any) error {
	body = unwrap(body, noun)
	if record, ok := into.(keeper); ok {
		record.keep(body)
	}
	return decodingError(json.Unmarshal(body, into))
}

// decodingError returns the error for a response that cannot be decoded, without the names of Go types; nil if err is nil.
func decodingError(err error) error {
	var mistyped *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &mistyped) && mistyped.Field != "":
		return &ResponseError{Problem: fmt.Sprintf("the field %s has the wrong type, %s", mistyped.Field, mistyped.Value)}
	case errors.As(err, &mistyped):
		return &ResponseError{Problem: "it has the wrong type, " + mistyped.Value}
	}
	return &ResponseError{Problem: err.Error()}
}

// Unexpected returns the error for a response with unexpected content.
func (r Request) Unexpected(problem string) error {
	return NewTransportError(r.Op, &ResponseError{Problem: problem})
}

// CallList calls an operation that returns all objects at once, in a field named by envelope or as a bare list.
func CallList[T any, P interface {
	*T
	Record
}](ctx context.Context, c *Conn, r Request, envelope string) ([]T, error) {
	response, err := c.Exchange(ctx, r, OnlyJSON)
	if err != nil {
		return nil, err
	}
	objects, err := ReadList[T](response.Body, envelope)
	if err != nil {
		return nil, NewTransportError(r.Op, err)
	}
	return CheckObjects[T, P](r, objects)
}

// ReadList reads a list that may be in an envelope; null is an empty list. A response without a list is an error, because an
// empty list would make every object look deleted.
func ReadList[T any](body []byte, envelope string) ([]T, error) {
	if list := bytes.TrimSpace(body); !bytes.HasPrefix(list, []byte("[")) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			return nil, decodingError(err)
		}
		list, ok := fields[envelope]
		if !ok {
			return nil, &ResponseError{Problem: "the field " + envelope + " is missing"}
		}
		body = list
	}
	var objects []T
	if err := json.Unmarshal(body, &objects); err != nil {
		return nil, decodingError(err)
	}
	if _, keeps := any(new(T)).(keeper); keeps {
		var raw []json.RawMessage
		_ = json.Unmarshal(body, &raw) // It is a list, as above.
		for i := range objects {
			any(&objects[i]).(keeper).keep(raw[i])
		}
	}
	return objects, nil
}

// NewObject stands for the ID of an object that is being created.
const NewObject = ""

// ReadEnvelope reads the other fields of a list's envelope; none if the list is bare.
func ReadEnvelope(body []byte, into any) error {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return nil
	}
	return Decode(body, "", into)
}
