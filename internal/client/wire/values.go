package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
)

// Millis is a time in Unix milliseconds, as the service sends it. Zero means "not set".
type Millis int64

// Time returns the time in UTC, or the zero time.
func (m Millis) Time() time.Time {
	if m == 0 {
		return time.Time{}
	}
	return time.UnixMilli(int64(m)).UTC()
}

// UnmarshalJSON accepts a number with or without a fraction, a string with a number, an RFC 3339 string, and null.
func (m *Millis) UnmarshalJSON(data []byte) error {
	text := TextOrJSON(data)
	if text == "null" || text == "" {
		*m = 0
		return nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		*m = Millis(at.UnixMilli())
		return nil
	}
	number, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q is not a timestamp", text)
	}
	*m = Millis(number)
	return nil
}

// Nullable is a required field that may be null: a missing one must not look like an unset value.
type Nullable[T any] struct {
	IsPresent bool
	Value     *T
}

// UnmarshalJSON is called only for a field that is present.
func (n *Nullable[T]) UnmarshalJSON(data []byte) error {
	n.IsPresent = true
	return json.Unmarshal(data, &n.Value)
}

// Denies reports whether the field is present with another value than wanted.
func (n *Nullable[T]) Denies(wanted *T) bool { return n.IsPresent && Shown(n.Value) != Shown(wanted) }

// Shown returns a value as JSON.
func Shown[T any](value *T) string {
	text, _ := json.Marshal(value) // What was decoded can be encoded.
	return string(text)
}

// Metadata is what an organization keeps about a member. A value that is not a string is kept as JSON.
type Metadata map[string]string

// UnmarshalJSON accepts values of any type.
func (m *Metadata) UnmarshalJSON(data []byte) error {
	var values map[string]json.RawMessage
	if json.Unmarshal(data, &values) != nil {
		return errors.New("the metadata is not an object")
	}
	*m = make(Metadata, len(values))
	for key, value := range values {
		(*m)[key] = TextOrJSON(value)
	}
	return nil
}

// Unordered is a list whose order has no meaning. It is sorted when it is decoded, because a changing order would show up as
// drift.
type Unordered[T any] []T

// UnmarshalJSON sorts the elements by their JSON, which begins with their first field.
func (u *Unordered[T]) UnmarshalJSON(data []byte) error {
	var elements []T
	if err := json.Unmarshal(data, &elements); err != nil {
		return err
	}
	slices.SortStableFunc(elements, func(a, b T) int {
		x, _ := json.Marshal(a) // What was decoded can be encoded.
		y, _ := json.Marshal(b)
		return strings.Compare(string(x), string(y))
	})
	*u = elements
	return nil
}

// TextOrJSON returns the text of a JSON string, and the JSON of any other value.
func TextOrJSON(raw json.RawMessage) string {
	if text, ok := TextOf(raw); ok {
		return text
	}
	var compact bytes.Buffer
	_ = json.Compact(&compact, raw) // Decoded JSON is valid.
	return compact.String()
}

// Messages joins the messages of a list of strings or objects.
func Messages(items []json.RawMessage) string {
	var messages []string
	for _, item := range items {
		text, ok := TextOf(item)
		if !ok {
			var object map[string]json.RawMessage
			_ = json.Unmarshal(item, &object)
			text, _ = TextOf(object["message"])
		}
		if text != "" {
			messages = append(messages, text)
		}
	}
	return strings.Join(messages, "; ")
}

// TextOf returns a JSON string; ok is false for any other value, including null.
func TextOf(raw json.RawMessage) (text string, ok bool) {
	var decoded *string
	if json.Unmarshal(raw, &decoded) != nil || decoded == nil {
		return "", false
	}
	return *decoded, true
}

// SameText compares texts without trailing blanks, which the service may trim.
func SameText(a, b string) bool {
	return strings.TrimRightFunc(a, unicode.IsSpace) == strings.TrimRightFunc(b, unicode.IsSpace)
}

// SameURL compares repository URLs without ".git" or a slash at the end.
func SameURL(a, b string) bool { return trimURL(a) == trimURL(b) }

func trimURL(address string) string {
	return strings.TrimSuffix(strings.TrimRight(strings.TrimSpace(address), "/"), ".git")
}

// SameInAnyOrder reports whether two lists have equal elements.
func SameInAnyOrder[T any](a, b []T, equal func(a, b T) bool) bool {
	left := slices.Clone(b)
	for _, x := range a {
		i := slices.IndexFunc(left, func(y T) bool { return equal(x, y) })
		if i < 0 {
			return false
		}
		left = slices.Delete(left, i, i+1)
	}
	return len(left) == 0
}
