// Package wire reads the values and objects in the responses of the service.
package wire

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Ref identifies an object: in a listing, in an error, and for an import.
type Ref struct {
	// Object is the type of the object, such as "computer".
	Object string
	// Name is empty for an object without one.
	Name, ID string
	// ImportID is the argument of `terraform import`, if it is not the ID.
	ImportID string
	// CreatedAt is zero if the service does not return it.
	CreatedAt time.Time
}

// String names the object by its name or, if it has none, by its ID.
func (r Ref) String() string {
	text, about := r.ID, ""
	if r.Name != "" {
		text, about = strconv.Quote(r.Name), r.ID
	}
	if !r.CreatedAt.IsZero() {
		about = strings.TrimPrefix(about+", created at "+r.CreatedAt.UTC().Format(time.RFC3339), ", ")
	}
	if about == "" {
		return text
	}
	return text + " (" + about + ")"
}

// Record is an object in a response.
type Record interface {
	// Ref returns the object's ID and, if errors describe such objects, the other fields.
	Ref() Ref
	// MissingField returns the first required field that the object lacks; empty if it is complete.
	MissingField() string
}

// RecordOf is a pointer to an object of type T.
type RecordOf[T any] interface {
	*T
	Record
}

// Refs returns the references of objects.
func Refs[T any, P RecordOf[T]](objects []T) []Ref {
	refs := make([]Ref, len(objects))
	for i := range objects {
		refs[i] = P(&objects[i]).Ref()
	}
	return refs
}

// HasName returns whether an object has a name.
func HasName[T any, P RecordOf[T]](name string) func(*T) bool {
	return func(object *T) bool { return SameText(P(object).Ref().Name, name) }
}

// MissingIf returns the name of a field if it is missing; else nothing.
func MissingIf(isMissing bool, field string) string {
	if isMissing {
		return field
	}
	return ""
}

// AnyID stands for the ID of an object that is being created, or that was not requested by its ID.
const AnyID = ""

// Mismatch says why a response is not the complete object with the given ID; empty if it is. The service may return an ID in
// another case.
func Mismatch(response Record, id string) string {
	switch found, missing := response.Ref().ID, response.MissingField(); {
	case found == "" && missing == "":
		return "it has no ID"
	case found != "" && id != AnyID && !strings.EqualFold(found, id):
		return fmt.Sprintf("it contains %s instead of %s", found, id)
	case missing != "":
		return fmt.Sprintf("the field %s is missing", missing)
	}
	return ""
}

// ResponseError says that a successful response does not have the requested content.
type ResponseError struct {
	Problem string
	// Denies is true if the response says that the service did something else than it was asked to do.
	Denies bool
}

func (e *ResponseError) Error() string { return "unexpected response: " + e.Problem }

// WithRaw is embedded in records whose format is not documented. Raw is the whole record as the service returned it.
type WithRaw struct {
	Raw json.RawMessage `json:"-"`
}

func (r *WithRaw) setRaw(raw json.RawMessage) { r.Raw = raw }

type rawSetter interface{ setRaw(raw json.RawMessage) }

// Decode decodes an object that may be wrapped in its noun.
func Decode(body []byte, noun string, into any) error {
	body = unwrap(body, noun)
	if record, ok := into.(rawSetter); ok {
		record.setRaw(body)
	}
	return decodingError(unmarshal(body, into))
}

// unmarshal decodes JSON, in which a whole number may have a fraction of zero or an exponent. Go's decoder rejects it for an integer.
func unmarshal(body []byte, into any) error {
	err := json.Unmarshal(body, into)
	if mistyped, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok || !strings.HasPrefix(mistyped.Value, "number") {
		return err
	}
	return json.Unmarshal(stringOrNumber.ReplaceAllFunc(body, func(token []byte) []byte {
		number, err := strconv.ParseFloat(string(token), 64)
		if err != nil || number != math.Trunc(number) || math.Abs(number) >= maxExact {
			return token
		}
		return strconv.AppendInt(nil, int64(number), 10)
	}), into)
}

// stringOrNumber matches strings too, so that numbers in them are not matched.
var stringOrNumber = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`)

// maxExact is where a float64 begins to lack whole numbers.
const maxExact = 1 << 53

// decodingError returns the error for a response that cannot be decoded, without the names of Go types; nil if err is nil.
func decodingError(err error) error {
	mistyped, isMistyped := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case err == nil:
		return nil
	case !isMistyped:
		return &ResponseError{Problem: err.Error()}
	case mistyped.Field == "":
		return &ResponseError{Problem: "it has the wrong type, " + mistyped.Value}
	}
	return &ResponseError{Problem: fmt.Sprintf("the field %s has the wrong type, %s", mistyped.Field, mistyped.Value)}
}

// unwrap returns the object inside {"noun": {...}}, or the body itself if the object is not wrapped.
func unwrap(body []byte, noun string) []byte {
	if noun == "" {
		return body
	}
	var wrapped map[string]json.RawMessage
	if json.Unmarshal(body, &wrapped) != nil {
		return body
	}
	if inner := bytes.TrimSpace(wrapped[noun]); len(inner) > 0 && inner[0] == '{' {
		return inner
	}
	return body
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
	if err := unmarshal(body, &objects); err != nil {
		return nil, decodingError(err)
	}
	if _, setsRaw := any(new(T)).(rawSetter); setsRaw {
		var raw []json.RawMessage
		_ = json.Unmarshal(body, &raw) // It is a list, as above.
		for i := range objects {
			any(&objects[i]).(rawSetter).setRaw(raw[i])
		}
	}
	return objects, nil
}

// ReadEnvelope reads the other fields of a list's envelope; none if the list is bare.
func ReadEnvelope(body []byte, into any) error {
	if bytes.HasPrefix(bytes.TrimSpace(body), []byte("[")) {
		return nil
	}
	return Decode(body, "", into)
}

// Sort sorts objects, and keeps the order of equal ones. The API defines no order of most lists, and a changing order would show up as
// drift. It sorts their positions and then moves each object once, which is faster for large objects.
func Sort[T any](objects []T, compare func(a, b *T) int) {
	order := make([]int, len(objects))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return compare(&objects[i], &objects[j]) })
	sorted := make([]T, len(objects))
	for n, i := range order {
		sorted[n] = objects[i]
	}
	copy(objects, sorted)
}

// SortNewestFirst sorts objects by their creation times, and those of one time by their IDs.
func SortNewestFirst[T any, P RecordOf[T]](objects []T) {
	Sort(objects, func(a, b *T) int {
		x, y := P(a).Ref(), P(b).Ref()
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(x.ID, y.ID))
	})
}

// SortByName sorts objects by their names, and those of one name by their IDs.
func SortByName[T any, P RecordOf[T]](objects []T) {
	Sort(objects, func(a, b *T) int {
		x, y := P(a).Ref(), P(b).Ref()
		return cmp.Or(cmp.Compare(x.Name, y.Name), cmp.Compare(x.ID, y.ID))
	})
}
