package wire

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"
)

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
