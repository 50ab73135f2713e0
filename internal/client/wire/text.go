package wire

import (
	"bytes"
	"encoding/json"
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
