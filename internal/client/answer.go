package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
)

// record is an object as the service returns it.
type record interface {
	// identifier is the object's ID.
	identifier() string
	// missing names the first field that every such object has and this one lacks; empty if it is whole.
	missing() string
}

// AnswerError says that the service answered with success, but not with what was asked for.
type AnswerError struct{ Problem string }

func (e *AnswerError) Error() string { return "the answer is not what was asked for: " + e.Problem }

// one calls an operation whose answer is an object, and checks that it is the one with the given ID; empty for a new one,
// whose ID is not known before.
func one[T any, P interface {
	*T
	record
}](ctx context.Context, c *conn, r request, id string) (*T, error) {
	found, err := call[T](ctx, c, r)
	if err != nil {
		return nil, err
	}
	if problem := unlike(P(found), id); problem != "" {
		return nil, r.strange(problem)
	}
	return found, nil
}

// changed calls an operation that changes the object with the given ID and answers with it. An answer that holds no
// object is completed by read, which reads the object, and holds reports whether it is as wanted then.
func changed[T any, P interface {
	*T
	record
}](ctx context.Context, c *conn, r request, id string, read func(context.Context) (*T, error), holds func(*T) bool) (*T, error) {
	answer, err := c.exchange(ctx, r, wantStatus)
	if err != nil {
		return nil, err
	}
	updated := new(T)
	if decode(answer.body, r.noun, updated) == nil && P(updated).identifier() != "" {
		if problem := unlike(P(updated), id); problem != "" {
			return nil, r.strange(problem)
		}
		return updated, nil
	}
	ctx, cancel := outlive(ctx, afterStop)
	defer cancel()
	updated, err = read(ctx)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w (the answer to %s held no object, so it was read back)", err, r.op.name)
	case !holds(updated):
		return nil, r.strange("it holds no object, and the object, read back, is not changed")
	}
	return updated, nil
}

// unlike says why an answer is not the whole object with the given ID. The service may spell an ID in another case.
func unlike(answer record, id string) string {
	switch {
	case answer.identifier() == "":
		return "it holds no ID"
	case id != "" && !strings.EqualFold(answer.identifier(), id):
		return fmt.Sprintf("it holds the object %s instead of %s", answer.identifier(), id)
	case answer.missing() != "":
		return fmt.Sprintf("it lacks the field %s", answer.missing())
	}
	return ""
}

// each checks the objects of a listing.
func each[T any, P interface {
	*T
	record
}](r request, objects []T) ([]T, error) {
	for i := range objects {
		if problem := unlike(P(&objects[i]), ""); problem != "" {
			return nil, r.strange(fmt.Sprintf("its object %d is none: %s", i+1, problem))
		}
	}
	return objects, nil
}

// decode reads an object, bare or wrapped in its noun.
func decode(body []byte, noun string, into any) error {
	if err := json.Unmarshal(unwrap(body, noun), into); err != nil {
		return fmt.Errorf("the answer has an unexpected shape: %w", err)
	}
	return nil
}

// strange is the error for an answer that is not what was asked for.
func (r request) strange(problem string) error {
	return unusable(r.op, &AnswerError{Problem: problem})
}

// callList calls an operation that answers with all objects at once, in an envelope of that name or bare.
func callList[T any, P interface {
	*T
	record
}](ctx context.Context, c *conn, r request, envelope string) ([]T, error) {
	answer, err := c.exchange(ctx, r, wantJSON)
	if err != nil {
		return nil, err
	}
	objects, err := readList[T](answer.body, envelope)
	if err != nil {
		return nil, unusable(r.op, err)
	}
	return each[T, P](r, objects)
}

// readList reads a list in its envelope, or bare; null is an empty one. What holds no list is refused: taken for an empty
// one, it would make every object look gone.
func readList[T any](body []byte, envelope string) ([]T, error) {
	if list := bytes.TrimSpace(body); !bytes.HasPrefix(list, []byte("[")) {
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(body, &fields); err != nil {
			return nil, err
		}
		list, ok := fields[envelope]
		if !ok {
			return nil, &AnswerError{Problem: "it has no " + envelope}
		}
		body = list
	}
	var objects []T
	if err := json.Unmarshal(body, &objects); err != nil {
		return nil, fmt.Errorf("the answer has an unexpected shape: %w", err)
	}
	return objects, nil
}

// newObject stands for the ID of an object that does not exist yet.
const newObject = ""
